"""Joint values that bring a frame to its targets, by damped Newton steps: each row of a batch on its own.

    dq = J^T (J J^T + lambda^2 I)^-1 e,    lambda^2 = |e|^2 / 2 + tiny

e is what is missing of the task's rows and J their slope by the joint values, lengths divided by the robot's extent.
The damping fades with the error (Sugihara 2011), so the steps end as Newton's, with the least motion where there are
joints to spare; far from the target, and where it cannot be reached, they stay short and end where e is least.

``residual`` says what e and J are: of the unloaded robot with its geometric errors here (``model.nominal`` is the one
that a controller knows), of the loaded one in ``statics.loaded_inverse``.  A joint that a step would carry
beyond its bounds stops there, and the others take over its share.  Candidates of a measurement stay within the joints'
limits.  Targets of a program are sought without: its user is told which axis would go beyond them, not that the target
is out of reach.

A ``Task`` says which components of a pose a robot is asked to reach, and which of them its joints move at all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from enum import IntEnum
from typing import Literal

import numpy as np

from elastocal.errors import InfeasibleError
from elastocal.model.chain import AXES
from elastocal.model.kinematics import rigid_motion
from elastocal.model.limits import extent, spread_configurations
from elastocal.model.robot import Robot
from elastocal.spatial import batch
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.spatial.pose import missing
from elastocal.values import dataclass

Aim = Literal["pose", "position"]
_STILL = 1e-9
_PLACES = 20


@dataclass(frozen=True)
class Task:
    """``rows``: components of x y z rx ry rz (base axes) that are solved for; ``aim``: whether the loaded pose counts.

    With aim ``position`` the loaded tool has the desired position, and the COMMANDED orientation stays the desired one
    (as far as the robot has any to spare): what a program gets whose positions alone are corrected.
    """

    aim: Aim
    rows: tuple[int, ...]

    @property
    def left_out(self) -> tuple[str, ...]:
        """Components that the robot is not asked to reach."""
        return tuple(a for i, a in enumerate(AXES) if i not in self.rows)


def task(model: Robot, frame: str, aim: Aim | None = None) -> Task:
    """The task of a robot: what its joints can move at all, and not more than it has joints.

    ``aim`` None: the pose where the joints suffice, else the position.
    """
    pose = moved_rows(model.nominal, frame)
    place = tuple(i for i in pose if i < 3)
    if len(pose) <= model.n:
        return Task(aim or "pose", pose)
    words = ", ".join(AXES[i] for i in pose)
    if aim == "pose":
        raise InfeasibleError(
            f"robot {model.name} moves {words} of {frame} with {model.n} joints and cannot reach all of them at once; "
            "correct the position only",
            value=(model.name, frame, model.n),
        )
    if len(place) > model.n:
        raise InfeasibleError(
            f"robot {model.name} has {model.n} joints for the {len(place)} components of a position that it moves; "
            "its path cannot be corrected"
        )
    return Task("position", place)


def moved_rows(model: Robot, frame: str) -> tuple[int, ...]:
    """The components of x y z rx ry rz that some joint moves somewhere."""
    moved = np.abs(_motions(model, frame)).max(axis=(1, 2), initial=0.0) > _STILL * model.size
    return tuple(int(i) for i in np.flatnonzero(moved))


def unmoved_directions(model: Robot, frame: str) -> Array:
    """Unit vectors (3, d) along which no joint moves the frame, wherever it is: one for an arm in any plane."""
    axes, sizes, _ = np.linalg.svd(_motions(model, frame)[:3].reshape(3, -1))
    moved = int(np.sum(sizes > _STILL * np.max(sizes, initial=0.0)))
    return np.asarray(axes[:, moved:])


def _motions(model: Robot, frame: str) -> Array:
    """Jacobian (6, n, M) at configurations all over the joint ranges."""
    return rigid_motion(model, frame, spread_configurations(model, _PLACES).T)[2]


class PoseStatus(IntEnum):
    """Outcome of an inverse problem; ``text`` is the help."""

    REACHED = 0
    OUT_OF_REACH = 1
    NO_EQUILIBRIUM = 2
    OFF_THE_PLANE = 3
    JOINT_LIMIT = 4

    @property
    def text(self) -> str:
        return _TEXT[self]


_TEXT = {
    PoseStatus.REACHED: "reached",
    PoseStatus.OUT_OF_REACH: "out of reach: no joint values near the start bring the frame there; see what is left, "
    "start elsewhere, or check the target",
    PoseStatus.NO_EQUILIBRIUM: "no determined equilibrium there: a backlash carries no force, or the load is too "
    "large; change the force",
    PoseStatus.OFF_THE_PLANE: "off the plane: the target is beside the plane or line in which the joints move the "
    "frame, so that no start helps; change the target, see what is left",
    PoseStatus.JOINT_LIMIT: "joint limit: a joint stands at its limit before the frame is there; start elsewhere, or "
    "move the target",
}


SETTLED = 1e-12
"""Missing part of a pose after which no other step is taken, in rad and in m per m of the robot's extent."""
REACHED = 1e-9
"""The same for a target that counts as reached: next to a singularity the steps gain little."""
STUCK = 1e-6
"""Share of what is missing below which a step leads nowhere."""
STEPS = 60
LONGEST_STEP = 0.5
_TINY = 1e-14

