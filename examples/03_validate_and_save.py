"""Judge a calibration on poses that it has not seen, save it, and read it again."""

from pathlib import Path
from tempfile import mkdtemp

import numpy as np

import elastocal as ec

rng = np.random.default_rng(3)
robot = ec.read_robot("fanuc-m710ic50").nominal
offsets = np.radians([0.0, 0.05, -0.10, 0.08, 0.03, 0.0])


def measured(count: int) -> ec.Campaign:
    """Simulated readings of one reflector in base axes."""
    q = rng.uniform(-1, 1, size=(count, 6))
    pose = robot.kinematics(robot.controller.to_joints(q) + offsets)
    points = pose.position + pose.rotation @ [0.1, 0.0, 0.05] + rng.normal(scale=3e-5, size=(count, 3))
    return ec.Campaign(q=q, position=points, length="m", angle="rad")


data, other = measured(30), measured(20)
cal = ec.calibrate(robot, data, ["geometry"])
print("other poses:     ", cal.validate(other))
print("cross-validation:", ec.cross_validate(robot, data, folds=3, model=["geometry"]))

path = cal.save(Path(mkdtemp()) / "calibration.json")
again = ec.read_calibration(path)
print("the same from the file:", np.allclose(again.predict(other.q).position, cal.predict(other.q).position))
