"""Joint values and drive torques to pose and force, and back, of a robot that bends (002 eq. 4).

Direct: the force that explains the torques best, and where it bends the loaded frame to.  Inverse: joint values that
bring the loaded frame to a pose under a force, and the torques that hold it; from a start that is given, or from many
spread over the joint ranges: of those that arrive, the one nearest to the middle.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from elastocal.model.inverse_kinematics import PoseStatus
from elastocal.model.limits import starts
from elastocal.model.robot import Robot
from elastocal.model.statics.equilibrium import Status
from elastocal.model.statics.kinetostatics import Inverse, direct, inverse
from elastocal.spatial.entries import Array
from elastocal.spatial.rotation import matrix_rpy, rpy_matrix
from elastocal.values import dataclass

STARTS = 48
CHUNK = 500
"""States whose starts are tried at once."""


@dataclass(frozen=True, eq=False, repr=False)
class Kinetostatics:
    """Both sides of N states, whichever was given, in SI.

    ``q`` (N, n) joint values, ``torque`` (N, n) of the controller's axes, ``position``, ``rpy`` and ``force`` (N, 3) at
    ``frame``; ``left`` (N,) in N m (direct: what no force explains) or m (inverse: how far the frame stays away).
    """

    frame: str
    q: Array
    torque: Array
    position: Array
    rpy: Array
    force: Array
    left: Array
    status: tuple[Status, ...] | tuple[PoseStatus, ...]
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Kinetostatics({sum(s in _GOOD for s in self.status)} of {len(self.status)} states at {self.frame})"

    @cached_property
    def words(self) -> tuple[str, ...]:
        return tuple(s.name.lower().replace("_", " ") for s in self.status)

    @property
    def helps(self) -> tuple[str, ...]:
        """What to do about each kind of failure."""
        return tuple(dict.fromkeys(s.text for s in self.status if s not in _GOOD))


_GOOD = (Status.CONVERGED, PoseStatus.REACHED)


def from_drives(model: Robot, q: Array, torque: Array, frame: str | None = None) -> Kinetostatics:
    """From joint values (N, n) and torques (N, n) of the controller's axes."""
    place = frame or model.tool
    state = direct(model, q, np.linalg.solve(model.controller.matrix.T, torque.T).T, place)
    known = state.status == Status.CONVERGED
    untold = [f"f{c}" for c, lost in zip("xyz", np.isnan(state.force[known]).any(axis=0), strict=True) if lost]
    notes = (
        (f"The torques do not tell {' and '.join(untold)} everywhere; taken as zero for the pose there.",)
        if untold else ()
    )  # fmt: skip
    status = tuple(Status(int(s)) for s in state.status)
    rpy = _angles(state.rotation)
    return Kinetostatics(place, q, torque, state.position, rpy, state.force, state.left, status, notes)


def to_drives(
    model: Robot, position: Array, force: Array, rpy: Array | None = None, near: Array | None = None,
    frame: str | None = None,
) -> Kinetostatics:  # fmt: skip
    """To ``position`` (N, 3), and ``rpy`` (N, 3) where it matters, under ``force`` (N, 3); ``near`` (1, n) to start."""
    place = frame or model.tool
    turn = None if rpy is None else np.array([rpy_matrix(*(float(v) for v in row)) for row in rpy])
    if near is None:
        parts = (slice(first, first + CHUNK) for first in range(0, max(len(position), 1), CHUNK))
        tried = [_from_many(model, position[s], force[s], place, None if turn is None else turn[s]) for s in parts]
        solution = Inverse.joined(tried)
    else:
        solution = inverse(model, position, force, near, place, turn)
    status = tuple(PoseStatus(int(s)) for s in solution.status)
    beyond = {row for row, _, _ in model.beyond_limits(solution.q)}
    outside = sum(i in beyond for i, s in enumerate(status) if s is PoseStatus.REACHED)
    notes = (f"{outside} of {len(status)} states lie beyond the joint limits.",) if outside else ()
    if free := int(solution.free.max(initial=0)):
        notes = (*notes, f"The pose leaves {free} freedom(s) of the joints open; the values near the start are given.")
    angles = np.full((len(status), 3), np.nan) if rpy is None else rpy
    torque = model.controller.torques_to_controller(solution.torque)
    left = np.linalg.norm(solution.left[:, :3], axis=1)
    return Kinetostatics(place, solution.q, torque, position, angles, force, left, status, notes)


def _from_many(model: Robot, position: Array, force: Array, frame: str, turn: Array | None) -> Inverse:
    begun = starts(model, STARTS)
    count = len(position)
    each = np.repeat(np.arange(count), STARTS)
    tried = inverse(
        model, position[each], force[each], np.tile(begun, (count, 1)), frame, None if turn is None else turn[each]
    )
    beyond = np.zeros(len(each), dtype=bool)
    beyond[[row for row, _, _ in model.beyond_limits(tried.q)]] = True
    far = np.linalg.norm(tried.q - begun[0], axis=1) + 1e3 * beyond
    order = 1e9 * (tried.status != PoseStatus.REACHED) + 1e6 * np.linalg.norm(tried.left, axis=1) * (
        tried.status != PoseStatus.NO_EQUILIBRIUM
    )
    best = np.argmin((order + far).reshape(count, STARTS), axis=1) + STARTS * np.arange(count)
    return Inverse(frame, tried.q[best], tried.torque[best], tried.left[best], tried.free[best], tried.status[best])


def _angles(rotation: Array) -> Array:
    return np.array([matrix_rpy(r) if np.isfinite(r).all() else (np.nan,) * 3 for r in rotation])
