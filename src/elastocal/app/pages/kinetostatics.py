"""Kinetostatics as a report: the drives' side and the tool's side in one table."""

from __future__ import annotations

from elastocal.app.commands.kinetostatics import KinetostaticsResult
from elastocal.app.inputs import VERSION
from elastocal.app.pages.columns import axis_columns, or_reason
from elastocal.report.blocks import Cell, Column, Fact, Report, Section, Table

_TORQUE = "Torques are what the drives give to hold the arm; forces act on the robot, at the frame, in base axes."
_LEFT = {
    False: "left: what of the torques no force at the frame explains (forces of slides times the robot's length).",
    True: "left: how far the loaded frame stays from its target.",
}


def page(result: KinetostaticsResult) -> Report:
    way = "Pose and force to drives" if result.inverse else "Drives to pose and force"
    title = f"{way}: {result.model.title or result.model.name}"
    section = Section(f"At {result.state.frame}", (table(result),))
    return Report(title, _verdict(result), (section,), result.notes, _facts(result))


def table(result: KinetostaticsResult) -> Table:
    units = ["Nm" if k == "revolute" else "N" for k in result.axes.kinds]
    columns = [*axis_columns(result.axes)]
    columns += [
        Column(f"torque_{a}_{u}", a, u, group="drives", digits=6) for a, u in zip(result.axes.names, units, strict=True)
    ]
    columns += [Column(f"{c}_mm", c, "mm", 4, "position") for c in "xyz"]
    turned = not bool(_unturned(result))
    columns += [Column(f"{c}_deg", c, "deg", 4, "orientation", shown=turned) for c in ("roll", "pitch", "yaw")]
    columns += [Column(f"f{c}_N", f"f{c}", "N", 4, "force") for c in "xyz"]
    columns += [Column("left_um", "left", "um", 3) if result.inverse else Column("left_Nm", "left", "N m", 4)]
    columns += [Column("status", "status")]
    rows = tuple(_row(result, i) for i in range(len(result.shown)))
    notes = (_TORQUE, _LEFT[result.inverse], *(f"{text}." for text in result.state.helps))
    return Table("states", "", tuple(columns), rows, notes)


def _unturned(result: KinetostaticsResult) -> bool:
    import numpy as np

    return bool(np.isnan(result.state.rpy).all())


def _row(result: KinetostaticsResult, i: int) -> tuple[Cell, ...]:
    import numpy as np

    lost = f"no answer, {result.state.words[i]}"
    untold = "the torques do not tell it" if result.state.words[i] == "converged" else lost
    left = float(result.state.left[i]) * (1e6 if result.inverse else 1.0)
    return (
        *(or_reason(float(f"{v:.10g}"), lost) for v in result.shown[i]),
        *(or_reason(v, lost) for v in result.state.torque[i]),
        *(or_reason(v, lost) for v in 1e3 * result.state.position[i]),
        *(None if result.inverse and np.isnan(v) else or_reason(v, lost) for v in np.degrees(result.state.rpy[i])),
        *(or_reason(v, untold) for v in result.state.force[i]),
        or_reason(left, lost),
        result.state.words[i],
    )


def _verdict(result: KinetostaticsResult) -> tuple[str, ...]:
    good = "reached" if result.inverse else "converged"
    count, total = sum(w == good for w in result.state.words), len(result.state.words)
    done = "reached" if result.inverse else "solved"
    out = [f"{count} of {total} states {done}." if count else f"NO STATE {done.upper()}, of {total}."]
    for word in dict.fromkeys(w for w in result.state.words if w != good):
        out.append(f"{result.state.words.count(word)} of {total}: {word}.")
    return tuple(out)


def _facts(result: KinetostaticsResult) -> tuple[Fact, ...]:
    way = "inverse" if result.inverse else "direct"
    return (
        VERSION,
        Fact("robot", "robot", result.model.name, result.model.name),
        Fact("frame", "frame", result.state.frame, result.state.frame),
        Fact("way", "way", way, "pose and force to drives" if result.inverse else "drives to pose and force"),
        Fact("states", "states", result.given, result.given),
    )
