"""Accuracy and repeatability from measured validation data, in the style of ISO 9283."""

from __future__ import annotations

from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from elastocal.app.cells.roles import REPORT, Uses
from elastocal.app.cli import options as o
from elastocal.app.cli.command import command
from elastocal.app.pages.result_columns import or_reason
from elastocal.errors import MissingError, ShapeError, TooFewError
from elastocal.quantities import listed
from elastocal.report.blocks import Column, Fact, Report, Section, Table
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.compensation.iso9283 import DistanceFigures, PathFigures, PoseFigures, VisitOutlier
    from elastocal.files.tables.validation import Visits


STANDARD_CYCLES = 30


@dataclass(frozen=True, eq=False)
class Iso9283Result:
    """``distances`` between neighbours in the file; ``variation`` in m of poses approached from several sides.

    ``outliers`` take part in all figures but those of the poses ``without`` them.
    """

    file: str
    visits: tuple[Visits, ...]
    poses: tuple[PoseFigures, ...]
    outliers: tuple[VisitOutlier, ...]
    without: tuple[PoseFigures, ...]
    distances: tuple[tuple[str, str, DistanceFigures], ...]
    variation: tuple[tuple[str, int, float], ...]
    path: PathFigures | None
    notes: tuple[str, ...]


@command("daily", 11, Uses({"measured": "validation"}, (REPORT,)), csv=True)
def iso9283(
    measured: Annotated[Path, o.argument("MEASURED.csv", "pose,command_x_mm,...,x_mm,...; a row per visit.")],
    path: Annotated[bool, o.flag("The poses are points of one path: also AT and RT.", "--path")] = False,
) -> Iso9283Result:
    """Accuracy and repeatability from measured poses.

    In the style of ISO 9283 (AP, RP, AD, RD, vAP, AT, RT), from validation data; no statement of conformity.

    \b
    Example:
      elastocal iso9283 validation.csv --path
    """
    from elastocal.compensation.iso9283 import iso9283 as figures
    from elastocal.files.tables.validation import read_visits

    visits, file_notes = read_visits(measured)
    once = [v.name for v in visits if len(v.reached) < 2]
    if once:
        raise TooFewError(
            f"{measured}: pose {once[0]} was measured once, which tells no repeatability; measure it at least two "
            f"times (the standard: {STANDARD_CYCLES}), or leave its row out", file=str(measured), value=once[0],
        )  # fmt: skip
    even = len({len(v.reached) for v in visits}) == 1
    if path and not even:
        raise MissingError(f"{measured}: the points of a path must all be measured in every cycle; complete the table")
    metrics = figures(
        [v.command for v in visits], [v.reached for v in visits], desired=[v.told for v in visits],
        turned=[v.turned for v in visits], path=path,
    )  # fmt: skip
    poses = metrics.poses
    distances = tuple((visits[a].name, visits[b].name, d) for a, b, d in metrics.distances)
    notes = [*file_notes, "Figures in the style of ISO 9283:1998; not a statement of conformity."]
    fewest = min(p.cycles for p in poses)
    if fewest < STANDARD_CYCLES:
        notes.append(f"The standard asks for {STANDARD_CYCLES} cycles; here a pose has {fewest}.")
    if not even:
        notes.append("Distances are given where both poses were measured equally often.")
    varied = _variation(measured, visits)
    return Iso9283Result(
        measured.as_posix(), visits, poses, metrics.outliers, metrics.without, distances, varied, metrics.path,
        tuple(notes),
    )  # fmt: skip


def _variation(file: Path, visits: tuple[Visits, ...]) -> tuple[tuple[str, int, float], ...]:
    """Spread of the mean places by direction of approach; every direction equally often."""
    import numpy as np

    from elastocal.compensation.iso9283 import direction_variation

    out = []
    for v in visits:
        sides = dict.fromkeys(v.directions)
        rows = [[i for i, d in enumerate(v.directions) if d == side] for side in sides]
        if len(sides) > 1:
            if len({len(r) for r in rows}) > 1:
                raise ShapeError(
                    f"{file}: pose {v.name}: its directions were measured {[len(r) for r in rows]} times; equal them"
                )
            out.append((v.name, len(sides), direction_variation(np.stack([v.reached[r] for r in rows]))))
    return tuple(out)


_NO_TURN = "no orientation was measured"


def page(result: Iso9283Result) -> Report:
    sections = (
        Section("Poses", (table(result),)),
        Section("Outliers", (_outliers(result),) if result.outliers else ()),
        Section("Distances", (_distances(result),) if result.distances else ()),
        Section("Directions of approach", (_variation_table(result),) if result.variation else ()),
    )
    title = "Accuracy and repeatability in the style of ISO 9283"
    return Report(title, _verdict(result), sections, result.notes, _facts(result))


def _facts(result: Iso9283Result) -> tuple[Fact, ...]:
    names = tuple(v.name for v in result.visits)
    return (Fact("measured", "measured", result.file), Fact("poses", "poses", names))


