"""The torques of a model written out for joints with parallel level axes (001 eq. 15-17), with their accuracy."""

from __future__ import annotations

import numpy as np

from elastocal.gravity.terms import LevelAxes, Term, level_joints
from elastocal.model.robot import RobotModel
from elastocal.model.statics.holding import holding_observation, holding_torque
from elastocal.spatial.entries import Array
from elastocal.uncertainty.wide import Wide


def expressions(model: RobotModel, at: Array, known: Wide | None = None) -> tuple[Term, ...]:
    """Outermost joint first, with all other joints held at joint values ``at`` (n,).

    The part of a joint beyond the next one out is a pure sine of b_i, so its values at 0 and 90 degrees say it all.
    """
    level = level_joints(model, at)
    out = []
    for i in reversed(range(len(level.joints))):
        q = _quarter(level, i, np.asarray(at, dtype=np.float64))
        cosine, sine = _beyond(level, i, holding_torque(model, q))
        covariance = np.full((2, 2), np.nan)
        if known is not None:
            slopes = _beyond(level, i, holding_observation(model, q, known.names))
            covariance = slopes @ known.covariance @ slopes.T
        following: tuple[str | None, int] = (None, 1)
        if i + 1 < len(level.joints):
            following = (level.joints[i + 1], level.signs[i] * level.signs[i + 1])
        out.append(Term.of(level, i, np.array([cosine, sine]), covariance, following))
    return tuple(out)


def _quarter(level: LevelAxes, i: int, at: Array) -> Array:
    """Joint values (2, n) with b_i at 0 and at 90 degrees."""
    q = np.stack([at, at])
    now = level.angle(q, i)
    q[:, level.columns[i]] += np.array([0.0, np.pi / 2]) - now
    return q


def _beyond(level: LevelAxes, i: int, torque: Array) -> Array:
    """Torque of joint i less that of the next one out, each in its own sense: (2, ...) from (2, n, ...)."""
    own = torque[:, level.columns[i]]
    if i + 1 == len(level.joints):
        return np.asarray(own)
    return np.asarray(own - level.signs[i] * level.signs[i + 1] * torque[:, level.columns[i + 1]])
