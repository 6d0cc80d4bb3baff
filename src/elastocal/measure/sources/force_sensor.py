"""The force sensor's own scatter, the same in every contact."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from elastocal.errors import UnsupportedError
from elastocal.measure.contact_force import ContactForce
from elastocal.measure.contact_gap import ContactGap
from elastocal.measure.kind import Measurement
from elastocal.measure.sources.source import ErrorSource, SourceUnknown
from elastocal.model.parameters import quantity
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array
from elastocal.values import dataclass


@dataclass(frozen=True, kw_only=True)
class ForceSensor(ErrorSource):
    """Standard deviation along each base axis: one number or three."""

    kind: ClassVar[str] = "force_sensor"
    sd: float | tuple[float, float, float] = quantity("force")

    def unknowns(self, measurement: Measurement, model: Robot) -> tuple[SourceUnknown, ...]:
        contacts(measurement, self.kind)
        sd = np.broadcast_to(np.asarray(self.sd, dtype=np.float64), (3,))
        return tuple(SourceUnknown(f"force {a}", "N", float(s)) for a, s in zip("xyz", sd, strict=True))

    def columns(self, measurement: Measurement, model: Robot) -> Array:
        return contacts(measurement, self.kind).by_force(model)


def contacts(measurement: Measurement, source: str) -> ContactForce | ContactGap:
    if not isinstance(measurement, ContactForce | ContactGap):
        raise UnsupportedError(
            f"error source {source}: a measurement of {measurement.kind} touches nothing", value=measurement.kind
        )
    return measurement
