"""Readings whose errors are not independent: neighbours in the order they were taken, and all that a gauge rounds.

In order.  N readings with the autocorrelation rho_t are worth N_eff = N / (1 + 2 sum rho_t) independent ones, so that
variances from N of them are too small by N / N_eff, the crowding.  What a model lacks makes whole stretches err alike;
with the scores g_b = X_b^T S^-1 r_b of ``STRETCHES`` of them

    V = H^-1 (sum_b g_b g_b^T) H^-1,     C = H^-1 + (kappa^2 - 1)_+ H^-1 (H - P) H^-1                  (spread)

kappa^2 is how many times larger V is than independent stretches let expect, over the rows of a channel for its
predictions and over all rows for the unknowns.  Every stretch is also predicted from the others:

    e_b = r_b + X_b (H - X_b^T S^-1 X_b)^-1 g_b                                                      (left out)

Rounded.  A gauge that shows multiples of d is off by up to d/2.  Noise of several divisions makes these errors
independent, and they stand in the residuals.  Less noise leaves a mean error that depends on where the true value lies
between two marks: over all such places it has the variance

    u^2 = sum_k (d / pi k)^2 / 2 exp(-(2 pi k s / d)^2),     d^2 / 12 without noise                 (mean error)

for readings that scatter by s (Fourier series of the sawtooth).  Residuals do not show it: where readings go in steps
that the division divides, all errors are the same and the fit is exact.  So it is counted at its largest: with
b = A y the estimates, the errors of all readings conspire, and u_b = u sum_n |A_bn|.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from elastocal.solve.draws import FEWEST, effective_number
from elastocal.solve.evidence import Posterior
from elastocal.spatial.entries import Array, Bools

STRETCHES = 12
SMALLEST = 1e-6
"""Noise of readings that have none."""


def scatter_and_worth(residuals: Array) -> tuple[Array, Array]:
    """Of each channel (n,) from residuals (N, n): root mean square, and effective number; nan where unknown."""
    noise, worth = np.full(residuals.shape[1], np.nan), np.full(residuals.shape[1], np.nan)
    for j, column in enumerate(residuals.T):
        r = column[np.isfinite(column)]
        if len(r):
            noise[j] = max(float(np.sqrt(np.mean(r**2))), SMALLEST)
        if len(r) >= 2 * FEWEST:
            worth[j] = min(float(effective_number(r.reshape(1, -1, 1))[0]), len(r))
    return noise, worth


def crowding(count: Array, worth: Array) -> Array:
    """N / N_eff of every channel, one where nothing is known."""
    known = np.isfinite(worth)
    return np.where(known, np.maximum(count / np.where(known, worth, 1.0), 1.0), 1.0)


def spread(solved: Posterior, x: Array, used: Bools) -> tuple[Array, Array, Array]:
    """Covariance (p, p), its part by the readings, and kappa^2 (n,) of every channel."""
    white = (solved.inverse @ x) * used[:, :, None]
    scores = np.array([np.einsum("nrp,nr->p", white[a:b], solved.white[a:b]) for a, b in _stretches(len(x))])
    rows = [white[:, j].T @ white[:, j] for j in range(x.shape[1])]
    every = np.sum(rows, axis=0)
    c = solved.covariance
    stretches = len(scores)
    middle = scores - scores.mean(axis=0)
    drawn = c @ every @ c
    seen = c @ (middle.T @ middle) @ c * stretches / max(stretches - 1, 1)

    def ratio(metric: Array) -> float:
        expected = float(np.sum(metric * drawn))
        return max(1.0, float(np.sum(metric * seen)) / expected) if expected > 0 else 1.0

    return c + (ratio(every) - 1) * drawn, drawn, np.array([ratio(r) for r in rows])


def considered(solved: Posterior, x: Array, z: Array, used: Bools) -> Array:
    """(p, p): what columns ``z`` (N, n, q), not fitted and of standard deviation one, add to a covariance.

    With them the estimates would be G y away, and less certain by G Y G^T: G = H^-1 X^T Z, y = Y Z^T r and
    Y^-1 = Z^T Z - Z^T X G + I, all of it whitened.
    """
    if not z.shape[2]:
        return np.zeros_like(solved.covariance)
    rows, more = ((solved.inverse @ part * used[:, :, None]).reshape(-1, part.shape[2]) for part in (x, z))
    across = rows.T @ more
    away = solved.covariance @ across
    size, turn = np.linalg.eigh(more.T @ more - across.T @ away)
    covariance = (turn / (np.maximum(size, 0.0) + 1.0)) @ turn.T  # rounding may leave sizes below zero
    shift = covariance @ (more.T @ solved.white.reshape(-1))
    return np.asarray(away @ (covariance + np.outer(shift, shift)) @ away.T)


def left_out(solved: Posterior, residuals: Array) -> Array:
    """Root mean square (n,) of stretches predicted from the others."""
    x = solved.blocks.jacobian
    white = solved.inverse @ x
    whole = solved.factor @ solved.factor.T
    error = residuals.copy()
    for a, b in _stretches(len(x)):
        rows = white[a:b].reshape(-1, white.shape[2])
        step = np.linalg.lstsq(whole - rows.T @ rows, rows.T @ solved.white[a:b].reshape(-1), rcond=None)[0]
        error[a:b] += x[a:b] @ step
    return np.sqrt(mean_square(error))


def mean_square(values: Array) -> Array:
    """(n,) over what was read, nan where nothing was."""
    count = np.isfinite(values).sum(axis=0)
    return np.where(count > 0, np.nansum(values**2, axis=0) / np.maximum(count, 1), np.nan)


def _stretches(count: int) -> list[tuple[int, int]]:
    return list(pairwise(np.linspace(0, count, min(STRETCHES, count) + 1).astype(int).tolist()))


INCH = 0.0254
LEADING = (5.0, 2.0, 1.0)
FINEST = 6
"""Decades below the largest reading within which a division is looked for: a finer one matters to nobody."""
NEAR = 1e-4
"""Part of a division that readings may be off a multiple: numbers were multiplied by the factor of their unit."""
HARMONICS = np.arange(1, 200)


def division_of(readings: Array) -> float:
    """The largest 1, 2 or 5 times a power of ten, of a metre or an inch, that divides all; 0.0 where none does."""
    largest = float(np.max(np.abs(readings), initial=0.0))
    if not largest > 0:
        return 0.0
    return max(_largest_divisor(readings / unit, largest / unit) * unit for unit in (1.0, INCH))


def _largest_divisor(numbers: Array, largest: float) -> float:
    top = int(np.floor(np.log10(largest)))
    candidates = (m * 10.0**k for k in range(top, top - FINEST, -1) for m in LEADING)
    return next((d for d in candidates if np.all(np.abs(numbers / d - np.round(numbers / d)) < NEAR)), 0.0)


def mean_error(division: float, scatter: float) -> float:
    """Standard deviation u of the mean error of readings that scatter by this."""
    if division <= 0:
        return 0.0
    decay = np.exp(-((2 * np.pi * HARMONICS * scatter / division) ** 2))
    return float(division / np.pi * np.sqrt(0.5 * np.sum(decay / HARMONICS**2)))
