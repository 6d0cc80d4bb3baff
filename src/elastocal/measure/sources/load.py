"""The load is not quite what was written down: its size, its direction, the point where it acts."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from elastocal.measure.kind import Measurement
from elastocal.measure.sources.source import ErrorSource, SourceUnknown
from elastocal.model.parameters import quantity
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array
from elastocal.values import dataclass


@dataclass(frozen=True, kw_only=True)
class LoadSize(ErrorSource):
    """Share of the load; ``every: campaign`` where one wrong calibration of the load cell holds for all readings."""

    kind: ClassVar[str] = "load_size"
    sd: float = quantity("share")
    every: Literal["reading", "campaign"] = "reading"

    @property
    def common(self) -> bool:
        return self.every == "campaign"

    def unknowns(self, measurement: Measurement, model: Robot) -> tuple[SourceUnknown, ...]:
        return (SourceUnknown("load size", "1", self.sd),)

    def columns(self, measurement: Measurement, model: Robot) -> Array:
        setup = measurement.setup
        return np.asarray(np.einsum("nra,na->nr", setup.by_load(model), setup.wrenches)[:, :, None])


@dataclass(frozen=True, kw_only=True)
class LoadDirection(ErrorSource):
    """Tilt of the load about each axis of the axes that it is given in."""

    kind: ClassVar[str] = "load_direction"
    sd: float = quantity("angle")
    every: Literal["reading", "campaign"] = "reading"

    @property
    def common(self) -> bool:
        return self.every == "campaign"

    def unknowns(self, measurement: Measurement, model: Robot) -> tuple[SourceUnknown, ...]:
        return tuple(SourceUnknown(f"load tilt {axis}", "rad", self.sd) for axis in "xyz")

    def columns(self, measurement: Measurement, model: Robot) -> Array:
        setup = measurement.setup
        force, moment = setup.wrenches[:, :3], setup.wrenches[:, 3:]
        tilted = np.stack([np.concatenate([np.cross(e, force), np.cross(e, moment)], 1) for e in np.eye(3)], axis=1)
        return np.asarray(np.einsum("nra,nka->nrk", setup.by_load(model), tilted))


@dataclass(frozen=True, kw_only=True)
class LoadPoint(ErrorSource):
    """Where the load acts, away from its frame's origin along the frame's axes; one for the whole campaign."""

    kind: ClassVar[str] = "load_point"
    common: ClassVar[bool] = True
    sd: float = quantity("length")

    def unknowns(self, measurement: Measurement, model: Robot) -> tuple[SourceUnknown, ...]:
        return tuple(SourceUnknown(f"load point {axis}", "m", self.sd) for axis in "xyz")

    def columns(self, measurement: Measurement, model: Robot) -> Array:
        """A force moved by d turns with the moment d x f."""
        setup = measurement.setup
        shift = setup.in_load_axes(model, np.eye(3))
        moments = np.cross(shift, setup.wrenches[:, None, :3])
        return np.asarray(np.einsum("nra,nka->nrk", setup.by_load(model)[:, :, 3:], moments))
