"""Tracker, floor or arm creep between the two readings of a deflection."""

from __future__ import annotations

from typing import ClassVar

from elastocal.measure.kind import Measurement
from elastocal.measure.sources.repeatability import shifts
from elastocal.measure.sources.source import ErrorSource, SourceUnknown
from elastocal.model.parameters import quantity
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array
from elastocal.values import dataclass


@dataclass(frozen=True, kw_only=True)
class Drift(ErrorSource):
    """Standard deviation per axis of the creep between readings, the same for all markers of a reading."""

    kind: ClassVar[str] = "drift"
    bends: ClassVar[bool] = False
    sd: float = quantity("length")

    def unknowns(self, measurement: Measurement, model: Robot) -> tuple[SourceUnknown, ...]:
        return tuple(SourceUnknown(f"drift {axis}", "m", self.sd) for axis in "xyz")

    def columns(self, measurement: Measurement, model: Robot) -> Array:
        return shifts(measurement)
