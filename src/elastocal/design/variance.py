"""Gains that are minus the logarithm of a variance, and their slopes."""

from __future__ import annotations

import numpy as np

from elastocal.design.knowledge import Knowledge
from elastocal.design.small import pushed
from elastocal.spatial.entries import Array, Bools


def minus_log(variance: Array, possible: Bools) -> Array:
    """-log of variances; -inf where the plan is not possible, or rounding left nothing of the variance."""
    good = possible & (variance > 0)
    return np.where(good, -np.log(np.where(good, variance, 1.0)), -np.inf)


def mean_slopes(known: Knowledge, wanted: Array, rows: Array) -> Array:
    """Derivative of -log tr(W C W^T) by the weight of each candidate: |A_c C W^T|^2 / tr(W C W^T)."""
    half = known.half(wanted)
    seen = pushed(half @ known.root.T, rows)
    return np.asarray(np.einsum("rkn,rkn->n", seen, seen) / np.sum(half**2))
