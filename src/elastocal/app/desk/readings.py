"""Readings at a desk: how a table is understood, what is left out or kept by hand, and the campaign file of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from elastocal.app.commands.columns import columns
from elastocal.calibration.figures import readings_scene
from elastocal.calibration.readings import campaign_of
from elastocal.calibration.words import ORDER
from elastocal.files.campaign.decisions import Decision, place_of
from elastocal.files.campaign.file import FORMAT
from elastocal.files.campaign.observed import Observed, read_observed
from elastocal.files.opened import seen_from
from elastocal.quantities import probability
from elastocal.report.blocks import Scene

__all__ = [
    "EFFECTS",
    "Decision",
    "campaign_text",
    "decisions_of",
    "place_of",
    "probability",
    "readings_view",
    "remembered",
]
EFFECTS = ORDER
"""Words of a model, in the order in which they are tried."""


def readings_view(campaign: Path) -> tuple[tuple[str, ...], Scene]:
    """What is to be said of readings, and their points against the robot, before anything is fitted."""
    read = read_observed(campaign)
    return read.notes, readings_scene(*campaign_of(read))


def decisions_of(campaign: Path) -> Observed:
    """A campaign with the readings that were excluded and kept by hand."""
    return read_observed(campaign)


def remembered(robot: Path, table: Path, told: Sequence[str], units: str | None) -> Mapping[Path, str]:
    """The file that remembers what columns of a table are, ``NAME=TITLE`` each."""
    return columns(str(robot), table, told=list(told), units=units).files


def campaign_text(name: str, robot: Path, folder: Path, words: Mapping[str, Any]) -> str:
    """A campaign file in ``folder``."""
    head = {"format": FORMAT, "name": name, "robot": seen_from(robot, folder)}
    return str(yaml.safe_dump({**head, **words}, sort_keys=False, allow_unicode=True))
