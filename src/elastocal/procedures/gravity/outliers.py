"""Outliers of a log: readings that are no torques of this arm, spikes of a sensor, slips of a hand.

Every reading is judged by its deletion residual (``solve.deletion``), with the scale of each joint by the median size
of its residuals, which spikes hardly move, and less those of its neighbours: what the model lacks changes slowly and is
no slip, however large.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from elastocal.procedures.gravity.fit import GravityFit
from elastocal.procedures.gravity.prediction import predict_reading
from elastocal.procedures.gravity.samples import Samples
from elastocal.solve.deletion import deletion
from elastocal.solve.evidence import posterior
from elastocal.spatial.entries import Array, Bools
from elastocal.values import dataclass

BEYOND = 8.0
"""Studentised deletion residuals: chance or ripple does not go there."""
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
        samples = self.everything.samples
        log, units = samples.log, samples.units
        expected = predict_reading(self.fit, samples).reading if self.outliers else log.torque
        named = [
            f"{log.place(r)}, torque of {log.joints[j]} = {samples.torque[r, j]:.4g} {units[j]} "
            f"({expected[r, j]:.3g} by the fit)"
            for r, j in self.outliers
        ]
        return "; ".join(named)


def screen(fit: Callable[[Samples], GravityFit], samples: Samples) -> Screened:
    everything = fit(samples)
    mask = outlying_readings(everything)
    if not mask.any():
        return Screened(everything, everything, ())
    fitted = fit(replace(samples, torque=np.where(mask, np.nan, samples.torque)))
    return Screened(fitted, everything, tuple((int(r), int(j)) for r, j in np.argwhere(mask)))


def outlying_readings(fit: GravityFit) -> Bools:
    """(N, n): deletion residuals off their neighbours by more than 8 sd, none where more than 5 % of a joint's are."""
    blocks, residuals = fit.solved.blocks, fit.residuals
    size = np.array([_robust(r, t) for r, t in zip(residuals.T, fit.samples.torque.T, strict=True)])
    judged = deletion(posterior(blocks, np.concatenate([np.zeros(len(blocks.groups)), np.log(size)])))
    student = np.sign(judged.pull) * np.sqrt(judged.number_chi2())
    out = np.zeros(student.shape, dtype=bool)
    for j in range(student.shape[1]):
        known = np.flatnonzero(blocks.used[:, j])
        far = _from_neighbours(student[known, j]) > BEYOND if len(known) else np.zeros(0, dtype=bool)
        if far.sum() <= MOST * len(known):
            out[known[far], j] = True
    return out


def _robust(residuals: Array, torque: Array) -> float:
    known = residuals[np.isfinite(residuals)]
    if not len(known):
        return 1.0
    return max(MAD * float(np.median(np.abs(known))), FINEST * float(np.nanmedian(np.abs(torque))), 1e-9)


def _from_neighbours(column: Array) -> Array:
    """Distance of every number from the median of itself and the three before and after it."""
    padded = np.pad(column, RUN, mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * RUN + 1)
    return np.asarray(np.abs(column - np.median(windows, axis=1)))
