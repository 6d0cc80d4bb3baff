"""A plan at a desk: poses are left out or added, and the effect is seen before anything is kept."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import yaml

from elastocal.app.planning.request import given_task
from elastocal.design.assessing import assess
from elastocal.files.campaign.read import read_plan
from elastocal.files.located import read_yaml
from elastocal.files.opened import seen_from, sha256_of
from elastocal.files.plan.read import read_plan_file
from elastocal.files.robot.read import robot_file


def planned_table(campaign: Path) -> str:
    """Name of the table of a planned campaign."""
    return str(read_plan(campaign).words["table"])


def moved_campaign(campaign: Path, folder: Path) -> str:
    """The text of a planned campaign file, as it must be written in another folder."""
    words = dict(read_yaml(campaign, "").data)
    own = robot_file(str(words["robot"]))
    if own is not None:
        words["robot"] = seen_from(campaign.parent / own, folder)
    return str(yaml.safe_dump(words, sort_keys=False, allow_unicode=True))


def check_plan(plan: Path, campaign: Path | None = None) -> None:
    """An error where a plan file is none, or where poses of a campaign are not allowed by it."""
    task = read_plan_file(plan).task
    if campaign is not None:
        given_task(task, campaign, 1, tests=False)


def expected_ratios(campaign: Path) -> dict[str, float]:
    """Value over expected standard deviation, by parameter, of a planned campaign."""
    return _judged(campaign, tuple(sha256_of(f) for f in read_plan(campaign).files))


@lru_cache(maxsize=32)
def _judged(campaign: Path, marks: tuple[str, ...]) -> dict[str, float]:
    file = read_plan(campaign)
    found = assess(file.model, file.campaign, file.requests.seek)
    return {e.name: e.ratio for e in found.expected.expectations if e.name not in found.nuisances}
