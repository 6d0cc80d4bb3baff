"""What readings that take no part in a fit would have been predicted as, in closed form.

With Q = (S + J P^-1 J^T)^-1, the precision of the readings before any unknown is known, and u = Q (y - J m),

    e_A = Q_AA^-1 u_A,    cov e_A = Q_AA^-1,    chi2_A = u_A^T Q_AA^-1 u_A                             (deletion)

is the residual of any set A of numbers predicted from all the others at the same scales: exact, without a refit, since
Q = S^-1 - S^-1 J H^-1 J^T S^-1 and u = S^-1 (y - J theta).  A may be a number, a point or a whole block.  Studentised
externally, F = (chi2_A / a) / ((chi2 - chi2_A) / (n - a)) follows F(a, n - a).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from elastocal.solve.evidence import Posterior
from elastocal.spatial.entries import Array, Ints


@dataclass(frozen=True, eq=False)
class Deletion:
    """Precision Q_ii (N, R, R) of every block and u (N, R); rows of what was not read are zero."""

    posterior: Posterior
    precision: Array
    pull: Array

    @cached_property
    def blocks(self) -> Array:
        """Residuals (N, R) of every block predicted from the others; nan where nothing was read."""
        return self._solved(self._whole())[0]

    @cached_property
    def covariance(self) -> Array:
        """Covariance (N, R, R) of these residuals: noise and what is not known of the unknowns."""
        used = self.posterior.blocks.used
        both = used[:, :, None] & used[:, None, :]
        return np.where(both, np.linalg.inv(self._filled()), np.nan)

    @cached_property
    def total(self) -> float:
        """chi2 of all readings, of which n = count are expected."""
        blocks = self.posterior.blocks
        off = np.where(blocks.used, blocks.readings - blocks.jacobian @ blocks.mean, 0.0)
        return float(np.sum(off * self.pull))

    def block_chi2(self) -> tuple[Array, Ints]:
        """chi2 of every block (N,) and how many numbers it has."""
        return self._solved(self._whole())[1], self.posterior.blocks.used.sum(axis=1)

    def point_chi2(self) -> tuple[Array, Ints]:
        """chi2 (N, points) of every point of every block, and how many numbers it has."""
        parts = self.posterior.blocks.parts
        used = self.posterior.blocks.used
        chi2, size = [], []
        for part in range(int(parts.max(initial=-1)) + 1):
            rows = np.flatnonzero(parts == part)
            chi2.append(self._solved(rows)[1])
            size.append(used[:, rows].sum(axis=1))
        return np.stack(chi2, axis=1), np.stack(size, axis=1)

    def number_chi2(self) -> Array:
        """chi2 (N, R) of every single number; nan where nothing was read."""
        diagonal = np.einsum("nrr->nr", self.precision)
        used = self.posterior.blocks.used
        return np.where(used, self.pull**2 / np.where(used, diagonal, 1.0), np.nan)

    def number_residuals(self) -> Array:
        """(N, R): every number predicted from all others, those of its own block included."""
        diagonal = np.einsum("nrr->nr", self.precision)
        used = self.posterior.blocks.used
        return np.where(used, self.pull / np.where(used, diagonal, 1.0), np.nan)

    def chi2(self, block: int, rows: Ints) -> float:
        """Of any set of numbers of one block."""
        own, pull = self.precision[block][np.ix_(rows, rows)], self.pull[block, rows]
        return float(pull @ np.linalg.solve(own, pull))

    def exceedance(self, chi2: Array, size: Ints, spent: float = 0.0) -> Array:
        """Probability that good readings give a larger chi2, by the external F; nan where nothing was read.

        ``spent`` degrees of freedom went into scales that were fitted to the same readings.
        """
        from scipy.special import fdtrc

        n = self.posterior.blocks.count
        rest = np.maximum(self.total - chi2, 1e-300) / np.maximum(n - size, 1)
        a = np.maximum(size, 1)
        return np.where(size > 0, fdtrc(a, np.maximum(n - size - spent, 1), chi2 / a / rest), np.nan)

    def _whole(self) -> Ints:
        return np.arange(self.pull.shape[1])

    def _filled(self) -> Array:
        """Q with ones in the places of what was not read, so that it can be inverted."""
        gap = ~self.posterior.blocks.used
        return self.precision + np.eye(self.pull.shape[1]) * gap[:, :, None]

    def _solved(self, rows: Ints) -> tuple[Array, Array]:
        own = self._filled()[:, rows][:, :, rows]
        residual = np.linalg.solve(own, self.pull[:, rows, None])[:, :, 0]
        return np.where(self.posterior.blocks.used[:, rows], residual, np.nan), np.sum(
            residual * self.pull[:, rows], axis=1
        )


def deletion(found: Posterior) -> Deletion:
    """Of a posterior, all sets at once; a likelihood with a power counts as one with S / power."""
    blocks = found.blocks
    n, r, p = blocks.shape
    w = blocks.power
    white = found.inverse @ blocks.jacobian
    reach = white.reshape(n * r, p) @ found.half.T
    spread = reach.reshape(n, r, p)
    inner = np.eye(r) - w * (spread @ spread.transpose(0, 2, 1))
    left = found.inverse.transpose(0, 2, 1)
    precision = w * (left @ inner @ found.inverse)
    pull = w * (left @ found.white[:, :, None])[:, :, 0]
    return Deletion(found, precision, pull)
