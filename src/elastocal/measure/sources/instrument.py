"""The scatter of instruments: the same at every place, that of a laser tracker by its beam, that of a force sensor."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, sqrt
from typing import ClassVar

import numpy as np

from elastocal.arguments import vector
from elastocal.errors import InfeasibleError, MissingError, RangeError, ShapeError, UnknownNameError, UnsupportedError
from elastocal.measure.kind import Measurement, Row
from elastocal.measure.sources.source import ErrorSource, SourceUnknown
from elastocal.model.parameters import quantity
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array
from elastocal.spatial.rotation import align_z
from elastocal.values import dataclass

Sizes = tuple[float, ...]
Vector = tuple[float, float, float]


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


@dataclass(frozen=True, kw_only=True)
class ForceSensor(ErrorSource):
    """Standard deviation along each base axis: one number or three."""

    kind: ClassVar[str] = "force_sensor"
    sd: float | tuple[float, float, float] = quantity("force")

    def unknowns(self, measurement: Measurement, model: Robot) -> tuple[SourceUnknown, ...]:
        _ = measurement.objects  # refuses what touches nothing
        sd = np.broadcast_to(np.asarray(self.sd, dtype=np.float64), (3,))
        return tuple(SourceUnknown(f"force {a}", "N", float(s)) for a, s in zip("xyz", sd, strict=True))

    def columns(self, measurement: Measurement, model: Robot) -> Array:
        return measurement.by_force(model)
