"""Outliers of a log: readings that are no torques of this arm, spikes of a sensor, slips of a hand.

One round: fit all, take each joint's scatter by the median size of what is left (spikes hardly move it), leave out what
is far beyond it, and fit again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from elastocal.procedures.gravity.fit import GravityFit
from elastocal.procedures.gravity.prediction import predict_reading
from elastocal.procedures.gravity.samples import Samples
from elastocal.spatial.entries import Array, Bools

BEYOND = 8.0
"""Robust standard deviations: chance or ripple does not go there."""
MOST = 0.05
"""Share of a joint's readings; more are no slips but something that the model lacks."""
RUN = 3
"""Readings in a row that may be slips; longer runs are what the model lacks."""
FINEST = 1e-3
"""Share of a joint's torque that is not worth naming, however quiet the log is."""
MAD = 1.4826
"""Standard deviations of a normal law in one median absolute deviation."""


@dataclass(frozen=True, eq=False)
class Screened:
    """``fit`` is without the readings ``outliers`` (row, joint) of ``everything``, the fit with them."""

    fit: GravityFit
    everything: GravityFit
    outliers: tuple[tuple[int, int], ...]

    def text(self) -> str:
        """Every outlier with what the fit without it has there; empty where there is none."""
        log, units = self.everything.samples.log, self.everything.samples.units
        expected = predict_reading(self.fit, self.everything.samples).reading if self.outliers else log.torque
        named = [
            f"{log.place(r)}, torque of {log.joints[j]} = {log.torque[r, j]:.4g} {units[j]} "
            f"({expected[r, j]:.3g} by the fit)"
            for r, j in self.outliers
        ]
        return "; ".join(named)


def screen(fit: Callable[[Samples], GravityFit], samples: Samples) -> Screened:
    everything = fit(samples)
    mask = outlying_readings(everything)
    if not mask.any():
        return Screened(everything, everything, ())
    found = fit(replace(samples, torque=np.where(mask, np.nan, samples.torque)))
    return Screened(found, everything, tuple((int(r), int(j)) for r, j in np.argwhere(mask)))


def outlying_readings(found: GravityFit) -> Bools:
    """(N, n): readings off their neighbours by 8 * 1.4826 median |r| of their joint, none where more than 5 % are.

    The scatter is about zero: a spike pulls the friction of one direction of motion along, and leaves two heaps.
    Neighbours, since what the model lacks changes slowly and is no slip, however large.
    """
    residuals, torque = found.fit.residuals, found.samples.torque
    out = np.zeros(torque.shape, dtype=bool)
    for j in range(torque.shape[1]):
        known = np.isfinite(torque[:, j])
        if known.any():
            left = residuals[known, j]
            scale = max(MAD * float(np.median(np.abs(left))), FINEST * float(np.median(np.abs(torque[known, j]))), 1e-9)
            far = _from_neighbours(left) > BEYOND * scale
            if np.sum(far) <= MOST * np.sum(known):
                out[np.flatnonzero(known)[far], j] = True
    return out


def _from_neighbours(column: Array) -> Array:
    """Distance of every number from the median of itself and the three before and after it."""
    padded = np.pad(column, RUN, mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * RUN + 1)
    return np.asarray(np.abs(column - np.median(windows, axis=1)))
