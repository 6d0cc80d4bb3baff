"""What people state in a campaign file: priors of parameters, and readings that they exclude or keep, with a reason.

priors:
  - {parameters: "A?.offset", sd_mrad: 0.2}                          about the robot file
  - {parameters: [A2.x, A4.x], value_mm: 0.1, sd_mm: 0.05}
  - {parameters: [A2.x, A4.x], sd_mm: 0.05, common_sd_mm: 0.1}       and all off together by one more error
  - {parameters: [A2.x, A4.x], covariance_mm2: [[0.01, 0.005], [0.005, 0.01]]}
  - {parameters: "A?.k", sd_percent: 20}                             of the value
exclude:
  - {reading: readings.csv line 14, reason: "SMR was touched"}
keep:
  - {reading: readings.csv line 20, reason: "measured twice, the same"}      against the outlier test
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from elastocal.errors import DuplicateError, MissingError, NumberError, RangeError, UnitError
from elastocal.files.campaign.file import Words, listed
from elastocal.files.located import Located, Path_
from elastocal.files.schema import Units
from elastocal.files.units import DIMENSIONS
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

_PLACE = re.compile(r"(.*? line \d+(?: less (?:.*? )?line \d+)?)(?: \(|$)")


@dataclass(frozen=True)
class Decision:
    """``reading`` as places of readings are named, without the name of its pose."""

    reading: str
    reason: str


def place_of(word: str) -> str:
    """``readings.csv line 4`` of ``readings.csv line 4 (P2)``; names of files may have brackets too."""
    match = _PLACE.match(word.strip())
    return match[1] if match else word.partition(" (")[0].strip()


def read_decisions(located: Located, key: str, entries: Sequence[Any]) -> tuple[Decision, ...]:
    out = []
    for i, entry in enumerate(entries):
        given = entry if isinstance(entry, dict) else {}
        words = {k: str(given.get(k) or "").strip() for k in ("reading", "reason")}
        if set(given) != set(words) or not all(words.values()):
            raise located.error(
                (key, i), "needs a reading and a reason: {reading: readings.csv line 14, reason: ...}", MissingError
            )
        out.append(Decision(place_of(words["reading"]), words["reason"]))
    return tuple(out)


def decided_rows(located: Located, key: str, decisions: Sequence[Decision], places: Sequence[str]) -> tuple[int, ...]:
    """Rows of the campaign that decisions are of; a reading that is not there is refused."""
    if not decisions:
        return ()
    keys = [place_of(p) for p in places]
    known = {k: i for i, k in enumerate(keys)}
    for i, decision in enumerate(decisions):
        if decision.reading not in known:
            near = next(iter(known), "")
            problem = f"there is no reading {decision.reading!r}; write it as {near!r} is written"
            raise located.error((key, i), problem, code="unknown-reading", value=decision.reading, allowed=known)
        if keys.count(decision.reading) > 1:
            raise located.error(
                (key, i), f"{decision.reading!r} names several readings; give each table its own name", DuplicateError
            )
    return tuple(known[d.reading] for d in decisions)


KEYS = ("value", "sd", "common_sd", "covariance")
_UNITS = {unit: factor for d in DIMENSIONS.values() for unit, factor in d.items() if unit != "share"}
_DIMENSION = {unit: name for name, d in DIMENSIONS.items() for unit in d if " " not in name or "compliance" in name}


@dataclass(frozen=True, eq=False)
class PriorEntry:
    """Values (None: those of the robot file) and sds in SI, or as a ``share`` of the value; or a covariance.

    ``units`` are those that were written, which must fit the parameters; ``path`` is the place in the file.
    """

    parameters: tuple[str, ...]
    value: float | None
    sd: float | None
    common_sd: float
    covariance: Array | None
    share: bool
    units: tuple[str, ...]
    path: Path_


def read_priors(located: Located, entries: list[Any], units: Units) -> tuple[PriorEntry, ...]:
    """Every entry, with its numbers in SI."""
    return tuple(_prior(located, ("priors", i), entry) for i, entry in enumerate(entries))


def _prior(located: Located, path: Path_, entry: Any) -> PriorEntry:
    example = "such as {parameters: A2.offset, sd_mrad: 0.2}"
    if not isinstance(entry, dict) or "parameters" not in entry:
        raise located.error(path, f"{entry!r} should name parameters and their sd, {example}", MissingError)
    names: Words = entry["parameters"]
    stated: dict[str, tuple[float, str, str]] = {}
    covariance = None
    for key, value in entry.items():
        if key == "parameters":
            continue
        name, unit, factor = _understood(located, (*path, str(key)), str(key))
        if name == "covariance":
            covariance = _matrix(located, (*path, str(key)), value) * factor**2
            stated[name] = (0.0, unit, str(key))
            continue
        if isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(value):
            raise located.error((*path, str(key)), f"{value!r} is not a number", NumberError)
        if name != "value" and not value > 0:
            raise located.error((*path, str(key)), f"{value!r} must be positive", RangeError)
        if name in stated:
            raise located.error((*path, str(key)), f"says the same as {stated[name][2]!r}; keep one", DuplicateError)
        stated[name] = (float(value) * factor, unit, str(key))
    if ("sd" in stated) == (covariance is not None):
        raise located.error(path, f"needs an sd, or a covariance, {example}", MissingError)
    shares = {n for n, (_, unit, _) in stated.items() if unit == "percent"}
    if shares - {"sd", "common_sd"} or (shares and len(shares) != len(stated.keys() & {"sd", "common_sd"})):
        raise located.error(path, "percent is of the value: write sd_percent (and common_sd_percent) alone", UnitError)
    return PriorEntry(
        tuple(str(n) for n in listed(names)), stated["value"][0] if "value" in stated else None,
        stated["sd"][0] if "sd" in stated else None, stated["common_sd"][0] if "common_sd" in stated else 0.0,
        covariance, bool(shares), tuple(unit for _, unit, _ in stated.values() if unit != "percent"), path,
    )  # fmt: skip


def _understood(located: Located, path: Path_, key: str) -> tuple[str, str, float]:
    """Which number a key is of, its unit and the factor to SI."""
    name = next((k for k in sorted(KEYS, key=len, reverse=True) if key == k or key.startswith(f"{k}_")), None)
    if name is None:
        valid = ("parameters", *(f"{k}_UNIT" for k in KEYS))
        use = f"is not a key of a prior; use {', '.join(valid)}"
        raise located.error(path, use, code="unknown-key", value=key, allowed=valid)
    unit = key[len(name) + 1 :]
    plain = re.sub(r"2$", "", unit) if name == "covariance" else unit
    if not unit:
        raise located.error(path, f"has no unit; write {name}_mm, {name}_mrad, {name}_SI or another", UnitError)
    if plain not in _UNITS:
        raise located.error(
            path, f"{unit!r} is not a unit; write one such as mm, mrad, um, urad_per_Nm, SI, percent", UnitError
        )
    return name, plain, _UNITS[plain]


def _matrix(located: Located, path: Path_, value: Any) -> Array:
    try:
        matrix = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        matrix = np.zeros(0)
    square = matrix.ndim == 2 and matrix.shape[0] == matrix.shape[1] and np.isfinite(matrix).all()
    if not square or not np.allclose(matrix, matrix.T) or np.linalg.eigvalsh(matrix).min() <= 0:
        raise located.error(
            path, "should be a symmetric positive definite matrix, a row and a column for each parameter", RangeError
        )
    return matrix


def dimension_of(unit: str) -> str | None:
    """The dimension of a unit as written; None for SI, which fits all."""
    return None if unit == "SI" else _DIMENSION.get(unit)
