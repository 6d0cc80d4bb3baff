"""The arm does not come back exactly: all markers of a reading shift together."""

from __future__ import annotations

from math import sqrt
from typing import ClassVar

import numpy as np

from elastocal.measure.kind import Measurement
from elastocal.measure.sources.source import ErrorSource, SourceUnknown
from elastocal.model.parameters import quantity
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array
from elastocal.values import dataclass


@dataclass(frozen=True, kw_only=True)
class Repeatability(ErrorSource):
    """Standard deviation per axis of a return to the pose, new for every reading of the instrument.

    State it where the arm moves away between the unloaded and the loaded reading; leave it out where it stays.
    """

    kind: ClassVar[str] = "repeatability"
    bends: ClassVar[bool] = False
    sd: float = quantity("length")

    def unknowns(self, measurement: Measurement, model: Robot) -> tuple[SourceUnknown, ...]:
        return tuple(SourceUnknown(f"return {axis}", "m", self.sd * sqrt(measurement.states)) for axis in "xyz")

    def columns(self, measurement: Measurement, model: Robot) -> Array:
        return shifts(measurement)


def shifts(measurement: Measurement) -> Array:
    """All markers move alike, (N, R, 3); orientations do not."""
    one = np.concatenate([np.eye(6)[: m.rows, :3] for m in measurement.setup.markers])
    return np.broadcast_to(one, (measurement.count, *one.shape))
