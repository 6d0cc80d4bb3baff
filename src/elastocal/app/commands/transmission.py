"""How motors move joints, from logged counts: the structure matrix, gear ratios, and the robot file that knows them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from elastocal.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from elastocal.encoders.identify import TransmissionFit
    from elastocal.model.drives import Drives
    from elastocal.model.robot import RobotModel

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
    """``drives`` as they go into a robot file (None where counts per turn are unknown); ``text`` is that file."""

    tables: tuple[Path, ...]
    robot: str | None
    measured: bool
    fit: TransmissionFit
    kinds: Mapping[str, str]
    drives: Drives | None
    fragment: str
    text: str
    notes: tuple[str, ...]


def run(request: TransmissionRequest) -> TransmissionResult:
    from elastocal.app.threads import one_thread
    from elastocal.encoders.identify import identify_transmission
    from elastocal.files.robot.read import load_robot
    from elastocal.files.tables.encoders import read_encoder_tables

    _check(request)
    robot = None if request.robot is None else load_robot(request.robot, None)
    tables = read_encoder_tables(request.tables)
    model = None if robot is None else robot.model
    kinds = _kinds(tables.kinds, model, request.tables)
    axes = None if model is None else model.controller.axes
    with one_thread():
        fit = identify_transmission(
            tables.series, axes=axes, from_zero=OFFSETS[request.offsets], wrap=request.wrap,
            per_turn=_per_turn(request.counts_per_turn), prismatic=[a for a in kinds if kinds[a] == "prismatic"],
        )  # fmt: skip
    drives, notes = _drives(fit, request.measured)
    source = _source(fit, request, kinds)
    fragment = "" if drives is None else _fragment(fit, drives, source)
    text = fragment if drives is None or model is None else _robot(model, drives, request, source)
    if request.out is not None and not text:
        raise InputError(
            f"--out {request.out}: counts per turn are unknown; log motor angles or give --counts-per-turn"
        )
    said = () if robot is None else robot.notes
    return TransmissionResult(
        request.tables, request.robot, request.measured, fit, kinds, drives, fragment, text, (*said, *fit.notes, *notes)
    )


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


def _per_turn(text: str | None) -> dict[str, float]:
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


def _drives(fit: TransmissionFit, measured: bool) -> tuple[Drives | None, tuple[str, ...]]:
    """Simple numbers where the data support them, unless measured ones are asked for."""
    import numpy as np

    from elastocal.model.drives import Drives

    found = fit.robust if measured else fit.ratios.matrices
    unknown = [a for a, n in zip(fit.axes, found.per_turn, strict=True) if np.isnan(n)]
    if unknown:
        return None, (
            f"Counts per motor turn of {', '.join(unknown)} are unknown, so S is too: no table has their motor angles; "
            "log them, or give --counts-per-turn.",
        )
    structure = np.nan_to_num(found.structure) if measured else fit.ratios.structure
    zero = fit.counts_at_zero()
    lost = [a for a, z in zip(fit.axes, zero, strict=True) if np.isnan(z)]
    notes = (
        (f"Counts at joint value zero are unknown for {', '.join(lost)} and written as 0: no table records all joints "
         "that move these motors.",) if lost else ()
    )  # fmt: skip
    return Drives(structure, found.per_turn, np.nan_to_num(zero)), notes


def _source(fit: TransmissionFit, request: TransmissionRequest, kinds: Mapping[str, str]) -> str:
    import numpy as np

    names = ", ".join(t.name for t in request.tables)
    sd = fit.robust.structure_sd
    units = [" rad/m" if kinds.get(a) == "prismatic" else "" for a in fit.axes]
    own = ", ".join(
        f"{a} {np.diag(fit.robust.structure)[i]:.6g} +- {sd[i, i]:.2g}{units[i]}" for i, a in enumerate(fit.axes)
    )
    left = f", without {len(fit.bad)} readings that the others contradict" if fit.bad else ""
    return f"elastocal transmission from {names}{left}; measured ratios {own}"


def _fragment(fit: TransmissionFit, drives: Drives, source: str) -> str:
    from elastocal.files.robot.write import controller_text

    return controller_text(drives, fit.axes, source)


def _robot(model: RobotModel, drives: Drives, request: TransmissionRequest, source: str) -> str:
    from dataclasses import replace

    from elastocal.files.robot.write import robot_text

    changed = replace(model, transmission=replace(model.controller, drives=drives))
    return robot_text(changed, (f"Made from {request.robot} with the drives by {source}.",))
