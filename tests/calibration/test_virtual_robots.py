"""Virtual robots with geometry, own weight and gears drawn from priors: predictions against the truth without noise."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.draws import draws
from scipy.spatial.transform import Rotation
from virtual import Truth, campaign, joint_values, random_arm, read_positions, shipped, true_robot

from elastocal.calibration.calibration import Calibration
from elastocal.calibration.run import calibrate
from elastocal.model.robot import Robot
from elastocal.quantities import quantile_95

WORDS = ("geometry", "weight", "harmonics")
ROBOTS = {
    "kuka-kr270": lambda: shipped("kuka-kr270"),
    "fanuc-m710ic50": lambda: shipped("fanuc-m710ic50"),
    "random": lambda: random_arm(1),
    "cylindrical": lambda: shipped("cylindrical"),
}
ALIKE = "fanuc-m710ic50"
"""Built as the KR 270 is."""
KR270 = shipped("kuka-kr270")


def misses(cal: Calibration, truth: Truth, seed: int = 99, station: int = 0) -> np.ndarray:
    """Predicted minus true points at poses that were not measured."""
    q = joint_values(truth.nominal, 200, np.random.default_rng(seed))
    seen = cal.predict_joints(q, station=cal.stations[station])
    return seen.position - truth.points(q, station)


def distance(off: np.ndarray) -> float:
    return float(np.linalg.norm(off, axis=2).mean())


def made(
    seed: int, count: int = 40, robot: Robot = KR270, **options: int
) -> tuple[Truth, np.ndarray, np.random.Generator]:
    rng = np.random.default_rng(seed)
    truth = true_robot(robot, rng, **options)
    return truth, joint_values(robot, count, rng), rng


@pytest.mark.parametrize("name", [n if n != ALIKE else pytest.param(n, marks=pytest.mark.slow) for n in ROBOTS])
def test_the_truth_is_predicted_as_well_as_expected(name: str) -> None:
    """Station and markers anywhere and unknown; seen over expected error near one, no reading lost."""
    robot = ROBOTS[name]()
    rng = np.random.default_rng(5)
    truth = true_robot(robot, rng, ("geometry",) if name == "cylindrical" else WORDS, markers=2)
    q = joint_values(robot, 40, rng)
    cal = calibrate(robot, campaign(q, robot, position=read_positions(truth, q, rng)))
    new = joint_values(robot, 200, rng)
    seen = cal.predict_joints(new)
    off = seen.position - truth.points(new)
    expected = np.sqrt(np.mean((seen.half_width / quantile_95(cal.freedom)) ** 2))
    assert distance(off) < 8e-5
    assert distance(off) < cal.before.mean / 5
    assert 0.3 < np.sqrt(np.mean(off**2)) / expected < 1.5
    assert np.mean(np.abs(off) <= seen.half_width) > 0.85
    assert cal.outliers == ()
    assert cal.verdict.code == "improved"


@pytest.mark.parametrize("name", ["kuka-kr270", "cylindrical"])
def test_clean_data_bring_no_warning(name: str) -> None:
    robot = ROBOTS[name]()
    rng = np.random.default_rng(5)
    truth = true_robot(robot, rng, ("geometry",), markers=2)
    q = joint_values(robot, 30, rng)
    cal = calibrate(robot, campaign(q, robot, position=read_positions(truth, q, rng)), ["geometry"])
    assert [w.code for w in cal.warnings] == []


def test_readings_that_are_missing() -> None:
    truth, q, rng = made(1, markers=2)
    x = read_positions(truth, q, rng)
    x[3], x[5, 0], x[7, 1, 2] = np.nan, np.nan, np.nan
    cal = calibrate(KR270, campaign(q, KR270, position=x), WORDS)
    assert distance(misses(cal, truth)) < 6e-5
    assert cal.leave_one_out.count == 80 - 3  # a point with one coordinate missing counts by the others
    assert cal.outliers == ()


@pytest.mark.parametrize("same_poses", [True, False])
def test_several_stations(same_poses: bool) -> None:
    """Stations of poses of their own, or of the same poses."""
    truth, q, rng = made(1, 24 if same_poses else 40, markers=2, stations=2)
    rows = [q, q] if same_poses else [q[::2], q[1::2]]
    x = np.concatenate([read_positions(truth, part, rng, station=i) for i, part in enumerate(rows)])
    names = np.repeat(["east", "west"], [len(rows[0]), len(rows[1])])
    cal = calibrate(KR270, campaign(np.concatenate(rows), KR270, position=x, station=names), WORDS)
    assert cal.stations == ("east", "west")
    assert distance(misses(cal, truth, station=0)) < 8e-5
    assert distance(misses(cal, truth, station=1)) < 8e-5


def test_repeats_count_as_one_pose() -> None:
    truth, q, rng = made(1, 25, markers=2)
    many = np.repeat(q, 4, axis=0)
    cal = calibrate(KR270, campaign(many, KR270, position=read_positions(truth, many, rng)), WORDS)
    assert cal.leave_one_out.count == 50
    assert distance(misses(cal, truth)) < 8e-5


def test_few_poses_lose_no_good_reading() -> None:
    lost = []
    for seed in range(draws(1, 20)):
        truth, q, rng = made(seed, 12, markers=2)
        lost += calibrate(KR270, campaign(q, KR270, position=read_positions(truth, q, rng)), WORDS).outliers
    assert lost == []


def test_orientations_with_positions() -> None:
    truth, q, rng = made(1, markers=2)
    turn = Rotation.from_rotvec(1e-4 * rng.normal(size=(40, 3))).as_matrix() @ truth.orientation(q)
    cal = calibrate(KR270, campaign(q, KR270, position=read_positions(truth, q, rng), orientation=turn), WORDS)
    assert distance(misses(cal, truth)) < 6e-5
    new = joint_values(KR270, 50, rng)
    off = Rotation.from_matrix(cal.predict_joints(new).orientation).inv() * Rotation.from_matrix(truth.orientation(new))
    assert off.magnitude().mean() < 1.5e-4


def test_readings_without_noise_of_the_nominal_robot() -> None:
    truth, q, _ = made(1, 20)
    exact = Truth(KR270, KR270, truth.markers, truth.stations)
    cal = calibrate(KR270, campaign(q, KR270, position=exact.points(q)), ["geometry"])
    assert distance(misses(cal, exact)) < 1e-6


def test_pure_noise_returns_the_nominal_robot() -> None:
    """23 poses, readings of mm scatter, a perfect robot: nothing to gain, and it says so."""
    for seed in range(draws(1, 20)):
        truth, q, rng = made(seed, 23)
        plain = Truth(KR270, KR270, truth.markers, truth.stations)
        cal = calibrate(KR270, campaign(q, KR270, position=read_positions(plain, q, rng, 3e-3)))
        assert cal.words == ()
        assert len(cal.parameters) == 0
        assert "nothing-to-gain" in [w.code for w in cal.warnings]
        assert cal.verdict.code == "nothing-to-gain"
        assert cal.leave_one_out.mean == pytest.approx(cal.before.mean)


def test_the_order_of_rows_has_no_effect() -> None:
    truth, q, rng = made(2, 25, markers=2)
    q = np.concatenate([q, q[:5]])
    x = read_positions(truth, q, rng)
    x[9, 0, 1] += 3e-3
    order = rng.permutation(30)
    one = calibrate(KR270, campaign(q, KR270, position=x), WORDS)
    other = calibrate(KR270, campaign(q[order], KR270, position=x[order]), WORDS)
    new = joint_values(KR270, 50, rng)
    for part in ("position", "half_width", "half_width_reading"):
        assert getattr(other.predict_joints(new), part) == pytest.approx(
            getattr(one.predict_joints(new), part), rel=0, abs=1e-9
        )
    assert {int(order[o.row]) for o in other.outliers} == {o.row for o in one.outliers} == {9}
    assert [o.probability for o in other.outliers] == pytest.approx([o.probability for o in one.outliers], rel=1e-6)


def test_a_move_of_the_tracker_moves_the_predictions() -> None:
    """The same readings in turned and shifted axes give the same calibration."""
    truth, q, rng = made(3, 25)
    x = read_positions(truth, q, rng)
    turn, shift = Rotation.from_euler("xyz", [170, -80, 35], degrees=True).as_matrix(), np.array([20.0, -7.0, 3.0])
    one = calibrate(KR270, campaign(q, KR270, position=x), ["geometry"])
    other = calibrate(KR270, campaign(q, KR270, position=x @ turn.T + shift), ["geometry"])
    new = joint_values(KR270, 30, rng)
    assert other.predict_joints(new).position == pytest.approx(
        one.predict_joints(new).position @ turn.T + shift, abs=1e-6
    )
    assert other.leave_one_out.mean == pytest.approx(one.leave_one_out.mean, rel=1e-3)
