"""Figures in the style of ISO 9283, on numbers small enough for a pocket calculator."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest
from oracle.refusals import refused
from scipy.spatial.transform import Rotation

from elastocal.compensation.iso9283 import (
    direction_variation,
    distance_figures,
    iso9283,
    path_figures,
    pose_figures,
)


def test_pose_accuracy_and_repeatability():
    """Four readings 1, 1, 3, 3 mm from their mean, which is 3-4-12 mm off the command."""
    middle = np.array([3.0, 4.0, 12.0])
    reached = middle + np.array([[1, 0, 0], [-1, 0, 0], [0, 3, 0], [0, -3, 0]])
    found = pose_figures(np.zeros(3), 1e-3 * reached)
    assert found.accuracy == pytest.approx(13e-3)
    np.testing.assert_allclose(found.offset, 1e-3 * middle)
    # mean distance 2, squared deviations 1 + 1 + 1 + 1 over n - 1 = 3
    assert found.repeatability == pytest.approx(1e-3 * (2 + 3 * np.sqrt(4 / 3)))
    assert np.isnan(found.orientation_accuracy).all()
    assert found.cycles == 4


def test_orientation_accuracy_and_repeatability():
    told = Rotation.from_euler("xyz", [0.3, -0.8, 2.0])
    off = Rotation.from_rotvec([2e-3, 0, -1e-3])
    shake = np.array([[1e-4, 0, 0], [-1e-4, 0, 0], [0, 0, 3e-4], [0, 0, -3e-4]])
    turned = (Rotation.from_rotvec(shake) * off * told).as_matrix()
    found = pose_figures(np.zeros(3), np.random.default_rng(1).normal(size=(4, 3)), told.as_matrix(), turned)
    np.testing.assert_allclose(found.orientation_accuracy, [2e-3, 0, -1e-3], atol=1e-8)
    np.testing.assert_allclose(
        found.orientation_repeatability, 3 * np.array([1e-4, 0, 3e-4]) * np.sqrt(2 / 3), atol=1e-8
    )


def test_distance_accuracy_and_repeatability():
    commands = np.array([[0, 0, 0], [0.5, 0, 0]])
    first = np.zeros((3, 3))
    second = np.array([[0.501, 0, 0], [0.502, 0, 0], [0.503, 0, 0]])
    found = distance_figures(commands, first, second)
    assert found.accuracy == pytest.approx(2e-3)
    assert found.repeatability == pytest.approx(3e-3)
    short = distance_figures(commands, first, second - np.array([4e-3, 0, 0]))
    assert short.accuracy == pytest.approx(-2e-3)


def test_path_figures_are_those_of_the_worst_point():
    command = np.array([[0, 0, 0], [1, 0, 0], [2, 0, 0]], dtype=float)
    spread = np.array([1.0, 4.0, 2.0])[:, None] * np.array([0, 0, 1e-4])
    offset = np.array([[0, 2e-3, 0], [0, 0, 1e-3], [0, -3e-3, 0]])
    reached = np.stack([command + offset + spread, command + offset - spread, command + offset])
    found = path_figures(command, reached)
    np.testing.assert_allclose(found.accuracies, [2e-3, 1e-3, 3e-3])
    assert found.accuracy == pytest.approx(3e-3)
    # distances d, d, 0: mean 2d/3, standard deviation d/sqrt(3)
    assert found.repeatability == pytest.approx(4e-4 * (2 / 3 + 3 / np.sqrt(3)))
    np.testing.assert_allclose(found.repeatabilities / found.repeatability, [0.25, 1.0, 0.5])


def test_variation_between_directions():
    reached = np.zeros((3, 5, 3))
    reached[1, :, 0], reached[2, :, 1] = 3e-3, 4e-3
    reached[:, 0] += 1e-3
    reached[:, 1] -= 1e-3
    assert direction_variation(reached) == pytest.approx(5e-3)


def test_too_few_readings_are_refused():
    with refused("too-few", 1):
        pose_figures(np.zeros(3), np.zeros((1, 3)))
    with refused("shape", (3, 2)):
        distance_figures(np.zeros((2, 3)), np.zeros((3, 3)), np.zeros((2, 3)))
    with refused("shape", (4, 3)):
        path_figures(np.zeros((3, 3)), np.zeros((2, 4, 3)))
    with refused("few-directions"):
        direction_variation(np.zeros((1, 5, 3)))


def test_thirty_cycles_by_the_standard_library():
    """The same definitions with math.dist and statistics.stdev, on scattered readings."""
    rng = np.random.default_rng(9283)
    command = np.array([1.2, -0.3, 0.9])
    reached = command + np.array([3e-4, -2e-4, 5e-4]) + rng.normal(scale=[4e-5, 2e-5, 6e-5], size=(30, 3))
    found = pose_figures(command, reached)
    centre = [statistics.fmean(c) for c in reached.T.tolist()]
    away = [math.dist(p, centre) for p in reached.tolist()]
    assert found.accuracy == pytest.approx(math.dist(centre, command.tolist()), rel=1e-12)
    assert found.repeatability == pytest.approx(statistics.fmean(away) + 3 * statistics.stdev(away), rel=1e-12)
    other = command + np.array([0.5, 0, 0]) + rng.normal(scale=5e-5, size=(30, 3))
    far = [math.dist(a, b) for a, b in zip(reached.tolist(), other.tolist(), strict=True)]
    apart = distance_figures(np.stack([command, command + np.array([0.5, 0, 0])]), reached, other)
    assert apart.accuracy == pytest.approx(statistics.fmean(far) - 0.5, rel=1e-9)
    assert apart.repeatability == pytest.approx(3 * statistics.stdev(far), rel=1e-12)


def test_what_is_no_number_is_named_by_pose_and_cycle():
    command, reached = np.zeros((2, 3)), np.zeros((2, 4, 3))
    reached[1, 2, 0] = np.nan
    with refused("number", (1, 2), parameter="reached"):
        iso9283(command, reached)
    with refused("number", (0,), parameter="command"):
        iso9283([[np.inf, 0, 0]], reached[:1])
    with refused("type", [["a", "b", "c"]], parameter="reached"):
        iso9283(command[:1], [["a", "b", "c"]])
    with refused("shape", (4,), parameter="reached"):
        iso9283(command, np.zeros((2, 4)))
    with refused("shape", (2, 1)):
        iso9283(command, reached[:1])
    with refused("shape", 1, parameter="turned"):
        iso9283(command[:1].repeat(2, axis=0), np.zeros((2, 4, 3)), desired=[np.eye(3)] * 2, turned=[None])


@pytest.mark.parametrize(("off", "named"), [(1e-2, [4]), (5e-3, [4]), (1e-3, [4]), (1e-4, []), (1e-5, [])])
def test_visits_that_agree_at_round_numbers_hide_no_outlier(off: float, named: list[int]) -> None:
    """Up to 0.1 mm it may be the last digit of the instrument."""
    reached = np.tile([1.0, 0.25, 0.5], (10, 1))
    reached[4, 0] += off
    found = iso9283([reached[0]], [reached])
    assert [o.cycle for o in found.outliers] == named
    assert (found.without[0].accuracy == 0.0) == bool(named)


@pytest.mark.parametrize(
    ("word", "slipped"),
    [
        ("x and y swapped", lambda p: p[:, [1, 0, 2]]),
        ("z reversed", lambda p: p * [1, 1, -1]),
        ("lengths in mm", lambda p: 1000 * p),
    ],
)
def test_positions_that_a_slip_of_the_table_explains_are_refused(word, slipped):
    rng = np.random.default_rng(0)
    command = rng.uniform(0.2, 1.0, (5, 3))
    reached = [slipped(c + 1e-4 * rng.normal(size=(4, 3))) for c in command]
    with refused("implausible", word):
        iso9283(list(command), reached)


def test_an_arm_that_is_far_off_has_its_figures():
    command = np.random.default_rng(0).uniform(0.2, 1.0, (5, 3))
    far = command + np.array([0.03, -0.02, 0.01])
    found = iso9283(list(command), [f + 1e-4 * np.eye(3) for f in far])
    assert found.poses[0].accuracy == pytest.approx(np.sqrt(14) * 0.01, rel=1e-2)
