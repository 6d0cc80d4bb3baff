"""What an effect that took no part in a fit would explain of its residuals, in closed form.

With Q and u of ``deletion`` (Q the precision of the readings before any unknown is known, u = S^-1 (y - J theta)) and A
the columns of the effect,

    step = (A^T Q A)^-1 A^T u,    chi2 = u^T A step

is the score test (Rao 1948): chi2 has rank(A) degrees of freedom where the effect is absent, and ``step`` is what a fit
that sought it too would find, to first order.  The scale of the noise is that of the residuals without the effect:
F = (chi2 / a) / ((r^T S^-1 r - chi2) / (f - a)).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.distributions import chdtrc, fdtrc
from elastocal.solve.evidence import Posterior
from elastocal.spatial.entries import Array

INDEPENDENT = 1e-6
"""Share of a column's square that the fitted columns must leave."""


EXACT = 1e-16
"""Variance of residuals, in units of the noise, that is rounding: readings without noise leave no less."""


@dataclass(frozen=True, eq=False)
class Score:
    """Of one effect: how many columns are seen, their steps with ``sd``, and the probability of so much where it is
    absent.  ``noise`` is what the residuals show without the effect, in units of what it was taken for."""

    size: int
    step: Array
    sd: Array
    chi2: float
    noise: float
    probability: float


def score(found: Posterior, columns: Array) -> Score:
    """Of the columns (N, R, a) of an effect; those that the fit explains count for nothing."""
    blocks, w = found.blocks, np.sqrt(found.blocks.power)
    n, r, p = blocks.shape
    white = w * (found.inverse @ columns).reshape(n * r, columns.shape[2])
    span = w * (found.inverse @ blocks.jacobian).reshape(n * r, p) @ found.half.T
    freedom = blocks.power * blocks.count - found.effective - len(blocks.noise)
    return score_of_rows(span, w * found.white.reshape(-1), white, freedom)


def score_of_rows(
    span: Array, left: Array, columns: Array, freedom: float, *, floor: float = 0.0, independent: float = INDEPENDENT
) -> Score:
    """Of whitened ``columns`` (m, a) beside the ``span`` (m, p) of those that were fitted, with residuals ``left``.

    ``freedom`` of the residuals are to spare; the noise is at least ``floor``, as a share of the variance.
    """
    own = np.einsum("ia,ia->a", columns, columns)
    unit = 1 / np.sqrt(np.where(own > 0, own, np.inf))
    reach = (span.T @ columns) * unit
    values, vectors = np.linalg.eigh(unit * unit[:, None] * (columns.T @ columns) - reach.T @ reach)
    good = values > independent
    values, vectors, size = values[good], vectors[:, good], int(good.sum())
    along = vectors.T @ (unit * (columns.T @ left))
    chi2, step = float(np.sum(along**2 / values)), unit * (vectors @ (along / values))
    spread = unit * np.sqrt(np.sum(vectors**2 / values, axis=1))
    if not size or freedom - size < 1:
        return Score(size, step, np.full(len(unit), np.nan), 0.0, float("nan"), 1.0)
    rest = max((float(left @ left) - chi2) / (freedom - size), EXACT)
    noise = float(np.sqrt(max(rest, floor)))
    by_noise = chdtrc(size, chi2 / noise**2) if rest < floor else fdtrc(size, freedom - size, chi2 / size / rest)
    return Score(size, step, noise * spread, chi2, noise, float(by_noise))
