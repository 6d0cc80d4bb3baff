"""Campaigns of many poses: pieces change nothing, the sum is the whole, and what is wrong is found among thousands."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import elastocal as ec
from elastocal.calibration import many, screening
from elastocal.calibration.sight import Sight
from elastocal.calibration.states import gather
from elastocal.calibration.task import assemble
from elastocal.files.robot.read import read_robot
from elastocal.model.compliant.frame_error import FrameError
from elastocal.model.kinematics import kinematics
from elastocal.model.robot import Robot
from elastocal.solve.evidence import noise_covariance, posterior
from elastocal.spatial.entries import Array

POSES = 900
MARKERS = np.array([[0.02, 0.08, 0.0], [-0.04, -0.03, 0.07]])


@pytest.fixture(scope="module")
def robot() -> Robot:
    return read_robot("ur10e").nominal


def readings(robot: Robot) -> tuple[Array, Array]:
    rng = np.random.default_rng(4)
    errors = [FrameError(frame=j, rz=float(rng.normal(0, 5e-4)), x=float(rng.normal(0, 3e-4))) for j in robot.joints]
    q = rng.uniform(-1.5, 1.5, (POSES, 6))
    at = kinematics(robot.with_elements(*errors), q)
    points = at.position[:, None] + np.einsum("nij,mj->nmi", at.rotation, MARKERS)
    return q, points + rng.normal(0, 2e-5, points.shape)


def campaign(q: Array, points: Array) -> ec.Campaign:
    return ec.Campaign(q=q, position=points, length="m", angle="rad")


def sampled(robot: Robot, data: ec.Campaign) -> ec.Calibration:
    rows = many.sample_rows(gather(robot, data), data.count)
    return ec.calibrate(robot, data.take(rows), "geometry")


@pytest.fixture(scope="module")
def small(robot: Robot) -> ec.Calibration:
    """Of a sample of the readings: what the passes over all of them start from."""
    return sampled(robot, campaign(*readings(robot)))


def test_pieces_of_any_size_give_the_same_fit(robot: Robot, small: ec.Calibration) -> None:
    data = campaign(*readings(robot))
    assert small.ladder is not None
    start, states = small.ladder.chosen.fit, gather(robot, data)
    whole = many.fit_many(start, states, chunk=10_000)
    for chunk in (97, 450):
        parts = many.fit_many(start, states, chunk=chunk)
        scale = np.abs(whole.fit.x).max()
        np.testing.assert_allclose(parts.fit.x, whole.fit.x, rtol=1e-9, atol=1e-9 * scale)
        np.testing.assert_allclose(parts.left_out, whole.left_out, rtol=1e-7)
        assert parts.count == whole.count


def test_the_sums_are_those_of_the_whole_problem(robot: Robot, small: ec.Calibration) -> None:
    """A step on all readings at once, from where the passes ended, predicts the same; H is that of all rows."""
    data = campaign(*readings(robot))
    assert small.ladder is not None
    start, states = small.ladder.chosen.fit, gather(robot, data)
    found = many.fit_many(start, states, chunk=128).fit
    sight = Sight(states)
    task = replace(start.task, sight=sight, dropped=np.zeros_like(sight.used))
    blocks = assemble(task, found.x, found.placing)
    direct = posterior(blocks, start.posterior.log_scales)
    np.testing.assert_allclose(found.posterior.factor, direct.factor, rtol=1e-6, atol=1e-6 * direct.factor.max())
    step = direct.mean - np.concatenate([found.x, np.zeros(sight.extra)])
    assert np.abs(blocks.jacobian @ step).max() < 2e-7  # a hundredth of the noise


def test_a_pose_predicted_by_all_others_is_that_of_a_fit_without_it(robot: Robot, small: ec.Calibration) -> None:
    """Few poses, so that each counts; nothing of it, and one number of it, are left out before."""
    start, states = small.ladder.chosen.fit, gather(robot, campaign(*(v[:25] for v in readings(robot))))
    sight = Sight(states)
    task = replace(start.task, sight=sight, dropped=np.zeros_like(sight.used))
    full, scales = assemble(task, start.x, start.placing), start.posterior.log_scales
    for number in (None, 2):
        lost = np.zeros_like(full.used)
        lost[7] = np.arange(full.used.shape[1]) == number
        whole, rest = (posterior(full.without(out), scales) for out in (lost, (np.arange(25)[:, None] == 7) | lost))
        done = many._Pass(replace(start, posterior=whole), states, sight.unfold(lost), True, 1.0, first=False)
        done.__dict__["theta"] = whole.mean
        found = many._others(done, full.kept([7]), lost[7])
        slope = full.jacobian[7]
        noise = noise_covariance(full.kept([7]), scales)[0] / full.power
        np.testing.assert_allclose(found.off, full.readings[7] - slope @ rest.mean, atol=1e-9)
        np.testing.assert_allclose(found.covariance, noise + slope @ rest.covariance @ slope.T, rtol=1e-4, atol=1e-14)


def test_a_step_too_far_is_halved(robot: Robot, small: ec.Calibration, monkeypatch: pytest.MonkeyPatch) -> None:
    """From joints half a radian off: after a step that raises the objective the next pass is half the way back."""
    start, states = small.ladder.chosen.fit, gather(robot, campaign(*(v[:100] for v in readings(robot))))
    far = replace(start, x=start.x + 0.6 * np.random.default_rng(1).normal(size=len(start.x)))
    seen: list[tuple[Array, float]] = []
    sweep = many._sweep

    def spied(done: many._Pass, parts: Sequence[slice]) -> many._Swept:
        swept = sweep(done, parts)
        seen.append((done.at.x, swept.height))
        return swept

    monkeypatch.setattr(many, "_sweep", spied)
    many.fit_many(far, states, np.zeros((states.count, start.task.sight.rows), dtype=bool))
    lowest, halved = seen[0], 0
    for (x, height), (after, _) in pairwise(seen):
        if height <= lowest[1]:
            lowest = x, height
            continue
        np.testing.assert_allclose(after, 0.5 * (x + lowest[0]), atol=1e-9)
        halved += 1
    assert halved > 0


def test_one_pass_over_all_poses_is_enough(
    robot: Robot, small: ec.Calibration, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After passes over some of them: the same unknowns as without, to a fifth of what is not known of them."""
    data = campaign(*readings(robot))
    start, states = small.ladder.chosen.fit, gather(robot, data)
    passes: list[str] = []
    plain = many.fit_many(start, states)
    monkeypatch.setattr(many, "SOME", 400)
    monkeypatch.setattr(many, "PIECE", 20)
    found = many.fit_many(start, states, watch=passes.append)
    assert [p for p in passes if p.startswith("all")] == [f"all {POSES} poses, pass 1"]
    off = found.fit.x - plain.fit.x
    sds = np.sqrt(np.diag(plain.fit.covariance))[: len(off)]
    assert np.abs(off / sds).max() < 0.2
    np.testing.assert_allclose(found.left_out, plain.left_out, atol=1e-5)  # half the noise of one number
    assert found.left_out.mean() == pytest.approx(plain.left_out.mean(), rel=0.02)
    assert found.count == plain.count == 6 * POSES


