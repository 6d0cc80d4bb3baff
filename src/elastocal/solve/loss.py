"""Losses that let go of readings far from the rest, and the size of residuals under them."""

from __future__ import annotations

from typing import Literal

import numpy as np

from elastocal.spatial.entries import Array, Bools

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
