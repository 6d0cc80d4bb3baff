r"""Joint values that bring a frame to its targets, by damped Newton steps: each row of a batch on its own.

    dq = J^T (J J^T + lambda^2 I)^-1 e,    lambda^2 = |e|^2 / 2 + tiny

e is what is missing of the task's rows and J their slope by the joint values, lengths divided by the robot's extent.
The damping fades with the error (Sugihara 2011), so the steps end as Newton's, with the least motion where there are
joints to spare; far from the target, and where it cannot be reached, they stay short and end where e is least.

What e and J are is the affair of ``look``: of the unloaded robot in ``inverse_kinematics``, of the loaded one in
``statics.loaded_newton``.  A joint that a step would carry beyond its bounds stops there, and the others take over its
share.  Each row stops by its own error and step: its neighbours do not decide its result.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from elastocal.model.limits import extent
from elastocal.model.pose_status import PoseStatus
from elastocal.model.robot import RobotModel
from elastocal.spatial import batch
from elastocal.spatial.entries import Array, Bools, Ints

SETTLED = 1e-12
"""Missing part of a pose after which no other step is taken, in rad and in m per m of the robot's extent."""
REACHED = 1e-9
"""The same for a target that counts as reached: next to a singularity the steps gain little."""
STUCK = 1e-6
"""Share of what is missing below which a step leads nowhere."""
STEPS = 60
LONGEST_STEP = 0.5
_TINY = 1e-14

Look = Callable[[Array, Ints], tuple[Array, Array]]
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


def search(model: RobotModel, rows: tuple[int, ...], look: Look, start: Array, bounds: Bounds | None = None) -> Posed:
    """From joint values (n, N) for components ``rows`` of x y z rx ry rz, within ``bounds`` where given."""
    ends = None if bounds is None else (bounds[0][:, None], bounds[1][:, None])
    q = start.copy() if ends is None else np.clip(start, *ends)
    scale, turns = row_scales(model, rows), _joint_scales(model)
    left = np.full(q.shape[1], np.nan)
    going = np.arange(q.shape[1])
    for _ in range(STEPS):
        if not len(going):
            break
        gap, jacobian = look(q[:, going], going)
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


def row_scales(model: RobotModel, rows: tuple[int, ...]) -> Array:
    """1 for angles, 1 / extent for lengths: (r, 1)."""
    return np.array([1.0 / extent(model) if i < 3 else 1.0 for i in rows])[:, None]


def _gram(jacobian: Array) -> Array:
    """J J^T (r, r, N), the same bits for any N: for a single one einsum would sum in another order, so it gets two."""
    total = jacobian.shape[2]
    some = jacobian if total > 1 else np.repeat(jacobian, 2, axis=2)
    return np.asarray(np.einsum("ain,bin->abn", some, some)[:, :, :total])


def _joint_scales(model: RobotModel) -> Array:
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
