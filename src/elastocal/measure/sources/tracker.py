"""A laser tracker: better along the beam than across it, worse with distance (ISO 10360-10 form)."""

from __future__ import annotations

from math import isfinite, sqrt
from typing import ClassVar

import numpy as np

from elastocal.arguments import vector
from elastocal.errors import InfeasibleError, MissingError, RangeError, UnsupportedError
from elastocal.measure.kind import Measurement
from elastocal.measure.sources.source import ErrorSource, SourceUnknown
from elastocal.model.parameters import quantity
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array
from elastocal.spatial.rotation import align_z
from elastocal.values import dataclass

Vector = tuple[float, float, float]


@dataclass(frozen=True, kw_only=True)
class Tracker(ErrorSource):
    """Standard deviations ``along`` and ``across`` the beam at zero range, growing by ``along_slope`` and
    ``across_slope`` per metre; ``at`` is where the tracker stands, None the origin of the readings' own axes.

    Data sheets print maximum permissible errors: about half of one is a usual standard deviation.  The default is half
    of what a Leica AT500 is specified with: 10 um + 0.3 um/m along the beam, 15 um + 6 um/m across it (ISO 10360-10).
    """

    kind: ClassVar[str] = "tracker"
    at: Vector | None = quantity("length", default=None)
    along: float = quantity("length", default=5e-6)
    across: float = quantity("length", default=7.5e-6)
    along_slope: float = quantity("slope", default=0.15e-6)
    across_slope: float = quantity("slope", default=3e-6)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("along", "across", "along_slope", "across_slope"):
            size, slope = getattr(self, name), name.endswith("slope")
            if not isfinite(size) or size < 0 or not (size or slope):
                sign = "not negative" if slope else "positive"
                raise RangeError.of(name, size, f"this number of error source tracker must be finite and {sign}")
        if self.at is not None:
            object.__setattr__(self, "at", tuple(vector("at", self.at, 3).tolist()))

    def unknowns(self, measurement: Measurement, model: Robot) -> tuple[SourceUnknown, ...]:
        if any(m.rows != 3 for m in measurement.setup.markers):
            raise UnsupportedError(
                "error source tracker: a tracker reads points; state the noise of orientations by reading",
                code="orientations",
            )
        words = ("along", "across 1", "across 2")
        return tuple(SourceUnknown(f"{m.frame} {w}", "m", 1.0) for m in measurement.setup.markers for w in words)

    def columns(self, measurement: Measurement, model: Robot) -> Array:
        """Columns carry their size, since it changes with the range; the unknowns have sd one."""
        positions = measurement.setup.positions(model)
        n, count = positions.shape[:2]
        if self.at is None:
            raise MissingError("error source tracker: say where it stands in base axes; add at_mm")
        beams = self.beams(positions.reshape(-1, 3)).reshape(n, count, 3, 3)
        out = np.zeros((n, 3 * count, 3 * count))
        for number in range(count):
            part = slice(3 * number, 3 * number + 3)
            out[:, part, part] = beams[:, number] * sqrt(measurement.states)
        return out

    def beams(self, points: Array) -> Array:
        """Axes (N, 3, 3) of the error ellipsoids at points (N, 3), one sd long: the beam, then two across."""
        beam = points if self.at is None else points - np.array(self.at)
        reach = np.linalg.norm(beam, axis=1)
        known = np.isfinite(reach)
        if not np.all(reach[known] > 0):
            raise InfeasibleError(
                "error source tracker: a marker sits in the tracker; check where it stands", code="marker-in-tracker"
            )
        across = self.across + self.across_slope * reach
        sd = np.stack([self.along + self.along_slope * reach, across, across], axis=1)
        out = np.full((len(points), 3, 3), np.nan)
        out[known] = np.roll(align_z(beam[known] / reach[known, None]), 1, axis=2) * sd[known, None]
        return out
