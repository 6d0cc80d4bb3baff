"""The loaded path of the cylindrical robot: desired, uncalibrated, compensated; figures 2 to 6 of its report.

The report compensates by subtracting the deflection computed at the desired point, which is right to first order; here
the command is solved whose loaded position is the desired one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from elastocal.cases.cylindrical_noise import NOISE
from elastocal.report.blocks import Lines, Series

if TYPE_CHECKING:
    from elastocal.compensation.verification import Verification
    from elastocal.model.robot import RobotModel
    from elastocal.spatial.entries import Array

EXAGGERATED = 20
"""Errors of 1 mm on a path of 400 mm could not be seen as they are."""


@dataclass(frozen=True, eq=False)
class Paths:
    """The true robot, desired positions (n, 3) in m, and the size of every component of the wrench."""

    truth: RobotModel
    desired: Array
    load: float

    def compensated(self, k: Array) -> Verification:
        """The path on the truth when it is corrected with compliances k (3,)."""
        import numpy as np

        from elastocal.compensation.commands import correct
        from elastocal.compensation.loads import PathLoads
        from elastocal.compensation.targets import Targets
        from elastocal.compensation.verification import verify
        from elastocal.model.loads.wrench import AppliedWrenches

        turn = np.repeat(np.eye(3)[None], len(self.desired), axis=0)  # a PRP robot has no orientation to choose
        x, y, z = self.desired[0]
        targets = Targets(self.truth.tool, self.desired, turn, np.array([z, np.arctan2(y, x), np.hypot(x, y)]))
        loads = PathLoads((AppliedWrenches(self.truth.tool, np.full((1, 6), self.load)),))
        out = correct(self.truth.with_parameters(k), targets, loads)
        return verify(self.truth, out.nominal, out.command, targets, loads)

    def farthest(self, k: Array) -> float:
        """Largest distance (m) that is left."""
        return self.compensated(k).after.distances().largest

    def drawn(self, k: Array, printed: float | None = None) -> Lines:
        """Seen from above; ``printed`` is the noise that the compliances were found with, as the report prints it."""
        seen = self.compensated(k)
        ways = (("desired", 0.0), ("uncalibrated", seen.before.position), ("compensated", seen.after.position))
        series = []
        for name, off in ways:
            at = 1e3 * (self.desired + EXAGGERATED * off)
            series.append(Series(name, tuple(float(v) for v in at[:, 0]), tuple(float(v) for v in at[:, 1])))
        figure = 2 if printed is None else 3 + NOISE.index(printed)
        words = "" if printed is None else f", noise {1e3 * printed:g} mm^2 (variance)"
        key = "path" if printed is None else f"path_{1e3 * printed:g}mm2"
        rest = 1e6 * seen.after.distances().rms
        note = (
            f"Under 1000 N and 1000 N m in every component, seen from above; like Fig. {figure} of the report. "
            f"{rest:.3g} um rms are left. Errors drawn {EXAGGERATED} times too large."
        )
        return Lines(key, f"Loaded path{words}", "x", "mm", "y", "mm", tuple(series), (note,), equal=True)
