"""Readings that a calibration must not be judged by as they stand: lost beams, its own, those of a moved instrument."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from oracle.refusals import refused
from scipy.spatial.transform import Rotation
from virtual import Truth, campaign, joint_values, read_positions, shipped, true_robot

from elastocal.calibration.calibration import Calibration
from elastocal.calibration.campaign import Campaign
from elastocal.calibration.certificate import certificate_of
from elastocal.calibration.decision import decide
from elastocal.calibration.page import calibration_page
from elastocal.calibration.run import calibrate
from elastocal.calibration.store import document_text, read_validation
from elastocal.calibration.tables import orientation_tables
from elastocal.calibration.validation import cross_validate
from elastocal.files.cell import stated_of
from elastocal.model.kinematics import kinematics

KR270 = shipped("kuka-kr270")
SMALL = shipped("cylindrical")


@pytest.fixture(scope="module")
def one() -> tuple[Truth, Calibration]:
    rng = np.random.default_rng(4)
    truth = true_robot(KR270, rng, ("geometry",), markers=2)
    q = joint_values(KR270, 25, rng)
    return truth, calibrate(KR270, campaign(q, KR270, position=read_positions(truth, q, rng)), ["geometry"])


def check(truth: Truth, count: int = 14) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(6)
    q = joint_values(KR270, count, rng)
    return q, read_positions(truth, q, rng)


@pytest.mark.parametrize("refit", [False, True])
@pytest.mark.parametrize("code", [0.0, 1e7, 9.999, -99.0])
def test_a_lost_beam_is_no_error_of_the_robot(one: tuple[Truth, Calibration], code: float, refit: bool) -> None:
    """The others are judged as if its row were not there; it is named."""
    truth, cal = one
    q, x = check(truth)
    rest = np.delete(np.arange(14), 5)
    without = cal.validate(campaign(q[rest], KR270, position=x[rest]), refit=refit)
    x[5] = code
    seen = cal.validate(campaign(q, KR270, position=x), refit=refit)
    assert seen.lost == ("row 5",)
    assert [w.data["places"] for w in seen.warnings if w.code == "out-of-reach"] == [["row 5"]]
    assert (seen.after.count, seen.after.max) == (26, pytest.approx(without.after.max, rel=1e-9))
    assert (seen.gain, seen.coverage) == (pytest.approx(without.gain), pytest.approx(without.coverage))


def test_a_point_that_is_merely_wrong_counts(one: tuple[Truth, Calibration]) -> None:
    """So does the origin of the table, where it is one of its points."""
    truth, cal = one
    q, x = check(truth)
    x[5, 1] += 0.3
    seen = cal.validate(campaign(q, KR270, position=x))
    assert (seen.lost, seen.after.count) == ((), 28)
    assert seen.after.max == pytest.approx(0.3 * np.sqrt(3), rel=1e-3)
    assert "far-off" in [w.code for w in seen.warnings]
    q, x = check(truth)
    at_origin = cal.validate(campaign(q, KR270, position=x - x[5, 1]), refit=True)
    assert (at_origin.lost, at_origin.after.count) == ((), 28)


def test_a_lost_beam_of_a_repeat_leaves_the_others_of_its_pose(one: tuple[Truth, Calibration]) -> None:
    truth, cal = one
    q, x = check(truth)
    q, x = np.vstack([q, q[:1]]), np.concatenate([x, np.zeros((1, 2, 3))])
    seen = cal.validate(campaign(q, KR270, position=x))
    assert (seen.lost, seen.after.count) == (("row 14",), 28)
    assert seen.after.max < 5e-4


def test_a_lost_beam_is_left_out_of_folds() -> None:
    rng = np.random.default_rng(8)
    truth = true_robot(SMALL, rng, ("geometry",))
    q = joint_values(SMALL, 16, rng)
    x = read_positions(truth, q, rng)
    x[3] = 1e7
    seen = cross_validate(SMALL, campaign(q, SMALL, position=x), 2, model=["geometry"])
    assert (seen.lost, seen.after.count) == (("row 3",), 15)
    assert seen.after.max < 1e-2


def test_readings_of_the_calibration_decide_nothing(one: tuple[Truth, Calibration]) -> None:
    """Its own, alone, and its poses read again; a certificate says so before anything else."""
    truth, cal = one
    rng = np.random.default_rng(9)
    own = campaign(cal.seen.q, KR270, position=cal.seen.position)
    again = campaign(cal.seen.q, KR270, position=read_positions(truth, cal.seen.q, rng))
    for readings in (own, again):
        made = certificate_of(cal, cal.validate(readings), stated_of({"tolerance": 1.0}))
        assert (made.outcome, made.reason.partition(":")[0]) == ("NOT DECIDED", "not validated")
        assert np.isnan(made.numbers["value"])
        assert "not validated" in made.basis


def test_a_decision_is_by_the_readings_that_took_no_part(one: tuple[Truth, Calibration], tmp_path: Path) -> None:
    truth, cal = one
    q, x = check(truth)
    new = cal.validate(campaign(q, KR270, position=x))
    both = np.vstack([cal.seen.q, q]), np.concatenate([cal.seen.position, x])
    both[1][3] += 1e-3  # an outlier at a pose of the calibration
    mixed = cal.validate(campaign(both[0], KR270, position=both[1]))
    assert mixed.after.max > 2 * new.after.max
    path = tmp_path / "c.json"
    path.write_text(document_text(cal, mixed), encoding="utf-8")
    for seen in (mixed, read_validation(path)):
        for statistic in ("max", "mean", "rms"):
            first, second = decide(new, 5e-4, statistic), decide(seen, 5e-4, statistic)  # type: ignore[arg-type]
            assert second.outcome == first.outcome
            assert second.value == pytest.approx(first.value, rel=1e-6)
            assert second.uncertainty == pytest.approx(first.uncertainty, rel=1e-6)
        rows = certificate_of(cal, seen, stated_of({"tolerance": 5e-4})).errors
        assert [(e.count, e.max) for e in rows.values()] == [
            (28, pytest.approx(new.before.max)), (28, pytest.approx(new.after.max))
        ]  # fmt: skip


def test_what_a_validation_says_against_a_calibration_is_first_on_its_page(one: tuple[Truth, Calibration]) -> None:
    """On screen and in a report, and among the findings for programs; where it validates, the calibration is first."""
    truth, cal = one
    q, x = check(truth)
    good = cal.validate(campaign(q, KR270, position=x))
    page = calibration_page(cal, good)
    assert page.verdict[0] == cal.verdict.text
    assert [f["code"] for f in page.data["findings"]] == ["improved", *(w.code for w in cal.warnings), "validated"]
    at_nominal = kinematics(KR270, q)
    p = cal.nominal_placing
    arms = np.einsum("nij,mj->nmi", at_nominal.rotation, p.markers)
    exact = (at_nominal.position[:, None] + arms) @ p.turn[0].T + p.shift[0]
    bad = cal.validate(campaign(q, KR270, position=exact))
    page = calibration_page(cal, bad)
    assert bad.verdict.code == "worse"
    assert page.verdict[0] == bad.verdict.text
    assert page.data["findings"][0]["code"] == "worse"
    assert [line for line in page.verdict if line.startswith("WARNING COVERAGE")]


@pytest.mark.parametrize("size", [0.1, 3e-4])
def test_a_moved_instrument_is_said_first(one: tuple[Truth, Calibration], size: float, tmp_path: Path) -> None:
    """How far, what placing it anew would leave, and no verdict on the robot; so in a certificate and from a file."""
    truth, cal = one
    q, x = check(truth)
    still = cal.validate(campaign(q, KR270, position=x))
    assert (still.cause, still.verdict.code) == (None, "validated")
    data = campaign(q, KR270, position=x + size * np.array([0.6, 0.0, -0.8]))
    path = tmp_path / "c.json"
    path.write_text(document_text(cal, cal.validate(data)), encoding="utf-8")
    anew = cal.validate(data, refit=True)
    assert (anew.cause, anew.verdict.code) == (None, "validated")
    for moved in (cal.validate(data), read_validation(path)):
        assert moved.verdict.code == "moved"
        assert moved.verdict.data["shift"] == pytest.approx(size, abs=1e-4)
        assert moved.verdict.data["anew"] == pytest.approx(anew.after.mean)
        assert moved.verdict.data["nominal_anew"] == pytest.approx(anew.before.mean)
        decision = decide(moved, size / 3)
        assert (decision.outcome, decision.reason.startswith(moved.cause.text)) == ("NOT DECIDED", True)
        assert decide(moved, 4 * size).outcome == "PASS"  # errors are within, moved or not


def test_few_points_tell_no_moved_instrument(one: tuple[Truth, Calibration]) -> None:
    truth, cal = one
    q, x = check(truth, 2)
    assert cal.validate(campaign(q, KR270, position=x + 0.1)).verdict.code != "moved"


def reversed_axis(truth: Truth, axis: int) -> Campaign:
    q, x = check(truth)
    data = campaign(q, KR270, position=x)
    shown = data.q.copy()
    shown[:, axis] *= -1
    return data.changed(q=shown)


def test_a_slip_of_the_table_is_named(one: tuple[Truth, Calibration]) -> None:
    """Where points are farther off than a tenth of the arm it is an error."""
    truth, cal = one
    seen = cal.validate(reversed_axis(truth, 5))
    assert (seen.verdict.code, seen.verdict.data["words"]) == ("slip", ["A6 reversed"])
    assert decide(seen, 1e-3).outcome == "NOT DECIDED"
    with refused("slip", "A4 reversed"):
        cal.validate(reversed_axis(truth, 3))


def test_a_bad_calibration_is_no_moved_instrument(one: tuple[Truth, Calibration]) -> None:
    """Errors that differ from pose to pose stay the robot's."""
    truth, cal = one
    q, x = check(truth)
    rng = np.random.default_rng(2)
    seen = cal.validate(campaign(q, KR270, position=x + 2e-3 * rng.normal(size=(14, 1, 3))))
    assert (seen.cause, "coverage" in [w.code for w in seen.warnings]) == (None, True)
    assert decide(seen, 1e-4).outcome == "FAIL"


