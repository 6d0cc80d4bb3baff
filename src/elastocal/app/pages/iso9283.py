"""Accuracy and repeatability as a report."""

from __future__ import annotations

from elastocal.app.commands.iso9283 import Iso9283Result
from elastocal.app.pages.columns import or_reason
from elastocal.report.blocks import Column, Fact, Report, Section, Table

_NO_TURN = "no orientation was measured"


def page(result: Iso9283Result) -> Report:
    sections = [Section("Poses", (pose_table(result),))]
    if result.distances:
        sections.append(Section("Distances", (_distances(result),)))
    if result.variation:
        sections.append(Section("Directions of approach", (_variation(result),)))
    title = "Accuracy and repeatability in the style of ISO 9283"
    return Report(title, _verdict(result), tuple(sections), result.notes, _facts(result))


def _facts(result: Iso9283Result) -> tuple[Fact, ...]:
    from elastocal.app.inputs import VERSION

    names = tuple(v.name for v in result.visits)
    return (
        VERSION,
        Fact("measured", "measured", result.file, result.file),
        Fact("poses", "poses", names, ", ".join(names)),
    )


def _verdict(result: Iso9283Result) -> tuple[str, ...]:
    worst = max(result.poses, key=lambda p: p.accuracy)
    shaky = max(result.poses, key=lambda p: p.repeatability)
    names = {id(p): v.name for p, v in zip(result.poses, result.visits, strict=True)}
    out = [
        f"Pose accuracy AP is {1e3 * worst.accuracy:.4g} mm at worst ({names[id(worst)]}), pose repeatability RP "
        f"{1e3 * shaky.repeatability:.4g} mm at worst ({names[id(shaky)]})."
    ]
    if result.path is not None:
        out.append(
            f"As a path of {len(result.poses)} points: accuracy AT {1e3 * result.path.accuracy:.4g} mm, "
            f"repeatability RT {1e3 * result.path.repeatability:.4g} mm."
        )
    return tuple(out)


def pose_table(result: Iso9283Result) -> Table:
    columns = (
        Column("pose", "pose"),
        Column("cycles", "cycles"),
        Column("AP_mm", "AP", "mm", 4),
        Column("RP_mm", "RP", "mm", 4),
        *(Column(f"offset_{c}_mm", f"{'mean - command ' * (c == 'x')}{c}", "mm", 4, "offset") for c in "xyz"),
        *(Column(f"AP_r{c}_mrad", f"{'AP about ' * (c == 'x')}{c}", "mrad", 4, "turn", part=1) for c in "xyz"),
        *(Column(f"RP_r{c}_mrad", f"{'RP about ' * (c == 'x')}{c}", "mrad", 4, "shake", part=1) for c in "xyz"),
    )
    rows = tuple(
        (
            v.name, p.cycles, 1e3 * p.accuracy, 1e3 * p.repeatability, *(1e3 * float(o) for o in p.offset),
            *(or_reason(1e3 * float(a), _NO_TURN) for a in (*p.orientation_accuracy, *p.orientation_repeatability)),
        )
        for v, p in zip(result.visits, result.poses, strict=True)
    )  # fmt: skip
    note = "AP: distance of the mean from the command; RP: mean distance from the mean + 3 standard deviations of it."
    return Table("poses", "", columns, rows, (note,))


def table(result: Iso9283Result) -> Table:
    return pose_table(result)


def _distances(result: Iso9283Result) -> Table:
    columns = (
        Column("first", "from"), Column("second", "to"), Column("cycles", "cycles"), Column("AD_mm", "AD", "mm", 4),
        Column("RD_mm", "RD +-", "mm", 4),
    )  # fmt: skip
    rows = tuple((a, b, d.cycles, 1e3 * d.accuracy, 1e3 * d.repeatability) for a, b, d in result.distances)
    return Table("distances", "", columns, rows, ("AD: mean minus commanded distance; RD: 3 standard deviations.",))


def _variation(result: Iso9283Result) -> Table:
    columns = (Column("pose", "pose"), Column("directions", "directions"), Column("vAP_mm", "vAP", "mm", 4))
    rows = tuple((name, count, 1e3 * v) for name, count, v in result.variation)
    return Table("variation", "", columns, rows, ("Largest distance between mean places by direction.",))
