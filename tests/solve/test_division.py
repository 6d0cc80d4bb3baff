"""The division of a gauge from what it shows, and the mean error that noise leaves of it, by drawing readings."""

from __future__ import annotations

import numpy as np
import pytest

from elastocal.solve.dependent import division_of, mean_error


@pytest.mark.parametrize(
    ("division", "unit"), [(0.01, 1e-3), (0.02, 1e-3), (0.005, 1e-3), (1.0, 1e-6), (0.0005, 0.0254), (0.001, 0.0254)]
)
def test_the_division_is_found_in_any_unit(division, unit):
    steps = np.random.default_rng(3).integers(-60, 60, 25)
    texts = [f"{division * n:.4f}" for n in steps]
    assert division_of(unit * np.array([float(t) for t in texts])) == pytest.approx(division * unit, rel=1e-9)


def test_readings_in_equal_steps_of_several_divisions_are_not_taken_for_a_coarser_gauge():
    assert division_of(1e-6 * np.array([50, 80, 110, 140, 170.0])) == pytest.approx(1e-5)


def test_numbers_that_no_gauge_shows_have_none():
    assert division_of(1e-4 * np.random.default_rng(1).normal(size=10)) == 0.0
    assert division_of(np.zeros(4)) == 0.0


@pytest.mark.parametrize("noise", [0.0, 0.1, 0.2, 0.3])
def test_the_mean_error_is_that_of_readings_drawn_at_many_places(noise):
    rng = np.random.default_rng(5)
    true = rng.uniform(-0.5, 0.5, 400)
    shown = np.round(true[:, None] + rng.normal(0, noise, (400, 20000 if noise else 1)))
    assert mean_error(1.0, noise) == pytest.approx(float(np.std(shown.mean(axis=1) - true)), rel=0.06, abs=0.002)


def test_noise_of_a_division_leaves_nothing():
    assert mean_error(1e-5, 1e-5) < 1e-9 * 1e-5
    assert mean_error(0.0, 1e-6) == 0.0
