"""Stations and markers: steps are motions, slopes are their derivatives, and the start bears outliers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from virtual import joint_values, shipped

from elastocal.calibration.placing import Placing, placed, robust_start
from elastocal.calibration.sight import placing_slopes
from elastocal.model.kinematics import kinematics

STATION = np.array([0, 0, 1, 0, 1, 1, 0, 1])


@pytest.fixture
def tool() -> tuple[np.ndarray, np.ndarray]:
    """Poses of a tool in base axes."""
    robot = shipped("fanuc-m710ic50")
    at = kinematics(robot, joint_values(robot, len(STATION), np.random.default_rng(1)))
    return at.position, at.rotation


@pytest.fixture
def placing() -> Placing:
    rng = np.random.default_rng(2)
    turn = Rotation.random(2, random_state=rng).as_matrix()
    spots = rng.uniform(-0.2, 0.2, size=(2, 3))
    return Placing(turn, rng.uniform(-4, 4, size=(2, 3)), spots, np.eye(3), rng.uniform(-3, 3, size=(2, 3)))


def test_points_are_placed_by_the_station_and_the_marker(placing: Placing, tool: tuple[np.ndarray, np.ndarray]) -> None:
    seen = placed(placing, *tool, STATION)
    for i, s in enumerate(STATION):
        for j, spot in enumerate(placing.markers):
            expected = placing.turn[s] @ (tool[0][i] + tool[1][i] @ spot) + placing.shift[s]
            np.testing.assert_allclose(seen[i, j], expected, atol=1e-12)


def test_slopes_are_those_of_small_steps(placing: Placing, tool: tuple[np.ndarray, np.ndarray]) -> None:
    seen = placed(placing, *tool, STATION)
    slopes = placing_slopes(placing, seen, placing.turn[STATION] @ tool[1], STATION)
    h, unknowns = 1e-6, slopes.shape[2]
    for k in range(unknowns):
        step = h * np.eye(unknowns)[k]
        ahead, behind = (placed(placing.moved(sign * step), *tool, STATION) for sign in (1, -1))
        np.testing.assert_allclose((ahead - behind).reshape(len(STATION), -1) / (2 * h), slopes[:, :, k], atol=1e-7)


def test_a_large_step_is_a_motion(placing: Placing, tool: tuple[np.ndarray, np.ndarray]) -> None:
    """Half a turn about the centre of a station: distances between its points stay, and so does the centre."""
    step = np.zeros(2 * 6 + 2 * 3 + 3)
    step[3:6] = [0.0, np.pi, 0.0]
    step[:3] = [0.1, -0.2, 0.3]
    moved = placing.moved(step)
    mine = STATION == 0
    before, after = (placed(p, *tool, STATION)[mine].reshape(-1, 3) for p in (placing, moved))
    turn = Rotation.from_rotvec(step[3:6]).as_matrix()
    expected = (before - placing.centres[0]) @ turn.T + placing.centres[0] + step[:3]
    np.testing.assert_allclose(after, expected, atol=1e-12)


@pytest.mark.parametrize("bad", [0, 12])
def test_the_start_finds_stations_and_markers_from_nothing(bad: int) -> None:
    """Of 40 points of a marker 12 may be anywhere."""
    rng = np.random.default_rng(3)
    robot = shipped("fanuc-m710ic50")
    at = kinematics(robot, joint_values(robot, 40, rng))
    centres = np.zeros((1, 3))
    turn, shift = Rotation.random(random_state=rng).as_matrix(), rng.uniform(-4, 4, size=3)
    spots = rng.uniform(-0.2, 0.2, size=(2, 3))
    truth = Placing(turn[None], shift[None], spots, np.eye(3), centres)
    station = np.zeros(40, dtype=np.int64)
    points = placed(truth, at.position, at.rotation, station) + 5e-5 * rng.normal(size=(40, 2, 3))
    points[rng.choice(40, bad, replace=False)] += rng.uniform(-0.3, 0.3, size=(bad, 1, 3))
    found = robust_start(at.position, at.rotation, station, centres, points)
    np.testing.assert_allclose(found.turn[0], turn, atol=2e-4)
    np.testing.assert_allclose(found.markers, spots, atol=3e-4)
    np.testing.assert_allclose(found.shift[0], shift, atol=1e-3)
