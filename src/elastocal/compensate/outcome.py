"""The status of targets after the search: reach, singularities, flips, limits, backlash, stability."""

from __future__ import annotations

import numpy as np

from elastocal.compensate import spherical_wrist
from elastocal.compensate.nominal import Nominal
from elastocal.compensate.status import TargetStatus
from elastocal.model.kinematics import rigid_motion
from elastocal.model.pose_search import row_scales
from elastocal.model.statics import backlash, stability
from elastocal.model.statics.continuation import LARGEST_BEND
from elastocal.model.statics.found import FoundStates
from elastocal.model.statics.loaded_goal import Goal, Settled
from elastocal.model.statics.loaded_state import LoadedRobot
from elastocal.spatial.entries import Array, Bools, Ints

SINGULAR = 1e-3
"""Margin below which a bend of a milliradian may turn a joint by a radian."""
BLAMED = 0.05
"""Margin below which a search that failed is blamed on the singularity."""
_NEAR = (
    TargetStatus.NEAR_SHOULDER_SINGULARITY,
    TargetStatus.NEAR_ELBOW_SINGULARITY,
    TargetStatus.NEAR_WRIST_SINGULARITY,
)


def target_status(
    robot: LoadedRobot,
    inverse: Nominal,
    goal: Goal,
    nominal: Array,
    reached: Bools,
    margins: Array | None,
    out: Settled,
) -> Ints:
    """Status (N,); what is named first hides what comes after."""
    status = np.full(len(reached), int(TargetStatus.CORRECTED), dtype=np.int64)
    model, known = robot.model, np.where(out.done, out.q, 0.0)
    beyond = [row for row, _, _ in model.beyond_limits(known.T)]
    status[beyond] = TargetStatus.JOINT_LIMIT
    if margins is None:
        margins = _margin(inverse, nominal)
        names: tuple[TargetStatus, ...] = (TargetStatus.NEAR_SINGULARITY,)
    else:
        names = _NEAR
        status[_flipped(inverse, nominal, known, margins) & out.done] = TargetStatus.CONFIGURATION_FLIP
    theta = np.where(out.done, out.theta, robot.constant)
    found = FoundStates(model, robot.flex, known, theta, tuple(goal.applied))
    unstable, _ = stability.judge_stability(found, np.ones_like(out.done))
    status[out.done & backlash.undetermined(found)] = TargetStatus.UNDETERMINED_BACKLASH
    bend = np.abs(theta - robot.constant)[robot.flex.rotates].max(axis=0, initial=0.0)
    status[out.done & (unstable | (bend > LARGEST_BEND))] = TargetStatus.UNSTABLE
    status[~out.done] = TargetStatus.NOT_CONVERGED
    least = margins.min(axis=0)
    close = np.flatnonzero((least < SINGULAR) | (~out.done & (least < BLAMED)))
    status[close] = np.array(names)[np.argmin(margins[:, close], axis=0)]
    status[~reached] = TargetStatus.OUT_OF_REACH
    return status


def _flipped(inverse: Nominal, nominal: Array, command: Array, margins: Array) -> Bools:
    """Whether nominal and command lie on two branches; only a change larger than the margin can do that."""
    arm = inverse.arm
    assert arm is not None
    out = np.zeros(nominal.shape[1], dtype=bool)
    change = np.abs(command - nominal).max(axis=0)
    rows = np.flatnonzero(margins.min(axis=0) < 3 * change)
    if len(rows):
        a, b = (spherical_wrist.branch_of(arm, q[:, rows]) for q in (nominal, command))
        out[rows] = a != b
    return out


def _margin(inverse: Nominal, q: Array) -> Array:
    """Smallest over largest singular value of the task's Jacobian, lengths divided by the robot's extent: (1, N)."""
    rows = list(inverse.task.rows)
    finite = np.isfinite(q[0])
    jacobian = rigid_motion(inverse.model.nominal, inverse.frame, np.where(finite, q, 0.0))[2][rows]
    values = np.linalg.svd(
        np.moveaxis(jacobian * row_scales(inverse.model, inverse.task.rows)[:, None], -1, 0), False, False
    )
    return np.asarray(np.where(finite, values[:, -1] / values[:, 0], 0.0)[None])
