"""The torque that holds an identified arm at any pose, how well it is known, and the validation by torques not seen.

A torque is extrapolated where it is known less well than at any sample of the fit, or where a joint moves in a
direction not seen there.  It is outside the poses seen where a joint that it depends on is beyond its range in the
readings fitted: accuracies hold as far as the model does, and beyond nothing has shown that it does.

Validation: the last part of a log by the fit of the first.  Neighbouring samples are alike, so a random split would
judge a fit by what it has as good as seen; whole blocks do not leak.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from elastocal.errors import InputError
from elastocal.model.robot import Robot
from elastocal.model.statics.holding import holding_observation, holding_torque
from elastocal.procedures.gravity.fit import GravityFit
from elastocal.procedures.gravity.samples import STILL, Samples
from elastocal.spatial.entries import Array, Bools, Ints


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


SHIFT = 0.5
"""Radians or metres that show whether a torque depends on a joint."""


def outside_seen(model: Robot, seen: Samples, q: Array) -> Bools:
    """(N, n): torques that depend on a joint which at ``q`` (N, n) is outside its range in that torque's readings."""
    depends = torque_depends(model, q)
    out = np.zeros(q.shape, dtype=bool)
    for j in range(model.n):
        rows = seen.log.q[np.isfinite(seen.torque[:, j])]
        if len(rows):
            beyond = (q < rows.min(axis=0) - STILL) | (q > rows.max(axis=0) + STILL)
            out[:, j] = np.any(beyond & depends[:, j], axis=1)
    return out


def torque_depends(model: Robot, q: Array) -> Bools:
    """(n, n): whether joint i changes the holding torque of joint j anywhere at these poses."""
    here = holding_torque(model, q)
    small = 1e-6 * max(float(np.abs(here).max(initial=0.0)), 1e-6)
    moved = [holding_torque(model, q + SHIFT * step) for step in np.eye(model.n)]
    return np.array([np.any(np.abs(m - here) > small, axis=0) for m in moved])


COVERED = 1.96
"""Standard deviations that hold 95 %."""
HEAVY = 0.1
"""Share of the most variable torque from which a joint is named in a verdict."""


def split_log(samples: Samples, share: float) -> tuple[Samples, Samples]:
    """The first part of a log to fit and the last to judge."""
    if not 0 < share < 1:
        raise InputError(f"a share of {share:g} cannot be held out; give a number between 0 and 1")
    first = np.arange(samples.log.count) < round((1 - share) * samples.log.count)
    if first.all() or not first.any():
        raise InputError(f"{samples.log.source}: {samples.log.count} samples cannot be split at {share:g}; log more")
    return _part(samples, first), _part(samples, ~first)


def _part(samples: Samples, rows: Bools) -> Samples:
    m = samples.motion
    moving = replace(m, velocity=m.velocity[rows], acceleration=m.acceleration[rows])
    return replace(samples, log=samples.log.rows(rows), motion=moving, torque=samples.torque[rows])


@dataclass(frozen=True, eq=False)
class Validation:
    """Errors (N, n) of a fit at samples and those of the robot file's own masses, friction as fitted taken off both.

    ``sd`` (N, n) is that of one reading about its prediction: masses, friction and noise together.  ``beyond`` (N, n)
    are torques at joint values outside those fitted (``poses_seen``), ``scatter`` (n,) that of the readings fitted.
    """

    samples: Samples
    prediction: ReadingPrediction
    error: Array
    file_error: Array
    sd: Array
    beyond: Bools
    scatter: Array

    def readings(self) -> Ints:
        """How many each joint has (n,)."""
        return np.asarray(np.isfinite(self.error).sum(axis=0))

    def heavy(self) -> Ints:
        """Joints whose torque varies by a share of the most variable one."""
        read = self.samples.torque
        spread = np.array([np.ptp(c[np.isfinite(c)]) if np.isfinite(c).any() else 0.0 for c in read.T])
        return np.flatnonzero(spread >= HEAVY * max(float(spread.max()), 1e-12))

    def band(self) -> tuple[Array, Array]:
        """From and to (N, n): what should hold 95 % of the readings."""
        return self.prediction.reading - COVERED * self.sd, self.prediction.reading + COVERED * self.sd

    def outside(self) -> Bools:
        """(N, n): readings outside the poses seen."""
        return self.beyond & np.isfinite(self.error)

    def rms(self, error: Array) -> Array:
        """(n,), nan of a joint without readings."""
        count = np.isfinite(error).sum(axis=0)
        squares = np.where(count > 0, np.nansum(error**2, axis=0), np.nan)
        return np.asarray(np.sqrt(squares / np.maximum(count, 1)))

    def largest(self, error: Array) -> Array:
        size = np.where(np.isfinite(error), np.abs(error), -1.0).max(axis=0)
        return np.where(size < 0, np.nan, size)

    def inside(self) -> Array:
        """Share of readings (n,) within the interval that should hold 95 % of them."""
        known = np.isfinite(self.error)
        count = known.sum(axis=0)
        hit = (known & (np.abs(np.nan_to_num(self.error)) <= COVERED * self.sd)).sum(axis=0)
        return np.where(count > 0, hit / np.maximum(count, 1), np.nan)

    def extrapolated(self) -> Bools:
        """(N, n): readings whose prediction is an extrapolation."""
        p = self.prediction
        return (p.weight.extrapolated | p.new_way) & np.isfinite(self.error)


def validate(found: GravityFit, samples: Samples, file: Robot) -> Validation:
    """``file`` is the robot with the masses of its file."""
    prediction = predict_reading(found, samples)
    own = found.sense.sign * holding_torque(file, samples.log.q) + prediction.friction
    sd = np.hypot(prediction.sd, np.nan_to_num(found.noise))
    error, file_error = samples.torque - prediction.reading, samples.torque - own
    beyond = outside_seen(found.model, found.samples, samples.log.q)
    return Validation(samples, prediction, error, file_error, sd, beyond, found.noise)
