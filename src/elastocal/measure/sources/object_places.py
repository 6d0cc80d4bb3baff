"""The objects touched are not quite where, or as large as, their description says: one error each for the campaign."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from elastocal.measure.kind import Measurement
from elastocal.measure.sources.force_sensor import contacts
from elastocal.measure.sources.source import ErrorSource, SourceUnknown
from elastocal.model.parameters import quantity
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array
from elastocal.values import dataclass


@dataclass(frozen=True, kw_only=True)
class ObjectPlaces(ErrorSource):
    """Standard deviation of every length of every object (place, radius), and of its tilts."""

    kind: ClassVar[str] = "object_places"
    sd: float = quantity("length")
    turn_sd: float | None = quantity("angle", default=None)

    @property
    def common(self) -> bool:
        return True

    def unknowns(self, measurement: Measurement, model: Robot) -> tuple[SourceUnknown, ...]:
        kind = contacts(measurement, self.kind)
        return tuple(
            SourceUnknown(f"object {p.name}", p.unit, self.sd if p.unit == "m" else float(self.turn_sd or 0.0))
            for p, own in zip(kind.touches.parameters, self._mine(measurement), strict=True)
            if own
        )

    def columns(self, measurement: Measurement, model: Robot) -> Array:
        return contacts(measurement, self.kind).by_objects(model)[:, :, self._mine(measurement)]

    def _mine(self, measurement: Measurement) -> list[bool]:
        """Lengths, and tilts where their size is stated; of objects that are touched."""
        touches = contacts(measurement, self.kind).touches
        used = {touches.surfaces[i].name or touches.surfaces[i].kind for i in np.unique(touches.which)}
        return [
            p.name.rsplit(".", 1)[0] in used and (p.unit == "m" or self.turn_sd is not None) for p in touches.parameters
        ]