def test_orientations_that_were_read_have_their_own_errors(tmp_path: Path) -> None:
    """Angles by SciPy: on new poses from what is predicted, leave-one-out as large as the noise and the robot."""
    rng = np.random.default_rng(3)
    truth = true_robot(KR270, rng, ("geometry",))

    def read(count: int) -> tuple[np.ndarray, Campaign]:
        q = joint_values(KR270, count, rng)
        turn = Rotation.from_rotvec(1e-4 * rng.normal(size=(count, 3))).as_matrix() @ truth.orientation(q)
        return q, campaign(q, KR270, position=read_positions(truth, q, rng), orientation=turn)

    cal = calibrate(KR270, read(30)[1], ["geometry"])
    q, new = read(15)
    seen = cal.validate(new)
    off = Rotation.from_matrix(cal.predict_joints(q).orientation).inv() * Rotation.from_matrix(new.orientation)
    before, after = seen.orientation
    assert (after.mean, after.max, after.count) == (
        pytest.approx(off.magnitude().mean()), pytest.approx(off.magnitude().max()), 15
    )  # fmt: skip
    assert before.mean > 2 * after.mean
    assert seen.orientation[1].rms == pytest.approx(1e-4 * np.sqrt(3), rel=0.5)
    assert cal.orientation_errors[1].rms == pytest.approx(1e-4 * np.sqrt(3), rel=0.5)
    (tmp_path / "c.json").write_text(document_text(cal, seen), encoding="utf-8")
    assert read_validation(tmp_path / "c.json").orientation[1].mean == pytest.approx(after.mean)
    (table,) = orientation_tables(cal, seen)
    assert [row[1] for row in table.rows] == pytest.approx(
        [1e3 * e.mean for e in (*cal.orientation_errors, *seen.orientation)]
    )
    assert table in next(s for s in calibration_page(cal, seen).sections if s.title == "Accuracy").blocks


