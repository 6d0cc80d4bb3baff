"""Instrument moved, targets moved or exchanged, drift: named where planted, put right by words, none invented."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from oracle.refusals import refused
from scipy.spatial.transform import Rotation
from virtual import campaign, joint_values, read_positions, shipped, true_robot

from elastocal.calibration.calibration import Calibration
from elastocal.calibration.campaign import Campaign
from elastocal.calibration.changes import renumbered
from elastocal.calibration.row_slips import parted
from elastocal.calibration.run import calibrate
from elastocal.calibration.slips import put_right
from elastocal.files.robot.read import read_robot
from elastocal.model.kinematics import kinematics
from elastocal.results import Finding, warning

WORDS = ("geometry", "weight")
KR270 = shipped("kuka-kr270")
CHANGES = ("moved", "exchanged", "marker-moved", "drift")
POSES, MIDDLE, LATE = 50, 25, 42
SHIFT, TURN = np.array([0.12, -0.2, 0.1]) * 1e-3, np.array([0.5, 1.0, -0.4]) * 1e-4


def table(markers: int, poses: int = POSES, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = true_robot(KR270, rng, WORDS, markers=markers)
    q = joint_values(KR270, poses, rng)
    return q, read_positions(truth, q, rng, 3e-5, 1e-5)


def moved_from(x: np.ndarray, row: int, size: float = 1.0) -> np.ndarray:
    """Turned about the middle of all points, and shifted."""
    centre, out = np.median(x.reshape(-1, 3), axis=0), x.copy()
    out[row:] = (x[row:] - centre) @ Rotation.from_rotvec(size * TURN).as_matrix().T + centre + size * SHIFT
    return out


def swapped_from(x: np.ndarray, row: int) -> np.ndarray:
    out = x.copy()
    out[row:, [0, 1]] = x[row:, [1, 0]]
    return out


def of(q: np.ndarray, x: np.ndarray, **more: object) -> Campaign:
    return campaign(q, KR270, position=x, **more)


def change(cal: Calibration) -> Finding | None:
    found = [w for w in cal.warnings if w.code in CHANGES]
    assert len(found) < 2
    return found[0] if found else None


def named(cal: Calibration) -> Finding:
    found = change(cal)
    assert found is not None
    assert found.severity == "warning"
    assert found.data["probability"] < 1e-6 < found.data["level"]
    return found


@pytest.mark.parametrize("markers", [1, 3])
def test_an_instrument_that_was_moved(markers: int) -> None:
    q, x = table(markers)
    right = calibrate(KR270, of(q, x), WORDS)
    assert change(right) is None
    data = of(q, moved_from(x, MIDDLE))
    found = named(calibrate(KR270, data, WORDS))
    assert (found.code, found.data["row"], found.data["last"]) == ("moved", MIDDLE, f"row {MIDDLE - 1}")
    assert "alike" not in found.data
    assert found.data["shift"] == pytest.approx(np.linalg.norm(SHIFT), rel=0.2)
    assert found.data["turn"] == pytest.approx(np.linalg.norm(TURN), rel=0.2)
    again = calibrate(KR270, data, WORDS, accept=found.data["words"])
    assert change(again) is None
    assert len(again.stations) == 2
    assert again.leave_one_out.mean < 1.1 * right.leave_one_out.mean


def test_a_change_and_not_the_noise_is_to_blame() -> None:
    q, x = table(1)
    cal = calibrate(KR270, of(q, moved_from(x, MIDDLE, 2.0), noise=3e-5), WORDS)
    assert named(cal).code == "moved"
    (lack,) = [w for w in cal.warnings if w.code == "lack-of-fit"]
    assert lack.data["best"].endswith("(moved)")
    assert not [w for w in cal.warnings if w.code in ("prior-conflict", "omitted-effect")]


def test_a_move_whose_rows_were_left_out_as_outliers() -> None:
    q, x = table(1)
    wrong = moved_from(x, LATE, 10.0)
    wrong[3] += 5e-3  # and one that is an outlier
    cal = calibrate(KR270, of(q, wrong), WORDS)
    found = named(cal)
    assert (found.code, found.data["row"], found.data["outliers"]) == ("moved", LATE, list(range(LATE, POSES)))
    assert {o.row for o in cal.outliers if f"row {LATE}" in o.cause} == set(range(LATE, POSES))
    again = calibrate(KR270, of(q, wrong), WORDS, accept=found.data["words"])
    assert {o.row for o in again.outliers} == {3}


@pytest.mark.parametrize(("row", "apart"), [(MIDDLE, 0.1), (LATE, 1.0)])
def test_markers_exchanged_from_a_row_on(row: int, apart: float) -> None:
    q, x = table(3)
    x = x[:, :1] + apart * (x - x[:, :1])
    data = of(q, swapped_from(x, row), markers=("a", "b", "c"))
    cal = calibrate(KR270, data, WORDS)
    found = named(cal)
    assert (found.code, found.data["row"], found.data["markers"]) == ("exchanged", row, ["a", "b"])
    assert not [w for w in cal.warnings if w.code == "likely-cause"]  # row by row
    (word,) = found.data["words"]
    assert word == f"markers a and b exchanged in rows from row {row} on"
    again, right = calibrate(KR270, data, WORDS, accept=word), calibrate(KR270, of(q, x), WORDS)
    np.testing.assert_array_equal(again.covariance, right.covariance)


def test_what_is_far_away_from_some_row_on_is_refused_by_its_word() -> None:
    """Half of the rows by targets far apart, or by a tracker that stands elsewhere: the robot is near by neither."""
    q, x = table(2)
    word = f"markers marker1 and marker2 exchanged in rows from row {MIDDLE} on"
    with refused("slip", word, parameter="accept"):
        calibrate(KR270, of(q, swapped_from(x, MIDDLE)), WORDS)
    wrong = x.copy()
    wrong[30:] = x[30:] @ Rotation.from_rotvec([0.2, -0.5, 0.1]).as_matrix().T + [0.5, 0.2, -0.3]
    word = "a station for rows from row 30 on"
    with refused("slip", word, parameter="accept"):
        calibrate(KR270, of(q[10:], wrong[10:], places=[f"row {i}" for i in range(10, POSES)]), WORDS)
    cal = calibrate(KR270, of(q, wrong), WORDS, accept=word)
    assert cal.outliers == ()


def test_a_target_that_was_moved() -> None:
    q, x = table(3)
    rng = np.random.default_rng(3)
    turn = kinematics(true_robot(KR270, rng, WORDS, markers=3).robot, q).rotation
    wrong = x.copy()
    station = _turn_of_station(q, x)
    wrong[MIDDLE:, 1] += np.einsum("ij,njk,k->ni", station, turn, [1e-3, 0.0, -5e-4])[MIDDLE:]
    found = named(calibrate(KR270, of(q, wrong), WORDS))
    assert (found.code, found.data["row"], list(found.data["markers"])) == ("marker-moved", MIDDLE, ["marker2"])
    assert found.data["markers"]["marker2"] == pytest.approx(np.hypot(1e-3, 5e-4), rel=0.1)
    again = calibrate(KR270, of(q, wrong), WORDS, accept=found.data["words"])
    assert change(again) is None
    assert len(again.markers) == 4


def loose(size: float) -> tuple[np.ndarray, np.ndarray]:
    """Of three markers the second sits elsewhere from the middle on, so far that its later readings are outliers."""
    q, x = table(3)
    way = np.einsum(
        "ij,njk,k->ni", _turn_of_station(q, x), kinematics(KR270, q).rotation, size * np.array([1, 0.3, -0.7])
    )
    x = x.copy()
    x[MIDDLE:, 1] += way[MIDDLE:]
    return q, x


def test_of_three_markers_the_one_that_came_loose_is_named() -> None:
    """All others moved by no more than their standard deviations, however well the change explains what is left."""
    q, x = loose(3e-3)
    found = named(calibrate(KR270, of(q, x), WORDS))
    assert (found.code, list(found.data["markers"])) == ("marker-moved", ["marker2"])
    assert found.data["outliers"]


def test_words_are_taken_as_they_are_printed_and_a_moved_marker_is_not_exchanged_with_itself() -> None:
    q, x = loose(3e-3)
    words = ", ".join(f"a marker for marker{i} in rows from row {MIDDLE} on" for i in (1, 2, 3))
    again = calibrate(KR270, of(q, x), WORDS, accept=words)
    assert len(again.markers) == 6
    assert change(again) is None


def test_a_target_that_was_moved_twice() -> None:
    """The first change is accepted, then the second is named, of the marker that the first has made."""
    q, x = table(3, 60)
    way = np.einsum("ij,njk,k->ni", _turn_of_station(q, x), kinematics(KR270, q).rotation, [1e-3, 0.0, -5e-4])
    wrong = x.copy()
    wrong[20:, 1] += way[20:]
    wrong[40:, 1] += way[40:]
    data = of(q, wrong)
    words: list[str] = []
    rows: list[int] = []
    for _ in range(2):
        found = named(calibrate(KR270, data, ("geometry",), accept=words))
        assert found.code == "marker-moved"
        words, rows = [*words, *found.data["words"]], [*rows, found.data["row"]]
    assert sorted(rows) == [20, 40]
    again = calibrate(KR270, data, ("geometry",), accept=words)
    assert change(again) is None
    assert len(again.markers) == 5


def test_distances_do_not_see_how_an_instrument_was_turned() -> None:
    q, x = table(2)
    read = np.linalg.norm(x, axis=2)
    read[MIDDLE:] = np.linalg.norm(x[MIDDLE:] + np.array([4e-3, -2e-3, 2e-3]), axis=2)
    found = named(calibrate(KR270, campaign(q, KR270, distance=read), ("geometry",)))
    assert found.code == "moved"
    assert abs(found.data["row"] - MIDDLE) < 4
    assert 1e-3 < found.data["shift"] < 1e-2
    assert np.isnan(found.data["turn"])


def test_the_second_word_of_a_marker_parts_the_rows_of_the_first() -> None:
    q, x = table(2)
    first = "a marker for marker2 in rows from row 20 on"
    distance = np.linalg.norm(x, axis=2)
    data = put_right(KR270, campaign(q, KR270, distance=distance), [first, f"{first} in rows from row 40 on"])
    read = np.isfinite(data.campaign.distance)
    assert [np.flatnonzero(column).tolist() for column in read.T] == [
        list(range(POSES)), list(range(20)), list(range(20, 40)), list(range(40, POSES)),
    ]  # fmt: skip


SLIDE = """<link name="l{to}"/><joint name="j{to}" type="prismatic"><parent link="l{of}"/><child link="l{to}"/>
<axis xyz="{axis}"/><limit lower="-2" upper="2" effort="1" velocity="1"/></joint>"""


@pytest.mark.parametrize("axes", [("0 0 1",), ("1 0 0", "0 1 0", "0 0 1")])
def test_an_arm_that_never_turns_its_tool_does_not_tell_instrument_from_marker(
    axes: tuple[str, ...], tmp_path: Path
) -> None:
    slides = "".join(SLIDE.format(of=i, to=i + 1, axis=axis) for i, axis in enumerate(axes))
    file = tmp_path / "slides.urdf"
    file.write_text(f'<robot name="slides"><link name="l0"/>{slides}</robot>')
    robot = read_robot(file)
    rng = np.random.default_rng(0)
    q = rng.uniform(-1, 1, (30, len(axes)))
    x = kinematics(robot, q).position[:, None] + [0.5, 0.0, 0.1] + rng.normal(size=(30, 1, 3)) * 1e-5
    assert change(calibrate(robot, campaign(q, robot, position=x))) is None
    x[15:] += SHIFT
    data = campaign(q, robot, position=x)
    found = named(calibrate(robot, data))
    assert (found.code, found.data["row"], found.data["alike"]) == ("moved", 15, ["marker-moved"])
    assert found.data["shift"] == pytest.approx(np.linalg.norm(SHIFT), rel=0.1)
    assert found.data["turn"] < 1e-4
    assert "do not tell it from markers that sit elsewhere on the tool" in found.text
    assert change(calibrate(robot, data, accept=found.data["words"])) is None


def _turn_of_station(q: np.ndarray, x: np.ndarray) -> np.ndarray:
    """By Kabsch's fit of the tool's places to the first marker: right to a few hundredths."""
    a = kinematics(KR270, q).position
    u, _, v = np.linalg.svd((x[:, 0] - x[:, 0].mean(axis=0)).T @ (a - a.mean(axis=0)))
    return np.asarray(u @ np.diag([1.0, 1.0, np.linalg.det(u @ v)]) @ v)


@pytest.mark.parametrize("markers", [1, 3])
def test_an_instrument_that_drifts(markers: int) -> None:
    q, x = table(markers)
    drift = np.linspace(0, 1, POSES)[:, None, None] * SHIFT
    found = named(calibrate(KR270, of(q, x + drift), WORDS))
    assert (found.code, found.data["source"]) == ("drift", "instrument")
    assert found.data["size"] == pytest.approx(np.linalg.norm(SHIFT), rel=0.3)


def test_an_arm_that_warms_up() -> None:
    """Upper arm and forearm grow by 20 K in the course of the campaign, soon first, and A2 is not where it was."""
    q, x = table(1)
    warm = 20 * (1 - np.exp(-np.linspace(0, 2.5, POSES)))
    grown = [kinematics(KR270, q, f).rotation @ KR270.tree.frame(n).pose.translation for f, n in LINKS]
    growth = 1.2e-5 * warm[:, None] * sum(grown)
    found = named(calibrate(KR270, of(q, x + (growth @ _turn_of_station(q, x).T)[:, None]), WORDS))
    assert (found.code, found.data["source"]) == ("drift", "growth")
    assert found.data["size"] == pytest.approx(np.linalg.norm(growth[-1]), rel=0.5)


LINKS = (("A2", "link2_end"), ("A3", "link3_end"))


def test_rows_are_those_of_the_whole_table() -> None:
    """Three rows are copies and count once; of many poses a sample is looked at."""
    q, x = table(1)
    q, x = np.concatenate([q[:3], q]), np.concatenate([moved_from(x, MIDDLE)[:3], moved_from(x, MIDDLE)])
    found = named(calibrate(KR270, of(q, x), WORDS))
    assert (found.data["row"], found.data["place"]) == (MIDDLE + 3, f"row {MIDDLE + 3}")
    sampled = renumbered(warning("moved", "", row=2, outliers=[2, 3]), np.array([0, 40, 80, 120]))
    assert sampled.data == {"row": 80, "outliers": [80, 120]}


def test_time_is_the_order_where_it_was_read() -> None:
    q, x = table(1)
    shuffled = np.random.default_rng(1).permutation(POSES)
    data = of(q[shuffled], moved_from(x, MIDDLE)[shuffled], time=100.0 + shuffled)
    found = named(calibrate(KR270, data, WORDS))
    assert (found.code, found.data["order"], shuffled[found.data["row"]]) == ("moved", "time", MIDDLE)
    two = parted(data, found.data["words"][0])
    assert two is not None
    assert np.array_equal(two.station == "1", shuffled < MIDDLE)
    assert change(calibrate(KR270, data.changed(time=None), WORDS)) is None  # no order, no change


@pytest.mark.parametrize("markers", [1, 3])
def test_a_validation_names_what_changed_while_it_was_read(markers: int) -> None:
    q, x = table(markers, 2 * POSES)
    cal, new = calibrate(KR270, of(q[POSES:], x[POSES:]), WORDS), q[:POSES]
    right = cal.validate(of(new, x[:POSES]))
    assert (right.cause, right.verdict.code) == (None, "validated")
    moved = cal.validate(of(new, moved_from(x[:POSES], MIDDLE))).verdict
    assert (moved.code, moved.data["row"]) == ("moved", MIDDLE)
    assert moved.data["shift"] == pytest.approx(np.linalg.norm(SHIFT), rel=0.2)
    before = cal.validate(of(new, moved_from(x[:POSES], 0))).verdict
    assert before.code == "moved"
    assert "row" not in before.data
    drift = np.linspace(0, 1, POSES)[:, None, None] * SHIFT
    assert cal.validate(of(new, x[:POSES] + drift)).verdict.code == "drift"


def test_what_depends_on_the_pose_is_no_change() -> None:
    """Gears of A3 run untrue, which the model leaves out, and rows are roughly in the order of A3."""
    q, x = table(1)
    bent = kinematics(KR270, q).jacobian[:, :3, 2] * (6e-4 * np.sign(q[:, 2] - np.median(q[:, 2])))[:, None]
    wrong = x + (bent @ _turn_of_station(q, x).T)[:, None]
    rough = np.argsort(q[:, 2] + np.random.default_rng(2).normal(scale=0.2 * np.std(q[:, 2]), size=POSES))
    assert change(calibrate(KR270, of(q[rough], wrong[rough]), WORDS)) is None
