"""Where the markers sit on the tool: three numbers each, the same for all readings."""

from __future__ import annotations

from math import inf
from typing import ClassVar

import numpy as np

from elastocal.measure.kind import Measurement
from elastocal.measure.setup import Setup
from elastocal.measure.sources.source import ErrorSource, SourceUnknown
from elastocal.model.parameters import quantity
from elastocal.model.robot import Robot
from elastocal.model.statics.deflection import frame_pose
from elastocal.spatial.entries import Array
from elastocal.values import dataclass


@dataclass(frozen=True, kw_only=True)
class MarkerPlaces(ErrorSource):
    """Standard deviation of every marker along its frame's axes, or nothing where it is to be found."""

    kind: ClassVar[str] = "marker_places"
    sd: float | None = quantity("length", default=None)

    @property
    def common(self) -> bool:
        return True

    def unknowns(self, measurement: Measurement, model: Robot) -> tuple[SourceUnknown, ...]:
        sd = inf if self.sd is None else self.sd
        return tuple(
            SourceUnknown(f"place of {m.frame} {a}", "m", sd) for m in measurement.setup.markers for a in "xyz"
        )

    def columns(self, measurement: Measurement, model: Robot) -> Array:
        """R(loaded) for positions; for deflections R(loaded) - R(unloaded)."""
        setup = measurement.setup
        axes = _axes(setup, model, loaded=True)
        if measurement.states == 2:
            axes = axes - _axes(setup, model, loaded=False)
        out = np.zeros((setup.count, setup.height, 3 * len(setup.markers)))
        for number, start in enumerate(setup.starts):
            out[:, start : start + 3, 3 * number : 3 * number + 3] = axes[:, number]
        return out


def _axes(setup: Setup, model: Robot, loaded: bool) -> Array:
    """How the markers' frames are turned, (N, markers, 3, 3); zero where no state is determined."""
    bent = setup.bent(model, loaded)
    turned = [np.moveaxis(frame_pose(model, setup.q, bent, m.frame)[1], -1, 0) for m in setup.markers]
    return np.nan_to_num(np.stack(turned, axis=1))
