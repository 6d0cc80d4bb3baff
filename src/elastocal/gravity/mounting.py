"""Which way is down: the gravity vector in base axes, from the torques of an arm whose masses are known.

Holding torques are linear in gravity, tau = sum_i g_i tau(e_i), so floor, wall, ceiling or a tilted pedestal come out
of one least-squares fit of three numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from elastocal.errors import InputError
from elastocal.gravity.samples import Samples
from elastocal.model.robot import RobotModel
from elastocal.model.statics.holding import holding_torque
from elastocal.spatial.entries import Array


@dataclass(frozen=True, eq=False)
class Mounting:
    """``gravity`` (3,) in m/s2 with covariance, and the angle (rad) to the direction that the robot file states.

    The length says how far the masses are off altogether; the direction is what the mounting decides.
    """

    gravity: Array
    covariance: Array
    away: float

    def mounted(self, model: RobotModel) -> RobotModel:
        """The model with this direction and its own size of gravity."""
        size = float(np.linalg.norm(model.gravity)) or 9.80665
        return replace(model, gravity=size * self.gravity / np.linalg.norm(self.gravity))


def find_gravity(model: RobotModel, samples: Samples, sense: int) -> Mounting:
    """By the torques that count; each joint weighs as its own scatter says."""
    columns = np.stack([sense * holding_torque(replace(model, gravity=e), samples.log.q) for e in np.eye(3)], axis=2)
    used = np.isfinite(samples.torque)
    weight = np.ones(model.n)
    for _ in range(3):
        a = (columns * weight[:, None])[used]
        y = (samples.torque * weight)[used]
        size = np.linalg.svd(a, compute_uv=False)
        if len(size) < 3 or not size[-1] > 1e-6 * size[0]:
            raise InputError(
                f"{samples.log.source}: these poses do not tell which way is down; turn the first axes of the arm too"
            )
        gravity = np.linalg.lstsq(a, y, rcond=None)[0]
        left = np.where(used, samples.torque - columns @ gravity, np.nan)
        spread = np.array(
            [np.sqrt(np.mean(c[np.isfinite(c)] ** 2)) if np.isfinite(c).any() else np.nan for c in left.T]
        )
        weight = 1 / np.where(np.isfinite(spread), np.maximum(spread, 1e-6), 1.0)
    covariance = np.linalg.pinv(a.T @ a)
    down = model.gravity / (np.linalg.norm(model.gravity) or 1.0)
    cosine = float(gravity @ down / np.linalg.norm(gravity))
    return Mounting(
        np.asarray(gravity, dtype=np.float64),
        np.asarray(covariance, dtype=np.float64),
        float(np.arccos(np.clip(cosine, -1.0, 1.0))),
    )
