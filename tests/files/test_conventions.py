"""What three angles are, told by the robot: every convention is found, doubt is asked about, silence is said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml
from oracle.refusals import refused
from scipy.spatial.transform import Rotation

from elastocal.calibration.readings import validation_of
from elastocal.errors import InputError
from elastocal.files.campaign.observed import observed_tables, read_observed
from elastocal.files.robot.read import read_robot
from elastocal.files.tables.spelling import as_read
from elastocal.model.kinematics import rigid_pose

ROBOT = "abb-irb4600-60"
BASE, TOOL = (Rotation.from_rotvec(v) for v in ([0.4, -1.1, 0.7], [1.3, 0.2, -0.9]))
XYZ = (["phix", "phiy", "phiz"], ["rx", "ry", "rz"], ["roll", "pitch", "yaw"], ["Rot X", "Rot Y", "Rot Z"])


def poses(count: int, spread: float = 0.4, noise: float = 0.003) -> tuple[np.ndarray, np.ndarray, Rotation]:
    """Axes in rad, points in m, orientations of a frame on the tool as an instrument of other axes sees it."""
    robot, rng = read_robot(ROBOT), np.random.default_rng(7)
    low, high = np.array([m.limits for m in robot.motions]).T
    q = rng.uniform(spread * low, spread * high, (count, 6))
    at, turn = rigid_pose(robot.nominal, "tool", q.T)
    seen = BASE * Rotation.from_matrix(np.moveaxis(turn, -1, 0)) * TOOL
    return q, BASE.apply(at.T), seen * Rotation.from_rotvec(rng.normal(0, noise, (count, 3)))


def written(file: Path, titles: list[str], q: np.ndarray, at: np.ndarray, angles: np.ndarray) -> Path:
    head = [*(f"J{i}" for i in range(1, 7)), "x", "y", "z", *titles]
    rows = (",".join(f"{v:.9f}" for v in row) for row in np.hstack([q, at, angles]))
    file.write_text("\n".join([",".join(head), *rows]) + "\n", encoding="utf-8")
    return file


def read(file: Path, **keys: str):
    return observed_tables([file], ROBOT, {"units": {"length": "m", "angle": "rad"}, **keys})


def by_axis(turns: Rotation, order: str) -> np.ndarray:
    """Angles of a fixed order, in the columns of their axes."""
    out = np.empty((len(turns), 3))
    out[:, ["xyz".index(letter) for letter in order]] = turns.as_euler(order)
    return out


@pytest.mark.parametrize("titles", XYZ, ids=lambda t: t[0])
@pytest.mark.parametrize("order", ["xyz", "zyx", "yxz", "rotvec"])
def test_angles_that_are_named_by_axes(tmp_path: Path, titles: list[str], order: str) -> None:
    q, at, turns = poses(12)
    angles = turns.as_rotvec() if order == "rotvec" else by_axis(turns, order)
    found = read(written(tmp_path / "a.csv", titles, q, at, angles))
    got = found.readings.read["orientation"][:, 0].reshape(-1, 3, 3)
    np.testing.assert_allclose(got, turns.as_matrix(), atol=1e-7)
    meant = {"rx": "rotvec", "roll": "xyz"}.get(titles[0])
    said = [n for n in found.notes if "are taken for" in n.text]
    assert len(said) == (order != meant)
    assert all(order in n.text for n in said)


@pytest.mark.parametrize("order", ["ZYX", "XYZ", "xyz", "zyx", "rotvec"])
@pytest.mark.parametrize("titles", [["a", "b", "c"], ["w", "p", "r"], ["alpha", "beta", "gamma"]], ids=lambda t: t[0])
def test_angles_in_turn(tmp_path: Path, titles: list[str], order: str) -> None:
    q, at, turns = poses(12)
    angles = turns.as_rotvec() if order == "rotvec" else turns.as_euler(order)
    found = read(written(tmp_path / "a.csv", titles, q, at, angles))
    assert found.entry.euler == order
    got = found.readings.read["orientation"][:, 0].reshape(-1, 3, 3)
    np.testing.assert_allclose(got, turns.as_matrix(), atol=1e-7)


def test_where_two_fit_they_are_named_and_asked_for(tmp_path: Path) -> None:
    """ZYZ and ZXZ differ by a turn of both frames, which nobody knows."""
    q, at, turns = poses(12)
    file = written(tmp_path / "a.csv", ["e1", "e2", "e3"], q, at, turns.as_euler("ZYZ"))
    with pytest.raises(InputError) as asked:
        read(file)
    assert asked.value.code == "euler"
    assert set(asked.value.allowed) == {"ZYZ", "ZXZ"}
    got = read(file, euler="ZYZ").readings.read["orientation"][:, 0].reshape(-1, 3, 3)
    np.testing.assert_allclose(got, turns.as_matrix(), atol=1e-7)


def test_turns_too_small_to_tell_keep_what_the_title_means(tmp_path: Path) -> None:
    """Within 5 deg of one orientation Euler angles and rotation vectors differ by less than the noise."""
    q, at, _ = poses(12)
    robot = read_robot(ROBOT)
    q[:] = 0.02 * q + [0.0, 0.1, 0.2, 0.0, 0.3, 0.0]
    turn = Rotation.from_matrix(np.moveaxis(rigid_pose(robot.nominal, "tool", q.T)[1], -1, 0))
    small = (turn[0].inv() * turn) * Rotation.from_rotvec(np.random.default_rng(2).normal(0, 0.01, (12, 3)))
    assert read(written(tmp_path / "a.csv", ["rx", "ry", "rz"], q, at, small.as_rotvec())).entry.euler == "rotvec"
    with refused("euler", file="b.csv", line=1, parameter="euler"):
        read(written(tmp_path / "b.csv", ["phix", "phiy", "phiz"], q, at, small.as_rotvec()))


def test_angles_of_something_else_are_refused_and_may_be_left_out(tmp_path: Path) -> None:
    q, at, _ = poses(12)
    other = Rotation.random(12, random_state=3)
    file = written(tmp_path / "a.csv", ["phix", "phiy", "phiz"], q, at, other.as_rotvec())
    with refused("euler", file="a.csv", line=1, parameter="euler", allowed=("yxz",)):
        read(file)
    left = read(file, euler="none")
    assert left.kinds == ("position",)
    assert any("phix, phiy, phiz are not used" in n.text for n in left.notes)
    q, at, turns = poses(4)
    few = written(tmp_path / "b.csv", ["phix", "phiy", "phiz"], q, at, turns.as_rotvec())
    with refused("euler", file="b.csv", line=1, parameter="euler"):
        read(few)


def test_outliers_do_not_decide(tmp_path: Path) -> None:
    q, at, turns = poses(15)
    angles = by_axis(turns, "xyz")
    angles[::5] = Rotation.random(3, random_state=1).as_euler("xyz")
    assert read(written(tmp_path / "a.csv", ["phix", "phiy", "phiz"], q, at, angles)).entry.euler == "xyz"


@pytest.mark.parametrize(
    ("title", "scalar", "name"),
    [
        ("phi_x", False, "phix"), ("Rot Z", False, "phiz"), ("angle.y", False, "phiy"), ("rotvec_x", False, "rx"),
        ("quat_w", False, "qw"), ("quaternion x", False, "qx"), ("pose.orientation.w", False, "pose.orientation.w"),
        ("pose.orientation.w", True, "qw"), ("pose.orientation.x", True, "qx"), ("orientation x", False, "phix"),
        ("beta", False, "e2"), ("phix2", False, "phix2"), ("x", False, "x"), ("exhaust", False, "exhaust"),
    ],
)  # fmt: skip
def test_titles_of_orientations(title: str, scalar: bool, name: str) -> None:
    assert as_read(title, scalar) == name


def test_an_echoed_ros_pose_is_a_point_and_a_quaternion(tmp_path: Path) -> None:
    q, at, turns = poses(8)
    file = tmp_path / "echo.csv"
    head = [f"J{i}" for i in range(1, 7)]
    head += [f"pose.position.{c}" for c in "xyz"] + [f"pose.orientation.{c}" for c in "xyzw"]
    rows = (",".join(f"{v:.9f}" for v in row) for row in np.hstack([q, at, turns.as_quat()]))
    file.write_text("\n".join([",".join(head), *rows]) + "\n", encoding="utf-8")
    found = read(file)
    assert found.readings.markers == ("pose.position",)
    np.testing.assert_allclose(found.readings.read["position"][:, 0], at, atol=1e-8)
    got = found.readings.read["orientation"][:, 0].reshape(-1, 3, 3)
    np.testing.assert_allclose(got, turns.as_matrix(), atol=1e-7)


def test_a_few_poses_for_validation_are_read_as_the_campaign_was(tmp_path: Path) -> None:
    """Alone they tell nothing of a convention."""
    q, at, turns = poses(12)
    angles = turns.as_euler("ZYX")
    written(tmp_path / "a.csv", ["a", "b", "c"], q, at, angles)
    written(tmp_path / "check.csv", ["a", "b", "c"], q[:3], at[:3], angles[:3])
    keys = {"format": "elastocal-campaign/1", "robot": ROBOT, "units": {"length": "m", "angle": "rad"}}
    file = tmp_path / "campaign.yaml"
    file.write_text(yaml.safe_dump({**keys, "table": "a.csv", "validation": "check.csv"}), encoding="utf-8")
    (check,) = validation_of(read_observed(file))
    np.testing.assert_allclose(check.orientation, turns.as_matrix()[:3], atol=1e-7)
