"""Every candidate added to (or taken from) a plan at once, by rank-k updates.

With C the covariance of the plan, D_c = A_c C A_c^T and S_c = I + D_c (I - D_c where c is taken away):

    log det M'  = log det M + log det S_c                       (matrix determinant lemma)
    W C' W^T    = W C W^T -+ Y^T Y,   Y = L^-1 A_c C W^T,  S_c = L L^T      (Woodbury)

for any rows W.  Nothing of the size of the parameters is factored for a candidate, only k x k matrices.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from elastocal.design.knowledge import RIDGE, Knowledge
from elastocal.design.small import beside_one, eliminate, gram, log_determinant, pushed, solved, trace_of_ratio
from elastocal.spatial.entries import Array, Bools, Ints


@dataclass(frozen=True, eq=False)
class Trials:
    """``rows`` (p, k, n) of n candidates, ``forms`` (k, k, n) the lower triangles of D_c; ``sign`` -1: taken away."""

    base: Knowledge
    rows: Array
    forms: Array
    sign: int = 1

    @classmethod
    def at(cls, base: Knowledge, rows: Array, sign: int = 1) -> Trials:
        """With forms computed from the root."""
        return cls(base, rows, gram(pushed(base.root.T, rows)), sign)

    def picked(self, index: Ints) -> Trials:
        return Trials(self.base, self.rows[:, :, index], self.forms[:, :, index], self.sign)

    @cached_property
    def factor(self) -> tuple[Array, Array, Bools]:
        """S_c = L diag(d) L^T as L (k, k, n), d (k, n), and where it is positive (n,); the identity elsewhere.

        It is not where taking a candidate away leaves a combination open.
        """
        lower, d = eliminate(beside_one(self.forms, self.sign))
        possible = np.all(d > 0, axis=0)
        if not np.all(possible):
            lower[:, :, ~possible], d[:, ~possible] = 0.0, 1.0
        return lower, d, possible

    @property
    def possible(self) -> Bools:
        return self.factor[2]

    @cached_property
    def log_ratio(self) -> Array:
        """log det M' - log det M (n,) of the parameters sought: that of all less that of the nuisances alone."""
        q = self.base.coordinates.nuisance
        whole = np.where(self.possible, log_determinant(self.factor[1]), -np.inf)
        if not q:
            return whole
        own = gram(pushed(self.base.root[:q, :q].T, self.rows[:q]))
        return np.where(self.possible, whole - log_determinant(eliminate(beside_one(own, self.sign))[1]), -np.inf)

    @property
    def closed(self) -> Bools:
        """(n,) True where the plan then determines every combination, if not well."""
        lower, d, possible = self.factor
        left = np.trace(self.base.covariance) - self.sign * trace_of_ratio(
            lower, d, gram(pushed(self.base.covariance, self.rows))
        )
        return np.asarray(possible & (left < 0.5 / RIDGE))

    def _seen(self, rows: Array) -> Array:
        """A_c C W^T as (r, k, n)."""
        return pushed(self.base.half(rows) @ self.base.root.T, self.rows)

    def squares(self, rows: Array) -> Array:
        """Variance (r, n) of every row of W (r, p)."""
        factor, d, _ = self.factor
        y = solved(factor, self._seen(rows))
        before = np.sum(self.base.half(rows) ** 2, axis=1)
        return np.asarray(before[:, None] - self.sign * np.einsum("rkn,rkn,kn->rn", y, y, 1 / d))

    def total(self, rows: Array) -> Array:
        """tr(W C' W^T) (n,)."""
        factor, d, _ = self.factor
        change = trace_of_ratio(factor, d, gram(self._seen(rows)))
        return np.asarray(np.sum(self.base.half(rows) ** 2) - self.sign * change)

    def spreads(self, rows: Array) -> Array:
        """W C' W^T (n, r, r)."""
        factor, d, _ = self.factor
        y = (solved(factor, self._seen(rows)) / np.sqrt(d)).transpose(2, 1, 0)
        half = self.base.half(rows)
        return np.asarray(half @ half.T - self.sign * (y.swapaxes(1, 2) @ y))
