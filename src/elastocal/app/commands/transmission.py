"""How motors move joints, from logged counts: the structure matrix, gear ratios, and the robot file that knows them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING

from elastocal.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from elastocal.model.robot import RobotModel
    from elastocal.procedures.transmission import Transmission

OFFSETS = {"test": None, "zero": True, "free": False}
YAML = (".yaml", ".yml")


@dataclass(frozen=True)
class TransmissionRequest:
    tables: tuple[Path, ...]
    robot: str | None = None
    wrap: int | None = None
    offsets: str = "test"
    counts_per_turn: str | None = None
    measured: bool = False
    out: Path | None = None


@dataclass(frozen=True, eq=False)
class TransmissionResult:
    """``fragment`` is the section ``controller`` of a robot file ("" where counts per turn are unknown), ``text`` the
    file to write."""

    tables: tuple[Path, ...]
    robot: str | None
    fit: Transmission
    fragment: str
    text: str
    notes: tuple[str, ...]


def run(request: TransmissionRequest) -> TransmissionResult:
    from elastocal.app.workers import one_thread
    from elastocal.files.robot.read import read_robot
    from elastocal.files.tables.encoders import read_encoder_tables
    from elastocal.procedures.transmission import identify

    _check(request)
    model = None if request.robot is None else read_robot(request.robot)
    tables = read_encoder_tables(request.tables)
    kinds = _kinds(tables.kinds, model, request.tables)
    with one_thread():
        fit = identify(
            tables.series, axes=None if model is None else model.controller.axes, from_zero=OFFSETS[request.offsets],
            wrap=request.wrap, counts_per_turn=_counts_per_turn(request.counts_per_turn),
            prismatic=[a for a in kinds if kinds[a] == "prismatic"],
        )  # fmt: skip
    fragment, text = _files(fit, request, model)
    if request.out is not None and not text:
        raise InputError(
            f"--out {request.out}: counts per turn are unknown; log motor angles or give --counts-per-turn"
        )
    notes = (*(() if model is None else model.notes), *fit.notes, *_unknowns(fit))
    return TransmissionResult(request.tables, request.robot, fit, fragment, text, notes)


def _check(request: TransmissionRequest) -> None:
    if request.offsets not in OFFSETS:
        raise UnknownNameError("way to treat offsets", request.offsets, OFFSETS, "--offsets")
    if request.wrap is not None and request.wrap < 2:
        raise InputError(f"--wrap {request.wrap}: must be the number of counts after which the counter starts again")
    if request.out is not None and request.out.suffix.lower() not in YAML:
        raise InputError(f"--out {request.out}: must end in .yaml; choose such a name")


def _kinds(kinds: Mapping[str, str], model: RobotModel | None, tables: tuple[Path, ...]) -> Mapping[str, str]:
    """The joints' kinds as the tables have them, checked against the robot."""
    if model is None:
        return kinds
    for axis, motion in zip(model.controller.axes, model.motions, strict=True):
        if kinds.get(axis, motion.kind) != motion.kind:
            raise InputError(
                f"{tables[0]}: {axis} has a unit of {'a length' if motion.kind == 'revolute' else 'an angle'}, but its "
                f"joint is {motion.kind} in robot {model.name}; correct one of them"
            )
    return {**kinds, **{a: m.kind for a, m in zip(model.controller.axes, model.motions, strict=True)}}


def _counts_per_turn(text: str | None) -> dict[str, float]:
    """From "A1=16384,A2=16384"."""
    out: dict[str, float] = {}
    for part in text.split(",") if text else ():
        axis, equals, value = part.partition("=")
        try:
            out[axis.strip()] = float(value)
        except ValueError:
            equals = ""
        if not equals or not out[axis.strip()] > 0:
            raise InputError(f"--counts-per-turn {part.strip()!r}: is not of the form A1=16384; give axis and counts")
    return out


def _unknowns(fit: Transmission) -> Iterator[str]:
    """What the robot file lacks."""
    if unknown := fit.without_counts_per_turn():
        yield (
            f"Counts per motor turn of {', '.join(unknown)} are unknown, so S is too: no table has their motor angles; "
            "log them, or give --counts-per-turn."
        )
    elif lost := [a for a, z in zip(fit.axes, fit.counts_at_zero(), strict=True) if isnan(z)]:
        yield (
            f"Counts at joint value zero are unknown for {', '.join(lost)} and written as 0: no table records all "
            "joints that move these motors."
        )


def _files(fit: Transmission, request: TransmissionRequest, model: RobotModel | None) -> tuple[str, str]:
    """The section of a robot file, and what --out writes: the whole robot where one is named."""
    from elastocal.files.robot.write import controller_text, robot_text

    drives = fit.drives(request.measured)
    if drives is None:
        return "", ""
    source = _source(fit, request)
    fragment = controller_text(drives, fit.axes, source)
    if model is None:
        return fragment, fragment
    changed = replace(model, transmission=replace(model.controller, drives=drives))
    return fragment, robot_text(changed, (f"Made from {request.robot} with the drives by {source}.",))


def _source(fit: Transmission, request: TransmissionRequest) -> str:
    names = ", ".join(t.name for t in request.tables)
    s, sd = fit.robust.structure, fit.robust.structure_sd
    own = ", ".join(
        f"{a} {s[i, i]:.6g} +- {sd[i, i]:.2g}{' rad/m' if a in fit.prismatic else ''}" for i, a in enumerate(fit.axes)
    )
    left = f", without {len(fit.outliers)} outliers" if fit.outliers else ""
    return f"elastocal transmission from {names}{left}; measured ratios {own}"
