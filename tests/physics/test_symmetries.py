"""Reciprocity (Maxwell, Betti), rotation of the whole cell, and the small-load limit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from oracle.robots import configurations, random_robot, random_wrench
from scipy.spatial.transform import Rotation

from elastocal.files.robot.read import read_robot
from elastocal.model.frames import BASE, Frame, FrameTree
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import Robot
from elastocal.model.statics.deflection import deflection, linear_deflection
from elastocal.model.statics.stiffness import loaded_stiffness, stiffness
from elastocal.spatial.pose import Pose


@pytest.mark.parametrize("seed", range(3))
def test_linear_compliance_between_two_frames_is_reciprocal(seed):
    """Motion of the tip under a unit load at the side equals motion of the side under it at the tip."""
    model = random_robot(seed, 5, 3)
    q = np.repeat(configurations(model, 1, seed), 6, axis=0)
    tip_by_side = linear_deflection(model, q, [AppliedWrenches("side", np.eye(6))], "tip").twist.T
    side_by_tip = linear_deflection(model, q, [AppliedWrenches("tip", np.eye(6))], "side").twist.T
    assert np.linalg.norm(tip_by_side - tip_by_side.T) > 0.05 * np.linalg.norm(tip_by_side)
    np.testing.assert_allclose(tip_by_side, side_by_tip.T, rtol=0, atol=1e-12 * np.abs(tip_by_side).max())


@pytest.mark.parametrize("seed", range(3))
def test_compliance_about_the_weighted_state_is_reciprocal(seed):
    """The same for small loads on top of the bend under gravity, by central differences of the full equilibrium."""
    model = random_robot(seed, 5, 3, k=3e-4)
    q = np.repeat(configurations(model, 1, seed), 6, axis=0)
    h = 0.05

    def response(loaded, seen):
        plus = deflection(model, q, [AppliedWrenches(loaded, h * np.eye(6))], seen).twist
        minus = deflection(model, q, [AppliedWrenches(loaded, -h * np.eye(6))], seen).twist
        return (plus - minus).T / (2 * h)

    tip_by_side, side_by_tip = response("side", "tip"), response("tip", "side")
    straight = linear_deflection(model, q, [AppliedWrenches("side", np.eye(6))], "tip").twist.T
    scale = np.abs(tip_by_side).max()
    assert np.abs(tip_by_side - straight).max() > 1e-3 * scale  # gravity matters here
    np.testing.assert_allclose(tip_by_side, side_by_tip.T, rtol=0, atol=2e-7 * scale)


def turned_cell(model, rotation):
    """The same robot bolted to a turned floor: its first frames and gravity turned; ``base`` must not bend itself."""
    turn = Pose(rotation)
    frames = (
        Frame("floor", BASE, turn),
        *(replace(f, parent="floor" if f.parent == BASE else f.parent) for f in model.tree.frames),
    )
    return Robot("turned", FrameTree(frames), model.tool, model.elements, rotation @ model.gravity)


@pytest.mark.parametrize("follows", [False, True], ids=["base-fixed", "following"])
@pytest.mark.parametrize("seed", range(2))
def test_rotating_the_whole_cell_rotates_the_answer(seed, follows):
    model = random_robot(seed, 5, 2, k=1e-4)
    rotation = Rotation.from_rotvec([0.7, -1.3, 0.4]).as_matrix()
    other = turned_cell(model, rotation)
    both = np.kron(np.eye(2), rotation)
    q = configurations(model, 3, seed)
    wrench = np.array([random_wrench(seed + i, 200.0) for i in range(3)])
    here = deflection(model, q, [AppliedWrenches("tip", wrench, follows)], "side")
    there = deflection(other, q, [AppliedWrenches("tip", wrench if follows else wrench @ both.T, follows)], "side")
    assert np.abs(here.twist).min(axis=0).max() > 1e-3
    np.testing.assert_allclose(there.twist, here.twist @ both.T, rtol=0, atol=2e-12)
    np.testing.assert_allclose(
        loaded_stiffness(other, q).compliance, both @ loaded_stiffness(model, q).compliance @ both.T, rtol=0, atol=1e-14
    )
    np.testing.assert_allclose(
        stiffness(other, q).stiffness, both @ stiffness(model, q).stiffness @ both.T, rtol=1e-8, atol=1e-6
    )


@pytest.mark.parametrize("robot", ["kuka-kr270", "scara-ruggeri", "cylindrical"])
@pytest.mark.parametrize("follows", [False, True], ids=["base-fixed", "following"])
def test_equilibrium_leaves_the_linear_formula_with_slope_two(robot, follows):
    """|equilibrium - linear| = O(load^2) without weight; springs that change stiffness with the angle are left out."""
    model = read_robot(robot).without("link_mass", "payload", "gravity_compensator")
    q = configurations(model, 4, seed=1)
    wrench = np.array([random_wrench(i, 2000.0) for i in range(4)])
    sizes = np.logspace(0, 1, 5)
    remainders = []
    for size in sizes:
        applied = [AppliedWrenches(model.tool, size * wrench / 10, follows)]
        remainders.append(
            np.linalg.norm(deflection(model, q, applied).twist - linear_deflection(model, q, applied).twist, axis=1)
        )
    slopes = np.polyfit(np.log(sizes), np.log(np.array(remainders)), 1)[0]
    assert np.min(remainders[-1]) > 1e-9
    assert np.all((slopes > 1.95) & (slopes < 2.05)), slopes


def test_slope_two_holds_on_random_chains():
    for seed in range(4):
        model = random_robot(seed, 5, 2, weight=False, k=1e-5)
        q = configurations(model, 1, seed)
        wrench = random_wrench(seed, 100.0)[None]
        sizes = np.logspace(-0.5, 0.5, 4)
        out = [
            np.linalg.norm(deflection(model, q, [w], "tip").twist - linear_deflection(model, q, [w], "tip").twist)
            for w in (AppliedWrenches("tip", s * wrench) for s in sizes)
        ]
        assert 1.95 < np.polyfit(np.log(sizes), np.log(out), 1)[0] < 2.05
