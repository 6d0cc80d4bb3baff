"""A linear problem in blocks: what is read together, its noise in parts, and what is known of the unknowns before.

    y_i = J_i theta + e_i,    e_i ~ N(0, S_i),    S_i = sum_c sigma_c^2 B_ic B_ic^T        (noise of one block)
    theta_g ~ N(m_g, s_g^2 K_g^-1)                                                         (prior of one group)

A block is what may be left out together: the readings of one pose.  Numbers that were not read have ``used`` False;
they carry no information.  The scales sigma_c and s_g are known, or chosen by the evidence (``evidence``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from functools import cached_property

import numpy as np

from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass


@dataclass(frozen=True)
class Scale:
    """A positive number chosen by evidence: its start value, and how far it may stray from it or from its pool.

    ``width`` is the sd of its logarithm about ``start``, or about the mean of all scales of the same ``pool``; 0 fixes
    it.
    """

    name: str
    start: float
    width: float = 4.0
    pool: str = ""

    @property
    def fixed(self) -> bool:
        return self.width == 0.0


@dataclass(frozen=True, eq=False)
class Noise:
    """One part of the noise: factors B (N, R, b) in the unit of the readings per unit of the scale."""

    scale: Scale
    factor: Array


@dataclass(frozen=True, eq=False)
class Group:
    """Unknowns with one prior scale; ``precision`` K (n, n) is the identity where None, ``mean`` zero where None."""

    scale: Scale
    columns: Ints
    mean: Array | None = None
    precision: Array | None = None

    @cached_property
    def log_det(self) -> float:
        return 0.0 if self.precision is None else float(np.linalg.slogdet(self.precision)[1])


@dataclass(frozen=True, eq=False)
class Blocks:
    """``readings`` (N, R) minus what does not depend on theta, ``jacobian`` (N, R, p), ``used`` (N, R).

    ``power`` weighs the likelihood as a whole: 1/m where the m points of a block are counted as one (their errors are
    common).  ``parts`` (R,) numbers the points of a block, for weights and deletion of single points.
    """

    readings: Array
    jacobian: Array
    used: Bools
    noise: tuple[Noise, ...]
    groups: tuple[Group, ...]
    power: float = 1.0
    parts: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    split: int = 1
    """Cells of equal size that every block falls into and no noise ties: every part of it has factors of the first cell
    first, then as many of the second."""

    @property
    def shape(self) -> tuple[int, int, int]:
        n, r, p = self.jacobian.shape
        return n, r, p

    @cached_property
    def count(self) -> int:
        """How many numbers were read."""
        return int(self.used.sum())

    @cached_property
    def read(self) -> Ints | slice:
        """Which of all rows (N R) were read."""
        return slice(None) if self.used.all() else np.flatnonzero(self.used)

    @cached_property
    def scales(self) -> tuple[Scale, ...]:
        """Those of the groups, then those of the noise."""
        return (*(g.scale for g in self.groups), *(c.scale for c in self.noise))

    @cached_property
    def start(self) -> Array:
        """Logarithms of the start values of all scales."""
        return np.log([s.start for s in self.scales])

    @cached_property
    def free(self) -> Bools:
        return np.array([not s.fixed for s in self.scales])

    @cached_property
    def mean(self) -> Array:
        """Prior mean (p,)."""
        out = np.zeros(self.shape[2])
        for g in self.groups:
            if g.mean is not None:
                out[g.columns] = g.mean
        return out

    @cached_property
    def tied(self) -> tuple[tuple[int, Ints, Array], ...]:
        """Groups whose unknowns the prior ties to each other: number, columns, K."""
        known = ((i, g.columns, g.precision) for i, g in enumerate(self.groups) if len(g.columns) > 1)
        return tuple((i, columns, k) for i, columns, k in known if k is not None)

    @cached_property
    def untied(self) -> tuple[Ints, Ints, Array]:
        """Unknowns that the prior ties to no other: their columns, the numbers of their groups, K_jj."""
        tied = {i for i, _, _ in self.tied}
        groups = [(i, g) for i, g in enumerate(self.groups) if i not in tied]
        size = [np.ones(len(g.columns)) if g.precision is None else g.precision[0] for _, g in groups]
        columns = np.concatenate([np.zeros(0, dtype=np.int64), *(g.columns for _, g in groups)])
        owner = np.repeat([i for i, _ in groups], [len(g.columns) for _, g in groups]).astype(np.int64)
        return columns, owner, np.concatenate([np.zeros(0), *size])

    @cached_property
    def log_det(self) -> float:
        """Sum of log|K| of all groups."""
        return sum(g.log_det for g in self.groups)

    @cached_property
    def widths(self) -> Array:
        """How many unknowns every group has."""
        return np.array([float(len(g.columns)) for g in self.groups])

    @cached_property
    def unit_gram(self) -> tuple[Array, Array, float, float, int]:
        """Of a problem with one noise at scale 1: J^T S^-1 J, J^T S^-1 r, r^T S^-1 r, log|S|, numbers read."""
        from elastocal.solve.evidence import noise_factors

        n, r, p = self.shape
        inverse, log_det = noise_factors(self, np.zeros(len(self.groups) + 1))
        white = (inverse @ self.jacobian).reshape(n * r, p)
        misfit = (inverse @ np.where(self.used, self.readings, 0.0)[:, :, None]).reshape(n * r) - white @ self.mean
        return white.T @ white, white.T @ misfit, float(misfit @ misfit), log_det, self.count

    @cached_property
    def variances(self) -> Array | None:
        """Of every part of the noise (c, N R) at scale 1, where none ties the rows of a block to each other."""
        if any(np.count_nonzero(c.factor, axis=1).max(initial=0) > 1 for c in self.noise):
            return None
        return np.stack([np.sum(c.factor**2, axis=2).ravel() for c in self.noise])

    @property
    def cells(self) -> Cells:
        """What was read, in the cells of all blocks as blocks of their own."""
        return self._cells if self.split > 1 else Cells(self, np.ones(len(self.used), dtype=bool), 1)

    @cached_property
    def _cells(self) -> Cells:
        (n, r, p), k = self.shape, self.split
        live, noise = np.asarray(self.used.reshape(n * k, -1).any(axis=1)), list[Noise]()
        for c in self.noise:
            own = np.einsum("nkrkb->nkrb", c.factor.reshape(n, k, r // k, k, c.factor.shape[2] // k))
            noise.append(Noise(c.scale, own.reshape(n * k, r // k, own.shape[3])[live]))
        readings, used = self.readings.reshape(n * k, -1)[live], self.used.reshape(n * k, -1)[live]
        jacobian = self.jacobian.reshape(n * k, r // k, p)[live]
        return Cells(Blocks(readings, jacobian, used, tuple(noise), self.groups, self.power), live, k)

    @cached_property
    def factors(self) -> Array:
        """Factors of all parts of the noise side by side (N, R, b), zero in places of what was not read."""
        return np.asarray(np.concatenate([c.factor for c in self.noise], axis=2) * self.used[:, :, None])

    @cached_property
    def begins(self) -> Ints:
        """Where every part of the noise begins in ``factors``."""
        return np.cumsum([0, *(c.factor.shape[2] for c in self.noise[:-1])])

    def sized_factors(self, log_scales: Array) -> Array:
        """The same times the scales of their parts: S is their square."""
        ends = np.diff([*self.begins, self.factors.shape[2]])
        return np.asarray(self.factors * np.repeat(np.exp(log_scales[len(self.groups) :]), ends))

    def without(self, dropped: Bools) -> Blocks:
        """The same without some numbers (N, R)."""
        return replace(self, used=self.used & ~dropped)

    def kept(self, blocks: Sequence[int] | Ints) -> Blocks:
        """Some of the blocks."""
        noise = tuple(replace(c, factor=c.factor[blocks]) for c in self.noise)
        return replace(
            self, readings=self.readings[blocks], jacobian=self.jacobian[blocks], used=self.used[blocks], noise=noise
        )

    @cached_property
    def penalty(self) -> tuple[Array, Array]:
        """Of the hyperprior of the scales: precision (k, k) and centre (k,) of their logarithms."""
        precision = np.zeros((len(self.scales), len(self.scales)))
        for pool in dict.fromkeys(s.pool for s in self.scales):
            mine = np.array([i for i, s in enumerate(self.scales) if s.pool == pool and not s.fixed], dtype=np.int64)
            own = np.diag([self.scales[i].width ** -2.0 for i in mine])
            about_mean = np.eye(len(mine)) - 1 / max(len(mine), 1) if pool else np.eye(len(mine))
            precision[np.ix_(mine, mine)] = about_mean @ own @ about_mean
        return precision, np.where([bool(s.pool) for s in self.scales], 0.0, self.start)

    def log_penalty(self, log_scales: Array) -> tuple[float, Array]:
        """Logarithm of the hyperprior of the scales, up to a constant, and its gradient."""
        precision, centre = self.penalty
        gradient = precision @ (centre - log_scales)
        return 0.5 * float(gradient @ (log_scales - centre)), gradient


@dataclass(frozen=True, eq=False)
class Cells:
    """``blocks`` of their own, of the ``live`` ones of all cells, ``split`` of which make one block."""

    blocks: Blocks
    live: Bools
    split: int

    def whole(self, rows: Array) -> Array:
        """(N, R, ...) of rows (C r, ...) of the cells, zero where nothing was read."""
        r, k, total = self.blocks.shape[1], self.split, len(self.live)
        if k == 1:
            return rows.reshape(total, r, *rows.shape[1:])
        out = np.zeros((total, r, *rows.shape[1:]))
        out[self.live] = rows.reshape(-1, *out.shape[1:]) if rows.size else 0.0
        return out.reshape(total // k, k * r, *rows.shape[1:])

    def tied(self, squares: Array) -> Array:
        """(N, R, R) of squares (C, r, r) of the cells."""
        r, k, n = self.blocks.shape[1], self.split, len(self.live) // self.split
        if k == 1:
            return squares
        block, own = np.divmod(np.flatnonzero(self.live), k)
        out = np.zeros((n, k, r, k, r))
        out[block, own, :, own] = squares
        return out.reshape(n, k * r, k * r)
