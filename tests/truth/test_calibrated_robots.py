"""Whole calibrations of virtual robots against their truth: a few by seed, 200 by ``make proof`` (``robots``)."""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from oracle.draws import draws, spread_of_share

from elastocal.calibration.course import LEVEL


@cache
def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def robots() -> ModuleType:
    return script("robots")


@pytest.mark.parametrize(("scene", "seeds"), [("priors", (2, 6)), ("others", (2, 7))])
def test_a_few_robots_with_everything(scene: str, seeds: tuple[int, ...]) -> None:
    """All large outliers found, no good number lost, no slip invented, intervals that hold what they promise."""
    trials = [robots().trial(scene, seed) for seed in seeds]
    assert sum(t.large for t in trials) >= 3
    assert all(t.found == t.large for t in trials)
    assert sum(t.lost for t in trials) <= 0.01 * sum(t.good for t in trials)
    assert all(t.slips == 0 for t in trials)
    assert np.mean([t.mean for t in trials]) > 0.88
    assert np.mean([t.reading for t in trials]) > 0.9
    assert all(t.error < 2e-4 for t in trials)


def test_a_loaded_robot_with_backlash_at_any_joint() -> None:
    """Three planted outliers, gears without a load on either side of their backlash."""
    trial = robots().trial("loaded", 2)
    assert (trial.large, trial.found, trial.lost) == (3, 3, 0)
    assert "backlash" in trial.words
    assert trial.mean > 0.9
    assert trial.reading > 0.9
    assert trial.error < 1.5e-4


@pytest.mark.parametrize(("scene", "seed"), [("raw", 1), pytest.param("raw", 7, marks=pytest.mark.slow), ("mixed", 4)])
def test_three_bad_poses_of_ten(scene: str, seed: int) -> None:
    """Of 20 poses with one marker 42 good numbers are left: the richest model would take all of them."""
    robots()
    trial = script("bad_poses").trial(scene, seed)
    assert trial.large >= 6
    assert (trial.found, trial.lost, trial.missed) == (trial.large, 0, "")
    assert trial.error < 1.05 * trial.clean


@pytest.mark.slow
@pytest.mark.parametrize("scene", ["numbers", "points", "poses", "mixed", "shifted", "raw"])
def test_many_robots_with_bad_poses(scene: str) -> None:
    robots()
    trials = [script("bad_poses").trial(scene, seed) for seed in range(40)]
    print(script("bad_poses").figures(trials))
    assert sum(t.found for t in trials) >= 0.99 * sum(t.large for t in trials)
    assert sum(t.lost for t in trials) <= 0.01 * sum(t.good for t in trials)
    plain = [t.error / t.clean for t in trials if t.large == t.planted]
    assert np.mean(plain) < 1.05


@pytest.mark.slow
@pytest.mark.parametrize(("scene", "most"), [("priors", 0.97), ("others", 1.0)])
def test_two_hundred_robots(scene: str, most: float) -> None:
    trials = [robots().trial(scene, seed) for seed in range(200)]
    print(robots().figures(trials))
    assert 0.93 <= np.mean([t.mean for t in trials]) <= most
    assert sum(t.found for t in trials) >= 0.99 * sum(t.large for t in trials)
    assert sum(t.lost for t in trials) <= 0.01 * sum(t.good for t in trials)
    assert sum(t.slips for t in trials) == 0


@pytest.mark.parametrize(("poses", "softer"), [(18, 1.0), (8, 3.0)])
def test_deflections_under_load(poses: int, softer: float) -> None:
    """One robot of a scenario of ``loads``: a few um of millimetres, and no more than the interval says."""
    error, ratio, inside, _ = script("loads").trial(poses, softer, 1)
    assert error < 3e-5
    assert ratio < 1.5
    assert inside > 0.9


def test_right_campaigns_raise_no_alarm_in_any_order_of_their_rows() -> None:
    seeds = draws(4, 200)
    alarms = [code for seed in range(seeds) for _, code in script("course").right(seed)]
    assert len(alarms) == 10 * seeds
    assert sum(code != "" for code in alarms) / len(alarms) < LEVEL + spread_of_share(LEVEL, len(alarms))
