"""What readings that take no part in a fit would have been predicted as, in closed form.

With Q = (S + J P^-1 J^T)^-1, the precision of the readings before any unknown is known, and u = Q (y - J m),

    e_A = Q_AA^-1 u_A,    cov e_A = Q_AA^-1,    chi2_A = u_A^T Q_AA^-1 u_A                             (deletion)

is the residual of any set A of numbers predicted from all the others at the same scales: exact, without a refit, since
Q = S^-1 - S^-1 J H^-1 J^T S^-1 and u = S^-1 (y - J theta).  A may be a number, a point or a whole block.  Studentised
externally, F = (chi2_A / a) / ((chi2 - chi2_A) / (n - a)) follows F(a, n - a).

Without a prior, P = 0, Q is of rank n - p: all holds with n - p in place of n, and with the span of the whitened
columns in place of S^-1/2 J H^-1/2.  A set that alone determines an unknown is judged in the directions that the others
predict; its residual is infinite then.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from elastocal.distributions import chdtrc, fdtrc
from elastocal.solve.evidence import Posterior
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass

ALONE = 1e-8
"""Part of a direction of a set that the others see, below which only the set itself determines it."""


@dataclass(frozen=True, eq=False)
class Deletion:
    """Precision Q_ii (N, R, R) of every block and u (N, R); rows of what was not read are zero.

    ``total`` is chi2 of all readings, of which ``freedom`` are expected where the noise is as it was taken; ``floor``
    is the least that it may be taken for, as a share of the variance (1: at least what is stated).  ``parts`` (R,)
    numbers the points of a block.
    """

    used: Bools
    precision: Array
    pull: Array
    total: float
    freedom: float
    parts: Ints
    spent: float = 0.0
    """Degrees of freedom that went into scales fitted to the same readings."""
    floor: float = 0.0
    weight: Array | float = 1.0
    """Precision of the noise alone of every number (N, R), which its place in Q falls short of."""

    @cached_property
    def blocks(self) -> Array:
        """Residuals (N, R) of every block predicted from the others; nan where nothing was read."""
        return self._solved(np.arange(self.pull.shape[1]))[0]

    @cached_property
    def covariance(self) -> Array:
        """Covariance (N, R, R) of these residuals: noise and what is not known of the unknowns."""
        both = self.used[:, :, None] & self.used[:, None, :]
        return np.where(both, np.linalg.inv(self._filled()), np.nan)

    def block_chi2(self) -> tuple[Array, Ints]:
        """chi2 of every block (N,) and how many numbers, or directions of them, it is judged by."""
        return self._solved(np.arange(self.pull.shape[1]))[1:]

    def point_chi2(self) -> tuple[Array, Ints]:
        """chi2 (N, points) of every point of every block, and how many numbers or directions it is judged by."""
        parts = range(int(self.parts.max(initial=-1)) + 1)
        solved = [self._solved(np.flatnonzero(self.parts == part))[1:] for part in parts]
        return np.stack([c for c, _ in solved], axis=1), np.stack([n for _, n in solved], axis=1)

    def number_chi2(self) -> Array:
        """chi2 (N, R) of every single number; nan where nothing was read."""
        own, sound = self._own()
        return np.where(self.used, np.where(sound, self.pull**2 / own, np.inf), np.nan)

    def number_residuals(self) -> Array:
        """(N, R): every number predicted from all others, those of its own block included."""
        own, sound = self._own()
        return np.where(self.used, np.where(sound, self.pull / own, np.inf), np.nan)

    def _own(self) -> tuple[Array, Bools]:
        """Precision of every single number, one where it alone determines an unknown, and where it does not."""
        own = np.einsum("nrr->nr", self.precision)
        sound = self.used & (own > (ALONE * self.weight if self._improper else 0.0))
        return np.where(sound, own, 1.0), sound

    @property
    def _improper(self) -> bool:
        """Without a prior a set may determine something alone."""
        return bool(self.freedom < self.used.sum())

    def chi2(self, block: int, rows: Ints) -> float:
        """Of any set of numbers of one block."""
        return self.unit(block, rows)[1]

    def unit(self, block: int, rows: Ints) -> tuple[Array, float, int]:
        """Of any set of numbers of one block: residuals in the directions that the others predict, their chi2, and how
        many directions these are; chi2 is infinite where there are none."""
        unit = np.sqrt(np.broadcast_to(self.weight, self.used.shape)[block, rows])
        own, pull = self.precision[block][np.ix_(rows, rows)] / unit / unit[:, None], self.pull[block, rows] / unit
        values, vectors = np.linalg.eigh(own)
        seen = values >= (ALONE if self._improper else 0.0)
        along, basis = vectors[:, seen].T @ pull, vectors[:, seen]
        if not seen.any():
            return np.full(len(rows), np.inf), np.inf, len(rows)
        return basis @ (along / values[seen]) / unit, float(np.sum(along**2 / values[seen])), int(seen.sum())

    def exceedance(self, chi2: Array, size: Ints) -> Array:
        """Probability that good readings give a larger chi2, by the external F; nan where nothing was read.

        One where only the set itself determines something, or where nothing is left to tell the noise by; by chi-square
        where the noise is the least allowed.
        """
        p = np.where(size > 0, 1.0, np.nan)
        known = np.isfinite(chi2) & (size > 0) & (self.freedom - size >= 1)
        own, a = chi2[known], size[known]
        left = self.freedom - a
        rest = np.maximum(self.total - own, 1e-300) / left
        least = rest < self.floor
        with np.errstate(over="ignore"):  # the rest of readings without noise is nothing, and F infinite
            by_noise = fdtrc(a, np.maximum(left - self.spent, 1), own / a / rest)
        p[known] = np.where(least, chdtrc(a, own / self.floor), by_noise) if least.any() else by_noise
        return p

    def _filled(self) -> Array:
        """Q with ones in the places of what was not read, so that it can be inverted."""
        return self.precision + np.eye(self.pull.shape[1]) * ~self.used[:, :, None]

    def _solved(self, rows: Ints) -> tuple[Array, Array, Ints]:
        """Residuals, chi2 and number of directions of the same rows of every block.

        Of rows that alone determine something residuals are infinite, and chi2 too where nothing else remains."""
        own, pull, size = self._filled()[:, rows][:, :, rows], self.pull[:, rows], self.used[:, rows].sum(axis=1)
        if not self._improper:
            residual = np.linalg.solve(own, pull[:, :, None])[:, :, 0]
            return np.where(self.used[:, rows], residual, np.nan), np.sum(residual * pull, axis=1), size
        unit = np.sqrt(np.where(self.used, self.weight, 1.0))[:, rows]
        values, vectors = np.linalg.eigh(own / unit[:, :, None] / unit[:, None, :])
        seen = values >= ALONE
        along = np.einsum("nij,ni->nj", vectors, pull / unit)
        part = np.where(seen, along / np.where(seen, values, 1.0), 0.0)
        left = size - (~seen).sum(axis=1)
        chi2 = np.where((left < 1) & (size > 0), np.inf, np.sum(along * part, axis=1))
        whole = np.all(seen, axis=1, keepdims=True)
        residual = np.where(whole, np.einsum("nij,nj->ni", vectors, part) / unit, np.inf)
        return np.where(self.used[:, rows], residual, np.nan), chi2, np.where(left < 1, size, left)


def deletion(post: Posterior, *, strangers: bool = False) -> Deletion:
    """Of a posterior, all sets at once; a likelihood with a power counts as one with S / power.

    ``strangers`` took no part in it: Q = (S + J H^-1 J^T)^-1 and u = Q (y - J theta).
    """
    blocks = post.blocks
    r = blocks.shape[1]
    w = np.sqrt(blocks.power)
    spread = w * post.whitened.cells.whole(post.whitened.rows @ post.half.T)
    if strangers:
        inner = np.linalg.inv(np.eye(r) + spread @ spread.transpose(0, 2, 1))
        precision, pull = _within(w * post.inverse, inner, (inner @ (w * post.white)[:, :, None])[:, :, 0])
    else:
        precision, pull = _precision(w * post.inverse, spread, w * post.white)
    off = np.where(blocks.used, blocks.readings - blocks.jacobian @ blocks.mean, 0.0)
    total = float(np.sum(off * pull))
    return Deletion(blocks.used, precision, pull, total, blocks.count, blocks.parts, post.effective)


def deletion_of_rows(
    inverse: Array, span: Array, white: Array, used: Bools, squares: float, freedom: float, *, parts: Ints, floor: float
) -> Deletion:
    """Of a least-squares fit without a prior, or with rows for one beside those of the blocks.

    ``inverse`` (N, R, R) are inverse Cholesky factors of the noise, ``span`` (N, R, p) orthonormal columns (over all
    rows) of what the unknowns can do to the whitened readings, ``white`` (N, R) whitened residuals; ``squares`` is the
    sum of all rows', with ``freedom`` to spare.
    """
    weight = np.sum(inverse**2, axis=1)
    return Deletion(used, *_precision(inverse, span, white), squares, freedom, parts, 0.0, floor, weight)


def _precision(inverse: Array, span: Array, white: Array) -> tuple[Array, Array]:
    """Q_ii and u of every block."""
    return _within(inverse, np.eye(white.shape[1]) - span @ span.transpose(0, 2, 1), white)


def _within(inverse: Array, inner: Array, white: Array) -> tuple[Array, Array]:
    """L^-T inner L^-1 and L^-T white of every block, L^-1 the inverse factor of its noise."""
    left = inverse.transpose(0, 2, 1)
    return left @ inner @ inverse, (left @ white[:, :, None])[:, :, 0]
