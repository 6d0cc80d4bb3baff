"""Exchanged rows and markers, an axis with a wrong value: named where planted, put right by words, none invented."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.refusals import refused
from virtual import campaign, joint_values, random_arm, read_positions, shipped, true_robot

from elastocal.calibration.calibration import Calibration
from elastocal.calibration.campaign import Campaign
from elastocal.calibration.causes import with_causes
from elastocal.calibration.row_slips import mended
from elastocal.calibration.run import calibrate
from elastocal.errors import InputError, RangeError
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import Robot
from elastocal.model.statics.deflection import deflection

WORDS = ("geometry", "weight")
KR270 = shipped("kuka-kr270")
NAMES = ("a", "b", "c")


def table(robot: Robot, markers: int, seed: int = 3, poses: int = 30) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = true_robot(robot, rng, WORDS, markers=markers)
    q = joint_values(robot, poses, rng)
    return q, read_positions(truth, q, rng, 3e-5, 1e-5)


def of(robot: Robot, q: np.ndarray, x: np.ndarray) -> Campaign:
    return campaign(q, robot, position=x, markers=NAMES[: x.shape[1]])


def told(cal: Calibration) -> dict[int, str]:
    return {o.row: o.cause for o in cal.outliers}


@pytest.mark.parametrize("markers", [1, 3])
def test_two_rows_exchanged(markers: int) -> None:
    q, x = table(KR270, markers)
    wrong = x.copy()
    wrong[[4, 9]] = x[[9, 4]]
    found = calibrate(KR270, of(KR270, q, wrong), WORDS)
    word = "readings of row 4 and row 9 exchanged"
    assert set(told(found)) == {4, 9}
    (said,) = [w for w in found.warnings if w.code == "likely-cause"]
    assert said.data["words"] == [word]
    assert said.data["causes"][0]["rows"] == ["row 4", "row 9"]
    assert said.data["causes"][0]["before"] > 100 > 3 > said.data["causes"][0]["after"]
    assert not [w for w in found.warnings if w.code == "accepted"]
    mirrored = "readings of row 9 and row 4 exchanged"  # the same once more, not back again
    accepted = calibrate(KR270, of(KR270, q, wrong), WORDS, accept=[word, mirrored, word])
    assert [w.data for w in accepted.warnings if w.code == "accepted"] == [{"word": word}]
    right = calibrate(KR270, of(KR270, q, x), WORDS)
    assert accepted.outliers == right.outliers == ()
    assert np.array_equal(accepted.covariance, right.covariance)


def test_deflections_that_are_left_out_have_no_points_to_exchange() -> None:
    """Two of them beside positions of other rows: nothing is computed of points that were not read."""
    q, x = table(KR270, 1)
    push = np.where(np.arange(30) < 20, 0.0, 2000.0)[:, None] * np.eye(6)[2]
    at = np.where(push.any(axis=1)[:, None, None], np.nan, x)
    soft = KR270.with_joint_compliance()
    moved = deflection(soft, KR270.controller.to_joints(q), [AppliedWrenches(soft.tool, push)]).translation[:, None]
    moved = np.where(push.any(axis=1)[:, None, None], moved, np.nan)
    moved[[22, 26]] += 0.02
    found = calibrate(soft, campaign(q, soft, position=at, deflection=moved, wrench=push), ("geometry", "compliance"))
    assert set(told(found)) == {22, 26}
    assert not any(told(found).values())


def test_markers_exchanged_in_one_row() -> None:
    q, x = table(KR270, 3)
    wrong = x.copy()
    wrong[12, [0, 2]] = x[12, [2, 0]]
    found = calibrate(KR270, of(KR270, q, wrong), WORDS)
    assert set(told(found).values()) == {"markers a and c exchanged"}
    accepted = calibrate(KR270, of(KR270, q, wrong), WORDS, accept="markers a and c exchanged in row 12")
    assert accepted.outliers == ()


@pytest.mark.parametrize(("axis", "degrees"), [(2, 10.0), (4, -0.5), (0, 90.0)])
def test_an_axis_with_a_wrong_value(axis: int, degrees: float) -> None:
    q, x = table(KR270, 2)
    q[20, axis] += np.radians(degrees)
    data = of(KR270, q, x)
    found = calibrate(KR270, data, WORDS)
    (cause,) = told(found).values()
    name, value = cause.split()[0], float(cause.split()[3])
    assert (set(told(found)), name) == ({20}, KR270.controller.axes[axis])
    written = float(np.degrees(data.q[20, axis]))
    sign = KR270.controller.matrix[axis, axis]
    assert value == pytest.approx(written - degrees / sign, abs=0.03)
    assert cause.endswith(f"deg, not {written:.2f}")


def test_what_has_no_plain_cause_gets_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Points and poses that are off in any direction, on three arms."""
    for seed, robot in enumerate((KR270, shipped("fanuc-m710ic50"), random_arm(7))):
        q, x = table(robot, 2, seed)
        rng = np.random.default_rng(seed)
        x[[3, 11, 17]] += 5e-3 * rng.normal(size=(3, 2, 3))
        x[22, 0] += 5e-3 * rng.normal(size=3)
        found = calibrate(robot, of(robot, q, x), WORDS)
        assert set(told(found)) == {3, 11, 17, 22}
        assert set(told(found).values()) == {""}
        assert not [w for w in found.warnings if w.code == "likely-cause"]
    assert not [w for w in found.warnings if w.code == "causes-not-sought"]
    monkeypatch.setattr("elastocal.calibration.causes.MOST", 3)
    (said,) = [w for w in with_causes(found, of(robot, q, x)).warnings if w.code == "causes-not-sought"]
    assert said.data["rows"] == 1


def test_markers_exchanged_in_one_of_two_tables() -> None:
    """Half of the points: no outliers, but a slip, refused with its word."""
    q, x = table(KR270, 2, poses=40)
    wrong = x.copy()
    wrong[20:] = x[20:, ::-1]
    places = tuple(f"{'one' if i < 20 else 'two'}.csv line {i + 2}" for i in range(40))
    data = replace_places(of(KR270, q, wrong), places)
    with pytest.raises(InputError) as refused:
        calibrate(KR270, data, WORDS)
    assert refused.value.code == "slip"
    word = str(refused.value.value)
    assert word in ("markers a and b exchanged in one.csv", "markers a and b exchanged in two.csv")
    assert calibrate(KR270, data, WORDS, accept=word).outliers == ()


def replace_places(data: Campaign, places: tuple[str, ...]) -> Campaign:
    out = data.take(np.arange(len(data)))
    object.__setattr__(out, "places", places)
    return out


def test_words_of_rows_that_are_not_there_are_refused() -> None:
    q, x = table(KR270, 2, poses=8)
    data = of(KR270, q, x)
    assert mended(data, "readings of row 4 and row 99 exchanged") is None
    assert mended(data, "markers a and z exchanged in row 1") is None
    with refused("unknown-slip", "readings of row 4 and row 99 exchanged", parameter="accept"):
        calibrate(KR270, data, WORDS, accept="readings of row 4 and row 99 exchanged")
    with pytest.raises(RangeError) as twice:
        calibrate(KR270, data, WORDS, accept="readings of row 4 and row 4 exchanged")
    assert twice.value.parameter == "accept"
    back = mended(data, "readings of row 4 and row 6 exchanged")
    assert back is not None
    assert np.array_equal(back.position[[4, 6]], x[[6, 4]])
