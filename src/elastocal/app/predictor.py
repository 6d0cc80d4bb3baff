"""The best predictor that readings support, from what was typed: campaign files, or a robot and tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elastocal.errors import ConflictError, FormatError, InputError, UnitError
from elastocal.report.blocks import Fact
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.app.cli.progress import Progress
    from elastocal.calibration.accuracy import Validation
    from elastocal.calibration.calibration import Calibration
    from elastocal.files.campaign.observed import Observed
    from elastocal.files.cell import Stated


@dataclass(frozen=True, eq=False)
class Predictor:
    """The best predictor that the readings support; ``validation`` is on readings that took no part, if there are."""

    calibration: Calibration
    validation: Validation | None
    stated: Stated
    """For the certificate: of the cell, and the tolerance that was typed."""
    facts: tuple[Fact, ...]
    notes: tuple[str, ...]
    files: Mapping[Path, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Asked:
    """What was typed beside the readings."""

    model: str | None
    start: Path | None
    validate: Path | None
    check: str | None
    accept: tuple[str, ...]
    stated: Stated


def typed_keys(units: str | None, tool: str | None, euler: str | None, ignore_limits: bool) -> dict[str, Any]:
    """Options as keys of a campaign file."""
    out: dict[str, Any] = {k: v for k, v in (("tool", tool), ("euler", euler)) if v}
    if units is not None:
        out["units"] = unit_words(units)
    if ignore_limits:
        out["limits"] = "ignore"
    return out


def unit_words(text: str) -> dict[str, str]:
    """Of mm,deg."""
    from elastocal.files.units import ANGLE, LENGTH

    out: dict[str, str] = {}
    for word in (w.strip() for w in text.split(",")):
        dimension = "length" if word in LENGTH else "angle" if word in ANGLE else None
        if dimension is None or dimension in out:
            valid = f"{', '.join(LENGTH)} and one of {', '.join(ANGLE)}"
            raise UnitError(f"--units {text}: write one of {valid}, such as mm,deg", value=text)
        out[dimension] = word
    return out


def of_tables(first: Path, others: Sequence[Path]) -> bool:
    """Whether a robot and its tables were typed, not campaign files."""
    if not others:
        if first.suffix.lower() in (".csv", ".txt", ".tsv", ".xlsx", ".urdf", ".xacro"):
            what = "a robot" if first.suffix.lower() in (".urdf", ".xacro") else "a table"
            raise InputError(
                f"{first}: is {what}; give the robot and the table, such as: elastocal calibrate arm.urdf points.csv",
                code="robot-and-table", file=str(first),
            )  # fmt: skip
        return False
    from elastocal.files.tables.records import is_campaign

    kinds = {is_campaign(p) for p in others}
    if len(kinds) > 1:
        raise ConflictError(
            "campaign files and tables are typed together; give campaign files, or a robot and its tables"
        )
    return not kinds.pop()


def observed_of(first: Path, others: Sequence[Path], keys: dict[str, Any]) -> tuple[Observed, ...]:
    """What was read, of every campaign file, or of a robot and its tables."""
    from elastocal.files.campaign.observed import observed_tables, read_observed

    if of_tables(first, others):
        word = first.as_posix() if first.suffix else str(first)
        return (observed_tables(others, word, keys),)
    for key in keys:
        raise ConflictError(
            f"{first}: is a campaign file, which says {key} itself; leave the option out", parameter=key
        )
    return tuple(read_observed(p) for p in (first, *others))


def predictor(
    observed: Sequence[Observed], paths: Sequence[Path], out: Path | None, asked: Asked, progress: Progress | None
) -> Predictor:
    from elastocal.calibration.campaigns import joined
    from elastocal.calibration.readings import campaign_of
    from elastocal.calibration.run import calibrate
    from elastocal.calibration.store import document_text, read_calibration
    from elastocal.files.campaign.file import listed

    robot = observed[0].model
    both = [campaign_of(o) for o in observed]
    for path, (other, _) in zip(paths, both, strict=False):
        if other.joints != robot.joints or other.name != robot.name:
            raise ConflictError(
                f"{path}: is of robot {other.name}, the first campaign of {robot.name}; calibrate each alone"
            )
    readings = joined(robot, [c for _, c in both])
    words = _words(observed, asked.model)
    accept = asked.accept or tuple(dict.fromkeys(a for o in observed for a in listed(o.entry.accept)))
    done = [0]

    def watch(step: str) -> None:
        done[0] += 1
        if progress is not None:
            progress(min(95, 6 * done[0]), 100, f"model {step}")

    start = None if asked.start is None else read_calibration(asked.start)
    choice = words if start is None or asked.model is not None else "auto"  # a start keeps its own
    try:
        calibration = calibrate(robot, readings, choice, accept=accept, start=start, progress=watch)
    except InputError as error:
        raise _in_tables(error, observed) from None
    checked = _checked(calibration, observed, asked, {"model": choice, "accept": accept, "start": start})
    if progress is not None:
        progress(100, 100)
    files = {} if out is None else {out: document_text(calibration, checked if asked.check is None else None)}
    unused = start is not None and asked.model is None and words != "auto"
    notes = ("The model that the campaign file asks for is not used, since --start keeps its own.",) * unused
    return Predictor(calibration, checked, asked.stated, _facts(paths, observed), notes, files)


def _in_tables(error: InputError, observed: Sequence[Observed]) -> InputError:
    """A complaint of the readings as a whole, with the tables they stand in."""
    files = tuple(dict.fromkeys(t.raw.file for o in observed for t in o.readings.cells.tables))
    if error.file is not None or str(error).startswith(files) or error.parameter not in ("", "accept") or error.allowed:
        return error
    named = error.reworded(f"{' and '.join(files)}: {error}")
    named.file = files[0]
    return named


def _words(observed: Sequence[Observed], typed: str | None) -> str | list[str]:
    from elastocal.files.campaign.observed import words_of

    if typed is not None:
        return "auto" if typed == "auto" else [w.strip() for w in typed.replace("+", ",").split(",")]
    wanted = {words_of(o.entry) for o in observed}
    if len(wanted) > 1:
        raise ConflictError("the campaign files ask for different models; write the same in all, or --model")
    words = wanted.pop()
    return words if isinstance(words, str) else list(words)


def _checked(
    calibration: Calibration, observed: Sequence[Observed], asked: Asked, options: Mapping[str, Any]
) -> Validation | None:
    """``options`` are those that it was found by."""
    from elastocal.calibration.campaigns import joined
    from elastocal.calibration.readings import campaign_of, readings_for, validation_of
    from elastocal.calibration.validation import cross_validate

    robot = observed[0].model
    if asked.validate is not None:
        first = observed[0].entry
        keys = {k: v for k, v in (("units", first.units), ("euler", first.euler)) if v}
        return calibration.validate(readings_for(calibration, asked.validate, keys)[0])
    if asked.check is not None:
        readings = joined(robot, [campaign_of(o)[1] for o in observed])
        return cross_validate(robot, readings, _folds(asked.check, calibration), **options)
    others = [c for o in observed for c in validation_of(o)]
    return calibration.validate(joined(robot, others)) if others else None


def _folds(word: str, calibration: Calibration) -> int:
    """Of kfold=6, or loo."""
    kind, _, number = word.partition("=")
    if kind == "loo" and not number:
        return int(calibration.residuals.pose.max()) + 1
    if kind != "kfold" or not number.isdigit():
        raise FormatError.of("check", word, "give kfold=6 or loo")
    return int(number)


def _facts(paths: Sequence[Path], observed: Sequence[Observed]) -> tuple[Fact, ...]:
    read = " + ".join(dict.fromkeys(k for o in observed for k in o.kinds))
    labels = tuple(dict.fromkeys(s.label for o in observed for s in o.sources))
    stated = "; ".join(labels) or "none: noise is estimated from the residuals"
    where = ", ".join(p.as_posix() for p in paths)
    return (
        Fact("campaign", "campaign", where),
        Fact("robot", "robot", observed[0].model.name),
        Fact("measurement", "measurement", read),
        Fact("errors", "errors stated", labels, stated),
    )
