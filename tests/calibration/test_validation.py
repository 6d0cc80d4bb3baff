"""Figures of validation by hand, and coverage of the intervals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from oracle.draws import draws
from oracle.refusals import refused
from scipy.spatial.transform import Rotation
from scipy.stats import t
from virtual import Truth, campaign, joint_values, random_arm, read_positions, shipped, true_robot

import elastocal as ec
from elastocal.calibration.calibration import Calibration
from elastocal.calibration.judgement import choice_optimism
from elastocal.calibration.ladder import Ladder, Rung, decided
from elastocal.calibration.noise import Instrument
from elastocal.calibration.page import calibration_page
from elastocal.calibration.run import calibrate
from elastocal.calibration.states import mean_by_poses
from elastocal.calibration.validation import cross_validate
from elastocal.errors import InputError
from elastocal.model.kinematics import kinematics
from elastocal.results import Finding

KR270 = shipped("kuka-kr270")
SMALL = shipped("cylindrical")


@pytest.fixture(scope="module")
def one() -> tuple[Truth, Calibration]:
    rng = np.random.default_rng(4)
    truth = true_robot(KR270, rng, ("geometry",), markers=2, stations=2)
    q = joint_values(KR270, 25, rng)
    return truth, calibrate(KR270, campaign(q, KR270, position=read_positions(truth, q, rng)), ["geometry"])


def test_errors_gain_and_coverage_by_hand(one: tuple[Truth, Calibration]) -> None:
    truth, cal = one
    rng = np.random.default_rng(6)
    q = joint_values(KR270, 12, rng)
    x = read_positions(truth, q, rng)
    x[2, 1] = np.nan
    seen = cal.validate(campaign(q, KR270, position=x))
    guess = cal.predict_joints(q)
    after = np.linalg.norm(x - guess.position, axis=2)
    at = kinematics(KR270, q)
    p = cal.nominal_placing
    base = at.position[:, None] + np.einsum("nij,mj->nmi", at.rotation, p.markers)
    before = np.linalg.norm(x - (base @ p.turn[0].T + p.shift[0]), axis=2)
    for summary, d in ((seen.after, after), (seen.before, before)):
        d = d[np.isfinite(d)]
        assert (summary.count, summary.mean, summary.max) == (23, pytest.approx(d.mean()), pytest.approx(d.max()))
        assert summary.rms == pytest.approx(np.sqrt(np.mean(d**2)))
        assert summary.p95 == pytest.approx(np.quantile(d, 0.95))
    inside = np.abs(x - guess.position) <= guess.half_width_reading
    assert seen.coverage == pytest.approx(inside[np.isfinite(x)].mean())
    gain = before - after
    assert seen.gain == pytest.approx(np.nanmean(gain)) == pytest.approx(seen.before.mean - seen.after.mean)
    total = np.nansum(gain - np.nanmean(gain), axis=1)  # of every pose: that with one point counts half
    assert seen.gain_half_width == pytest.approx(t.ppf(0.975, 11) * np.sqrt(12 / 11 * np.sum(total**2)) / 23)
    assert seen.improved
    assert not seen.stations_fitted
    assert len(repr(seen)) < 500


def test_a_new_station_is_fitted(one: tuple[Truth, Calibration]) -> None:
    truth, cal = one
    rng = np.random.default_rng(7)
    q = joint_values(KR270, 15, rng)
    x = read_positions(truth, q, rng, station=1)
    seen = cal.validate(campaign(q, KR270, position=x, station=["elsewhere"] * 15))
    assert seen.stations_fitted
    at = truth.stations[0]
    base = (cal.predict_joints(q).position - at[1]) @ at[0].as_matrix()
    turn, _ = Rotation.align_vectors(
        (x - x.mean(axis=(0, 1))).reshape(-1, 3), (base - base.mean(axis=(0, 1))).reshape(-1, 3)
    )
    fitted = turn.apply((base - base.mean(axis=(0, 1))).reshape(-1, 3)).reshape(x.shape) + x.mean(axis=(0, 1))
    assert seen.after.mean == pytest.approx(np.linalg.norm(x - fitted, axis=2).mean(), rel=1e-6)
    assert seen.after.mean < 1.5e-4


@pytest.mark.parametrize("refit", [False, True])
@pytest.mark.parametrize(("length", "angle"), [(1e3, 1.0), (1e-3, 1.0), (1.0, 57.3)])
def test_other_units_are_refused(one: tuple[Truth, Calibration], length: float, angle: float, refit: bool) -> None:
    truth, cal = one
    rng = np.random.default_rng(3)
    q = joint_values(KR270, 8, rng)
    x = read_positions(truth, q, rng)
    with pytest.raises(InputError) as refused:
        cal.validate(campaign(angle * q, KR270, position=length * x), refit=refit)
    assert (refused.value.code, refused.value.parameter) == ("points-far", "units")
    assert refused.value.value > 0.1


def test_other_markers_are_refused(one: tuple[Truth, Calibration]) -> None:
    q = joint_values(KR270, 5, np.random.default_rng(0))
    with refused("unknown-marker", "left"):
        one[1].validate(campaign(q, KR270, position=np.zeros((5, 2, 3)), markers=["left", "right"]))


def test_cross_validation_by_hand() -> None:
    """Folds over poses, not rows: repeats stay together, every point is judged once."""
    rng = np.random.default_rng(8)
    truth = true_robot(KR270, rng, ("geometry",))
    q = np.repeat(joint_values(KR270, 20, rng), 2, axis=0)
    data = campaign(q, KR270, position=read_positions(truth, q, rng))
    seen = cross_validate(KR270, data, 2, model=["geometry"], outliers=False)
    number = np.argsort(np.lexsort(np.round(q[::2], 9).T[::-1]))
    fold = np.repeat(number % 2, 2)
    errors, before, inside = [], [], []
    for f in range(2):
        cal = calibrate(KR270, data.take(fold != f), ["geometry"], outliers=False)
        rest = data.take(fold == f)
        x = rest.position.reshape(-1, 2, 3).mean(axis=1)
        guess = cal.predict_joints(q[fold == f][::2])
        errors.append(np.linalg.norm(x - guess.position[:, 0], axis=1))
        inside.append((np.abs(x - guess.position[:, 0]) <= guess.half_width_reading[:, 0]).mean())
        before.append(cal.validate(rest).before.mean)
    assert seen.after.count == 20
    assert seen.after.mean == pytest.approx(np.concatenate(errors).mean(), rel=1e-6)
    assert seen.after.max == pytest.approx(np.concatenate(errors).max(), rel=1e-6)
    assert seen.before.mean == pytest.approx(np.mean(before), rel=1e-9)
    assert seen.coverage == pytest.approx(np.mean(inside))
    with refused("range", 21, parameter="folds", allowed=(2, 20)):
        cross_validate(KR270, data, 21)


def test_what_is_accepted_is_put_right_before_the_folds() -> None:
    """The two rows are in different folds; copies count once, so the first of them is the one that is named."""
    rng = np.random.default_rng(8)
    truth = true_robot(SMALL, rng, ("geometry",))
    q = joint_values(SMALL, 20, rng)
    x = read_positions(truth, q, rng)
    number = np.argsort(np.lexsort(np.round(q, 9).T[::-1]))
    one, other = int(np.flatnonzero(number == 4)[0]), int(np.flatnonzero(number == 7)[0])
    wrong = x.copy()
    wrong[[one, other]] = x[[other, one]]
    word = f"readings of row {one} and row {other} exchanged"
    right = cross_validate(SMALL, campaign(q, SMALL, position=x), 2, model=["geometry"], outliers=False)
    for rows in ([*range(20)], [*range(20), one]):
        data = campaign(q[rows], SMALL, position=wrong[rows])
        seen = cross_validate(SMALL, data, 2, model=["geometry"], outliers=False, accept=word)
        assert np.array_equal(seen.errors, right.errors)


def coverage(seeds: range, markers: int, joint_noise: float, count: int, **options: object) -> tuple[float, float]:
    """Shares of true coordinates and of new readings in their 95 % intervals."""
    mean, reading = [], []
    for seed in seeds:
        rng = np.random.default_rng(1000 + seed)
        robot = (KR270, shipped("fanuc-m710ic50"), random_arm(seed))[seed % 3]
        truth = true_robot(robot, rng, markers=markers)
        q = joint_values(robot, count, rng)
        cal = calibrate(robot, campaign(q, robot, position=read_positions(truth, q, rng, 3e-5, joint_noise)), **options)
        new = joint_values(robot, 100, rng)
        seen = cal.predict_joints(new)
        mean.append(np.mean(np.abs(seen.position - truth.points(new)) <= seen.half_width))
        again = read_positions(truth, new, rng, 3e-5, joint_noise)
        reading.append(np.mean(np.abs(seen.position - again) <= seen.half_width_reading))
    return float(np.mean(mean)), float(np.mean(reading))


def test_intervals_hold_the_truth_and_new_readings() -> None:
    mean, reading = coverage(range(draws(2, 12)), 2, 2e-5, 40, model=("geometry", "weight", "harmonics"))
    assert 0.88 < mean <= 0.995
    assert 0.88 < reading <= 0.995


@pytest.mark.slow
@pytest.mark.parametrize("markers", [1, 3])
@pytest.mark.parametrize("joint_noise", [0.0, 3e-5])
def test_coverage_over_many_robots(markers: int, joint_noise: float) -> None:
    mean, reading = coverage(range(30), markers, joint_noise, 40)
    print(
        f"coverage over 30 robots, {markers} markers, joint noise {joint_noise}: mean {mean:.3f}, reading {reading:.3f}"
    )
    assert 0.93 <= mean <= 0.97
    assert 0.93 <= reading <= 0.97


def test_the_choice_of_a_model_is_in_the_claim() -> None:
    """Two models that are right in turn: on every fifth of the poses the one is worse that the others speak for."""
    pose = np.arange(10)
    first, second = np.where(pose % 5 < 3, 1.0, 3.0), np.where(pose % 5 < 3, 2.9, 1.0)
    nominal, *rungs = (Rung((), "points", None, e[:, None], pose, 0.0, 0.0) for e in (0 * pose + 9.0, first, second))
    ladder = Ladder((nominal, *rungs), rungs[0], nominal, 1.0, 0.1)
    # all: 1.8 against 2.14, the first is chosen.  Without a fifth where it is right, 2.0 against 1.95: the second is
    # chosen there, at 2.9; without one where it is wrong, 1.5 against 2.425: the first, at 3
    assert choice_optimism(ladder) == pytest.approx((3 * 2.9 + 2 * 3.0) / 5 / 1.8)
    same = Ladder((nominal, rungs[0]), rungs[0], nominal, 1.0, 0.1)
    assert choice_optimism(same) == 1.0


def test_intervals_are_as_wide_as_the_claim_where_it_is_optimistic(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    arm = shipped("abb-irb120")
    truth = true_robot(arm, rng, ("geometry", "weight"))
    q = joint_values(arm, 20, rng)
    data = campaign(q, arm, position=read_positions(truth, q, rng, 3e-5))
    new = joint_values(arm, 5, rng)
    doubt = Finding("optimistic", "warning", "", {"refitted": {"mean": 3e-4}, "leave_one_out": 2e-4})
    widths, sds = [], []
    for findings in ((), (doubt,)):
        monkeypatch.setattr("elastocal.calibration.result.optimism_of", lambda ladder, told=findings: told)
        cal = calibrate(arm, data, ["geometry"], outliers=False)
        widths.append(cal.predict_joints(new).half_width)
        sds.append(np.array([cal.parameters[n].sd for n in cal.parameters]))
    prior = np.array([cal.parameters[n].prior_sd for n in cal.parameters])
    assert widths[1] == pytest.approx(1.5 * widths[0])
    assert sds[1] == pytest.approx(np.minimum(1.5 * sds[0], prior))  # what readings leave open the prior closes
    assert (1.5 * sds[0] < prior).any()
    assert (1.5 * sds[0] > prior).any()


def test_a_gain_is_the_difference_of_the_means_beside_it() -> None:
    """Where a pose has fewer points too; its error is that of means of poses where all have the same."""
    rng = np.random.default_rng(2)
    fall, pose = rng.normal(1.0, 0.3, (12, 3)) + rng.normal(0, 0.5, (12, 1)), np.repeat(np.arange(6), 2)
    means = fall.reshape(6, 6).mean(axis=1)
    gain, error, poses = mean_by_poses(fall, pose)
    assert (gain, error, poses) == (
        pytest.approx(fall.mean()), pytest.approx(means.std(ddof=1) / np.sqrt(6)), 6
    )  # fmt: skip
    fall[3, 1:] = np.nan
    assert mean_by_poses(fall, pose)[0] == pytest.approx(np.nanmean(fall))


def test_points_of_an_arm_of_slides_are_near_by_how_far_it_moves() -> None:
    """Its frames all stand in one place, which is no measure of what is far."""
    robot = shipped("cylindrical")
    rng = np.random.default_rng(5)
    q = joint_values(robot, 24, rng)
    x = robot.nominal.kinematics(q).position + 2e-4 * rng.normal(size=(24, 3))
    first, other = (ec.Campaign(q=q[r], position=x[r], length="m", angle="rad") for r in (slice(16), slice(16, 24)))
    cal = ec.calibrate(robot.nominal, first)
    assert cal.robot.size < 0.01 < np.ptp(x, axis=0).max()
    assert 5e-5 < cal.validate(other).after.mean < 1e-3


@pytest.mark.parametrize(
    ("words", "gain", "code"),
    [
        (("geometry",), 3.0, "improved"),
        (("geometry",), 2.4, "no-gain"),
        (("compliance",), 3.0, "improved"),
        (("compliance", "backlash"), 2.4, "within-priors"),
        (("compliance",), 0.1, "within-priors"),
    ],
)
def test_a_verdict_is_improved_where_the_gain_exceeds_the_interval_shown(
    one: tuple[Truth, Calibration], words: tuple[str, ...], gain: float, code: str
) -> None:
    """25 poses: 2.5 standard errors of 0.1 mm, times Student's factor over that of the normal distribution."""
    cal = one[1]
    made = replace(
        cal, words=words, ladder=replace(cal.ladder, gain=1e-4 * gain * t.ppf(0.975, 24) / 1.96, gain_se=1e-4)
    )
    assert made.verdict.code == code
    half = 0.25 * t.ppf(0.975, 24) / 1.96
    assert made.verdict.data["half_mm"] == pytest.approx(half, rel=1e-4)
    assert f" +- {half:.3f} mm" in calibration_page(made).verdict[1]


