"""The chain's code against the chain itself and against Pinocchio, on every shipped robot and on random patterns."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import elastocal as ec
from elastocal import robots
from elastocal.model import frames, straight_line
from elastocal.model.frames import Frame, FrameTree
from elastocal.model.kinematics import kinematics, rigid_pose
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.statics.equilibrium import equilibrium
from elastocal.spatial import compiled
from elastocal.spatial.pose import Pose
from elastocal.spatial.tape import FEW, Code

ROBOTS = sorted(p.stem for p in Path(robots.__file__).parent.glob("*.yaml"))


@pytest.mark.parametrize("name", ROBOTS)
def test_state_and_motion_are_those_of_the_chain_itself(name):
    chain = ec.read_robot(name).chain
    rng = np.random.default_rng(3)
    for share in (0.0, 0.4, 1.0):
        moves = [rng.random() >= share for _ in chain.dofs]
        values = [rng.normal(size=40) if m else 0.0 for m in moves]
        inputs = chain.inputs(values)
        every = tuple(range(len(chain.dofs)))
        expected = chain.run(inputs, every)
        found = straight_line.state(chain, chain.pattern(values))(*straight_line.flat(inputs))
        for a, b in zip(_leaves(found), _leaves(expected), strict=True):
            np.testing.assert_array_equal(a, b)


def _leaves(state):
    screws, poses = state
    for s in screws:
        yield from (*s.axis, *(s.point or ()))
    for turn, origin in poses.values():
        yield from (*(e for row in turn for e in row), *origin)


def test_a_place_has_the_same_bytes_before_and_after_its_code_is_made():
    """Signs of zeros too, as of an arm in its plane: one configuration runs on floats, several on arrays."""
    robot, places = ec.read_robot("kr5").nominal, set()
    q = np.array([[0.0, -1.0, 1.0, 0.0, 0.5, 0.0]]).T
    frames._chains.cache_clear()
    for _ in range(6):
        at, turn = rigid_pose(robot, robot.tool, q)
        places.add(at.tobytes() + turn.tobytes())
    assert len(places) == 1
    assert at[1] == 0
    assert at[0] > 1


@pytest.mark.parametrize("name", ROBOTS)
def test_one_few_and_many_configurations_agree_to_the_bit(name):
    robot = ec.read_robot(name)
    q = np.random.default_rng(4).uniform(-1, 1, (FEW + 5, robot.n))
    for _ in range(8):  # the code is made at the third use
        many = kinematics(robot, q)
    few = kinematics(robot, q[:3])
    for got, row in ((kinematics(robot, q[i : i + 1]), i) for i in range(3)):
        np.testing.assert_array_equal(got.jacobian[0], many.jacobian[row])
        np.testing.assert_array_equal(few.position[row], many.position[row])
        np.testing.assert_array_equal(few.rotation[row], many.rotation[row])


def test_compiled_kinematics_and_forces_are_those_of_numpy_to_the_bit(tmp_path, monkeypatch):
    """One robot by numba itself; ``tests/physics/test_force_code.py`` runs the text that it compiles for all."""
    monkeypatch.setattr(compiled, "folder", lambda: tmp_path)
    robot = ec.read_robot("kuka-kr270").without("link_compliance", "foundation_compliance", "joint_backlash")
    robot = robot.with_parameters({"A2.offset": 0.01})
    q = np.random.default_rng(4).uniform(-1, 1, (300, robot.n))
    load = [AppliedWrenches("tool", np.random.default_rng(5).normal(size=(300, 6)) * 500)]
    for _ in range(8):
        plain, bent = kinematics(robot, q), equilibrium(robot, q, load)
    made = [code for code in robot.chain._codes.values() if isinstance(code, Code)]
    assert len(made) >= 2
    for code in made:
        code._fast.make(code)
        assert code._fast.kernel is not None
    fast, fast_bent = kinematics(robot, q), equilibrium(robot, q, load)
    for part in ("position", "rotation", "jacobian"):
        np.testing.assert_array_equal(getattr(fast, part), getattr(plain, part))
    np.testing.assert_array_equal(fast_bent.theta, bent.theta)
    np.testing.assert_array_equal(fast_bent.force, bent.force)


def test_robots_whose_frames_are_alike_share_their_code():
    robot = ec.read_robot("ur10e")
    *most, last = (
        Frame(f.name, f.parent, Pose(f.pose.rotation, f.pose.translation), f.joint) for f in robot.tree.frames
    )
    longer = replace(last, pose=Pose(last.pose.rotation, last.pose.translation + 1e-9))
    one, again, other = (
        replace(robot, tree=FrameTree((*most, end))) for end in (last, replace(last, source="a"), longer)
    )
    assert again.chain is one.chain
    assert other.chain is not one.chain
