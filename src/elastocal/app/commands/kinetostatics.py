"""Joint values and drive torques to pose and force, or back, of a robot that bends (002 eq. 4)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING

from elastocal.app.configurations import Axes, Configurations, axes_of, numbers, of_shown, typed, within_limits
from elastocal.app.workers import one_thread
from elastocal.errors import InputError
from elastocal.files.robot.read import read_robot

if TYPE_CHECKING:
    from elastocal.files.tables.drives import TargetTable
    from elastocal.model.robot import RobotModel
    from elastocal.model.statics.kinetostatics_inverse import Inverse
    from elastocal.spatial.entries import Array

STARTS = 48


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
    """Both sides of N states, whichever was given.

    ``shown`` (N, n) in the controller's units, ``torque`` (N, n) of its axes, ``position``, ``rpy`` and ``force``
    (N, 3) in SI; ``left`` (N,) in N m (direct) or m (inverse); ``words`` and ``helps`` per row.
    """

    model: RobotModel
    frame: str
    inverse: bool
    given: str
    axes: Axes
    shown: Array
    torque: Array
    position: Array
    rpy: Array
    force: Array
    left: Array
    words: tuple[str, ...]
    helps: tuple[str, ...]
    notes: tuple[str, ...]


def run(request: KinetostaticsRequest) -> KinetostaticsResult:
    model = read_robot(request.robot, request.tool)
    frame = request.frame or model.tool
    model.tree.frame(frame)
    with one_thread():
        given = _given(model, request)
        if isinstance(given, tuple):
            return _direct(model, frame, request, *given, model.notes)
        return _inverse(model, frame, request, given, model.notes)


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


def _direct(
    model: RobotModel,
    frame: str,
    request: KinetostaticsRequest,
    given: Configurations,
    torque: Array,
    notes: tuple[str, ...],
) -> KinetostaticsResult:
    import numpy as np

    from elastocal.model.statics.equilibrium import Status
    from elastocal.model.statics.kinetostatics import direct

    at = within_limits(model, given, request.ignore_limits)
    found = direct(model, at.q, np.linalg.solve(model.controller.matrix.T, torque.T).T, frame)
    status = [Status(int(s)) for s in found.status]
    known = found.status == Status.CONVERGED
    untold = [f"f{c}" for c, lost in zip("xyz", np.isnan(found.force[known]).any(axis=0), strict=True) if lost]
    if untold:
        notes = (
            *notes,
            f"The torques do not tell {' and '.join(untold)} everywhere; taken as zero for the pose there.",
        )
    return KinetostaticsResult(
        model, frame, False, _source(request), at.axes, at.shown, torque, found.position, _angles(found.rotation),
        found.force, found.left, _words(status), _helps(s.text for s in status if s is not Status.CONVERGED),
        (*notes, *at.notes),
    )  # fmt: skip


def _inverse(
    model: RobotModel, frame: str, request: KinetostaticsRequest, target: TargetTable, notes: tuple[str, ...]
) -> KinetostaticsResult:
    import numpy as np

    from elastocal.model.pose_status import PoseStatus

    axes = axes_of(model)
    near = None if request.near is None else typed(model, (request.near,), "--near").q
    found = _solved(model, frame, target, near)
    beyond = {row for row, _, _ in model.beyond_limits(found.q)}
    status = [PoseStatus(int(s)) for s in found.status]
    outside = sum(i in beyond for i, s in enumerate(status) if s is PoseStatus.REACHED)
    if outside:
        notes = (*notes, f"{outside} of {len(status)} states lie beyond the joint limits.")
    free = int(found.free.max(initial=0))
    if free:
        notes = (*notes, f"The pose leaves {free} freedom(s) of the joints open; the values near the start are given.")
    shown = model.controller.to_controller(found.q) / axes.factors
    rpy = np.full((len(status), 3), np.nan) if target.rpy is None else target.rpy
    return KinetostaticsResult(
        model, frame, True, _source(request), axes, shown, model.controller.torques_to_controller(found.torque),
        target.position, rpy, target.force, np.linalg.norm(found.left[:, :3], axis=1), _words(status),
        _helps(s.text for s in status if s is not PoseStatus.REACHED), notes,
    )  # fmt: skip


def _solved(model: RobotModel, frame: str, target: TargetTable, near: Array | None) -> Inverse:
    """From the start given, or from many spread over the ranges: of those that arrive, the nearest to the middle."""
    import numpy as np

    from elastocal.model.configurations import starts
    from elastocal.model.pose_status import PoseStatus
    from elastocal.model.statics.kinetostatics_inverse import Inverse, inverse
    from elastocal.spatial.rotation import rpy_matrix

    turn = None if target.rpy is None else np.array([rpy_matrix(*(float(v) for v in row)) for row in target.rpy])
    if near is not None:
        return inverse(model, target.position, target.force, near, frame, turn)
    begun = starts(model, STARTS)
    count = len(target.position)
    each = np.repeat(np.arange(count), STARTS)
    tried = inverse(
        model, target.position[each], target.force[each], np.tile(begun, (count, 1)), frame,
        None if turn is None else turn[each],
    )  # fmt: skip
    beyond = np.zeros(len(each), dtype=bool)
    beyond[[row for row, _, _ in model.beyond_limits(tried.q)]] = True
    far = np.linalg.norm(tried.q - begun[0], axis=1) + 1e3 * beyond
    order = 1e9 * (tried.status != PoseStatus.REACHED) + 1e6 * np.linalg.norm(tried.left, axis=1) * (
        tried.status != PoseStatus.NO_EQUILIBRIUM
    )
    best = np.argmin((order + far).reshape(count, STARTS), axis=1) + STARTS * np.arange(count)
    return Inverse(
        frame, tried.q[best], tried.torque[best], tried.left[best], tried.free[best], tried.status[best]
    )  # fmt: skip


def _angles(rotation: Array) -> Array:
    import numpy as np

    from elastocal.spatial.rotation import matrix_rpy

    return np.array([matrix_rpy(r) if np.isfinite(r).all() else (np.nan,) * 3 for r in rotation])


def _source(request: KinetostaticsRequest) -> str:
    return "typed" if request.table is None else request.table.as_posix()


def _words(status: Sequence[IntEnum]) -> tuple[str, ...]:
    return tuple(s.name.lower().replace("_", " ") for s in status)


def _helps(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))
