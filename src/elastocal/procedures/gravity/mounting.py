"""Which way is down: the gravity vector in base axes, from the torques of an arm whose masses are known.

Holding torques are linear in gravity, tau = sum_i g_i tau(e_i), so floor, wall, ceiling or a tilted pedestal come out
of one least-squares fit of three numbers.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from elastocal.errors import UnobservableError
from elastocal.measure.sources.friction import Friction
from elastocal.model.robot import Robot
from elastocal.model.statics.holding import holding_torque
from elastocal.procedures.gravity.samples import Samples
from elastocal.procedures.gravity.unknowns import Unknowns
from elastocal.solve.linear import solve_linear
from elastocal.solve.serial import crowding, scatter_and_worth
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

ROUNDS = 3
LEAST = 1e-5
"""Part of the largest singular value (of unit columns) at which directions are told apart."""


@dataclass(frozen=True, eq=False)
class Mounting:
    """``gravity`` (3,) in m/s2 with covariance, and the angle (rad) to the direction that the robot file states.

    The length says how far the masses are off altogether; the direction is what the mounting decides.
    """

    gravity: Array
    covariance: Array
    away: float

    @property
    def direction_sd(self) -> float:
        """Radians: of the direction, where it is known least."""
        size = np.linalg.norm(self.gravity)
        across = np.eye(3) - np.outer(self.gravity, self.gravity) / size**2
        return float(np.sqrt(max(np.linalg.eigvalsh(across @ self.covariance @ across)[-1], 0.0)) / size)

    def mounted(self, model: Robot) -> Robot:
        """The model with this direction and its own size of gravity."""
        size = float(np.linalg.norm(model.gravity)) or 9.80665
        return replace(model, gravity=size * self.gravity / np.linalg.norm(self.gravity))


def find_gravity(model: Robot, samples: Samples, sign: int, friction: Friction | None = None) -> Mounting:
    """By all torques that count and the model's own masses; each joint weighs as its own scatter says."""
    columns = np.stack([sign * holding_torque(replace(model, gravity=e), samples.q) for e in np.eye(3)], axis=2)
    used = np.isfinite(samples.torque)
    unknowns = Unknowns.of(model, samples, None, friction)
    extra = sign * unknowns.columns(samples, sign)[:, :, unknowns.of_bodies :]
    if extra.shape[2]:
        columns = np.concatenate([columns, extra[:, :, np.any(extra[used], axis=0)]], axis=2)
    weight = np.ones(model.n)
    for _ in range(ROUNDS):
        a, y = (columns * weight[:, None])[used], (samples.torque * weight)[used]
        fit = solve_linear(a, y, relative=LEAST)
        if not fit.known.all():
            raise UnobservableError(
                f"{samples.log.source}: these poses do not tell which way is down; turn the first axes of the arm too",
                code="no-down",
            )
        noise, worth = scatter_and_worth(np.where(used, samples.torque - columns @ fit.values, np.nan))
        crowd = crowding(used.sum(axis=0), worth)
        weight = 1 / (np.where(np.isfinite(noise), noise, 1.0) * np.sqrt(crowd))
    gravity, covariance = fit.values[:3], fit.unit_covariance[:3, :3]
    down = model.gravity / (np.linalg.norm(model.gravity) or 1.0)
    cosine = float(gravity @ down / np.linalg.norm(gravity))
    return Mounting(np.asarray(gravity), np.asarray(covariance), float(np.arccos(np.clip(cosine, -1.0, 1.0))))
