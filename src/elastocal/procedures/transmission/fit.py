"""Weighted least squares of all blocks, with the noise of each table and relation estimated from the residuals.

Noise and estimates depend on each other and are computed in turn: the residuals of a block, divided by the spare part
1 - h of their leverages h, say how far the equations of its tables scatter, by errors of angles and of counts:

    v_i = a size_i^2 + b,   a >= d^2/12,  b >= 1/12

for the blocks i with ``size`` counts per rad: a is the variance of an angle (a joint value that is rounded, a shaft
that is aligned by hand), b that of a count.  Both are at least rounded, angles to the last digit d that is printed.
Maximum of the likelihood of the blocks' sums of squares by scoring: weighted least squares with the weights
spare_i / v_i^2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from elastocal.procedures.transmission.equations import MotorEquations, Relation, System
from elastocal.solve.linear import solve_linear
from elastocal.spatial.entries import Array, Bools
from elastocal.values import dataclass

ROUNDING = 1 / 12
"""Variance of a number that is rounded to whole counts."""
SCORING_STEPS = 8


@dataclass(frozen=True)
class NoiseLevel:
    """``angle`` (rad, or m) and ``count`` are standard deviations; ``spare`` equations stand behind them."""

    angle: float
    count: float
    spare: float

    def variance(self, size: float) -> float:
        return float((self.angle * size) ** 2 + self.count**2)


def level(size: Array, squares: Array, spare: Array, rounding: float = 0.0) -> NoiseLevel | None:
    """From sums of squared residuals and spare equations of the blocks; None where no equation is spare.

    ``rounding`` is the least variance of an angle.
    """
    used = spare > 1e-6
    n = spare[used]
    total = float(n.sum())
    if total < 1e-6:
        return None
    s2 = size[used] ** 2
    scale = float(s2.max())
    least = rounding * s2 + ROUNDING
    x, y = s2 / scale, squares[used] / n - least
    a, b = float(n @ np.maximum(y / x, 0.0)) / total, 0.0
    for _ in range(SCORING_STEPS):
        last, (a, b) = (a, b), _step(x, y, n / (a * x + b + least) ** 2)
        if abs(a - last[0]) + abs(b - last[1]) <= 1e-6 * (a + b + ROUNDING):
            break
    return NoiseLevel(float(np.sqrt(a / scale + rounding)), float(np.sqrt(b + ROUNDING)), total)


def _step(x: Array, y: Array, w: Array) -> tuple[float, float]:
    """Weighted least squares of y = a x + b within a >= 0, b >= 0; blocks of one size tell nothing of b."""
    w0, wx, wy, xx, xy = float(w.sum()), float(w @ x), float(w @ y), float(w @ (x * x)), float(w @ (x * y))
    det = xx * w0 - wx**2
    if det > 1e-9 * w0**2:
        a, b = (xy * w0 - wx * wy) / det, (xx * wy - wx * xy) / det
        if a >= 0 and b >= 0:
            return a, b
        if a < 0:
            return 0.0, max(wy / w0, 0.0)
    return max(xy / xx, 0.0), 0.0


ROUNDS, SAME = 30, 1e-5
Pattern = Mapping[str, frozenset[str]]
"""The joints that act on each motor; a motor that is not named takes all it has equations for."""


@dataclass(frozen=True, eq=False)
class BlockFit:
    """Estimates ``beta`` (p,) with covariance, 0 where the pattern has a zero; for each equation the residual, its
    leverage (of one that took no part: the variance of its prediction, in its own) and its standard deviation."""

    block: MotorEquations
    beta: Array
    covariance: Array
    residuals: Array
    leverage: Array
    sd: Array
    kept: Bools
    active: Bools

    @property
    def size(self) -> float:
        return float(np.linalg.norm(self.beta[: len(self.block.inputs)])) or 1.0

    @property
    def standardized(self) -> Array:
        """Residuals in standard deviations of their equations."""
        return np.asarray(self.residuals / self.sd)

    def of(self, joint: str) -> int:
        return self.block.inputs.index(joint)


@dataclass(frozen=True, eq=False)
class SystemFit:
    """``levels``: the noise of each table and relation, None where no equation is spare."""

    system: System
    blocks: tuple[BlockFit, ...]
    levels: tuple[NoiseLevel | None, ...]

    @property
    def spare(self) -> Array:
        return np.array([0.0 if level is None else level.spare for level in self.levels])

    def block(self, relation: Relation, axis: str) -> BlockFit | None:
        return next((b for b in self.blocks if (b.block.relation, b.block.axis) == (relation, axis)), None)

    def freedom(self, fit: BlockFit) -> Array:
        """Spare equations behind the accuracy of each unknown of a block (p,): those of the table that tells most of
        the block (by leverage); none where only tables without any to spare tell of the unknown."""
        spent = np.bincount(fit.block.noise[fit.kept], fit.leverage[fit.kept], len(self.levels))
        judged = self.spare > 0
        if judged[np.flatnonzero(spent)].all():
            return np.full(len(fit.beta), self.spare[int(np.argmax(spent))])
        rows = fit.kept & judged[fit.block.noise]
        known = np.ones(len(fit.beta), dtype=bool)
        known[fit.active] = solve_linear(fit.block.x[:, fit.active], fit.block.y, kept=rows).known
        return np.where(known, self.spare[int(np.argmax(spent * judged))], 0.0)


def fit_system(
    system: System, kept: tuple[Bools, ...] | None = None, pattern: Pattern | None = None, near: SystemFit | None = None
) -> SystemFit:
    """Least squares of the equations ``kept`` (one mask for each block; default all) within a pattern of zeros.

    ``near`` is another fit of the system, whose blocks are used again where nothing has changed.
    """
    masks = kept or tuple(np.ones(len(b.y), dtype=bool) for b in system.blocks)
    active = tuple(_active(b, pattern or {}) for b in system.blocks)
    parts = [
        _started(b, m, a, None if near is None else near.blocks[i])
        for i, (b, m, a) in enumerate(zip(system.blocks, masks, active, strict=True))
    ]
    levels = _levels(system, parts)
    for _ in range(ROUNDS):
        parts = [_weighted(p, np.array([_variance(v, p.size) for v in levels])[p.block.noise] ** 0.5) for p in parts]
        last, levels = levels, _levels(system, parts)
        if all(_same(a, b) for a, b in zip(last, levels, strict=True)):
            break
    return SystemFit(system, tuple(parts), levels)


def _variance(level: NoiseLevel | None, size: float) -> float:
    return 1.0 if level is None else level.variance(size)


def _same(a: NoiseLevel | None, b: NoiseLevel | None) -> bool:
    if a is None or b is None:
        return a is b
    return abs(a.angle - b.angle) <= SAME * b.angle and abs(a.count - b.count) <= SAME * b.count


def _active(block: MotorEquations, pattern: Pattern) -> Bools:
    acting = pattern.get(block.axis)
    out = np.ones(block.x.shape[1], dtype=bool)
    if block.relation == "joint" and acting is not None:
        out[: len(block.inputs)] = [j in acting for j in block.inputs]
    return out


def _started(block: MotorEquations, kept: Bools, active: Bools, near: BlockFit | None) -> BlockFit:
    if near is not None and np.array_equal(near.kept, kept) and np.array_equal(near.active, active):
        return near
    return _solved(block, kept, active, np.ones(len(block.y)))


def _weighted(part: BlockFit, sd: Array) -> BlockFit:
    """The same block with other weights; where only their common size changed, the estimates stay."""
    factor = sd / part.sd
    if np.ptp(factor) > SAME * factor[0]:
        return _solved(part.block, part.kept, part.active, sd)
    return replace(part, covariance=part.covariance * factor[0] ** 2, sd=sd)


def _solved(block: MotorEquations, kept: Bools, active: Bools, sd: Array) -> BlockFit:
    """Least squares of the kept equations; one that they say nothing of has infinite leverage."""
    beta, covariance = np.zeros(block.x.shape[1]), np.zeros((block.x.shape[1],) * 2)
    fit = solve_linear(block.x[:, active] / sd[:, None], block.y / sd, kept=kept, relative=1e-10)
    beta[active], covariance[np.ix_(active, active)] = fit.values, fit.unit_covariance
    return BlockFit(block, beta, covariance, block.y - block.x @ beta, fit.leverage, sd, kept, active)


def _levels(system: System, parts: list[BlockFit]) -> tuple[NoiseLevel | None, ...]:
    """Noise of each table and relation, from the parts of all blocks that belong to it."""
    count = len(system.levels)
    squares, spare = np.zeros((count, len(parts))), np.zeros((count, len(parts)))
    for i, p in enumerate(parts):
        np.add.at(squares[:, i], p.block.noise[p.kept], p.residuals[p.kept] ** 2)
        np.add.at(spare[:, i], p.block.noise[p.kept], 1 - np.minimum(p.leverage[p.kept], 1.0))
    size = np.array([p.size for p in parts])
    return tuple(level(size, q, n, r) for q, n, r in zip(squares, spare, system.rounding, strict=True))
