"""Planted errors of a number, a point, a pose, many poses: named with row, marker and axis; none invented."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from oracle.draws import draws, spread_of_share
from scipy.spatial.transform import Rotation
from virtual import campaign, joint_values, read_positions, shipped, true_robot

import elastocal as ec
from elastocal.calibration import screening
from elastocal.calibration.page import calibration_page
from elastocal.calibration.run import calibrate
from elastocal.calibration.screening import without_bad_repeats, without_beyond
from elastocal.calibration.store import read_calibration, save_calibration

WORDS = ("geometry", "weight", "harmonics")
KR270 = shipped("kuka-kr270")
COUNT = 40


def readings(seed: int = 1, joint_noise: float = 2e-5) -> tuple[object, np.ndarray, np.ndarray, np.random.Generator]:
    rng = np.random.default_rng(seed)
    truth = true_robot(KR270, rng, markers=2)
    q = joint_values(KR270, COUNT, rng)
    return truth, q, read_positions(truth, q, rng, 3e-5, joint_noise), rng


def named(q: np.ndarray, x: np.ndarray) -> set[tuple[int, str | None, str | None]]:
    cal = calibrate(KR270, campaign(q, KR270, position=x, markers=["a", "b"]), WORDS)
    return {(o.row, o.marker, o.axis) for o in cal.outliers}


def test_numbers_a_point_and_a_pose() -> None:
    truth, q, x, _ = readings()
    x[11, 1, 2] += 1e-3
    x[17, 0, 1] += 5e-3
    x[23, 0] += [1e-3, -2e-3, 1.5e-3]
    x[30] = truth.points(q[30:31] + np.array([0.0, 0.01, 0.0, 0.0, 0.0, 0.0]))[0]
    assert named(q, x) == {(11, "b", "z"), (17, "a", "y"), (23, "a", None), (30, None, None)}


def test_three_poses_of_ten_may_be_bad() -> None:
    truth, q, x, rng = readings()
    bad = np.sort(rng.choice(COUNT, 12, replace=False))
    x[bad] = truth.points(q[bad] + 0.05 * rng.normal(size=(12, 6)))
    assert named(q, x) == {(int(row), None, None) for row in bad}


def test_every_accuracy_is_given_with_and_without() -> None:
    _, q, x, _ = readings()
    x[23, 0] += [1e-3, -2e-3, 1.5e-3]
    cal = calibrate(KR270, campaign(q, KR270, position=x), ["geometry", "weight"])
    assert cal.leave_one_out.max < 1e-3
    assert cal.leave_one_out_all.max == pytest.approx(np.linalg.norm([1e-3, -2e-3, 1.5e-3]), rel=0.2)
    assert (cal.leave_one_out.count, cal.leave_one_out_all.count) == (79, 80)


def test_kept_where_asked_for() -> None:
    _, q, x, _ = readings()
    x[23, 0] += [1e-3, -2e-3, 1.5e-3]
    cal = calibrate(KR270, campaign(q, KR270, position=x), ["geometry"], outliers=False)
    assert cal.outliers == ()
    assert cal.leave_one_out.count == 80


def test_none_is_invented_on_clean_data() -> None:
    """Joint and instrument noise: at most 1 % of the numbers."""
    lost, robots = 0, draws(1, 20)
    for seed in range(robots):
        _, q, x, _ = readings(10 + seed)
        cal = calibrate(KR270, campaign(q, KR270, position=x), ["geometry", "weight"])
        lost += sum(1 if o.axis else 3 if o.marker else 6 for o in cal.outliers)
    assert lost <= 0.01 * robots * COUNT * 6


@pytest.mark.parametrize(
    "planted",
    [
        {(31, "a", "y"): 3e-3, (44, "b", None): 2e-3 * np.array([1, -1, 0.5]), (51, None, None): 2e-3},
        {(31, "a", "y"): 3e-4},
    ],
    ids=["large", "small"],
)
def test_the_bad_ones_of_repeats_are_named(planted: dict[tuple[int, str | None, str | None], object]) -> None:
    truth, q, _, rng = readings()
    many = np.repeat(q[:20], 3, axis=0)
    x = read_positions(truth, many, rng)
    for (row, marker, axis), size in planted.items():
        x[row, slice(None) if marker is None else "ab".index(marker), slice(None) if axis is None else 1] += size
    cal = calibrate(KR270, campaign(many, KR270, position=x, markers=["a", "b"]), ["geometry", "weight"])
    assert {(o.row, o.marker, o.axis) for o in cal.outliers} == set(planted)
    assert cal.leave_one_out_all.max >= cal.leave_one_out.max


@pytest.mark.parametrize("kept", [False, True], ids=["left out", "kept by hand"])
def test_the_model_tells_which_of_two_repeats_is_wrong(kept: bool) -> None:
    _, q, x, rng = readings()
    twice = np.concatenate([x, x + 1e-5 * rng.normal(size=x.shape)])
    twice[COUNT + 11, 1, 2] += 2e-3
    data = campaign(np.concatenate([q, q]), KR270, position=twice, markers=["a", "b"])
    cal = calibrate(KR270, data.keeping([COUNT + 11]) if kept else data, WORDS)
    assert [(o.row, o.marker, o.axis) for o in cal.outliers] == ([] if kept else [(COUNT + 11, "b", "z")])
    if not kept:
        assert cal.leave_one_out_all.max > 8e-4 > cal.leave_one_out.max  # the mean of the two is off by 1 mm


def test_good_repeats_are_all_kept() -> None:
    """Joints that stop elsewhere every time scatter more where the arm is long."""
    lost = 0
    for seed in range(draws(10, 50)):
        truth, q, _, rng = readings(seed)
        many = np.repeat(q[:20], 4, axis=0)
        data = campaign(many, KR270, position=read_positions(truth, many, rng, 1e-5, 3e-5))
        lost += len(without_bad_repeats(KR270, data)[1])
    assert lost == 0


@pytest.mark.parametrize("size", [1e-3, 1e-2, 1.0])
def test_wrong_repeats_do_not_hide_each_other(size: float) -> None:
    """Of three states one repeat each, all wrong by as much: the scatter that holds the others would excuse each."""
    for seed in range(draws(3, 30)):
        truth, q, _, rng = readings(seed)
        many = np.repeat(q[:20], 3, axis=0)
        x = read_positions(truth, many, rng)
        x[44, 1] += size * np.array([1, -1, 0.5])
        x[[7, 51]] += size
        _, lost = without_bad_repeats(KR270, campaign(many, KR270, position=x, markers=["a", "b"]))
        assert {(o.row, o.marker, o.axis) for o in lost} == {(7, None, None), (44, "b", None), (51, None, None)}


def test_a_state_that_scatters_more_than_others_loses_no_repeat() -> None:
    _, q, x, rng = readings()
    many, read = np.repeat(q[:20], 3, axis=0), np.repeat(x[:20], 3, axis=0)
    read += 1e-5 * rng.normal(size=read.shape)
    read[30:33] = x[10] + 1e-4 * np.array([0.0, 1.0, 3.0])[:, None, None]  # 20 sd of the others
    assert without_bad_repeats(KR270, campaign(many, KR270, position=read))[1] == ()


def test_repeats_against_the_others_have_the_distribution_of_student(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screening, "APART", 0.0)
    states = draws(800, 10_000)
    values = np.random.default_rng(3).normal(size=(3 * states, 1))
    _, p = screening._studentised(values, list(np.arange(3 * states).reshape(states, 3)), 1.0)
    one_of_each = p[::3, 0]
    for level in (0.05, 0.3, 0.7):
        assert np.mean(one_of_each < level) == pytest.approx(level, abs=spread_of_share(level, states))


def test_a_turn_of_a_repeat() -> None:
    truth, q, _, rng = readings()
    many = np.repeat(q[:10], 3, axis=0)
    turns = Rotation.from_rotvec(5e-5 * rng.normal(size=(30, 3))).as_matrix() @ truth.orientation(many)
    turns[7] = Rotation.from_rotvec([0, 5e-3, 0]).as_matrix() @ turns[7]
    found, lost = without_bad_repeats(KR270, campaign(many, KR270, orientation=turns))
    assert [(o.row, o.axis) for o in lost] == [(7, "orientation")]
    assert np.isnan(found.orientation[7]).all()
    assert np.isfinite(np.delete(found.orientation, 7, axis=0)).all()


def test_copied_rows_count_once() -> None:
    """A block pasted twice: named, and nothing else is changed, an outlier keeps the number of its row."""
    rng = np.random.default_rng(6)
    truth = true_robot(KR270, rng, ("geometry",), markers=2)
    q = joint_values(KR270, 20, rng)
    x = read_positions(truth, q, rng)
    x[17, 1] += 0.02
    once = calibrate(KR270, campaign(q, KR270, position=x), ["geometry"])
    order = np.r_[np.arange(4), np.arange(20)]
    twice = calibrate(KR270, campaign(q[order], KR270, position=x[order]), ["geometry"])
    assert [o.row for o in once.outliers] == [17]
    assert [o.row for o in twice.outliers] == [21]
    (found,) = [w for w in twice.warnings if w.code == "copies"]
    assert found.data["rows"] == [4, 5, 6, 7]
    assert f"WARNING COPIES: {found.text}." in calibration_page(twice).verdict
    assert np.array_equal(once.covariance, twice.covariance)
    assert sorted(twice.residuals.order.tolist()) == [0, 1, 2, 3, *range(8, 24)]


def test_codes_of_a_lost_beam_are_outliers() -> None:
    """Numbers that an instrument writes instead of a reading, far beyond the robot: named, and the rest is used."""
    _, q, x, _ = readings()
    x[3], x[7, 1] = 1e6, -9999.0
    assert named(q, x) == {(3, "a", None), (3, "b", None), (7, "b", None)}


def test_a_point_beyond_reach_that_is_kept_by_hand_stays() -> None:
    _, q, x, _ = readings()
    x[3], x[7, 1] = 1e6, -9999.0
    found, lost = without_beyond(KR270, campaign(q, KR270, position=x).keeping([3]))
    assert {o.row for o in lost} == {7}
    assert np.isfinite(found.position[3]).all()
    assert np.isnan(found.position[7, 1]).all()


def test_a_point_beyond_reach_has_no_deviation_on_page_and_in_file(tmp_path: Path) -> None:
    _, q, x, _ = readings()
    x[3] = 1e6
    found = calibrate(KR270, campaign(q, KR270, position=x), ["geometry"])
    assert all(np.isnan(o.deviations) for o in found.outliers if o.row == 3)
    again = read_calibration(save_calibration(found, tmp_path / "c.json"))
    assert [np.isnan(o.deviations) for o in again.outliers] == [np.isnan(o.deviations) for o in found.outliers]
    far = float(np.linalg.norm(np.full(3, 1e6) - np.nanmedian(np.delete(x, 3, axis=0).reshape(-1, 3), axis=0)))
    words = f"{far:.3g} m from the middle of the other points, where the arm does not reach"
    assert {o.cause for o in again.outliers if o.row == 3} == {words}
    page = again.report(tmp_path / "r.html").read_text(encoding="utf-8")
    assert "farther away than the arm reaches" in page
    assert words in page


@pytest.mark.parametrize(("size", "noise"), [(1e-4, None), (1.0, 1e-5), (100.0, None)])
def test_an_outlier_among_readings_without_noise(size: float, noise: float | None) -> None:
    robot, k = ec.read_robot("cylindrical"), np.arange(24)
    q = np.column_stack([0.1 + 0.08 * k, np.cos(k), 0.4 + 0.05 * (k % 5)])
    wrench = np.zeros((24, 6))
    wrench[k, k % 3] = 900.0
    moved = robot.deflection(q, wrench).translation
    moved[5, 1] += size
    data = ec.Campaign(q=q, deflection=moved, wrench=wrench, length="m", angle="rad", noise=noise)
    cal = calibrate(robot, data, ["compliance"])
    assert 5 in {o.row for o in cal.outliers}
    assert all(o.probability < 1e-6 for o in cal.outliers)