Residual = Callable[[Array, Ints], tuple[Array, Array]]
"""Joint values (n, M) of some rows (M,) to what is missing there (r, M) and its slope (r, n, M); nan: no answer."""
Bounds = tuple[Array, Array]
"""Lowest and highest joint values (n,)."""


@dataclass(frozen=True, eq=False)
class Posed:
    """Joint values (n, N) and status (N,); the nearest that was found where the target is not reached."""

    q: Array
    status: Ints

    @property
    def reached(self) -> Bools:
        return np.asarray(self.status == PoseStatus.REACHED)


def search(
    model: Robot, rows: tuple[int, ...], residual: Residual, start: Array, bounds: Bounds | None = None
) -> Posed:
    """From joint values (n, N) for components ``rows`` of x y z rx ry rz, within ``bounds`` where given."""
    ends = None if bounds is None else (bounds[0][:, None], bounds[1][:, None])
    q = start.copy() if ends is None else np.clip(start, *ends)
    scale, turns = row_scales(model, rows), _joint_scales(model)
    left = np.full(q.shape[1], np.nan)
    going = np.arange(q.shape[1])
    for _ in range(STEPS):
        if not len(going):
            break
        gap, jacobian = residual(q[:, going], going)
        gap, jacobian = gap * scale, jacobian * scale[:, None]
        left[going] = np.abs(gap).max(axis=0, initial=0.0)
        step = _shortened(damped_step(jacobian, gap, _fading(gap)), turns)
        if ends is not None:
            step = _within(ends, q[:, going], step, jacobian, gap, turns)
        known = np.isfinite(step).all(axis=0)
        q[:, going[known]] += step[:, known]
        moved = np.abs(step * turns).max(axis=0, initial=0.0)
        going = going[known & (left[going] > SETTLED) & (moved > STUCK * left[going])]
    status = np.select(
        [left <= REACHED, np.isnan(left)], [PoseStatus.REACHED, PoseStatus.NO_EQUILIBRIUM], PoseStatus.OUT_OF_REACH
    )
    if ends is not None:
        stopped = ((q <= ends[0]) | (q >= ends[1])).any(axis=0)
        status[stopped & (status == PoseStatus.OUT_OF_REACH)] = PoseStatus.JOINT_LIMIT
    return Posed(q, status)


def damped_step(jacobian: Array, missing: Array, damping: Array | float) -> Array:
    """J^T (J J^T + damping)^-1 e (n, N) for J (r, n, N) and e (r, N)."""
    normal = _gram(jacobian)
    rows = np.arange(len(normal))
    normal[rows, rows] += damping
    solved = batch.eliminate_unpivoted(normal, missing[:, None])[:, 0]
    return np.asarray(np.einsum("ain,an->in", jacobian, solved))


def row_scales(model: Robot, rows: tuple[int, ...]) -> Array:
    """1 for angles, 1 / extent for lengths: (r, 1)."""
    return np.array([1.0 / extent(model) if i < 3 else 1.0 for i in rows])[:, None]


