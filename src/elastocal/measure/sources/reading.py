"""The instrument's own scatter, stated per axis: the same at every place."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import ClassVar

import numpy as np

from elastocal.errors import InputError, UnknownNameError
from elastocal.measure.kind import Measurement
from elastocal.measure.sources.source import ErrorSource, Unknown
from elastocal.model.elements import quantity
from elastocal.model.robot import RobotModel
from elastocal.spatial.entries import Array

Vector = tuple[float, float, float]


@dataclass(frozen=True, kw_only=True)
class Reading(ErrorSource):
    """Standard deviation of one reading: one number or one per base axis; ``turn_sd`` for orientations.

    With ``marker`` it is that marker's alone.  A deflection is the difference of two readings and scatters by sqrt(2)
    more.
    """

    kind: ClassVar[str] = "reading"
    bends: ClassVar[bool] = False
    sd: float | Vector = quantity("length")
    turn_sd: float | Vector | None = quantity("angle", default=None)
    marker: str | None = None

    def unknowns(self, measurement: Measurement, model: RobotModel) -> tuple[Unknown, ...]:
        shift = np.broadcast_to(self.sd, 3)
        turn = np.broadcast_to(np.nan if self.turn_sd is None else self.turn_sd, 3)
        markers = measurement.setup.markers
        if self.marker is not None and self.marker not in [m.frame for m in markers]:
            raise UnknownNameError("marker", self.marker, [m.frame for m in markers], "error source reading")
        mine = [self.marker in (None, m.frame) for m in markers for _ in range(m.rows)]
        sizes = np.concatenate([np.concatenate([shift, turn])[: m.rows] for m in markers]) * sqrt(measurement.states)
        if np.any(np.isnan(sizes) & mine):
            raise InputError("error source reading: orientations are measured too; add turn_sd_mrad")
        if not np.all((sizes > 0) | ~np.array(mine)):
            raise InputError("error source reading: a standard deviation must be positive")
        return tuple(
            Unknown(r.name, r.unit, float(s)) for r, s, own in zip(measurement.rows, sizes, mine, strict=True) if own
        )

    def columns(self, measurement: Measurement, model: RobotModel) -> Array:
        names = [r.name for r in measurement.rows]
        mine = [names.index(u.name) for u in self.unknowns(measurement, model)]
        return np.broadcast_to(np.eye(len(names))[:, mine], (measurement.count, len(names), len(mine)))
