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
