"""What all samplers share: draws of parameters and their summaries, coordinates to draw in, convergence.

Coordinates.  A whitened linear problem y = A beta + e is as well conditioned as it can be with
A diag(lengths)^-1 = Q R, columns of unit length, and z = R diag(lengths) (beta - beta_hat): then y - A beta = r - Q z,
and Q^T Q = I whatever the units and the correlation of the parameters.

Convergence.  The formulae are those of Vehtari, Gelman, Simpson, Carpenter and Burkner (2021) for plain values, without
ranks.  Each chain is split in two, so that a drift within a chain counts as a difference between chains.  With M split
chains of n draws, their means, and their variances s_m^2:

    W = mean of s_m^2,   B = n var(means),   var+ = (n - 1)/n W + B/n,   R-hat = sqrt(var+ / W)          (eq. 1-4)
    rho_t = 1 - (W - mean of the autocovariances at lag t) / var+                                          (eq. 10)
    tau = -1 + 2 sum of P_k,   P_k = rho_2k + rho_2k+1,   effective number = M n / tau                 (eq. 11-13)

The sum stops at the first P_k that is not positive, and each P_k is at most the one before (Geyer's initial monotone
sequence).  tau is at least 1 / log10(M n), as in Stan.  Autocovariances divide by n, not by n - t.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from elastocal.errors import NumberError, RangeError, ShapeError, TooFewError, UnobservableError
from elastocal.solve.linear import UnitQR, unit_qr
from elastocal.spatial.entries import Array, Bools
from elastocal.values import dataclass

SMALLEST = 1e-9
FEWEST = 8
MIXED, ENOUGH = 1.01, 400.0
"""Chains have converged with every R-hat below and every effective number above (Vehtari et al. 2021)."""


@dataclass(frozen=True, eq=False)
class Draws:
    """``draws`` has the parameters along its last axis; all other axes count as one sample."""

    names: tuple[str, ...]
    draws: Array

    @property
    def flat(self) -> Array:
        """(n, p)"""
        return self.draws.reshape(-1, self.draws.shape[-1])

    @property
    def mean(self) -> Array:
        return np.asarray(self.flat.mean(axis=0))

    @property
    def sd(self) -> Array:
        return np.asarray(self.flat.std(axis=0, ddof=1))

    def interval(self, level: float = 0.95) -> Array:
        """(2, p): the quantiles (1 - level) / 2 and (1 + level) / 2 of the draws."""
        if not 0 < level < 1:
            raise RangeError(f"interval: the level {level:g} must be between 0 and 1, such as 0.95", value=level)
        return np.asarray(np.quantile(self.flat, [(1 - level) / 2, (1 + level) / 2], axis=0))


@dataclass(frozen=True, eq=False)
class Basis:
    """``values`` is the least-squares estimate beta_hat and ``residuals`` is r = y - A beta_hat."""

    qr: UnitQR
    values: Array
    residuals: Array

    @property
    def q(self) -> Array:
        return self.qr.q

    def parameters(self, z: Array) -> Array:
        """beta = beta_hat + diag(lengths)^-1 R^-1 z of coordinates (..., p)."""
        moved = np.linalg.solve(self.qr.r, z.reshape(-1, len(self.values)).T).T / self.qr.lengths
        moved += self.values
        return moved.reshape(z.shape)


def basis(names: Sequence[str], matrix: Array, readings: Array) -> Basis:
    """QR of the columns at unit length; refuses what has no unique solution or nothing to spare."""
    a, y = np.asarray(matrix, dtype=np.float64), np.asarray(readings, dtype=np.float64)
    if a.ndim != 2 or y.shape != a.shape[:1] or len(names) != a.shape[1]:
        raise ShapeError(
            f"{len(names)} names, a matrix {a.shape} and readings {y.shape} do not belong together; "
            "give one column per name and one row per reading",
            value=(len(names), a.shape, y.shape),
        )
    if not np.all(np.isfinite(a)) or not np.all(np.isfinite(y)):
        raise NumberError(
            "the matrix and the readings must be finite numbers; leave out rows without a value", code="not-finite"
        )
    if len(y) < len(names) + 1:
        raise TooFewError(
            f"{len(y)} readings cannot tell how sure {len(names)} parameters are; "
            f"measure at least {len(names) + 1} or seek fewer parameters",
            value=(len(y), len(names), len(names) + 1),
        )
    seen = np.any(a, axis=0)
    if not np.all(seen):
        lost = names[int(np.argmin(seen))]
        raise UnobservableError(
            f"no reading depends on {lost}; leave it out or load the robot in another direction", value=lost
        )
    qr = unit_qr(a)
    if np.linalg.norm(qr.r, -2) < SMALLEST:
        raise UnobservableError(
            "the parameters are not separately identifiable by these readings; see which with solve.identifiability",
            code="not-separable",
        )
    return Basis(qr, qr.solve(y), y - qr.q @ (qr.q.T @ y))


def split_rhat(draws: Array) -> Array:
    """R-hat (p,) of draws (chains, draws, p): about 1 where the chains agree; nan where every chain is constant."""
    halves = _halves(draws)
    n = halves.shape[1]
    within = halves.var(axis=1, ddof=1).mean(axis=0)
    between = halves.mean(axis=1).var(axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.sqrt((n - 1) / n + between / within)
    return np.where(_constant(halves), np.nan, ratio)


def effective_number(draws: Array) -> Array:
    """Effective number (p,) of draws (chains, draws, p) for their mean; nan where every chain is constant."""
    halves = _halves(draws)
    m, n, _ = halves.shape
    means = halves.mean(axis=1)
    covariance = _autocovariance(halves - means[:, None])
    within = covariance[0] * n / (n - 1)
    total = covariance[0] + means.var(axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        rho = 1 - (within - covariance) / total
    rho[0] = 1.0
    tau = np.maximum(_geyer(rho), 1 / np.log10(m * n))
    return np.where(_constant(halves), np.nan, m * n / tau)


def _halves(draws: Array) -> Array:
    """(2 chains, half the draws, p); the middle draw of an odd number is left out."""
    x = np.asarray(draws, dtype=np.float64)
    if x.ndim != 3 or x.shape[0] < 1 or x.shape[1] < FEWEST:
        raise TooFewError(
            f"draws {x.shape} must be (chains, draws, parameters) with at least {FEWEST} draws; draw more",
            value=(x.shape, FEWEST),
        )
    half = x.shape[1] // 2
    return np.concatenate([x[:, :half], x[:, -half:]])


def _constant(halves: Array) -> Bools:
    # By the range: the variance of a constant that is no binary fraction is not exactly zero.
    return np.asarray(np.ptp(halves, axis=1).max(axis=0) == 0)


def _autocovariance(centred: Array) -> Array:
    """(n, p): autocovariances at lags 0 .. n - 1, averaged over the chains, by FFT."""
    n = centred.shape[1]
    power = np.zeros((n + 1, centred.shape[2]))
    for chain in centred:
        spectrum = np.fft.rfft(chain, 2 * n, axis=0)
        power += spectrum.real**2 + spectrum.imag**2
    return np.asarray(np.fft.irfft(power, 2 * n, axis=0)[:n] / (n * len(centred)))


def _geyer(rho: Array) -> Array:
    """tau = -1 + 2 sum of Geyer's initial monotone sequence of the autocorrelations (n, p)."""
    even = len(rho) // 2 * 2
    pairs = rho[0:even:2] + rho[1:even:2]
    positive = np.logical_and.accumulate(pairs > 0, axis=0)
    falling = np.minimum.accumulate(pairs, axis=0)
    return np.asarray(-1 + 2 * np.sum(np.where(positive, falling, 0.0), axis=0))