def _gram(jacobian: Array) -> Array:
    """J J^T (r, r, N), the same bits for any N: for a single one einsum would sum in another order, so it gets two."""
    total = jacobian.shape[2]
    some = jacobian if total > 1 else np.repeat(jacobian, 2, axis=2)
    return np.asarray(np.einsum("ain,bin->abn", some, some)[:, :, :total])


def _joint_scales(model: Robot) -> Array:
    return np.array([1.0 if m.kind == "revolute" else 1.0 / extent(model) for m in model.motions])[:, None]


def _fading(gap: Array) -> Array:
    return np.asarray(0.5 * (gap**2).sum(axis=0) + _TINY)


def _shortened(step: Array, turns: Array) -> Array:
    longest = np.abs(step * turns).max(axis=0, initial=0.0)
    return np.asarray(step * np.minimum(1.0, LONGEST_STEP / np.maximum(longest, LONGEST_STEP)))


def _within(ends: Bounds, q: Array, step: Array, jacobian: Array, gap: Array, turns: Array) -> Array:
    """The step with joints stopped at their bounds, and what they leave missing given to the others."""
    low, high = ends
    out = np.clip(q + step, low, high) - q
    at = np.flatnonzero((out != step).any(axis=0) & np.isfinite(step).all(axis=0))
    if len(at):
        held = out[:, at] != step[:, at]
        fixed = np.where(held, out[:, at], 0.0)
        rest = gap[:, at]
        for column, amount in zip(jacobian[:, :, at].swapaxes(0, 1), fixed, strict=True):
            rest -= column * amount
        others = damped_step(np.where(held, 0.0, jacobian[:, :, at]), rest, _fading(gap[:, at]))
        out[:, at] = np.clip(q[:, at] + fixed + _shortened(others, turns), low, high) - q[:, at]
    return out


ANCHORS = 500


def inverse_kinematics(
    model: Robot,
    frame: str,
    task: Task,
    position: Array,
    rotation: Array | None,
    start: Array,
    bounds: Bounds | None = None,
) -> Posed:
    """For positions (3, N) and rotations (3, 3, N) from joint values (n, N), within ``bounds`` where given.

    ``rotation`` may be None where the task has no rows of it.
    """
    rows = list(task.rows)

    def residual(q: Array, some: Ints) -> tuple[Array, Array]:
        place, turn, jacobian = rigid_motion(model, frame, q)
        wanted = None if rotation is None else rotation[:, :, some]
        return missing(position[:, some], wanted, place, turn)[rows], jacobian[rows]

    match = search(model, task.rows, residual, start, bounds)
    lost = np.flatnonzero(~match.reached)
    status = match.status.copy()
    if len(lost):
        off = position[:, lost] - rigid_motion(model, frame, match.q[:, lost])[0]
        beside = np.abs(unmoved_directions(model, frame).T @ off).max(axis=0, initial=0.0) > REACHED * extent(model)
        status[lost[beside]] = PoseStatus.OFF_THE_PLANE
    return replace(match, status=status)


def along_path(model: Robot, frame: str, task: Task, position: Array, rotation: Array, before: Array) -> Posed:
    """The same along a path that starts near joint values (n,).

    Up to five hundred anchors evenly along the path are solved one after the other, each from the last one reached; all
    others start between their two anchors, in one batch.
    """
    total = position.shape[1]
    every = -(-total // ANCHORS)
    at = np.unique(np.append(np.arange(0, total, every), total - 1))
    anchors, status = np.empty((model.n, len(at))), np.zeros(len(at), dtype=np.int64)
    last = before
    for i, row in enumerate(at):
        one = slice(row, row + 1)
        solution = inverse_kinematics(model, frame, task, position[:, one], rotation[:, :, one], last[:, None])
        anchors[:, i], status[i] = solution.q[:, 0], solution.status[0]
        last = anchors[:, i] if solution.reached[0] else last
    if every == 1:
        return Posed(anchors, status)
    good = status == PoseStatus.REACHED
    base = np.where(good.any(), good, True)
    start = np.stack([np.interp(np.arange(total), at[base], row[base]) for row in anchors])
    return inverse_kinematics(model, frame, task, position, rotation, start)