def test_points_alone_have_no_errors_of_orientation(one: tuple[Truth, Calibration]) -> None:
    q, x = check(one[0])
    seen = one[1].validate(campaign(q, KR270, position=x))
    assert (one[1].orientation_errors, seen.orientation, orientation_tables(one[1], seen)) == (None, None, ())


def test_markers_in_another_order_are_a_slip_of_the_table() -> None:
    """A calibration takes any order; a check must have the same."""
    rng = np.random.default_rng(4)
    truth = true_robot(KR270, rng, ("geometry",), markers=3)
    q = joint_values(KR270, 25, rng)
    cal = calibrate(KR270, campaign(q, KR270, position=read_positions(truth, q, rng)), ["geometry"])
    q = joint_values(KR270, 10, rng)
    x = read_positions(truth, q, rng)
    seen = cal.validate(campaign(q, KR270, position=x[:, [1, 2, 0]]))
    assert (seen.verdict.code, seen.verdict.data["words"]) == (
        "slip",
        ["markers in the order marker3, marker1, marker2"],
    )
    assert seen.verdict.data["after"] < 5e-3 < seen.verdict.data["before"]
    assert cal.validate(campaign(q, KR270, position=x)).verdict.code == "validated"


def test_distances_alone_are_validated() -> None:
    """Of a calibration by distances, against the same numbers worked out by hand; not of one by positions."""
    rng = np.random.default_rng(4)
    truth = true_robot(KR270, rng, ("geometry",), markers=2)
    q = joint_values(KR270, 60, rng)
    x = read_positions(truth, q, rng) + np.array([0.4, 2.9, -0.3])
    far = np.linalg.norm(x, axis=2)
    first, last = np.arange(45), np.arange(45, 60)
    cal = calibrate(KR270, campaign(q[first], KR270, distance=far[first]), ["geometry"])
    seen = cal.validate(campaign(q[last], KR270, distance=far[last]))
    predicted = cal.predict_joints(q[last])
    assert (seen.verdict.code, seen.after.count) == ("validated", 30)
    off = np.abs(far[last] - predicted.distance)
    np.testing.assert_allclose(np.sort(seen.errors.ravel()), np.sort(off.ravel()), atol=1e-12)
    half = predicted.distance_half_width_reading
    assert seen.coverage == pytest.approx(np.mean(off <= half))
    assert seen.coverage > 0.8
    assert seen.after.mean < 0.3 * seen.before.mean
    share = np.sort(seen.spread.ravel()) / np.sort(half.ravel())
    assert share.min() > 0.4
    assert share.max() < 0.52  # one axis, not three
    assert cross_validate(KR270, campaign(q, KR270, distance=far), 3, model=["geometry"]).improved
    other = calibrate(KR270, campaign(q[first], KR270, position=x[first]), ["geometry"])
    with refused("missing", parameter="distance"):
        other.validate(campaign(q[last], KR270, distance=far[last]))


def test_one_pose_tells_no_interval_of_the_gain(one: tuple[Truth, Calibration]) -> None:
    truth, cal = one
    q, x = check(truth)
    seen = cal.validate(campaign(q[:1], KR270, position=x[:1]))
    assert (seen.verdict.code, seen.gain_half_width) == ("no-gain", np.inf)
    assert "inf" not in seen.verdict.text
    assert "one pose does not tell" in seen.verdict.text
