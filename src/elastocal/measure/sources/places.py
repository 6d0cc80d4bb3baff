"""Where things are: the robot's base for the instrument, markers on the tool, objects that are touched.

One error each for the campaign.
"""

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
class Registration(ErrorSource):
    """Standard deviations of shift and turn, or nothing where they are to be found from the readings.

    First order in the turn: the registration that the readings were brought to base axes with should be right to a
    milliradian.
    """

    kind: ClassVar[str] = "registration"
    common: ClassVar[bool] = True
    sd: float | None = quantity("length", default=None)
    turn_sd: float | None = quantity("angle", default=None)

    def unknowns(self, measurement: Measurement, model: Robot) -> tuple[SourceUnknown, ...]:
        shift = inf if self.sd is None else self.sd
        turn = inf if self.turn_sd is None else self.turn_sd
        return (
            *(SourceUnknown(f"registration {a}", "m", shift) for a in "xyz"),
            *(SourceUnknown(f"registration r{a}", "rad", turn) for a in "xyz"),
        )

    def columns(self, measurement: Measurement, model: Robot) -> Array:
        """A turn w moves what is read by w x (what is read); a shift moves positions, not differences."""
        predicted = np.nan_to_num(measurement.predict(model))
        out = np.zeros((*predicted.shape, 6))
        setup = measurement.setup
        for start in setup.starts:
            rows = slice(start, start + 3)
            if measurement.states == 1:
                out[:, rows, :3] = np.eye(3)
            out[:, rows, 3:] = _turned(predicted[:, rows])
        for _, turns in setup.turning:
            out[:, turns, 3:] = np.eye(3) if measurement.states == 1 else _turned(predicted[:, turns])
        return out


def _turned(vectors: Array) -> Array:
    """e x v in column e, (N, 3, 3)."""
    return np.stack([np.cross(e, vectors) for e in np.eye(3)], axis=2)


@dataclass(frozen=True, kw_only=True)
class MarkerPlaces(ErrorSource):
    """Standard deviation of every marker along its frame's axes, or nothing where it is to be found."""

    kind: ClassVar[str] = "marker_places"
    common: ClassVar[bool] = True
    sd: float | None = quantity("length", default=None)

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


@dataclass(frozen=True, kw_only=True)
class ObjectPlaces(ErrorSource):
    """Standard deviation of every length of every object (place, radius), and of its tilts."""

    kind: ClassVar[str] = "object_places"
    common: ClassVar[bool] = True
    sd: float = quantity("length")
    turn_sd: float | None = quantity("angle", default=None)

    def unknowns(self, measurement: Measurement, model: Robot) -> tuple[SourceUnknown, ...]:
        return tuple(
            SourceUnknown(f"object {p.name}", p.unit, self.sd if p.unit == "m" else float(self.turn_sd or 0.0))
            for p, own in zip(measurement.objects.parameters, self._mine(measurement), strict=True)
            if own
        )

    def columns(self, measurement: Measurement, model: Robot) -> Array:
        return measurement.by_objects(model)[:, :, self._mine(measurement)]

    def _mine(self, measurement: Measurement) -> list[bool]:
        """Lengths, and tilts where their size is stated; of objects that are touched."""
        touches = measurement.objects
        used = {touches.surfaces[i].name or touches.surfaces[i].kind for i in np.unique(touches.which)}
        return [
            p.name.rsplit(".", 1)[0] in used and (p.unit == "m" or self.turn_sd is not None) for p in touches.parameters
        ]
