"""Equilibria that a load reaches continuously are found and called stable, also far from the unbent state."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq

from elastocal.model.compliant.joint_backlash import JointBacklash
from elastocal.model.compliant.joint_compliance import JointCompliance
from elastocal.model.frames import Frame, FrameTree, JointMotion
from elastocal.model.loads.link_mass import LinkMass
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import Robot
from elastocal.model.statics import equilibrium as equilibrium_module
from elastocal.model.statics import newton, stability
from elastocal.model.statics.equilibrium import Status, equilibrium
from elastocal.model.statics.flexibility import assemble
from elastocal.spatial.pose import Pose

K = 1e-3


def strut(*elements):
    """One joint about z, an arm of 1 m along x."""
    tip = Frame("tip", "j", Pose(translation=(1.0, 0, 0)))
    tree = FrameTree((Frame("j", "base", Pose(), JointMotion("revolute", (0, 0, 1))), tip))
    return Robot("strut", tree, "tip", (JointCompliance(joint="j", k=K), *elements))


@pytest.mark.parametrize(("start", "force"), [(1e-4, 1005.0), (0.02, 1100.0), (0.1, 1050.0), (-0.05, 1080.0)])
def test_a_strut_pushed_past_its_critical_load_rests_where_the_path_leads(start, force):
    """theta = k F sin(q + theta): the first root on the side of the imperfection is reached from no load."""
    side = np.sign(start)

    def gap(theta):
        return theta - K * force * np.sin(start + theta)

    grid = side * np.linspace(0, np.pi, 200001)
    values = gap(grid)
    at = int(np.flatnonzero(np.sign(values[1:]) != np.sign(values[:-1]))[0])
    expected = brentq(gap, grid[at], grid[at + 1], xtol=1e-14)
    found = equilibrium(strut(), [[start]], [AppliedWrenches("tip", [[-force, 0, 0, 0, 0, 0]])])
    assert Status(found.status[0]) is Status.CONVERGED
    assert found.theta[0, 0] == pytest.approx(expected, abs=1e-10)
    assert abs(expected) > 0.1
    assert not found.load_factor[0] <= 1.0


def test_a_bend_beyond_a_radian_is_no_answer():
    """theta = k F sin(q + theta) has its root at 1.47 rad: the arm has given way long before."""
    found = equilibrium(strut(), [[0.3]], [AppliedWrenches("tip", [[-1500.0, 0, 0, 0, 0, 0]])])
    assert Status(found.status[0]) is Status.UNSTABLE
    bent_by_a_radian = 1.0 / (K * np.sin(1.3)) / 1500
    assert found.load_factor[0] == pytest.approx(bent_by_a_radian, abs=2e-3)


def test_the_perfect_strut_gives_way_at_its_critical_load():
    found = equilibrium(strut(), [[0.0]], [AppliedWrenches("tip", [[-2000.0, 0, 0, 0, 0, 0]])])
    assert Status(found.status[0]) is Status.UNSTABLE
    assert found.load_factor[0] == pytest.approx(0.5, rel=1e-9)


def test_loads_on_the_axis_can_still_upset_a_slide():
    """A turning joint and a slide at zero length: the side force F gives way at F = 1/sqrt(k_r k_t)."""
    turn = Frame("r", "base", Pose(), JointMotion("revolute", (0, 0, 1)))
    slide = Frame("p", "r", Pose(), JointMotion("prismatic", (1, 0, 0)))
    elements = (JointCompliance(joint="r", k=1e-3), JointCompliance(joint="p", k=1e-3))
    model = Robot("rp", FrameTree((turn, slide, Frame("tool", "p"))), "tool", elements)
    found = equilibrium(model, [[0.0, 0.0]], [AppliedWrenches("tool", [[0, 2000.0, 0, 0, 0, 0]])])
    assert Status(found.status[0]) is Status.UNSTABLE
    assert found.load_factor[0] == pytest.approx(0.5, rel=1e-9)


def pendulum(gap, length):
    """10 kg on a joint about y, 1 m below (negative) or above it."""
    tree = FrameTree((Frame("j", "base", Pose(), JointMotion("revolute", (0, 1, 0))),))
    mass = LinkMass(frame="j", mass=10.0, moment=(0.0, 0.0, 10.0 * length))
    elements = (JointCompliance(joint="j", k=1e-6), JointBacklash(joint="j", gap=gap), mass)
    return Robot("pendulum", tree, "j", elements)


@pytest.mark.parametrize(("length", "angle", "status"), [
    (-1.0, 5e-4, Status.UNDETERMINED_BACKLASH),  # hangs free inside its gap
    (-1.0, 5e-3, Status.CONVERGED),
    (1.0, 1e-4, Status.UNDETERMINED_BACKLASH),  # falls to either side
    (1.0, 5e-3, Status.CONVERGED),
])  # fmt: skip
def test_play_near_the_balance_point_is_not_guessed(length, angle, status):
    found = equilibrium(pendulum(1e-3, length), [[angle]])
    assert Status(found.status[0]) is status
    if status is Status.CONVERGED:
        side = np.sign(length)  # above: falls away from upright; below: swings back
        torque = 10.0 * 9.80665 * abs(length) * np.sin(angle + side * 1e-3)
        assert found.theta[0, 0] == pytest.approx(side * (1e-3 + 1e-6 * torque), rel=1e-3)
    else:
        assert np.isnan(found.theta).all()


def test_no_path_is_followed_to_where_a_joint_hangs_free(monkeypatch):
    """A hundred and more equilibria for each: only the states that no side of a backlash explains are worth them."""
    sizes = []
    monkeypatch.setattr(equilibrium_module, "trace", lambda states: sizes.append(states.size))
    found = equilibrium(pendulum(1e-3, -1.0), [[5e-4], [5e-3], [-5e-4]])
    assert found.counts() == {"converged": 1, "undetermined_backlash": 2}
    assert sizes == []


def test_a_joint_that_hangs_free_is_asked_for_once_and_its_search_ends_where_it_turns_back(monkeypatch):
    asked, floating = [], stability.floating
    monkeypatch.setattr(stability, "floating", lambda states: asked.append(states.size) or floating(states))
    found = equilibrium(pendulum(1e-3, -1.0), [[5e-4]])
    assert found.counts() == {"undetermined_backlash": 1}
    assert asked == [1]
    assert 2 < found.steps[0] < newton.HANGING


def test_a_search_goes_on_past_a_tangent_that_is_hardly_regular():
    """theta = A sin(theta + phi): the second tangent, 1 - A cos(theta + phi), is 4e-7, and the step is cut to 0.3."""
    a, phi = 1.0084183388672747, -0.24462610268957485
    model = strut()
    flex = assemble(model)
    push = AppliedWrenches("tip", a / K * np.array([[-np.cos(phi), np.sin(phi), 0, 0, 0, 0]]))
    start = newton.States(flex, model.posture(np.zeros((1, 1))), (push,), np.array([[0.41531956057456443]]))
    theta, _, _, done = newton.newton_equilibrium(start)
    assert done.all()
    assert theta[0, 0] == pytest.approx(a * np.sin(theta[0, 0] + phi), abs=1e-9)
    assert theta[0, 0] == pytest.approx(-0.9305104268879257, abs=1e-9)


def test_a_search_that_fails_is_not_called_unstable(monkeypatch):
    """Newton made to fail from half the load on, far below the critical one: no verdict, no load factor."""
    found = equilibrium_module.newton_equilibrium

    def weak(batch):
        theta, force, steps, done = found(batch)
        push = np.abs(batch.applied[0].wrench[:, 0])
        return theta, force, steps, done & (push < 100.0)

    def weak_from_rest(batch, tolerance):
        theta, force, steps, done = weak(batch)
        return theta, force, steps, done, np.zeros_like(done), np.zeros_like(done)

    monkeypatch.setattr(equilibrium_module, "newton_equilibrium", weak)
    monkeypatch.setattr(equilibrium_module, "solve_equilibrium", weak_from_rest)
    got = equilibrium(strut(), [[0.2]], [AppliedWrenches("tip", [[-200.0, 0, 0, 0, 0, 0]])])
    assert Status(got.status[0]) is Status.NOT_CONVERGED
    assert np.isnan(got.load_factor[0])
    assert np.isnan(got.theta).all()


@pytest.mark.parametrize(
    ("force", "status"), [(150.0, Status.CONVERGED), (1100.0, Status.CONVERGED), (1500.0, Status.UNSTABLE)]
)
def test_a_search_ends_where_a_judged_one_does(force, status):
    """By substitution, where k F is 0.15; beyond it contracts too little, and what Newton finds is judged."""
    loads = [AppliedWrenches("tip", [[-f, 0, 0, 0, 0, 0]]) for f in (100.0, force)]
    q = [[0.3 if status is Status.UNSTABLE else 0.02]]
    start = equilibrium(strut(), q, loads[:1])
    found, judged = (equilibrium(strut(), q, loads[1:], start=s, judged=s is None) for s in (start, None))
    assert Status(found.status[0]) is status
    np.testing.assert_allclose(found.theta, judged.theta, rtol=1e-9, atol=1e-9)
    if status is Status.CONVERGED:
        assert found.theta[0, 0] == pytest.approx(K * force * np.sin(q[0][0] + found.theta[0, 0]), abs=1e-9)
        assert found.theta[0, 0] > 1e-3
