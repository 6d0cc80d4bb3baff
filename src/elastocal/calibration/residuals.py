"""What a calibration leaves of its readings, as figures and files need it: no fit is behind it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.calibration.ladder import Ladder
from elastocal.spatial.entries import Array, Bools, Ints


@dataclass(frozen=True, eq=False)
class Residuals:
    """Of M states with the same rows: joint values ``q`` (M, n), ``wrench`` (M, 6), number of the ``pose`` (M,)."""

    q: Array
    wrench: Array
    pose: Ints
    order: Ints
    """First row of the campaign that a state was read in."""
    lengths: Bools
    """Which rows are lengths; the others are angles."""
    nominal: Array
    """Read minus predicted by the nominal robot without the pose (M, rows), in m and rad; nan where not read."""
    calibrated: Array
    """The same by the calibrated robot."""
    deviations: Array
    """Every number predicted from all others, in standard deviations of that prediction (M, rows)."""

    time: Array | None = None
    """When a state was read, s from the first; None where no column tells it."""

    @classmethod
    def of(cls, ladder: Ladder) -> Residuals:
        fit, nominal = ladder.chosen.fit, ladder.nominal.fit
        sight, s = fit.task.sight, fit.task.sight.states
        size = np.sqrt(fit.deletion.number_chi2() / fit.posterior.blocks.power)
        sign = np.sign(np.nan_to_num(fit.deletion.number_residuals()))
        return cls(
            s.q,
            s.wrench,
            s.pose,
            np.array([int(m.min()) for m in s.members]),
            sight.lengths,
            nominal.left_out,
            fit.left_out,
            sight.unfold(size * sign),
            s.time,
        )

    def by_number(self) -> tuple[Array, Array]:
        """Pose and deviation of every number read."""
        state, row = np.nonzero(np.isfinite(self.deviations))
        return self.pose[state].astype(np.float64), self.deviations[state, row]
