"""The keys of a campaign file, and what it asks for beside the readings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from elastocal.files.located import Located
from elastocal.files.schema import Units
from elastocal.identifiability.practical import ABOVE, BELOW
from elastocal.identify.loss import Loss
from elastocal.measure.deflection import Statics
from elastocal.model.descriptions import Form
from elastocal.model.elements import quantity

Vector = tuple[float, float, float]
Words = str | tuple[str, ...]
Outliers = Literal["leave_out", "keep"]


@dataclass(frozen=True, kw_only=True)
class CampaignEntry:
    """Top level of a campaign file."""

    format: str
    name: str
    robot: str
    tool: str | None = None
    without: Words = ()
    units: dict[str, str] = field(default_factory=dict)
    table: Words
    measurement: Literal["deflection", "position"]
    statics: Statics | None = None
    load: dict[str, Any] | None = None
    markers: Words = ()
    missing: Literal["refuse", "skip"] = "refuse"
    limits: Literal["apply", "ignore"] = "apply"
    tracker_frame: dict[str, Any] | str | None = None
    seek: Words | None = None
    hold: Words = ()
    form: Form | None = None
    thresholds: tuple[float, float] = quantity("number", default=(ABOVE, BELOW))
    loss: Loss = "linear"
    reduce: bool = True
    outliers: Outliers = "leave_out"
    repeats: int = 1
    errors: list[Any] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Given:
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


@dataclass(frozen=True)
class Requests:
    """What is to be done with the readings; ``seek`` and ``hold`` are names or patterns of parameters.

    ``seek`` is None where everything is sought that the kind of measurement has columns for.  ``outliers``
    says whether numbers that do not belong are left out or kept.
    """

    seek: tuple[str, ...] | None = None
    hold: tuple[str, ...] = ()
    form: Form | None = None
    thresholds: tuple[float, float] = (ABOVE, BELOW)
    loss: Loss = "linear"
    statistical: bool = True
    outliers: Outliers = "leave_out"


def listed(words: Words | None) -> tuple[str, ...]:
    """One word or several."""
    return (words,) if isinstance(words, str) else words or ()