@pytest.mark.parametrize(("factor", "code"), [(0.5, "improved"), (0.99, "no-gain"), (1.1, "no-gain")])
def test_errors_of_refits_must_gain_by_more_than_the_interval(
    one: tuple[Truth, Calibration], factor: float, code: str
) -> None:
    cal = one[1]
    refitted = replace(cal.before, mean=factor * cal.before.mean)
    doubt = Finding("optimistic", "warning", "", {"refitted": vars(refitted)})
    made = replace(cal, warnings=(doubt,), ladder=replace(cal.ladder, gain_se=0.05 * cal.before.mean))
    assert made.verdict.code == code


def test_the_model_is_chosen_by_the_interval_that_is_shown() -> None:
    """A mean gain just above and just below its half width, by a standard error of 0.1."""
    pose = np.arange(16)
    spread = np.resize([1.0, -1.0], 16)
    spread *= 0.1 * np.sqrt(15)  # standard error over 16 poses 0.1
    for gain, chosen in ((0.271 + 0.002, True), (0.271 - 0.002, False)):  # 0.25 t(0.975, 15) / 1.96 = 0.2719
        nominal = Rung((), "points", None, (2.0 + spread)[:, None], pose, 0.0, 0.0)
        best = Rung(("geometry",), "points", None, np.full((16, 1), 2.0 - gain), pose, 0.0, 0.0)
        ladder = decided((nominal, best), best, nominal)
        assert ladder.worth_it is chosen is (ladder.gain > ladder.gain_half_width)
        assert ladder.gain_half_width == pytest.approx(0.25 * t.ppf(0.975, 15) / 1.959964, rel=1e-4)


