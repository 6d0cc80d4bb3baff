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


@dataclass(frozen=True, eq=False)
class ReadingPrediction:
    """What a log should read (N, n): weight and friction, with the standard deviation of both together.

    ``new_way`` is where a joint moves in a direction that the fit has not seen, so that its friction is a guess.
    """

    weight: TorquePrediction
    friction: Array
    reading: Array
    sd: Array
    new_way: Bools


def predict_reading(found: GravityFit, samples: Samples) -> ReadingPrediction:
    """At the samples of any log; the noise of a reading comes on top."""
    weight = predict_torque(found, samples.log.q)
    kind = samples.kind(found.model, found.sense.sign)
    columns = [kind.derivative(found.model, found.wide.names)]
    friction, ways = np.zeros(samples.log.q.shape), np.zeros(samples.log.q.shape, dtype=bool)
    names = list(found.wide.names)
    if found.friction is not None:
        known = found.nuisances()
        extra = found.friction.columns(kind, found.model)
        for i, unknown in enumerate(found.friction.unknowns(kind, found.model)):
            if unknown.name in known:
                friction += known[unknown.name][0] * extra[:, :, i]
                columns.append(extra[:, :, i : i + 1])
                names.append(unknown.name)
        if found.friction.coulomb or found.friction.viscous:
            ways = _new_ways(found.samples, samples)
    at = [found.joint.names.index(n) for n in names]
    slopes, covariance = np.concatenate(columns, axis=2), found.joint.covariance[np.ix_(at, at)]
    reading = found.sense.sign * weight.torque + friction
    return ReadingPrediction(weight, friction, reading, _along(slopes, covariance), ways)


def _new_ways(seen: Samples, samples: Samples) -> Bools:
    """(N, n): directions of motion that no reading of ``seen`` has."""
    out = np.zeros(samples.log.q.shape, dtype=bool)
    counted = np.isfinite(seen.torque)
    for sign in (1, -1):
        missing = ~np.any(counted & (np.sign(seen.velocity) == sign), axis=0)
        out |= (np.sign(samples.velocity) == sign) & missing
    return out


def _spread(found: GravityFit, q: Array) -> Array:
    return _along(holding_observation(found.model, q, found.wide.names), found.wide.covariance)


def _along(slopes: Array, covariance: Array) -> Array:
    """Standard deviations (N, n) of numbers with slopes (N, n, p)."""
    return np.asarray(np.sqrt(np.maximum(np.einsum("nrp,pq,nrq->nr", slopes, covariance, slopes, optimize=True), 0.0)))
