"""A plan at a desk: poses are left out or added, and the effect is seen before anything is kept."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import yaml

import elastocal as ec
from elastocal.app.planning.request import given_task
from elastocal.files.campaign.read import read_plan
from elastocal.files.located import read_yaml
from elastocal.files.opened import seen_from, sha256_of
from elastocal.files.plan.read import read_plan_file
from elastocal.files.robot.read import robot_file

SEED = 1
"""Of the test poses, where the plan file states none: the same for all plans that are compared."""


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


@dataclass(frozen=True)
class Expected:
    """What poses would tell: value over sd by parameter; position error after compensation at the test poses, in m."""

    ratios: dict[str, float]
    rms: float
    worst: float
    tests: str


def expected_accuracy(plan: Path, campaign: Path) -> Expected:
    """Of the poses of a planned campaign, judged as the plan file says."""
    return _judged(plan, campaign, tuple(sha256_of(f) for f in (plan, *read_plan(campaign).files)))


@lru_cache(maxsize=32)
def _judged(plan: Path, campaign: Path, marks: tuple[str, ...]) -> Expected:
    file = read_plan_file(plan)
    task = given_task(file.task, campaign, SEED, tests=file.tests is None)
    found = ec.plan(task.model, task, tests=file.tests, restarts=1, seed=SEED)
    ratios = {p.name: abs(p.value) / p.sd for p in found.parameters if not p.nuisance}
    return Expected(ratios, found.rms_error, float(found.errors.max()), found.problem.tests.words)
