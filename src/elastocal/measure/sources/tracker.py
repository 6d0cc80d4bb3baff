"""A laser tracker: better along the beam than across it, worse with distance (ISO 10360-10 form)."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import ClassVar

import numpy as np

from elastocal.errors import InputError
from elastocal.measure.kind import Measurement
from elastocal.measure.sources.source import ErrorSource, SourceUnknown
from elastocal.model.elements import quantity
from elastocal.model.robot import RobotModel
from elastocal.spatial.entries import Array
from elastocal.spatial.rotation import align_z

Vector = tuple[float, float, float]


@dataclass(frozen=True, kw_only=True)
class Tracker(ErrorSource):
    """Standard deviations ``along`` and ``across`` the beam at zero range, growing by ``along_slope`` and
    ``across_slope`` per metre; ``at`` is where the tracker stands in base axes.

    Data sheets print maximum permissible errors: about half of one is a usual standard deviation.
    """

    kind: ClassVar[str] = "tracker"
    at: Vector = quantity("length")
    along: float = quantity("length")
    across: float = quantity("length")
    along_slope: float = quantity("slope", default=0.0)
    across_slope: float = quantity("slope", default=0.0)

    def unknowns(self, measurement: Measurement, model: RobotModel) -> tuple[SourceUnknown, ...]:
        if any(m.rows != 3 for m in measurement.setup.markers):
            raise InputError("error source tracker: a tracker reads points; state the noise of orientations by reading")
        if not min(self.along, self.across) > 0 or min(self.along_slope, self.across_slope) < 0:
            raise InputError("error source tracker: along and across must be positive, their slopes not negative")
        words = ("along", "across 1", "across 2")
        return tuple(SourceUnknown(f"{m.frame} {w}", "m", 1.0) for m in measurement.setup.markers for w in words)

    def columns(self, measurement: Measurement, model: RobotModel) -> Array:
        """Columns carry their size, since it changes with the range; the unknowns have sd one."""
        positions = measurement.setup.positions(model)
        n, count = positions.shape[:2]
        out = np.zeros((n, 3 * count, 3 * count))
        for number in range(count):
            beam = positions[:, number] - np.array(self.at)
            reach = np.linalg.norm(beam, axis=1)
            if not np.all(reach > 0):
                raise InputError("error source tracker: a marker sits in the tracker; check at_mm")
            part = slice(3 * number, 3 * number + 3)
            sd = np.stack([self.along + self.along_slope * reach, *[self.across + self.across_slope * reach] * 2], 1)
            axes = np.stack([np.roll(align_z(b / r), 1, axis=1) for b, r in zip(beam, reach, strict=True)])
            out[:, part, part] = axes * sd[:, None, :] * sqrt(measurement.states)
        return out