def test_wrong_numbers_and_poses_are_found_among_many(robot: Robot) -> None:
    q, points = readings(robot)
    points[13, 1, 2] += 1e-3
    points[500] += 4e-3
    found = ec.calibrate(robot, campaign(q, points), "geometry")
    assert {(o.row, o.marker, o.axis) for o in found.outliers} == {(13, "marker2", "z"), (500, None, None)}
    assert found.leave_one_out.count == 2 * POSES - 2
    assert found.leave_one_out_all.max > 3e-3 > 10 * found.leave_one_out.max
    said = {w.code: w for w in found.warnings}
    assert "accepted" not in said
    assert said["sampled"].data == {"sample": many.SAMPLE, "poses": POSES}


def test_the_model_tells_which_of_two_repeats_is_wrong_among_many(
    robot: Robot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One in the sample and one outside of it, and in whatever piece: the good one of the two is not left out."""
    monkeypatch.setattr(screening, "CHUNK", 100)
    q, points = readings(robot)
    q, points = np.tile(q[:410], (2, 1)), np.tile(points[:410], (2, 1, 1))
    points[410:] += np.random.default_rng(1).normal(0, 1e-5, (410, 2, 3))
    states = gather(robot, campaign(q, points))
    inside = many.sample_rows(states, 820)
    bad = [410 + int(np.flatnonzero(inside[:410] == part)[7]) for part in (True, False)]
    points[bad[0], 1, 2] += 2e-3
    points[bad[1], 0] += 3e-3
    points[[417, 418]] = points[[418, 417]]
    found = ec.calibrate(robot, campaign(q, points), "geometry")
    wrong = {(bad[0], "marker2", "z"), (bad[1], "marker1", None), (417, None, None), (418, None, None)}
    assert {(o.row, o.marker, o.axis) for o in found.outliers} == wrong
    (cause,) = [w for w in found.warnings if w.code == "likely-cause"]
    assert [c["rows"] for c in cause.data["causes"]] == [["row 417", "row 418"]]
    assert found.leave_one_out.count == 2 * 410  # of means, of which none is lost


def test_accepted_words_are_noted_among_many(robot: Robot) -> None:
    q, points = readings(robot)
    q, points = q[:420], points[:420]
    points[[13, 400]] = points[[400, 13]]
    word = "readings of row 13 and row 400 exchanged"
    found = ec.calibrate(robot, campaign(q, points), "geometry", accept=[word, word])
    assert found.outliers == ()
    assert [w.data for w in found.warnings if w.code == "accepted"] == [{"word": word}]


def test_readings_of_many_poses_are_known_again_beyond_the_sample(robot: Robot, tmp_path: Path) -> None:
    q, points = readings(robot)
    cal = ec.calibrate(robot, campaign(q[:600], points[:600]), "geometry")
    again = points + 1e-5
    for known in (cal, ec.read_calibration(cal.save(tmp_path / "c.json"))):
        own, drift, new = (
            known.validate(campaign(q[at], x[at]))
            for at, x in ((slice(600), points), (slice(600), again), (slice(600, 900), points))
        )
        assert (own.verdict.code, own.shared, own.revisited) == ("not-validated", 600, 0)
        assert (drift.verdict.code, drift.shared, drift.revisited) == ("holds", 0, 600)
        assert (new.verdict.code, new.verdict.data["new"]) == ("validated", 600)


def test_codes_of_a_lost_beam_are_outliers_among_many_too(robot: Robot) -> None:
    q, points = readings(robot)
    points[7, 0], points[333, 1] = -9999.0, 1e6
    found = ec.calibrate(robot, campaign(q, points), "geometry")
    assert {(o.row, o.marker) for o in found.outliers} == {(7, "marker1"), (333, "marker2")}
    assert found.leave_one_out.max < 3e-4


def test_temperatures_count_from_the_mean_of_all_poses(robot: Robot) -> None:
    q, points = readings(robot)
    warm = 20 + 8 * np.linspace(0, 1, 420) ** 3
    data = ec.Campaign(q=q[:420], position=points[:420], length="m", angle="rad", temperature=warm)
    found = ec.calibrate(robot, data, "geometry", outliers=False)
    assert found.reference_temperature == gather(robot, data).reference
    np.testing.assert_array_equal(robot.controller.to_controller(found.residuals.q), data.q[found.residuals.order])


def test_more_poses_know_more(robot: Robot) -> None:
    q, points = readings(robot)
    few = ec.calibrate(robot, campaign(q[:200], points[:200]), "geometry")
    all_of_them = ec.calibrate(robot, campaign(q, points), "geometry")
    rest = readings(robot)
    at = rest[0][:20]
    widths = [np.median(c.predict(at).half_width) for c in (few, all_of_them)]
    assert 0.3 < widths[1] / widths[0] < 0.7  # sqrt(200 / 900) = 0.47


def test_a_rare_station_and_a_rare_marker_are_in_the_sample(robot: Robot) -> None:
    q, points = readings(robot)
    points[50:, 1] = np.nan
    station = np.where(np.arange(POSES) >= POSES - 30, "far", "near")
    data = ec.Campaign(q=q, position=points, length="m", angle="rad", station=station)
    rows = many.sample_rows(gather(robot, data), POSES)
    assert rows[:50].sum() >= many.LEAST - 2
    assert rows[-30:].sum() >= many.LEAST - 2
    assert rows.sum() < many.SAMPLE + 2 * many.LEAST + 1


def test_where_most_is_improbable_nothing_is_dropped_even_in_the_last_pass(
    robot: Robot, small: ec.Calibration, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model is wrong then, not the readings: what is returned is of one pass over all of them."""
    q, points = (part[:240] for part in readings(robot))
    assert small.ladder is not None
    wrong = points + np.random.default_rng(5).normal(0, 5e-3, points.shape) * (np.arange(240) % 2)[:, None, None]
    states = gather(robot, campaign(q, wrong))
    monkeypatch.setattr(many, "PASSES", 1)
    found = many.fit_many(small.ladder.chosen.fit, states)
    assert not found.dropped.any()
    assert found.units == ()
    assert found.count == points.size
    assert np.isfinite(found.left_out).all()
