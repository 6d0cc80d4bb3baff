"""How much readings scatter about a model, and how many independent ones they are worth.

Neighbouring samples of a log err alike (ripple, stick-slip, what the model lacks).  N of them with the autocorrelation
rho_t are worth N_eff = N / (1 + 2 sum rho_t) independent ones, so that variances from N samples are too small by
N / N_eff, the crowding.
"""

from __future__ import annotations

import numpy as np

from elastocal.spatial.entries import Array
from elastocal.uncertainty.convergence import FEWEST, effective_number

SMALLEST = 1e-6
"""N m: noise of a log that has none."""


def scatter_and_worth(residuals: Array) -> tuple[Array, Array]:
    """Of each joint (n,) from residuals (N, n): root mean square, and the effective number; nan where it is unknown."""
    noise, worth = np.full(residuals.shape[1], np.nan), np.full(residuals.shape[1], np.nan)
    for j, column in enumerate(residuals.T):
        r = column[np.isfinite(column)]
        if len(r):
            noise[j] = max(float(np.sqrt(np.mean(r**2))), SMALLEST)
        if len(r) >= 2 * FEWEST:
            worth[j] = min(float(effective_number(r.reshape(1, -1, 1))[0]), len(r))
    return noise, worth


def crowding(count: Array, worth: Array) -> Array:
    """N / N_eff of every joint, one where nothing is known."""
    known = np.isfinite(worth)
    return np.where(known, np.maximum(count / np.where(known, worth, 1.0), 1.0), 1.0)
