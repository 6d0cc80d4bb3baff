"""How much larger small things are drawn, and which of many."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest

from elastocal.report.robot_scene import LONGEST, enlargement, spread_out, thinned, times


@pytest.mark.parametrize(
    ("largest", "expected"), [(1e-3, 200.0), (2.9e-3, 100.0), (3.1e-3, 50.0), (0.5, 0.5), (5e-6, 5e4)]
)
def test_a_round_factor_fills_the_picture_without_leaving_it(largest: float, expected: float) -> None:
    """Two metres of picture: 0.3 m for the largest, rounded down to 1, 2 or 5 times a power of ten."""
    factor = enlargement(2.0, largest)
    assert factor == pytest.approx(expected)
    assert 0.4 * LONGEST * 2.0 <= factor * largest <= LONGEST * 2.0 * (1 + 1e-9)


@pytest.mark.parametrize("largest", [0.0, nan, inf])
def test_nothing_is_drawn_to_scale(largest: float) -> None:
    assert enlargement(2.0, largest) == 1.0


def test_a_factor_in_words() -> None:
    assert times(1.0) == "to scale"
    assert times(200.0) == "200 times larger"
    assert times(20000.0) == "20 000 times larger"


def test_far_points_are_taken_before_near_ones() -> None:
    points = np.array([[0.0, 0, 0], [0.1, 0, 0], [5.0, 0, 0], [nan, 0, 0], [0, 4.0, 0], [5.0, 0.1, 0]])
    assert spread_out(points, 3).tolist() == [0, 4, 5]
    assert spread_out(points, 3, first=(1,)).tolist() == [1, 4, 5]
    assert spread_out(points, 2, first=(3, 2)).tolist() == [2, 4]
    assert spread_out(points, 10).tolist() == [0, 1, 2, 4, 5]


def test_equal_points_are_drawn_once() -> None:
    assert spread_out(np.ones((4, 3)), 3).tolist() == [0]
    assert spread_out(np.full((2, 3), nan), 3).tolist() == []


def test_thinning_keeps_both_ends() -> None:
    assert thinned(5, 10).tolist() == [0, 1, 2, 3, 4]
    assert thinned(100, 4).tolist() == [0, 33, 66, 99]
