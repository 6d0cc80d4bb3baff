"""Whole calibrations of virtual robots against their truth: a few by seed, 200 by ``pytest -m slow`` (``robots``)."""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest


@cache
def robots() -> ModuleType:
    spec = importlib.util.spec_from_file_location("robots", Path(__file__).with_name("robots.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["robots"] = module
    spec.loader.exec_module(module)
    return module


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


@pytest.mark.slow
@pytest.mark.parametrize(("scene", "most"), [("priors", 0.97), ("others", 1.0)])
def test_two_hundred_robots(scene: str, most: float) -> None:
    trials = [robots().trial(scene, seed) for seed in range(200)]
    print(robots().figures(trials))
    assert 0.93 <= np.mean([t.mean for t in trials]) <= most
    assert sum(t.found for t in trials) >= 0.99 * sum(t.large for t in trials)
    assert sum(t.lost for t in trials) <= 0.01 * sum(t.good for t in trials)
    assert sum(t.slips for t in trials) == 0