def _verdict(result: Iso9283Result) -> tuple[str, ...]:
    worst = max(result.poses, key=lambda p: p.accuracy)
    shaky = max(result.poses, key=lambda p: p.repeatability)
    names = {id(p): v.name for p, v in zip(result.poses, result.visits, strict=True)}
    out = [
        f"Pose accuracy AP is {1e3 * worst.accuracy:.4g} mm at worst ({names[id(worst)]}), pose repeatability RP "
        f"{1e3 * shaky.repeatability:.4g} mm at worst ({names[id(shaky)]})."
    ]
    for i in dict.fromkeys(bad.pose for bad in result.outliers):
        lines = [result.visits[i].lines[bad.cycle] for bad in result.outliers if bad.pose == i]
        word = f"line {lines[0]} is an outlier" if len(lines) == 1 else f"lines {listed(lines)} are outliers"
        it = "it" if len(lines) == 1 else "them"
        out.append(
            f"{result.file}, {word} of pose {result.visits[i].name}: RP is {1e3 * result.poses[i].repeatability:.4g} "
            f"mm as measured, {1e3 * result.without[i].repeatability:.4g} mm without {it}; measure again, or correct "
            f"{it}."
        )
    if result.path is not None:
        out.append(
            f"As a path of {len(result.poses)} points: accuracy AT {1e3 * result.path.accuracy:.4g} mm, "
            f"repeatability RT {1e3 * result.path.repeatability:.4g} mm."
        )
    return tuple(out)


def table(result: Iso9283Result) -> Table:
    columns = (
        Column("pose", "pose"),
        Column("cycles", "cycles"),
        Column("AP_mm", "AP", "mm", 4),
        Column("RP_mm", "RP", "mm", 4),
        *(Column(f"offset_{c}_mm", f"{'mean - command ' * (c == 'x')}{c}", "mm", 4, "offset") for c in "xyz"),
        *(Column(f"AP_r{c}_mrad", f"{'AP about ' * (c == 'x')}{c}", "mrad", 4, "turn", part=1) for c in "xyz"),
        *(Column(f"RP_r{c}_mrad", f"{'RP about ' * (c == 'x')}{c}", "mrad", 4, "shake", part=1) for c in "xyz"),
    )
    turned = any(isfinite(a) for p in result.poses for a in p.orientation_accuracy)
    rows = tuple(
        (
            v.name, p.cycles, 1e3 * p.accuracy, 1e3 * p.repeatability, *(1e3 * float(v) for v in p.offset),
            *(or_reason(1e3 * float(a), _NO_TURN) if turned else None
              for a in (*p.orientation_accuracy, *p.orientation_repeatability)),
        )
        for v, p in zip(result.visits, result.poses, strict=True)
    )  # fmt: skip
    note = "AP: distance of the mean from the command; RP: mean distance from the mean + 3 standard deviations of it."
    return Table("poses", "", columns, rows, (note,))


def _outliers(result: Iso9283Result) -> Table:
    columns = (
        Column("line", "line"), Column("pose", "pose"), Column("axes", "axes"), Column("read_mm", "read", "mm", 4),
        Column("others_mm", "the others predict", "mm", 4), Column("probability", "probability", probability=True),
        Column("AP_without_mm", "AP without", "mm", 4), Column("RP_without_mm", "RP without", "mm", 4),
    )  # fmt: skip
    rows = []
    for bad in result.outliers:
        visits, figures = result.visits[bad.pose], result.without[bad.pose]
        worst = max(bad.axes, key=lambda a: abs(bad.read[a] - bad.predicted[a]))
        rows.append((
            visits.lines[bad.cycle], visits.name, " ".join("xyz"[a] for a in bad.axes), 1e3 * float(bad.read[worst]),
            1e3 * float(bad.predicted[worst]), bad.probability, 1e3 * figures.accuracy, 1e3 * figures.repeatability,
        ))  # fmt: skip
    note = "Positions that the other visits of their pose contradict, by the axis farthest off; all else is with them."
    return Table("outliers", "", columns, tuple(rows), (note,))


def _distances(result: Iso9283Result) -> Table:
    columns = (
        Column("first", "from"), Column("second", "to"), Column("cycles", "cycles"), Column("AD_mm", "AD", "mm", 4),
        Column("RD_mm", "RD +-", "mm", 4),
    )  # fmt: skip
    rows = tuple((a, b, d.cycles, 1e3 * d.accuracy, 1e3 * d.repeatability) for a, b, d in result.distances)
    return Table("distances", "", columns, rows, ("AD: mean minus commanded distance; RD: 3 standard deviations.",))


def _variation_table(result: Iso9283Result) -> Table:
    columns = (Column("pose", "pose"), Column("directions", "directions"), Column("vAP_mm", "vAP", "mm", 4))
    rows = tuple((name, count, 1e3 * v) for name, count, v in result.variation)
    return Table("variation", "", columns, rows, ("Largest distance between mean places by direction.",))
