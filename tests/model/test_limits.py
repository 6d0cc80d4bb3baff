"""Joint limits in words: as the pendant shows them, also for joints that have no pendant value of their own."""

from __future__ import annotations

import numpy as np

from elastocal.files.located import parse_yaml
from elastocal.files.robot.file import build_robot
from elastocal.model.limits import limit_text

ROBOT = """\
format: elastocal-robot/1
name: pair
source: test
joints:
  - {name: A, type: revolute, axis: [0, 0, 1], limits_deg: [-90, 90]}
  - {name: B, type: revolute, axis: [0, 1, 0], follows: A, ratio: 2, limits_deg: [-100, 100]}
controller: {axes: [X], sign: {X: -1}}
"""


def test_a_joint_and_its_follower() -> None:
    model = build_robot(parse_yaml(ROBOT, "pair.yaml"))
    said = [limit_text(model, joint, value) for _, joint, value in model.beyond_limits(np.deg2rad([[95.0]]))]
    assert said == [
        "axis X = -95 deg is beyond its limits -90 to 90 deg",
        "joint B, moved by X, = 190 deg (no pendant value) is beyond its limits -100 to 100 deg",
    ]
