"""The loaded equilibrium balances forces: theta = c + k Q with Q from virtual work on an independent kinematics."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.mechanics import compliance, constants, generalised_forces
from oracle.robots import configurations, random_robot, random_spd, random_wrench

from elastocal.files.robot.read import read_robot
from elastocal.model.compliant.foundation_compliance import FoundationCompliance
from elastocal.model.compliant.frame_error import FrameError
from elastocal.model.compliant.joint_offset import JointOffset
from elastocal.model.compliant.link_compliance import as_matrix6
from elastocal.model.loads.wrench import AppliedWrenches, Wrench
from elastocal.model.statics.equilibrium import Status, equilibrium


def assert_balanced(model, q, applied, *, at_least):
    """theta - c = k Q for every row; ``at_least`` guards against a test of nothing."""
    bent = equilibrium(model, q, applied)
    assert set(bent.status) == {Status.CONVERGED}
    k, c = compliance(model), constants(model)
    for i, row in enumerate(q):
        wrenches = [(w.frame, w.wrench[i if len(w.wrench) > 1 else 0], w.follows) for w in applied]
        expected = c + k @ generalised_forces(model, row, bent.theta[i], wrenches)
        assert np.abs(expected - c).max() > at_least
        np.testing.assert_allclose(bent.theta[i], expected, rtol=0, atol=2e-12)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("follows", [False, True], ids=["base-fixed", "following"])
def test_force_and_moment_balance_on_random_chains(seed, follows):
    model = random_robot(seed, 3 + seed % 4, 2, k=1e-4)
    q = configurations(model, 3, seed)
    wrench = np.array([random_wrench(10 * seed + i, 200.0) for i in range(3)])
    assert_balanced(model, q, [AppliedWrenches("tip", wrench, follows)], at_least=5e-3)


@pytest.mark.parametrize("seed", range(4))
def test_loads_at_several_frames_act_together(seed):
    model = random_robot(seed, 5, 3, k=1e-4).with_elements(
        FoundationCompliance(matrix=as_matrix6(random_spd(np.random.default_rng(seed), 1e-5))),
        Wrench(frame="tip", force=(30.0, -40.0, 50.0), moment=(3.0, 5.0, -7.0), follows=True),
        JointOffset(joint=random_robot(seed, 5, 3).joints[1], offset=0.03),
        FrameError(frame="tip", y=0.02, rz=-0.05),
    )
    q = configurations(model, 2, seed)
    applied = [
        AppliedWrenches("side", random_wrench(seed)[None]),
        AppliedWrenches("tip", random_wrench(seed + 50)[None], follows=True),
        AppliedWrenches("tip", np.array([random_wrench(seed + 60), random_wrench(seed + 70)])),
        AppliedWrenches("base", random_wrench(seed + 80, 500.0)[None]),
    ]
    assert_balanced(model, q, applied, at_least=1e-2)


@pytest.mark.parametrize("name", ["kuka-kr270", "kuka-kr5", "iiwa14-on-track", "fanuc-m710ic50"])
def test_shipped_robots_balance_weight_springs_and_a_heavy_load(name):
    model = read_robot(name)
    q = configurations(model, 3, seed=2)
    force = 300.0 if name == "iiwa14-on-track" else 2500.0
    applied = [
        AppliedWrenches(model.tool, random_wrench(4, force)[None]),
        AppliedWrenches("flange", random_wrench(5, force / 3)[None], follows=True),
    ]
    assert_balanced(model, q, applied, at_least=1e-4)


def test_a_chain_without_joints_bends_by_its_matrix():
    model = read_robot("orthoglide-link")
    applied = [AppliedWrenches("tip", np.array([[2.0, -3.0, 1.0, 0.3, 0.2, -0.1]]))]
    assert_balanced(model, np.empty((2, 0)), applied, at_least=1e-4)
