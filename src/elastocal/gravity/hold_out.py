"""Judging a fit by torques that it has not seen: the last part of a log, by the fit of the first.

Neighbouring samples are alike, so a random split would judge a fit by what it has as good as seen; whole blocks do not
leak.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from elastocal.errors import InputError
from elastocal.gravity.fit import GravityFit
from elastocal.gravity.poses_seen import outside_seen
from elastocal.gravity.prediction import ReadingPrediction, predict_reading
from elastocal.gravity.samples import Samples
from elastocal.model.robot import RobotModel
from elastocal.model.statics.holding import holding_torque
from elastocal.spatial.entries import Array, Bools

COVERED = 1.96
"""Standard deviations that hold 95 %."""


def held_out(samples: Samples, share: float) -> tuple[Samples, Samples]:
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
class Judged:
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


def judge_masses(found: GravityFit, samples: Samples, file: RobotModel) -> Judged:
    """``file`` is the robot with the masses of its file."""
    prediction = predict_reading(found, samples)
    own = found.sense.sign * holding_torque(file, samples.log.q) + prediction.friction
    sd = np.hypot(prediction.sd, np.nan_to_num(found.noise))
    error, file_error = samples.torque - prediction.reading, samples.torque - own
    beyond = outside_seen(found.model, found.samples, samples.log.q)
    return Judged(samples, prediction, error, file_error, sd, beyond, found.noise)
