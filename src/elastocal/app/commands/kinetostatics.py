"""Joint values and drive torques to pose and force, or back, of a robot that bends (002 eq. 4)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from elastocal.app.configurations import Axes, Configurations, axes_of, numbers, of_shown, typed, within_limits
from elastocal.app.workers import one_thread
from elastocal.errors import InputError
from elastocal.files.robot.read import read_robot

if TYPE_CHECKING:
    from elastocal.files.tables.drives import TargetTable
    from elastocal.model.robot import RobotModel
    from elastocal.procedures.contact.kinetostatics import Kinetostatics
    from elastocal.spatial.entries import Array


@dataclass(frozen=True)
class KinetostaticsRequest:
    """As typed: controller values in their units, torques in N m or N, positions in mm, angles in deg, forces in N."""

    robot: str
    table: Path | None = None
    at: str | None = None
    torque: str | None = None
    position: str | None = None
    rpy: str | None = None
    force: str | None = None
    near: str | None = None
    frame: str | None = None
    tool: str | None = None
    ignore_limits: bool = False


@dataclass(frozen=True, eq=False)
class KinetostaticsResult:
    """``shown`` (N, n) are the joint values of the ``state`` in the controller's units."""

    model: RobotModel
    inverse: bool
    given: str
    axes: Axes
    shown: Array
    state: Kinetostatics
    notes: tuple[str, ...]


def run(request: KinetostaticsRequest) -> KinetostaticsResult:
    from elastocal.procedures.contact.kinetostatics import from_drives, to_drives

    model = read_robot(request.robot, request.tool)
    frame = request.frame or model.tool
    model.tree.frame(frame)
    source = "typed" if request.table is None else request.table.as_posix()
    with one_thread():
        given = _given(model, request)
        if isinstance(given, tuple):
            at = within_limits(model, given[0], request.ignore_limits)
            state = from_drives(model, at.q, given[1], frame)
            notes = (*model.notes, *state.notes, *at.notes)
            return KinetostaticsResult(model, False, source, at.axes, at.shown, state, notes)
        axes = axes_of(model)
        near = None if request.near is None else typed(model, (request.near,), "--near").q
        state = to_drives(model, given.position, given.force, given.rpy, near, frame)
        shown = model.controller.to_controller(state.q) / axes.factors
        return KinetostaticsResult(model, True, source, axes, shown, state, (*model.notes, *state.notes))


def _given(model: RobotModel, request: KinetostaticsRequest) -> tuple[Configurations, Array] | TargetTable:
    """Configurations with drive torques (N, n), or targets."""
    import numpy as np

    from elastocal.files.tables.drives import DriveTable, TargetTable, read_drives_or_targets

    axes = axes_of(model)
    drives, targets = (request.at, request.torque), (request.position, request.rpy, request.force)
    given = [v is not None for v in (*drives, *targets)]
    if request.table is not None:
        if any(given):
            raise InputError(
                "--table gives the states already; leave out --at, --torque, --position, --rpy and --force"
            )
        kinds = dict(zip(axes.names, axes.kinds, strict=True))
        table = read_drives_or_targets(request.table, kinds, model.controller.drives)
        if isinstance(table, DriveTable):
            places = tuple(f"{table.file}, line {line}" for line in table.lines)
            return of_shown(model, table.values / axes.factors, places), table.torques
        return table
    if all(given[:2]) and not any(given[2:]):
        torque = numbers(str(request.torque), model.n, f"--torque {request.torque!r}", ", ".join(axes.names))
        return typed(model, (str(request.at),)), np.array([torque])
    if given[2] and given[4] and not any(given[:2]):
        position = 1e-3 * np.array([numbers(str(request.position), 3, f"--position {request.position!r}", "x, y, z")])
        force = np.array([numbers(str(request.force), 3, f"--force {request.force!r}", "fx, fy, fz in N")])
        rpy = None
        if request.rpy is not None:
            rpy = np.radians([numbers(request.rpy, 3, f"--rpy {request.rpy!r}", "roll, pitch, yaw in deg")])
        return TargetTable("", position, rpy, force, (0,))
    raise InputError(
        "give --at and --torque (what the drives say), or --position and --force (what the tool should do), or --table "
        "with columns of one kind"
    )
