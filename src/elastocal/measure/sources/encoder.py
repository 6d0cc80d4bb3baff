"""Joints stop a little off their reading, anew every time."""

from __future__ import annotations

from math import sqrt
from typing import ClassVar

from elastocal.errors import MissingError
from elastocal.measure.kind import Measurement
from elastocal.measure.sources.source import ErrorSource, SourceUnknown
from elastocal.model.parameters import quantity
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array
from elastocal.values import dataclass


@dataclass(frozen=True, kw_only=True)
class Encoder(ErrorSource):
    """Standard deviation of every revolute joint, and ``slide_sd`` of every prismatic one.

    For deflections state it where the arm moves away between the unloaded and the loaded reading.
    """

    kind: ClassVar[str] = "encoder"
    sd: float = quantity("angle", default=0.0)
    slide_sd: float = quantity("length", default=0.0)

    def unknowns(self, measurement: Measurement, model: Robot) -> tuple[SourceUnknown, ...]:
        if self.sd == self.slide_sd == 0:
            raise MissingError(
                "error source encoder: give sd_urad for revolute or slide_sd_um for prismatic joints", code="no-sd"
            )
        factor = sqrt(measurement.states)
        sizes = [(self.sd, "rad") if m.kind == "revolute" else (self.slide_sd, "m") for m in model.motions]
        return tuple(SourceUnknown(j, unit, sd * factor) for j, (sd, unit) in zip(model.joints, sizes, strict=True))

    def columns(self, measurement: Measurement, model: Robot) -> Array:
        return measurement.by_joints(model)
