"""The keys of a campaign file of contacts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from elastocal.files.campaign.readings_entry import ReadingsEntry


@dataclass(frozen=True, kw_only=True)
class ContactEntry(ReadingsEntry):
    """Top level of a campaign file with ``measurement: contact``."""

    measurement: Literal["contact"]
    frame: str | None = None
    objects: list[Any]
    force: Literal["on_robot", "by_robot"] = "on_robot"
