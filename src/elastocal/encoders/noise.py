"""How far the equations of one table and relation scatter: errors of angles and errors of counts.

    v_i = a size_i^2 + b,   a >= 0,  b >= 1/12

for the blocks i with ``size`` counts per rad: a is the variance of an angle (a joint value that is rounded, a shaft
that is aligned by hand), b that of a count, which is at least rounded to whole numbers.  Maximum of the likelihood of
the blocks' sums of squares by scoring: weighted least squares with the weights spare_i / v_i^2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.spatial.entries import Array

ROUNDING = 1 / 12
"""Variance of a number that is rounded to whole counts."""
ROUNDS = 8


@dataclass(frozen=True)
class NoiseLevel:
    """``angle`` (rad, or m) and ``count`` are standard deviations; ``spare`` equations stand behind them."""

    angle: float
    count: float
    spare: float

    def variance(self, size: float) -> float:
        return float((self.angle * size) ** 2 + self.count**2)


def level(size: Array, squares: Array, spare: Array) -> NoiseLevel | None:
    """From sums of squared residuals and spare equations of the blocks; None where no equation is spare."""
    used = spare > 1e-6
    n = spare[used]
    total = float(n.sum())
    if total < 1e-6:
        return None
    s2 = size[used] ** 2
    scale = float(s2.max())
    x, y = s2 / scale, squares[used] / n - ROUNDING
    a, b = float(n @ np.maximum(y / x, 0.0)) / total, 0.0
    for _ in range(ROUNDS):
        last, (a, b) = (a, b), _step(x, y, n / (a * x + b + ROUNDING) ** 2)
        if abs(a - last[0]) + abs(b - last[1]) <= 1e-6 * (a + b + ROUNDING):
            break
    return NoiseLevel(float(np.sqrt(a / scale)), float(np.sqrt(b + ROUNDING)), total)


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