def test_a_station_that_was_not_seen_reads_from_where_it_stands(one: tuple[Truth, Calibration]) -> None:
    """Noise by its own distance; what the model does not know is as large as it was, seen from anywhere."""
    tracker = ec.Tracker()
    cal = replace(one[1], instrument=Instrument(tracker=tracker), noise={"points": 1.0})
    q = joint_values(KR270, 14, np.random.default_rng(5))
    near = cal.predict(q).position
    far = near @ Rotation.from_euler("xyz", [0.3, -1.1, 1.9]).as_matrix().T + [15.0, 9.0, -4.0]
    read = np.concatenate([far[:8], near[8:]])
    seen = cal.validate(campaign(q, KR270, position=read, station=["far"] * 8 + ["1"] * 6))
    home = cal.validate(campaign(q, KR270, position=near))
    row, at_home = ([int(p.split()[1]) for p in v.places] for v in (seen, home))
    reach = np.linalg.norm(read, axis=2)
    along, across = tracker.along + tracker.along_slope * reach, tracker.across + tracker.across_slope * reach
    np.testing.assert_allclose(seen.reading, np.sqrt((along**2 + 2 * across**2) / 3)[row], rtol=1e-6)
    np.testing.assert_allclose(seen.expected, home.expected[np.argsort(at_home)][row], rtol=1e-6)
    assert seen.reading.max() > 2 * home.reading.max()


def test_intervals_are_those_of_loads_where_they_act(one: tuple[Truth, Calibration]) -> None:
    cal = one[1]
    q = joint_values(KR270, 6, np.random.default_rng(5))
    push = np.tile([0.0, 300, -2000, 0, 0, 0], (6, 1))
    made = cal.predict(KR270.controller.to_controller(q), push, load_frame="A3")
    seen = cal.validate(campaign(q, KR270, position=made.position, wrench=push, load_frame="A3"))
    row = [int(p.split()[1]) for p in seen.places]
    k = cal.inflation * t.ppf(0.975, cal.freedom)
    np.testing.assert_allclose(seen.expected, np.linalg.norm(made.half_width, axis=2)[row] / k, rtol=1e-6)
    at_tool = cal.predict(KR270.controller.to_controller(q), push)
    assert np.median(at_tool.half_width) > 1.2 * np.median(made.half_width)
