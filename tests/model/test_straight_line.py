"""The chain's code against the chain itself and against Pinocchio, on every shipped robot and on random patterns."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import elastocal as ec
from elastocal import robots
from elastocal.model import straight_line
from elastocal.model.chain import FEW
from elastocal.model.kinematics import kinematics

ROBOTS = sorted(p.stem for p in Path(robots.__file__).parent.glob("*.yaml"))


@pytest.mark.parametrize("name", ROBOTS)
def test_state_and_motion_are_those_of_the_chain_itself(name):
    chain = ec.read_robot(name).chain
    rng = np.random.default_rng(3)
    for share in (0.0, 0.4, 1.0):
        moves = [rng.random() >= share for _ in chain.dofs]
        values = [rng.normal(size=40) if m else 0.0 for m in moves]
        inputs = chain._inputs(values)
        every = tuple(range(len(chain.dofs)))
        expected = chain.run(inputs, every)
        found = straight_line.state(chain, straight_line.pattern(inputs), every)(*straight_line.flat(inputs))
        for a, b in zip(_leaves(found), _leaves(expected), strict=True):
            np.testing.assert_array_equal(a, b)


def _leaves(state):
    screws, poses = state
    for s in screws:
        yield from (*s.axis, *(s.point or ()))
    for turn, origin in poses.values():
        yield from (*(e for row in turn for e in row), *origin)


@pytest.mark.parametrize("name", ROBOTS)
def test_one_few_and_many_configurations_agree_to_the_bit(name):
    robot = ec.read_robot(name)
    q = np.random.default_rng(4).uniform(-1, 1, (FEW + 5, robot.n))
    for _ in range(3):  # the code is made at the third use
        many = kinematics(robot, q)
    few = kinematics(robot, q[:3])
    for got, row in ((kinematics(robot, q[i : i + 1]), i) for i in range(3)):
        np.testing.assert_array_equal(got.jacobian[0], many.jacobian[row])
        np.testing.assert_array_equal(few.position[row], many.position[row])
        np.testing.assert_array_equal(few.rotation[row], many.rotation[row])
