"""How motors move joints, from logged counts: the structure matrix, gear ratios, and the robot file that knows them."""

from __future__ import annotations

from dataclasses import replace
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from elastocal.app.cells.roles import REPORT, ROBOT, Fill, Uses
from elastocal.app.cli import options as o
from elastocal.app.cli.command import command
from elastocal.errors import FormatError, MissingError, RangeError, UnitError, UnknownNameError
from elastocal.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from elastocal.model.robot import Robot
    from elastocal.procedures.transmission import Transmission

OFFSETS = {"test": None, "zero": True, "free": False}
YAML = (".yaml", ".yml")
_COUNTS = "is not of the form A1=16384; give axis and counts"


_CELL = Uses(
    {"tables": "counts", "robot": "robot"}, (ROBOT, Fill("out", "robot", "transmission.yaml", parent=True), REPORT)
)


@dataclass(frozen=True, eq=False)
class TransmissionResult:
    """``fragment`` is the section ``controller`` of a robot file, "" where it would be wrong or incomplete; ``files``
    to write."""

    tables: tuple[Path, ...]
    robot: str | None
    fit: Transmission
    fragment: str
    files: dict[Path, str]
    notes: tuple[str, ...]


@command("procedures", 5, _CELL, csv=True)
def transmission(
    tables: Annotated[
        list[Path], o.argument("TABLE.csv...", "Columns A1_counts, A1_deg, A1_motor_deg, or one joint at a time.")
    ],
    robot: Annotated[
        str | None, o.option("ROBOT", "The robot whose axes these are; --out then writes all of it.")
    ] = None,
    out: Annotated[
        Path | None, o.option("FILE.yaml", "Write the robot file, or its section controller."), o.WRITTEN
    ] = None,
    measured: Annotated[
        bool, o.flag("Write measured ratios, not the simple ones that they support.", "--measured")
    ] = False,
    offsets: Annotated[
        str, o.option("test|zero|free", "Counts at joint value zero: zero unless a test forbids it.")
    ] = "test",
    counts_per_turn: Annotated[str | None, o.option("A1=N,...", "Counts per motor turn that are known.")] = None,
    wrap: Annotated[int | None, o.option("N", "The counters start again after N counts; unwrap them.")] = None,
) -> TransmissionResult:
    """Coupling of motors and joints from encoder counts.

    The structure matrix with the accuracy of every entry, gear ratios as fractions with the odds of a chance match,
    outliers. The robot file then takes counts and motor angles in place of joint values.

    \b
    Example:
      elastocal transmission single.csv wrist.csv --robot kuka-kr5 --out my-robot.yaml
    """
    from elastocal.app.cli.progress import stage
    from elastocal.app.configurations import positive_by_name
    from elastocal.files.robot.read import read_robot
    from elastocal.files.tables.encoders import read_encoder_tables
    from elastocal.procedures.transmission import identify

    _check(offsets, wrap, out)
    model = None if robot is None else read_robot(robot, None)
    stage(0, 3, "reading the tables")
    read = read_encoder_tables(tables)
    kinds = _kinds(read.kinds, model, tables)
    known = counts_per_turn.split(",") if counts_per_turn else ()
    stage(1, 3, "structure matrix, outliers, ratios")
    fit = identify(
        read.series, axes=None if model is None else model.controller.axes, from_zero=OFFSETS[offsets], wrap=wrap,
        counts_per_turn=positive_by_name("counts_per_turn", known, _COUNTS),
        prismatic=[a for a in kinds if kinds[a] == "prismatic"],
    )  # fmt: skip
    stage(2, 3, "robot file")
    fragment, text = _files(fit, tables, robot, model, measured)
    if out is not None and not text:
        why = fit.doubt or "counts per turn are unknown; log motor angles or give --counts-per-turn"
        raise MissingError.of("out", out, why.removesuffix("."))
    notes = (*(() if model is None else model.notes), *fit.notes, *_unknowns(fit))
    return TransmissionResult(tuple(tables), robot, fit, fragment, {} if out is None else {out: text}, notes)


def _check(offsets: str, wrap: int | None, out: Path | None) -> None:
    if offsets not in OFFSETS:
        raise UnknownNameError("way to treat offsets", offsets, OFFSETS, "--offsets")
    if wrap is not None and wrap < 2:
        raise RangeError.of("wrap", wrap, "must be the number of counts after which the counter starts again")
    if out is not None and out.suffix.lower() not in YAML:
        raise FormatError.of("out", out, "must end in .yaml; choose such a name")


def _kinds(kinds: Mapping[str, str], model: Robot | None, tables: Sequence[Path]) -> Mapping[str, str]:
    """The joints' kinds as the tables have them, checked against the robot."""
    if model is None:
        return kinds
    for axis, motion in zip(model.controller.axes, model.motions, strict=True):
        if kinds.get(axis, motion.kind) != motion.kind:
            raise UnitError(
                f"{tables[0]}: {axis} has a unit of {'a length' if motion.kind == 'revolute' else 'an angle'}, but its "
                f"joint is {motion.kind} in robot {model.name}; correct one of them"
            )
    return {**kinds, **model.axis_kinds}


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


def _files(
    fit: Transmission, tables: Sequence[Path], robot: str | None, model: Robot | None, measured: bool
) -> tuple[str, str]:
    """The section of a robot file, and what --out writes: the whole robot where one is named."""
    from elastocal.files.robot.write import controller_text, robot_text

    drives = fit.drives(measured)
    if drives is None or fit.doubt:
        return "", ""
    source = _source(fit, tables)
    fragment = controller_text(drives, fit.axes, source)
    if model is None:
        return fragment, fragment
    changed = replace(model, transmission=replace(model.controller, drives=drives))
    return fragment, robot_text(changed, (f"Made from {robot} with the drives by {source}.",))


def _source(fit: Transmission, tables: Sequence[Path]) -> str:
    names = ", ".join(t.name for t in tables)
    s, sd = fit.robust.structure, fit.robust.structure_sd
    own = ", ".join(
        f"{a} {s[i, i]:.6g} {'of unknown accuracy' if isnan(sd[i, i]) else f'+- {sd[i, i]:.2g}'}"
        f"{' rad/m' if a in fit.prismatic else ''}"
        for i, a in enumerate(fit.axes)
    )
    left = f", without {len(fit.outliers)} outliers" if fit.outliers else ""
    return f"elastocal transmission from {names}{left}; measured ratios {own}"
