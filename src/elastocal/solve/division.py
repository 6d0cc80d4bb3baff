"""The division of a gauge, found from what it shows, and what it adds to numbers computed from its readings.

A gauge that shows multiples of d is off by up to d/2.  Noise of several divisions makes these errors independent, and
they stand in the residuals.  Less noise leaves a mean error that depends on where the true value lies between two
marks: over all such places it has the variance

    u^2 = sum_k (d / pi k)^2 / 2 exp(-(2 pi k s / d)^2),     d^2 / 12 without noise                     (mean error)

for readings that scatter by s (Fourier series of the sawtooth).  Residuals do not show it: where readings go in steps
that the division divides, all errors are the same and the fit is exact.  So it is counted at its largest: with
b = A y the estimates, the errors of all readings conspire, and u_b = u sum_n |A_bn|.
"""

from __future__ import annotations

import numpy as np

from elastocal.spatial.entries import Array

INCH = 0.0254
LEADING = (5.0, 2.0, 1.0)
FINEST = 6
"""Decades below the largest reading within which a division is looked for: a finer one matters to nobody."""
NEAR = 1e-4
"""Part of a division that readings may be off a multiple: numbers were multiplied by the factor of their unit."""
HARMONICS = np.arange(1, 200)


def division_of(readings: Array) -> float:
    """The largest 1, 2 or 5 times a power of ten, of a metre or an inch, that divides all; 0.0 where none does."""
    largest = float(np.max(np.abs(readings), initial=0.0))
    if not largest > 0:
        return 0.0
    return max(_largest_divisor(readings / unit, largest / unit) * unit for unit in (1.0, INCH))


def _largest_divisor(numbers: Array, largest: float) -> float:
    top = int(np.floor(np.log10(largest)))
    candidates = (m * 10.0**k for k in range(top, top - FINEST, -1) for m in LEADING)
    return next((d for d in candidates if np.all(np.abs(numbers / d - np.round(numbers / d)) < NEAR)), 0.0)


def mean_error(division: float, scatter: float) -> float:
    """Standard deviation u of the mean error of readings that scatter by this."""
    if division <= 0:
        return 0.0
    decay = np.exp(-((2 * np.pi * HARMONICS * scatter / division) ** 2))
    return float(division / np.pi * np.sqrt(0.5 * np.sum(decay / HARMONICS**2)))
