"""Where the robot's base is for the instrument: six numbers that are the same for all readings."""

from __future__ import annotations

from math import inf
from typing import ClassVar

import numpy as np

from elastocal.measure.kind import Measurement
from elastocal.measure.sources.source import ErrorSource, SourceUnknown
from elastocal.model.parameters import quantity
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array
from elastocal.values import dataclass


@dataclass(frozen=True, kw_only=True)
class Registration(ErrorSource):
    """Standard deviations of shift and turn, or nothing where they are to be found from the readings.

    First order in the turn: the registration that the readings were brought to base axes with should be right to a
    milliradian.
    """

    kind: ClassVar[str] = "registration"
    sd: float | None = quantity("length", default=None)
    turn_sd: float | None = quantity("angle", default=None)

    @property
    def common(self) -> bool:
        return True

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
        for m, start in zip(setup.markers, setup.starts, strict=True):
            rows = slice(start, start + 3)
            if measurement.states == 1:
                out[:, rows, :3] = np.eye(3)
            out[:, rows, 3:] = _turned(predicted[:, rows])
            if m.rows == 6:
                turns = slice(start + 3, start + 6)
                out[:, turns, 3:] = np.eye(3) if measurement.states == 1 else _turned(predicted[:, turns])
        return out


def _turned(vectors: Array) -> Array:
    """e x v in column e, (N, 3, 3)."""
    return np.stack([np.cross(e, vectors) for e in np.eye(3)], axis=2)
