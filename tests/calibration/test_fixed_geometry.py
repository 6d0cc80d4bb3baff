"""Geometry for files that hold nothing else."""

from __future__ import annotations

import numpy as np
import virtual as v

import elastocal as ec
from elastocal.calibration.export import fixed_geometry


def calibrated(words: tuple[str, ...]) -> tuple[v.Truth, ec.Calibration]:
    robot, rng = v.random_arm(2), np.random.default_rng(6)
    truth = v.true_robot(robot, rng, words)
    q = v.joint_values(robot, 40, rng)
    data = v.campaign(q, robot, position=v.read_positions(truth, q, rng))
    return truth, ec.calibrate(robot, data, words, outliers=False)


def test_constant_geometry_is_written_as_it_was_estimated() -> None:
    _, cal = calibrated(("geometry",))
    robot, said = fixed_geometry(cal)
    assert said == ()
    own = [robot.parameters.values[robot.parameters.index(n)] for n in cal.names]
    np.testing.assert_array_equal(own, cal.values)


def test_what_is_left_is_said_first_and_is_what_the_true_robot_shows() -> None:
    """On poses that nobody has seen: a calibration of the geometry to readings of the truth without noise."""
    truth, cal = calibrated(("geometry", "weight"))
    alone, (said,) = fixed_geometry(cal)
    rng = np.random.default_rng(9)
    q = v.joint_values(truth.nominal, 150, rng)
    seen = v.campaign(q, truth.nominal, position=truth.points(q))
    part = cal.robot.without("own_weight")
    off = {}
    for name, robot in (("alone", alone), ("part", part), ("nominal", truth.nominal)):
        off[name] = ec.calibrate(robot, seen, (), outliers=False).before.mean
    assert said.code == "fixed-geometry"
    assert off["alone"] < 0.9 * off["part"]
    assert abs(said.data["left_m"] / off["alone"] - 1) < 0.25
    assert abs(said.data["nominal_m"] / off["nominal"] - 1) < 0.25
