"""Sizes of errors in a few numbers, and losses that let go of readings far from the rest."""

from __future__ import annotations

from typing import Literal

import numpy as np

from elastocal.spatial.entries import Array, Bools
from elastocal.values import dataclass


@dataclass(frozen=True)
class ErrorSummary:
    """Of ``count`` sizes: distances in m, or angles in rad; 95 % of them stay below ``p95``."""

    mean: float
    rms: float
    p95: float
    max: float
    count: int
    unit: Literal["m", "rad"] = "m"

    @classmethod
    def of(cls, sizes: Array, unit: Literal["m", "rad"] = "m") -> ErrorSummary:
        """Of the numbers among ``sizes``; all nan where there is none."""
        d = np.asarray(sizes).ravel()
        d = d[np.isfinite(d)]
        if not len(d):
            return cls(*(float("nan"),) * 4, 0, unit)
        return cls(float(d.mean()), rms(d), float(np.quantile(d, 0.95)), float(d.max()), len(d), unit)

    @property
    def shown(self) -> str:
        """Unit of a thousandth of the figures, in which they are shown."""
        return f"m{self.unit}"

    def text(self) -> str:
        return f"mean {1e3 * self.mean:.3f}, RMS {1e3 * self.rms:.3f}, max {1e3 * self.max:.3f} {self.shown}"


def rms(values: Array) -> float:
    """Root mean square of the numbers among ``values``, nan where there is none."""
    known = values[~np.isnan(values)]
    return float(np.sqrt(np.mean(known**2))) if len(known) else float("nan")


def standard_deviations(covariance: Array) -> Array:
    """(p,) of the numbers whose covariance (p, p) is given."""
    return np.asarray(np.sqrt(np.diag(covariance)))


def rms_of_rows(values: Array) -> Array:
    """The same (N,) of every row of ``values`` (N, k)."""
    known = np.isfinite(values)
    count = known.sum(axis=1)
    total = np.sum(np.where(known, values, 0.0) ** 2, axis=1)
    return np.asarray(np.where(count, np.sqrt(total / np.maximum(count, 1)), np.nan))


Loss = Literal["linear", "huber", "cauchy"]
LOSSES: tuple[Loss, ...] = ("linear", "huber", "cauchy")
TUNING = {"huber": 1.345, "cauchy": 2.385}
"""Where a loss bends, in standard deviations: 95 % efficient for normal errors."""


def robust_scale(misfit: Array, parameters: int) -> float:
    """Size of the bulk of the residuals: median of those not forced to zero, over that of the normal distribution."""
    sizes = np.sort(np.abs(misfit[misfit != 0]))[min(parameters, max(0, np.count_nonzero(misfit) - 1)) :]
    return max(float(np.median(sizes)) / 0.6745, 1e-12) if len(sizes) else 1.0


def cauchy_residuals(columns: Array, misfit: Array, floor: float) -> tuple[Array, float]:
    """What Cauchy's loss leaves of ``misfit`` - columns x, and the size of its bulk, at least ``floor``.

    Several numbers that are far off do not hide each other there.
    """
    from scipy.optimize import least_squares

    basis = np.linalg.qr(columns)[0]
    p = basis.shape[1]
    z, scale = np.zeros(p), max(robust_scale(misfit, p), floor)
    for _ in range(4):
        z = least_squares(
            lambda v: misfit - basis @ v, z, lambda v: -basis, loss="cauchy", f_scale=TUNING["cauchy"] * scale
        ).x
        scale = max(robust_scale(misfit - basis @ z, p), floor)
    return np.asarray(misfit - basis @ z), scale


def scatter(misfit: Array, used: Bools, loss: Loss, scale: float, freedom: int) -> float:
    """Size of the residuals per degree of freedom; for a robust loss what its covariance needs (Huber 1981, 7.6).

    ``misfit`` (m,) is zero in rows that ``used`` leaves out; prior rows stand behind those that it counts.
    """
    if freedom < 1:
        return float("nan")
    if loss == "linear":
        return float(np.sqrt(np.sum(misfit**2) / freedom))
    rows = np.concatenate([used.reshape(-1), np.ones(len(misfit) - used.size, dtype=bool)])
    t = misfit[rows] / scale
    c = TUNING[loss]
    if loss == "huber":
        pull, slope = np.clip(t, -c, c), (np.abs(t) < c).astype(float)
    else:
        pull, slope = t / (1 + (t / c) ** 2), (1 - (t / c) ** 2) / (1 + (t / c) ** 2) ** 2
    return float(scale * np.sqrt(np.sum(pull**2) / freedom) / np.mean(slope))
