"""A few arms of the Monte Carlo of gravity logs (``logs``): torques by Pinocchio, with time and without."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from oracle.draws import draws


@pytest.mark.parametrize(
    ("scene", "first", "error"),
    [
        ("one joint, slow", 0, 0.15),
        ("joints together, fast, no time", 1, 0.15),
        ("joints together, fast, rough", 0, 0.2),
    ],
)
def test_intervals_of_a_few_logs(scene: str, first: int, error: float) -> None:
    pytest.importorskip("pinocchio")
    spec = importlib.util.spec_from_file_location("logs", Path(__file__).with_name("logs.py"))
    assert spec is not None
    assert spec.loader is not None
    logs = importlib.util.module_from_spec(spec)
    sys.modules["logs"] = logs
    spec.loader.exec_module(logs)
    trials = [logs.trial(scene, seed) for seed in range(first, first + draws(1, 40))]
    assert np.mean([t.seen for t in trials]) > 0.9
    assert np.mean([t.elsewhere for t in trials]) > 0.85
    assert all(t.error < error for t in trials)
    assert np.nanmean([t.coulomb for t in trials]) > 0.7
