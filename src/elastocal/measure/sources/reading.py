"""The instrument's own scatter, stated per axis: the same at every place."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import ClassVar

import numpy as np

from elastocal.errors import MissingError, ShapeError, UnknownNameError
from elastocal.measure.kind import Measurement, Row
from elastocal.measure.sources.source import ErrorSource, SourceUnknown
from elastocal.model.parameters import quantity
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

Sizes = tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class Reading(ErrorSource):
    """Standard deviation of one reading of a length (``sd``), orientation, force or torque.

    One number, or one per axis (or joint) in the order in which they are read.  With ``marker`` it is that marker's or
    instrument's alone.  A deflection is the difference of two readings and scatters by sqrt(2) more.
    """

    kind: ClassVar[str] = "reading"
    bends: ClassVar[bool] = False
    sd: float | Sizes | None = quantity("length", default=None)
    turn_sd: float | Sizes | None = quantity("angle", default=None)
    force_sd: float | Sizes | None = quantity("force", default=None)
    torque_sd: float | Sizes | None = quantity("moment", default=None)
    marker: str | None = None

    def unknowns(self, measurement: Measurement, model: Robot) -> tuple[SourceUnknown, ...]:
        if self.marker is not None and self.marker not in measurement.groups:
            raise UnknownNameError("marker", self.marker, measurement.groups, "error source reading")
        mine = [row for row in measurement.rows if self.marker in (None, row.group)]
        factor = sqrt(measurement.states)
        return tuple(SourceUnknown(row.name, row.unit, factor * self._size(row, mine)) for row in mine)

    def _size(self, row: Row, mine: Sequence[Row]) -> float:
        """Of the place that the row has among those of its unit and group; one joint is one group."""
        given, key = {
            "m": (self.sd, "sd_um"),
            "rad": (self.turn_sd, "turn_sd_mrad"),
            "N": (self.force_sd, "force_sd_N"),
            "N m": (self.torque_sd, "torque_sd_Nm"),
        }[row.unit]
        if given is None:
            raise MissingError(
                f"error source reading: {row.name} is read in {row.unit}; add {key}", value=(row.name, row.unit, key)
            )
        alike = [r for r in mine if r.unit == row.unit]
        within = [r for r in alike if r.group == row.group]
        order = within if len(within) > 1 else alike
        sizes = np.atleast_1d(np.asarray(given, dtype=np.float64))
        if len(sizes) not in (1, len(order)):
            raise ShapeError(f"error source reading: {key} has {len(sizes)} numbers; give one, or {len(order)}")
        return float(sizes[order.index(row) if len(sizes) > 1 else 0])

    def columns(self, measurement: Measurement, model: Robot) -> Array:
        names = [r.name for r in measurement.rows]
        mine = [names.index(u.name) for u in self.unknowns(measurement, model)]
        return np.broadcast_to(np.eye(len(names))[:, mine], (measurement.count, len(names), len(mine)))
