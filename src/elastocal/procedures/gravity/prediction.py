"""The torque that holds an identified arm at any pose, how well it is known, and the validation by torques not seen.

What was seen is judged by leverage: h(x) = |R^-T x|^2 of a row x of holding torque by the readings alone, R the
triangle of all rows fitted, infinite where x depends on what no reading tells.  A torque is extrapolated where its
leverage is larger than that of every reading of its joint, or where the joint moves in a direction not seen.  Inside,
the model was compared with readings to their scatter s_j; beyond, what it lacks is as large as the error e_j of
stretches of the log that were left out in turn:

    sd^2 = x C_j x^T + (e_j^2 - s_j^2)_+ where extrapolated                                             (extrapolation)

with C_j of ``fit``, which grows with the leverage by itself.  Without time inertia goes with the
place as weight does, and the second term counts everywhere.  A joint whose stretches left out the robot file's masses
predict nearly as well or better keeps these; what the fit would have said instead is then part of its sd.  So is all
that a robot file leaves which does not fit the log (``misfit``).

Validation: the last part of a log by the fit of the first.  Neighbouring samples are alike, so a
random split would judge a fit by what it has as good as seen; whole blocks do not leak.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

import numpy as np

from elastocal.errors import RangeError, TooFewError
from elastocal.model.statics.holding import holding_torque
from elastocal.procedures.gravity.fit import GravityFit
from elastocal.procedures.gravity.samples import Samples
from elastocal.solve.dependent import mean_square
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass

BLIND = 1e-6
"""Share of a row that may lie along what no reading tells."""
BEYOND = 1.001
"""Times the largest leverage of the readings."""


@dataclass(frozen=True, eq=False)
class TorquePrediction:
    """Holding torques (N, n) of the drives, their standard deviation, and where they are extrapolated.

    ``leverage`` (N, n) is over the largest one of the joint's readings.  Where the log says nothing of a joint both
    numbers are nan, and ``refused`` says why by its name.
    """

    torque: Array
    sd: Array
    extrapolated: Bools
    leverage: Array
    refused: Mapping[str, str] = field(default_factory=dict)


def predict_torque(fit: GravityFit, q: Array) -> TorquePrediction:
    """At any joint values (N, n), friction and noise apart."""
    values = fit.model.joint_values(q)
    x = fit.weight_columns(values)
    leverage = _leverage(fit, x) / _most(fit)
    lacks = (leverage > BEYOND) | fit.samples.by_row
    sd = np.sqrt(_variance(fit, x) + np.where(lacks, _lacking(fit), 0.0) + np.square(fit.remains))
    if not np.all(np.isfinite(fit.unknowns.sd[: len(fit.unknowns.masses)])):
        sd = np.where(np.isinf(leverage) & _beside(fit, x), np.inf, sd)
    silent = np.array([j in fit.samples.refused for j in fit.model.joints])
    instead = x @ (fit.values - fit.unknowns.file)
    torque = holding_torque(fit.model, values) - np.where(fit.outdone, instead, 0.0)
    sd = np.where(fit.outdone, np.hypot(sd, instead), sd)
    torque = np.where(silent, np.nan, torque)
    return TorquePrediction(
        torque, np.where(silent, np.nan, sd), leverage > BEYOND, leverage, dict(fit.samples.refused)
    )  # fmt: skip


def _lacking(fit: GravityFit) -> Array:
    """Mean square (n,) of what stretches left out show beyond the scatter."""
    return np.maximum(np.nan_to_num(fit.left_out**2 - fit.noise**2), 0.0)


def _variance(fit: GravityFit, x: Array) -> Array:
    """x C_j x^T (N, n)."""
    parts = [np.einsum("nrp,pq,nrq->nr", x, m, x, optimize=True) for m in (fit.solved_covariance, fit.drawn)]
    return np.asarray(np.maximum(parts[0] + (fit.spread - 1) * parts[1], 0.0))


def _leverage(fit: GravityFit, x: Array) -> Array:
    """(N, n) by the readings alone; infinite where a row depends on what they do not tell."""
    from scipy.linalg import solve_triangular

    kept, factor = fit.seen
    rows = x[:, :, kept].reshape(-1, len(kept))
    size = np.sum(solve_triangular(factor, rows.T, trans=1) ** 2, axis=0).reshape(x.shape[:2])
    return np.where(_blind(fit, x), np.inf, size)


def _blind(fit: GravityFit, x: Array) -> Bools:
    rank, x = fit.base.rank, x[:, :, : fit.unknowns.plain]
    away = np.abs((x / rank.lengths) @ rank.null).max(axis=2, initial=0.0)
    return np.asarray(away > BLIND * np.maximum(np.linalg.norm(x / rank.lengths, axis=2), 1e-12))


def _beside(fit: GravityFit, x: Array) -> Bools:
    """Rows that depend on unknowns which were not estimated and are not known either."""
    fixed = np.ones(x.shape[2], dtype=bool)
    fixed[fit.kept] = False
    return np.asarray(np.any(np.abs(x[:, :, fixed & np.isinf(fit.unknowns.sd)]) > 1e-12, axis=2))


def _most(fit: GravityFit) -> Array:
    """Largest leverage (n,) of the weights at the readings fitted; one where a joint has none."""
    if "most" not in vars(fit):
        x = fit.weight_columns(fit.samples.q)
        known = np.isfinite(fit.samples.torque) & ~_blind(fit, x)
        most = np.where(known, _leverage(fit, x), 0.0).max(axis=0)
        vars(fit)["most"] = np.where(most > 0, most, 1.0)
    return np.asarray(vars(fit)["most"])


@dataclass(frozen=True, eq=False)
class ReadingPrediction:
    """What a log should read (N, n): weight, inertia and friction, with the standard deviation of all together.

    ``file`` is the same with the robot file's masses and inertias.  ``new_way`` is where a joint moves in a direction
    that the fit has not seen, so that its friction is a guess.
    """

    weight: TorquePrediction
    friction: Array
    reading: Array
    file: Array
    sd: Array
    new_way: Bools


def predict_reading(fit: GravityFit, samples: Samples) -> ReadingPrediction:
    """At the samples of any log; the noise of a reading comes on top."""
    unknowns, sign = fit.unknowns, fit.sense.sign
    x = unknowns.columns(samples, sign)
    fixed = unknowns.fixed_torque(samples)
    bodies, plain = unknowns.of_bodies, unknowns.plain
    friction = x[:, :, bodies:plain] @ fit.values[bodies:plain]
    rest = fixed + x[:, :, plain:] @ fit.values[plain:]
    own = x[:, :, :bodies] @ fit.values[:bodies] + rest
    file = x[:, :, :bodies] @ unknowns.file[:bodies] + rest
    ways = np.zeros(friction.shape, dtype=bool)
    if fit.friction is not None and (fit.friction.coulomb or fit.friction.viscous):
        ways = _new_ways(fit.samples, samples)
    weight = predict_torque(fit, samples.q)
    own = np.where(fit.outdone, file, own)
    grown = np.maximum(weight.sd**2 - _variance(fit, fit.weight_columns(samples.q)), 0.0)
    sd = np.sqrt(_variance(fit, x) + np.nan_to_num(grown))
    return ReadingPrediction(weight, sign * friction, sign * (own + friction), sign * (file + friction), sd, ways)


def _new_ways(seen: Samples, samples: Samples) -> Bools:
    """(N, n): directions of motion that no reading of ``seen`` has."""
    out = np.zeros(samples.log.q.shape, dtype=bool)
    counted = np.isfinite(seen.torque)
    for sign in (1, -1):
        missing = ~np.any(counted & (np.sign(seen.velocity) == sign), axis=0)
        out |= (np.sign(samples.velocity) == sign) & missing
    return out


COVERED = 1.96
"""Standard deviations that hold 95 %."""
HEAVY = 0.1
"""Share of the most variable torque from which a joint is named in a verdict."""


def split_log(samples: Samples, share: float) -> tuple[Samples, Samples]:
    """The first part of a log to fit and the last to judge."""
    if not 0 < share < 1:
        raise RangeError(f"a share of {share:g} cannot be held out; give a number between 0 and 1", value=share)
    first = np.arange(samples.log.count) < round((1 - share) * samples.log.count)
    if first.all() or not first.any():
        raise TooFewError(f"{samples.log.source}: {samples.log.count} samples cannot be split at {share:g}; log more")
    return samples.part(first), samples.part(~first)


@dataclass(frozen=True, eq=False)
class Validation:
    """Errors (N, n) of a fit at samples and those of the robot file's own masses, friction as fitted taken off both.

    ``sd`` (N, n) is that of one reading about its prediction: masses, friction and noise together; ``scatter`` (n,)
    that of the readings fitted.
    """

    samples: Samples
    prediction: ReadingPrediction
    error: Array
    file_error: Array
    sd: Array
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

    def rms(self, error: Array) -> Array:
        """(n,), nan of a joint without readings."""
        return np.asarray(np.sqrt(mean_square(error)))

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


def validate(fit: GravityFit, samples: Samples) -> Validation:
    prediction = predict_reading(fit, samples)
    sd = np.hypot(prediction.sd, np.nan_to_num(fit.noise))
    error, file_error = samples.torque - prediction.reading, samples.torque - prediction.file
    return Validation(samples, prediction, error, file_error, sd, fit.noise)
