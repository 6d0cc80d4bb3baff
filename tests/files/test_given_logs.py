"""Logs that do not say what they are: torques in a table of their own, columns without units, no time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from elastocal.errors import InputError
from elastocal.files.log.given import Given
from elastocal.files.log.read import read_log
from elastocal.files.robot.read import read_robot
from elastocal.model.robot import Robot

AXES = tuple(f"A{i}" for i in range(1, 7))
MOTORS = np.array([[0.0, -196.0, 136.0, 3.0, -2.0, 1.0], [1.0, -195.0, 137.0, 3.5, -2.5, 1.5]])
TORQUES = np.array([[0.1, 2.0, 1.0, 0.2, -0.1, 0.05], [0.2, 2.1, 1.1, 0.3, -0.2, 0.04]])
UNITS = "motor_rad,motor_Nm"


@pytest.fixture(scope="module")
def robot() -> Robot:
    return read_robot("kuka-kr5")


def written(path: Path, titles: object, rows: np.ndarray) -> Path:
    path.write_text("\n".join([",".join(titles), *(",".join(f"{v:.9g}" for v in row) for row in rows)]) + "\n")  # type: ignore[call-overload]
    return path


@pytest.mark.parametrize("titles", [AXES, [a.lower() for a in AXES], [f"Joint_{i}" for i in range(1, 7)]])
def test_two_tables_are_one_log(robot: Robot, tmp_path: Path, titles: list[str]) -> None:
    """As one table that names every unit, and by S^-1 and S^T on paper."""
    head = ["time_s", *(f"{a}_motor_rad" for a in AXES), *(f"{a}_motor_torque_Nm" for a in AXES)]
    whole = written(tmp_path / "log.csv", head, np.column_stack([[0.0, 0.002], MOTORS, TORQUES]))
    one = read_log(whole, robot)
    values = written(tmp_path / "q.csv", titles, MOTORS)
    given = Given(written(tmp_path / "t.csv", titles, TORQUES), UNITS, 500.0)
    two = read_log(values, robot, given)
    for name in ("q", "torque", "time"):
        np.testing.assert_array_equal(getattr(two, name), getattr(one, name))
    structure = robot.controller.drives.structure
    axes = np.linalg.inv(structure) @ MOTORS[0]
    np.testing.assert_allclose(robot.controller.to_controller(two.q[:1])[0], axes, atol=1e-9)
    assert two.place(1).endswith("q.csv, line 3")


def test_what_is_missing_is_asked_for(robot: Robot, tmp_path: Path) -> None:
    values, torques = (written(tmp_path / f"{n}.csv", AXES, t) for n, t in (("q", MOTORS), ("t", TORQUES)))
    short = written(tmp_path / "short.csv", AXES, TORQUES[:1])
    bad = tmp_path / "bad.csv"
    bad.write_text(torques.read_text().replace("0.3", "x"))
    timed = written(tmp_path / "timed.csv", ["time_s", *AXES], np.column_stack([[0.0, 1.0], MOTORS]))
    for path, given, code, named in (
        (values, Given(torques), "unit", "q.csv, line 1"),
        (values, Given(short, UNITS), "shape", "short.csv"),
        (values, Given(bad, UNITS), "number", "bad.csv, line 3"),
        (timed, Given(torques, UNITS, 5.0), "conflict", "timed.csv"),
    ):
        with pytest.raises(InputError) as refused:
            read_log(path, robot, given)
        assert refused.value.code == code
        assert named in str(refused.value)
    for words in ({"units": "furlong"}, {"rate": 0.0}):
        with pytest.raises(InputError):
            Given(**words)


DEGREES = np.array([[10.0, -80.0, 70.0, 5.0, -20.0, 15.0], [11.0, -81.0, 72.0, 6.0, -22.0, 16.0]])


@pytest.mark.parametrize("ends", [("", "_torque"), ("_deg", "_torque"), ("", "_torque_Nm"), ("_deg", "_torque_Nm")])
@pytest.mark.parametrize("called", ["A{}", "joint_{}"])
def test_stated_units_count_where_titles_name_none(
    robot: Robot, tmp_path: Path, ends: tuple[str, str], called: str
) -> None:
    titles = [called.format(i) + end for end in ends for i in range(1, 7)]
    log = read_log(written(tmp_path / "log.csv", titles, np.hstack([DEGREES, TORQUES])), robot, Given(units="deg,Nm"))
    np.testing.assert_allclose(robot.controller.to_controller(log.q) * 180 / np.pi, DEGREES, atol=1e-9)
    np.testing.assert_allclose(np.abs(log.torque[:, 0]), TORQUES[:, 0], atol=1e-12)


@pytest.mark.parametrize(
    ("units", "angle", "moment", "told"),
    [
        ("", 1.0, 1.0, "rad"),
        ("deg,Nm", np.pi / 180, 1.0, "deg"),
        ("deg", np.pi / 180, 1.0, "deg"),
        ("rad", 1, 1, "rad"),
    ],
)
def test_stated_units_count_for_the_bare_header(
    robot: Robot, tmp_path: Path, units: str, angle: float, moment: float, told: str
) -> None:
    titles = [f"{word}_{i}" for word in ("q", "tau") for i in range(6)]
    log = read_log(written(tmp_path / "log.csv", titles, np.hstack([DEGREES, TORQUES])), robot, Given(units=units))
    np.testing.assert_allclose(log.q, angle * DEGREES, rtol=1e-12)
    np.testing.assert_allclose(log.torque, moment * TORQUES, rtol=1e-12)
    (note,) = [n for n in log.notes if "names no units" in n]
    assert f"taken as {told}" in note


@pytest.mark.parametrize(
    ("ends", "units", "code", "value"),
    [
        (("_rad", "_torque_Nm"), "deg,Nm", "conflict", "deg"),
        ((" [rad]", "_torque_Nm"), "deg", "conflict", "deg"),
        (("_deg", "_torque_kNm"), "deg,Nm", "conflict", "Nm"),
        (("_deg", "_torque_Nm"), "motor_Nm", "conflict", "motor_Nm"),
        (("", "_torque"), "deg", "unit", "A1_torque"),
        (("_deg", "_motor_torque"), "", "unit", "A1_motor_torque"),
    ],
)
def test_stated_units_against_the_titles_are_refused(
    robot: Robot, tmp_path: Path, ends: tuple[str, str], units: str, code: str, value: str
) -> None:
    log = written(tmp_path / "log.csv", [f"{a}{end}" for end in ends for a in AXES], np.hstack([DEGREES, TORQUES]))
    with pytest.raises(InputError) as refused:
        read_log(log, robot, Given(units=units))
    assert (refused.value.code, refused.value.value) == (code, value)
    assert "log.csv, line 1" in str(refused.value)


def test_units_of_motors_or_slides_are_none_of_bare_joints(robot: Robot, tmp_path: Path) -> None:
    log = written(tmp_path / "log.csv", [f"q_{i}" for i in range(6)], DEGREES)
    for units in ("motor_rad", "mm"):
        with pytest.raises(InputError) as refused:
            read_log(log, robot, Given(units=units))
        assert (refused.value.code, refused.value.parameter) == ("unit", "units")
