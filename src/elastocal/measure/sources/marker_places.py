"""Where the markers sit on the tool: three numbers each, the same for all readings."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import ClassVar

import numpy as np

from elastocal.measure.deflection import Deflection
from elastocal.measure.kind import Measurement
from elastocal.measure.setup import Setup
from elastocal.measure.sources.source import ErrorSource, Unknown
from elastocal.model.elements import quantity
from elastocal.model.robot import RobotModel
from elastocal.model.statics.observation import Marker
from elastocal.spatial.entries import Array
from elastocal.spatial.rotation import rotations


@dataclass(frozen=True, kw_only=True)
class MarkerPlaces(ErrorSource):
    """Standard deviation of every marker along its frame's axes, or nothing where it is to be found."""

    kind: ClassVar[str] = "marker_places"
    sd: float | None = quantity("length", default=None)

    @property
    def common(self) -> bool:
        return True

    def unknowns(self, measurement: Measurement, model: RobotModel) -> tuple[Unknown, ...]:
        sd = inf if self.sd is None else self.sd
        return tuple(Unknown(f"place of {m.frame} {a}", "m", sd) for m in measurement.setup.markers for a in "xyz")

    def columns(self, measurement: Measurement, model: RobotModel) -> Array:
        """R for positions; for deflections R(loaded) - R(unloaded)."""
        at = measurement.setup
        axes = at.axes(model)
        if measurement.states == 2:
            axes = _turns(at, model) @ axes - axes
        out = np.zeros((at.count, at.height, 3 * len(at.markers)))
        for number, start in enumerate(at.starts):
            out[:, start : start + 3, 3 * number : 3 * number + 3] = axes[:, number]
        return out


def _turns(at: Setup, model: RobotModel) -> Array:
    """How far the load turns the markers, (N, markers, 3, 3)."""
    posed = Setup(at.q, at.load, tuple(Marker(m.frame, "pose") for m in at.markers))
    twists = np.nan_to_num(Deflection(posed).predict(model)).reshape(at.count, len(at.markers), 6)
    return np.stack([np.moveaxis(rotations(twists[:, i, 3:].T), -1, 0) for i in range(len(at.markers))], axis=1)
