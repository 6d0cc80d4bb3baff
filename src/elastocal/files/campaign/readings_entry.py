"""The keys that plans and campaigns share: the robot, what is sought; and those of all campaigns with readings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from elastocal.identifiability.practical import ABOVE, BELOW
from elastocal.identify.loss import Loss
from elastocal.model.descriptions import Form
from elastocal.model.elements import quantity

Words = str | tuple[str, ...]
Outliers = Literal["leave_out", "keep"]


@dataclass(frozen=True, kw_only=True)
class HeadEntry:
    """Head of a plan or campaign file: of which robot, what is sought, with which errors."""

    format: str
    name: str
    robot: str
    tool: str | None = None
    without: Words = ()
    units: dict[str, str] = field(default_factory=dict)
    seek: Words | None = None
    hold: Words = ()
    form: Form | None = None
    errors: list[Any] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class ReadingsEntry(HeadEntry):
    """What every campaign file has, whatever was measured; ``elastocal.files.tables.named`` reads ``table``."""

    table: Any
    missing: Literal["refuse", "skip"] = "refuse"
    limits: Literal["apply", "ignore"] = "apply"
    thresholds: tuple[float, float] = quantity("number", default=(ABOVE, BELOW))
    loss: Loss = "linear"
    reduce: bool = True
    outliers: Outliers = "leave_out"


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
