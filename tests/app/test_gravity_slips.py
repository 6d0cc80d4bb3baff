"""Slips in one column of the example of the documentation: each is refused, or called out by joint or line."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "gravity.md").read_text()


def block(name):
    return re.search(rf":caption: {name}\n\n(.*?)```", PAGE, re.S).group(1)


@pytest.fixture
def weigh(run, tmp_path):
    """Run the example with its numbers (80, 5) changed: time, J1, J2, torques of J1 and J2."""
    head, *rows = block("log.csv").splitlines()
    (tmp_path / "arm.yaml").write_text(block("arm.yaml"))

    def weighed(change):
        numbers = np.array([[float(v) for v in row.split(",")] for row in rows])
        change(numbers)
        lines = [head, *(",".join(f"{v:.4f}" for v in row) for row in numbers)]
        (tmp_path / "log.csv").write_text("\n".join(lines) + "\n")
        return run("gravity", tmp_path / "log.csv", tmp_path / "arm.yaml", "--friction", "coulomb", "--json")

    return weighed


def loud(done):
    assert done.code == 0, done.err
    return [line for line in done.data["verdict"] if re.match(r"(DO NOT|THE|OUTLIERS)", line)]


def test_the_example_itself_has_no_slip(weigh):
    done = weigh(lambda a: None)
    assert loud(done) == []
    assert "outliers" not in done.data


def test_swapped_torques_are_refused(weigh):
    def swap(a):
        a[:, [3, 4]] = a[:, [4, 3]]

    done = weigh(swap)
    assert done.code == 2
    assert "J1 and J2 are as large as expected of the other" in done.err


def test_torques_of_one_joint_in_another_unit_or_sign(weigh):
    (unit,) = loud(weigh(lambda a: np.multiply(a[:, 4], 1000, out=a[:, 4])))
    assert re.match(r"THE TORQUE OF J2 IS 9\d\d TIMES", unit)
    sign = loud(weigh(lambda a: np.negative(a[:, 4], out=a[:, 4])))
    assert sign[0].startswith("THE TORQUE OF J2 HAS THE OTHER SIGN")


def test_radians_under_a_heading_of_degrees(weigh):
    done = weigh(lambda a: np.radians(a[:, 1], out=a[:, 1]))
    (said,) = loud(done)
    assert said.startswith("DO NOT TRUST J1:")
    assert "the robot file's own masses to" in said
    assert any(line.startswith("Predictions of J2 keep the robot file's masses") for line in done.data["verdict"])


def test_one_wrong_reading_is_named_and_the_result_is_given_with_and_without(weigh):
    def spike(a):
        a[20, 4] = 500

    done = weigh(spike)
    (said,) = loud(done)
    assert "line 22, torque of J2 = 500 N m (10" in said or "line 22, torque of J2 = 500 N m (11" in said
    rows = {r["parameter"]: r for r in done.data["outliers"]}
    assert rows["J2.mx"]["without"] == pytest.approx(1.2, abs=0.03)
    assert rows["J2.mz"]["without"] == pytest.approx(-0.3, abs=0.006)
    assert abs(rows["J2.mx"]["with"] - rows["J2.mx"]["without"]) > 0.003  # kg m, of 1.2
    assert {r["joint"]: r for r in done.data["validation"]}["J2"]["rms"] < 0.2
