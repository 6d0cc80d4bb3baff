"""The keys of a campaign file of markers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from elastocal.files.campaign.readings_entry import ReadingsEntry, Words
from elastocal.files.located import Located
from elastocal.files.schema import Units
from elastocal.measure.deflection import Statics
from elastocal.model.elements import quantity

Vector = tuple[float, float, float]


@dataclass(frozen=True, kw_only=True)
class CampaignEntry(ReadingsEntry):
    """Top level of a campaign file of markers."""

    measurement: Literal["deflection", "position"]
    statics: Statics | None = None
    load: dict[str, Any] | None = None
    markers: Words = ()
    tracker_frame: dict[str, Any] | str | None = None
    repeats: int = 1


@dataclass(frozen=True, eq=False)
class CampaignKeys:
    """The keys of a campaign file, where they stand, and the units it declares; a ``plan`` has no readings yet."""

    located: Located
    entry: CampaignEntry
    units: Units
    plan: bool


@dataclass(frozen=True, kw_only=True)
class LoadEntry:
    """Where the load acts and in which axes, and the load itself where it is the same in all rows."""

    frame: str | None = None
    follows: bool = False
    force: Vector | None = quantity("force", default=None)
    moment: Vector | None = quantity("moment", default=None)


@dataclass(frozen=True, kw_only=True)
class PoseEntry:
    """Pose of the instrument's axes in base axes."""

    xyz: Vector = quantity("length", default=(0.0, 0.0, 0.0))
    rpy: Vector = quantity("angle", default=(0.0, 0.0, 0.0))
