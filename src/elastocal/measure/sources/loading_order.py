"""Hysteresis: the arm stands elsewhere after loading than after unloading."""

from __future__ import annotations

from typing import ClassVar

from elastocal.measure.deflection import Deflection
from elastocal.measure.kind import Measurement
from elastocal.measure.sources.source import ErrorSource, SourceUnknown
from elastocal.model.parameters import quantity
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array
from elastocal.values import dataclass


@dataclass(frozen=True, kw_only=True)
class LoadingOrder(ErrorSource):
    """Share of the deflection that depends on the order of loading, anew with every reading."""

    kind: ClassVar[str] = "loading_order"
    sd: float = quantity("share")

    def unknowns(self, measurement: Measurement, model: Robot) -> tuple[SourceUnknown, ...]:
        return (SourceUnknown("order of loading", "1", self.sd),)

    def columns(self, measurement: Measurement, model: Robot) -> Array:
        same = measurement if isinstance(measurement, Deflection) else Deflection(measurement.setup)
        return same.predict(model)[:, :, None]
