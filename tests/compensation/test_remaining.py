"""The first number that is said of a corrected program counts the whole of it, and names what it leaves out."""

from __future__ import annotations

import numpy as np
import pytest

import elastocal as ec
from elastocal.app.pages.compensate import tiles
from elastocal.compensation.correction import Remaining, remaining, unmeasured_geometry
from elastocal.compensation.process import ProcessLoad
from elastocal.files.robot.read import read_robot
from elastocal.reduction.prediction import IdentifiedModel
from elastocal.spatial.pose import Pose

HEAD = "name,A1_deg,A2_deg,A3_deg,A4_deg,A5_deg,A6_deg\n"
GOOD = "one,0,-70,92,0,68,180\ntwo,20,-70,92,0,68,180\n"
BAD = "three,0,-90,90,0,-122.49,0\n"
"""A hundredth of a degree from the limit of A5, beyond which the push drives the command."""


def corrected(rows, names=("A2.k", "A3.k"), registered=False, taught=False):
    robot = read_robot("kuka-kr270").with_parameters({"A1.offset": 1e-3})
    sd = np.array([0.03 * robot.parameters.values[robot.parameters.index(n)] for n in names])
    known = IdentifiedModel(robot, names, np.diag(sd**2), float("nan"), registered=registered)
    program = ec.read_program(HEAD + rows, "csv", tools={"tool": Pose(np.eye(3), np.array([0, 0.1, 0.2]))})
    load = ProcessLoad(wrench=np.array([3000.0, 0, -1000, 0, 0, 0]), air_moves=True)
    return ec.compensate(known, program, load=load, taught=taught)


def test_a_target_that_stays_as_it_is_counts():
    """By the records of the targets: what the one is off by before it keeps, the others have their prediction."""
    done = corrected(GOOD + BAD)
    one, two, three = done.rows()
    assert three["status"] == "JOINT_LIMIT"
    squares = [one["predicted_rms"] ** 2, two["predicted_rms"] ** 2, three["before"] ** 2 + three["predicted_rms"] ** 2]
    whole = remaining(done)
    assert whole.rms == pytest.approx(np.sqrt(np.mean(squares)), rel=1e-4)
    assert (whole.targets, whole.farthest) == (1, pytest.approx(three["before"], rel=1e-6))
    said = next(f for f in done.verdict if f.code == "predicted")
    assert said.data["whole_rms"] == whole.rms > 3 * said.data["rms"]
    assert (said.data["uncorrected"], said.data["uncorrected_max"]) == (1, whole.farthest)
    tile = tiles(done, None)[1]
    assert float(tile.value) == pytest.approx(1e3 * whole.rms, rel=0.05)
    assert tile.state == "bad"
    assert f"1 target stays uncorrected, off by {1e3 * three['before']:.3f} mm" in tile.note


def test_where_all_targets_are_corrected_the_prediction_is_the_whole():
    done = corrected(GOOD)
    assert remaining(done).rms == pytest.approx(np.sqrt(np.mean(done.predicted**2)), rel=1e-3)
    assert remaining(done).text == ""
    assert float(tiles(done, None)[1].value) == pytest.approx(1e3 * remaining(done).rms, rel=0.05)


def test_geometry_that_nobody_measured_is_named_beside_the_number():
    springs = corrected(GOOD)
    tile = tiles(springs, None)[1]
    assert tile.state == "open"
    assert unmeasured_geometry(springs) in tile.note
    assert unmeasured_geometry(springs) == "lengths and joint zeros of the robot file"
    assert "not estimated" in unmeasured_geometry(corrected(GOOD, ("A1.offset", "A2.k")))
    for measured in (corrected(GOOD, ("A1.offset", "A2.k"), registered=True), corrected(GOOD, taught=True)):
        assert unmeasured_geometry(measured) == ""
        assert "NOT IN IT" not in tiles(measured, None)[1].note


@pytest.mark.parametrize(
    ("farthest", "unknown", "words"),
    [(8e-4, 0, "up to 0.800 mm"), (8e-4, 2, "2 of them by an unknown amount"), (float("nan"), 3, "an unknown amount")],
)
def test_targets_of_which_nobody_knows_are_counted(farthest, unknown, words):
    text = Remaining(1e-5, 3, farthest, unknown).text
    assert text.startswith("3 targets stay uncorrected")
    assert text.endswith(words)
