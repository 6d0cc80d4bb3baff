"""What the arm does between readings: it comes back elsewhere, stops off its reading, creeps, keeps some of a load."""

from __future__ import annotations

from math import sqrt
from typing import ClassVar

import numpy as np

from elastocal.errors import MissingError
from elastocal.measure.kind import Measurement
from elastocal.measure.markers import Deflection
from elastocal.measure.sources.source import ErrorSource, SourceUnknown
from elastocal.model.parameters import quantity
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array
from elastocal.values import dataclass


def shifts(measurement: Measurement) -> Array:
    """All markers move alike, (N, R, 3); orientations do not."""
    one = np.concatenate([np.eye(6)[: m.rows, :3] for m in measurement.setup.markers])
    return np.broadcast_to(one, (measurement.count, *one.shape))


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


@dataclass(frozen=True, kw_only=True)
class Drift(ErrorSource):
    """Tracker, floor or arm creep between the readings of a deflection: standard deviation per axis, the same for all
    markers of a reading."""

    kind: ClassVar[str] = "drift"
    bends: ClassVar[bool] = False
    sd: float = quantity("length")

    def unknowns(self, measurement: Measurement, model: Robot) -> tuple[SourceUnknown, ...]:
        return tuple(SourceUnknown(f"drift {axis}", "m", self.sd) for axis in "xyz")

    def columns(self, measurement: Measurement, model: Robot) -> Array:
        return shifts(measurement)


@dataclass(frozen=True, kw_only=True)
class Encoder(ErrorSource):
    """Joints stop off their reading: standard deviation of every revolute one, ``slide_sd`` of every prismatic one.

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


@dataclass(frozen=True, kw_only=True)
class LoadingOrder(ErrorSource):
    """Hysteresis: share of the deflection that depends on the order of loading, anew with every reading."""

    kind: ClassVar[str] = "loading_order"
    sd: float = quantity("share")

    def unknowns(self, measurement: Measurement, model: Robot) -> tuple[SourceUnknown, ...]:
        return (SourceUnknown("order of loading", "1", self.sd),)

    def columns(self, measurement: Measurement, model: Robot) -> Array:
        same = measurement if isinstance(measurement, Deflection) else Deflection(measurement.setup)
        return same.predict(model)[:, :, None]
