"""The keys of a campaign file of contacts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from elastocal.files.campaign_entry import Outliers, Words
from elastocal.identifiability.practical import ABOVE, BELOW
from elastocal.identify.loss import Loss
from elastocal.model.descriptions import Form
from elastocal.model.elements import quantity


@dataclass(frozen=True, kw_only=True)
class ContactEntry:
    """Top level of a campaign file with ``measurement: contact``."""

    format: str
    name: str
    robot: str
    tool: str | None = None
    without: Words = ()
    units: dict[str, str] = field(default_factory=dict)
    table: Words
    measurement: Literal["contact"]
    frame: str | None = None
    objects: list[Any]
    force: Literal["on_robot", "by_robot"] = "on_robot"
    missing: Literal["refuse", "skip"] = "refuse"
    limits: Literal["apply", "ignore"] = "apply"
    seek: Words | None = None
    hold: Words = ()
    form: Form | None = None
    thresholds: tuple[float, float] = quantity("number", default=(ABOVE, BELOW))
    loss: Loss = "linear"
    reduce: bool = True
    outliers: Outliers = "leave_out"
    errors: list[Any] = field(default_factory=list)
