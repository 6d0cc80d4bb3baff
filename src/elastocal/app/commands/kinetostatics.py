"""Joint values and drive torques to pose and force, or back, of a robot that bends (002 eq. 4)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from elastocal.app.cells.roles import Uses
from elastocal.app.cli import options as o
from elastocal.app.cli.command import command
from elastocal.app.pages.result_columns import axis_columns, or_reason
from elastocal.errors import ConflictError, MissingError
from elastocal.report.blocks import Cell, Column, Fact, Report, Rows, Section, Table
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.app.configurations import Axes, Configurations
    from elastocal.files.tables.drives import TargetTable
    from elastocal.model.robot import Robot
    from elastocal.procedures.contact.kinetostatics import Kinetostatics
    from elastocal.spatial.entries import Array


_CELL = Uses({"robot": "robot"}, either=(("at", "torque"), ("position", "rpy", "force", "near"), ("table",)))


@dataclass(frozen=True, eq=False)
class KinetostaticsResult:
    """``shown`` (N, n) are the joint values of the ``state`` in the controller's units."""

    model: Robot
    inverse: bool
    given: str
    axes: Axes
    shown: Array
    state: Kinetostatics
    notes: tuple[str, ...]


@command("procedures", 7, _CELL, csv=True)
def kinetostatics(
    robot: o.Robot,
    at: Annotated[str | None, o.option("VALUES", "Controller values, degrees or mm.")] = None,
    torque: Annotated[
        str | None, o.option("VALUES", "Torques of the same axes in N m (forces in N), as the drives give.")
    ] = None,
    position: Annotated[str | None, o.option("X,Y,Z", "Where the loaded frame shall be, in mm.")] = None,
    rpy: Annotated[str | None, o.option("R,P,Y", "Roll, pitch, yaw of the loaded frame in degrees.")] = None,
    force: o.Force = None,
    near: Annotated[
        str | None, o.option("VALUES", "Controller values to start from (default: many, over the joint ranges).")
    ] = None,
    table: Annotated[
        Path | None, o.option("FILE.csv", "Many states: J1_deg,..,torque_J1_Nm,.. or x_mm,y_mm,z_mm,fx_N,fy_N,fz_N.")
    ] = None,
    frame: Annotated[str | None, o.option("FRAME", "Where the force acts (default: the tool).")] = None,
    tool: o.Tool = None,
    ignore_limits: o.IgnoreLimits = False,
) -> KinetostaticsResult:
    """Drive torques to pose and force, and back.

    With joint values and torques: where the loaded frame is and what force acts on it. With position and force: the
    joint values that bring the loaded frame there, and the torques that hold it.

    \b
    Example:
      elastocal kinetostatics scara-ruggeri --position "200,350,0" --force "-30,10,0"
    """
    from elastocal.app.configurations import axes_of, typed, within_limits
    from elastocal.files.robot.read import read_robot
    from elastocal.procedures.contact.kinetostatics import from_drives, to_drives

    model = read_robot(robot, tool)
    place = frame or model.tool
    model.tree.frame(place)
    source = "typed" if table is None else table.as_posix()
    given = _given(model, table, (at, torque), (position, rpy, force))
    if isinstance(given, tuple):
        where = within_limits(model, given[0], ignore_limits)
        state = from_drives(model, where.q, given[1], place)
        notes = (*model.notes, *state.notes, *where.notes)
        return KinetostaticsResult(model, False, source, where.axes, where.shown, state, notes)
    axes = axes_of(model)
    start = None if near is None else typed(model, (near,), "--near").q
    state = to_drives(model, given.position, given.force, given.rpy, start, place)
    shown = model.controller.to_controller(state.q) / axes.factors
    return KinetostaticsResult(model, True, source, axes, shown, state, (*model.notes, *state.notes))


def _given(
    model: Robot, file: Path | None, drives: tuple[str | None, str | None], targets: tuple[str | None, ...]
) -> tuple[Configurations, Array] | TargetTable:
    """Configurations with drive torques (N, n), or targets: of a table; of ``drives`` (controller values, torques in
    N m or N); or of ``targets`` (position in mm, angles in deg, force in N)."""
    import numpy as np

    from elastocal.app.configurations import axes_of, numbers, of_shown, typed
    from elastocal.files.tables.drives import DriveTable, read_drives_or_targets

    axes = axes_of(model)
    if file is not None:
        if any(v is not None for v in (*drives, *targets)):
            raise ConflictError(
                "--table gives the states already; leave out --at, --torque, --position, --rpy and --force"
            )
        table = read_drives_or_targets(file, model.axis_kinds, model.controller.drives)
        if isinstance(table, DriveTable):
            places = tuple(f"{table.file}, line {line}" for line in table.lines)
            return of_shown(model, table.values / axes.factors, places), table.torques
        return table
    at, torque = drives
    if at is not None and torque is not None and not any(v is not None for v in targets):
        each = numbers(torque, model.n, f"--torque {torque!r}", ", ".join(axes.names))
        return typed(model, (at,)), np.array([each])
    position, rpy, force = targets
    if position is not None and force is not None and at is None and torque is None:
        return _target(position, rpy, force)
    raise MissingError(
        "give --at and --torque (what the drives say), or --position and --force (what the tool should do), or --table "
        "with columns of one kind"
    )


def _target(position: str, rpy: str | None, force: str) -> TargetTable:
    import numpy as np

    from elastocal.app.configurations import numbers
    from elastocal.files.tables.drives import TargetTable

    place = 1e-3 * np.array([numbers(position, 3, f"--position {position!r}", "x, y, z")])
    push = np.array([numbers(force, 3, f"--force {force!r}", "fx, fy, fz in N")])
    turn = None if rpy is None else np.radians([numbers(rpy, 3, f"--rpy {rpy!r}", "roll, pitch, yaw in deg")])
    return TargetTable("", place, turn, push, (0,))


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
    units = [("Nm", "N m") if k == "revolute" else ("N", "N") for k in result.axes.kinds]
    columns = [*axis_columns(result.axes)]
    columns += [
        Column(f"torque_{a}_{key}", a, unit, group="drives", digits=6)
        for a, (key, unit) in zip(result.axes.names, units, strict=True)
    ]
    columns += [Column(f"{c}_mm", c, "mm", 4, "position") for c in "xyz"]
    turned = not bool(_unturned(result))
    columns += [Column(f"{c}_deg", c, "deg", 4, "orientation", shown=turned) for c in ("roll", "pitch", "yaw")]
    columns += [Column(f"f{c}_N", f"f{c}", "N", 4, "force") for c in "xyz"]
    columns += [Column("left_um", "left", "um", 3) if result.inverse else Column("left_Nm", "left", "N m", 4)]
    columns += [Column("status", "status")]
    rows = Rows(len(result.shown), lambda part: [_row(result, i) for i in range(part.start, part.stop)])
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
        Fact("robot", "robot", result.model.name),
        Fact("frame", "frame", result.state.frame),
        Fact("way", "way", way, "pose and force to drives" if result.inverse else "drives to pose and force"),
        Fact("states", "states", result.given),
    )
