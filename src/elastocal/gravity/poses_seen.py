"""Which torques are asked for at joint values beyond those of the readings that a fit rests on.

Accuracies hold as far as the model does; beyond the poses seen nothing has shown that it does.
"""

from __future__ import annotations

import numpy as np

from elastocal.gravity.samples import STILL, Samples
from elastocal.model.robot import RobotModel
from elastocal.model.statics.holding import holding_torque
from elastocal.spatial.entries import Array, Bools

SHIFT = 0.5
"""Radians or metres that show whether a torque depends on a joint."""


def outside_seen(model: RobotModel, seen: Samples, q: Array) -> Bools:
    """(N, n): torques that depend on a joint which at ``q`` (N, n) is outside its range in that torque's readings."""
    depends = torque_depends(model, q)
    out = np.zeros(q.shape, dtype=bool)
    for j in range(model.n):
        rows = seen.log.q[np.isfinite(seen.torque[:, j])]
        if len(rows):
            beyond = (q < rows.min(axis=0) - STILL) | (q > rows.max(axis=0) + STILL)
            out[:, j] = np.any(beyond & depends[:, j], axis=1)
    return out


def torque_depends(model: RobotModel, q: Array) -> Bools:
    """(n, n): whether joint i changes the holding torque of joint j anywhere at these poses."""
    here = holding_torque(model, q)
    small = 1e-6 * max(float(np.abs(here).max(initial=0.0)), 1e-6)
    moved = [holding_torque(model, q + SHIFT * step) for step in np.eye(model.n)]
    return np.array([np.any(np.abs(m - here) > small, axis=0) for m in moved])
