"""The torque that holds an identified arm at any pose, how well it is known, and where it is extrapolated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.gravity.fit import GravityFit
from elastocal.gravity.samples import Samples
from elastocal.model.statics.holding import holding_observation, holding_torque
from elastocal.spatial.entries import Array, Bools


@dataclass(frozen=True, eq=False)
class TorquePrediction:
    """Holding torques (N, n) of the drives, their standard deviation, and where they are extrapolated.

    A torque is extrapolated where it is known less well than that joint's torque was at any sample of the fit.
    """

    torque: Array
    sd: Array
    extrapolated: Bools


def predict_torque(found: GravityFit, q: Array) -> TorquePrediction:
    """At any joint values (N, n), friction and noise apart."""
    sd = _spread(found, found.model.joint_values(q))
    widest = _spread(found, found.samples.log.q).max(axis=0)
    return TorquePrediction(holding_torque(found.model, q), sd, sd > 1.001 * widest + 1e-12)


def friction_torque(found: GravityFit, samples: Samples) -> Array:
    """(N, n) as it appears in the readings; zero where the fit has not seen a joint's friction."""
    out = np.zeros(samples.log.q.shape)
    if found.friction is None:
        return out
    kind = samples.kind(found.model, found.sense.sign)
    columns = found.friction.columns(kind, found.model)
    known = found.nuisances()
    for i, unknown in enumerate(found.friction.unknowns(kind, found.model)):
        out += known.get(unknown.name, (0.0, 0.0))[0] * columns[:, :, i]
    return out


def _spread(found: GravityFit, q: Array) -> Array:
    slopes = holding_observation(found.model, q, found.wide.names)
    return np.asarray(np.sqrt(np.maximum(np.einsum("nrp,pq,nrq->nr", slopes, found.wide.covariance, slopes), 0.0)))
