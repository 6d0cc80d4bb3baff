"""Accuracy and repeatability from measured validation data, in the style of ISO 9283."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from elastocal.app.cells.roles import REPORT, Uses
from elastocal.app.cli import options as o
from elastocal.app.cli.command import command
from elastocal.app.pages.result_columns import or_reason
from elastocal.errors import MissingError, ShapeError, TooFewError
from elastocal.quantities import listed
from elastocal.report.blocks import Cell, Column, Fact, Report, Section, Table
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.compensation.iso9283 import Iso9283
    from elastocal.files.tables.validation import Visits


STANDARD_CYCLES = 30


@dataclass(frozen=True, eq=False)
class Iso9283Result:
    """``figures`` in the order of the ``visits``; ``variation`` in m of poses approached from several sides.

    Outliers take part in all figures but those of the poses without them.
    """

    file: str
    visits: tuple[Visits, ...]
    figures: Iso9283
    variation: tuple[tuple[str, int, float], ...]
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
    notes = [*file_notes, "Figures in the style of ISO 9283:1998; not a statement of conformity."]
    fewest = min(p.cycles for p in metrics.poses)
    if fewest < STANDARD_CYCLES:
        notes.append(f"The standard asks for {STANDARD_CYCLES} cycles; here a pose has {fewest}.")
    if not even:
        notes.append("Distances are given where both poses were measured equally often.")
    return Iso9283Result(measured.as_posix(), visits, metrics, _variation(measured, visits), tuple(notes))


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
    figures = result.figures
    sections = (
        Section("Poses", (table(result),)),
        Section("Outliers", (_outliers(result),) if figures.outliers else ()),
        Section("Distances", (_distances(result),) if figures.distances else ()),
        Section("Directions of approach", (_variation_table(result),) if result.variation else ()),
    )
    names = tuple(v.name for v in result.visits)
    facts = (Fact("measured", "measured", result.file), Fact("poses", "poses", names))
    title = "Accuracy and repeatability in the style of ISO 9283"
    return Report(title, _verdict(result), sections, result.notes, facts)


def _verdict(result: Iso9283Result) -> tuple[str, ...]:
    visits, figures = result.visits, result.figures
    named = [(v.name, p) for v, p in zip(visits, figures.poses, strict=True)]
    worst = max(named, key=lambda n: n[1].accuracy)
    shaky = max(named, key=lambda n: n[1].repeatability)
    out = [
        f"Pose accuracy AP is {1e3 * worst[1].accuracy:.4g} mm at worst ({worst[0]}), pose repeatability RP "
        f"{1e3 * shaky[1].repeatability:.4g} mm at worst ({shaky[0]})."
    ]
    for i in dict.fromkeys(bad.pose for bad in figures.outliers):
        lines = [visits[i].lines[bad.cycle] for bad in figures.outliers if bad.pose == i]
        word = f"line {lines[0]} is an outlier" if len(lines) == 1 else f"lines {listed(lines)} are outliers"
        it = "it" if len(lines) == 1 else "them"
        out.append(
            f"{result.file}, {word} of pose {visits[i].name}: RP is {1e3 * figures.poses[i].repeatability:.4g} mm as "
            f"measured, {1e3 * figures.without[i].repeatability:.4g} mm without {it}; measure again, or correct {it}."
        )
    if figures.path is not None:
        out.append(
            f"As a path of {len(figures.poses)} points: accuracy AT {1e3 * figures.path.accuracy:.4g} mm, "
            f"repeatability RT {1e3 * figures.path.repeatability:.4g} mm."
        )
    return tuple(out)


def table(result: Iso9283Result) -> Table:
    visits, poses = result.visits, result.figures.poses
    turned = any(isfinite(a) for p in poses for a in p.orientation_accuracy)

    def turns(values: Iterable[float]) -> list[Cell]:
        return [or_reason(1e3 * float(a), _NO_TURN) if turned else None for a in values]

    note = "AP: distance of the mean from the command; RP: mean distance from the mean + 3 standard deviations of it."
    return Table.of("poses", range(len(poses)), {
        Column("pose", "pose"): lambda i: visits[i].name,
        Column("cycles", "cycles"): lambda i: poses[i].cycles,
        Column("AP_mm", "AP", "mm", 4): lambda i: 1e3 * poses[i].accuracy,
        Column("RP_mm", "RP", "mm", 4): lambda i: 1e3 * poses[i].repeatability,
        _each("offset_{}_mm", "mean - command", "mm", "offset"): lambda i: (1e3 * float(v) for v in poses[i].offset),
        _each("AP_r{}_mrad", "AP about", "mrad", "turn", 1): lambda i: turns(poses[i].orientation_accuracy),
        _each("RP_r{}_mrad", "RP about", "mrad", "shake", 1): lambda i: turns(poses[i].orientation_repeatability),
    }, note)  # fmt: skip


def _each(key: str, name: str, unit: str, group: str, part: int = 0) -> tuple[Column, ...]:
    """Of x, y and z; the first says what they are."""
    named = {"x": f"{name} x", "y": "y", "z": "z"}
    return tuple(Column(key.format(c), word, unit, 4, group, part=part) for c, word in named.items())


def _outliers(result: Iso9283Result) -> Table:
    visits, without = result.visits, result.figures.without
    off = [(bad, max(bad.axes, key=lambda a: abs(bad.read[a] - bad.predicted[a]))) for bad in result.figures.outliers]
    note = "Positions that the other visits of their pose contradict, by the axis farthest off; all else is with them."
    return Table.of("outliers", off, {
        Column("line", "line"): lambda o: visits[o[0].pose].lines[o[0].cycle],
        Column("pose", "pose"): lambda o: visits[o[0].pose].name,
        Column("axes", "axes"): lambda o: " ".join("xyz"[a] for a in o[0].axes),
        Column("read_mm", "read", "mm", 4): lambda o: 1e3 * float(o[0].read[o[1]]),
        Column("others_mm", "the others predict", "mm", 4): lambda o: 1e3 * float(o[0].predicted[o[1]]),
        Column("probability", "probability", probability=True): lambda o: o[0].probability,
        Column("AP_without_mm", "AP without", "mm", 4): lambda o: 1e3 * without[o[0].pose].accuracy,
        Column("RP_without_mm", "RP without", "mm", 4): lambda o: 1e3 * without[o[0].pose].repeatability,
    }, note)  # fmt: skip


def _distances(result: Iso9283Result) -> Table:
    """Between neighbours in the file."""
    visits = result.visits
    return Table.of("distances", result.figures.distances, {
        Column("first", "from"): lambda d: visits[d[0]].name,
        Column("second", "to"): lambda d: visits[d[1]].name,
        Column("cycles", "cycles"): lambda d: d[2].cycles,
        Column("AD_mm", "AD", "mm", 4): lambda d: 1e3 * d[2].accuracy,
        Column("RD_mm", "RD +-", "mm", 4): lambda d: 1e3 * d[2].repeatability,
    }, "AD: mean minus commanded distance; RD: 3 standard deviations.")  # fmt: skip


def _variation_table(result: Iso9283Result) -> Table:
    return Table.of("variation", result.variation, {
        Column("pose", "pose"): lambda v: v[0],
        Column("directions", "directions"): lambda v: v[1],
        Column("vAP_mm", "vAP", "mm", 4): lambda v: 1e3 * v[2],
    }, "Largest distance between mean places by direction.")  # fmt: skip
