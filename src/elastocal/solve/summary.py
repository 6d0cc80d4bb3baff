"""Sizes of errors in a few numbers."""

from __future__ import annotations

from typing import Literal

import numpy as np

from elastocal.spatial.entries import Array
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
