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

from elastocal.solve.evidence import Posterior
from elastocal.spatial.entries import Array

INDEPENDENT = 1e-6
"""Share of a column's square that the fitted columns must leave."""


@dataclass(frozen=True, eq=False)
class Score:
    """Of one effect: how many columns are seen, their step, and the probability of so much where it is absent."""

    size: int
    step: Array
    chi2: float
    probability: float


def score(found: Posterior, columns: Array) -> Score:
    """Of the columns (N, R, a) of an effect; those that the fit explains count for nothing."""
    from scipy.special import fdtrc

    blocks, w = found.blocks, found.blocks.power
    n, r, p = blocks.shape
    a = columns.shape[2]
    white = (found.inverse @ columns).reshape(n * r, a)
    jacobian = (found.inverse @ blocks.jacobian).reshape(n * r, p)
    own = w * np.einsum("ia,ia->a", white, white)
    unit = 1 / np.sqrt(np.where(own > 0, own, np.inf))
    pull = w * unit * (white.T @ found.white.reshape(-1))
    reach = w * (found.half @ (jacobian.T @ white)) * unit
    seen = w * unit * unit[:, None] * (white.T @ white) - reach.T @ reach
    values, vectors = np.linalg.eigh(seen)
    good = values > INDEPENDENT
    along = vectors[:, good].T @ pull
    chi2, size = float(np.sum(along**2 / values[good])), int(good.sum())
    step = unit * (vectors[:, good] @ (along / values[good]))
    freedom = w * blocks.count - found.effective - len(blocks.noise)
    if not size or freedom <= size + 1:
        return Score(size, step, 0.0, 1.0)
    rest = max(w * float(np.sum(found.white**2)) - chi2, 1e-12)
    return Score(size, step, chi2, float(fdtrc(size, freedom - size, chi2 / size / (rest / (freedom - size)))))
