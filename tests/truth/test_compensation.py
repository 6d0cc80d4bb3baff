"""Does the stated interval of what is left hold it as often as it says?  Virtual campaigns, fits and corrections."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from oracle.campaigns import arm, arm_campaign, arm_poses, scatter
from oracle.draws import draws, spread_of_share

from elastocal.compensation.commands import correct
from elastocal.compensation.loads import PathLoads
from elastocal.compensation.targets import Targets
from elastocal.compensation.verification import expected_residual, residual, taught, taught_covariance
from elastocal.files.robot.read import read_robot
from elastocal.measure.measured import Measured
from elastocal.measure.sources.arm import Repeatability
from elastocal.measure.sources.instrument import Reading
from elastocal.model.compliant.joint_backlash import JointBacklash
from elastocal.model.kinematics import kinematics, rigid_pose
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.quantities import quantile_95
from elastocal.reduction.fit import estimate
from elastocal.reduction.prediction import IdentifiedModel, Prediction

SOURCES = (Reading(sd=1e-5), Repeatability(sd=1e-5))
NAMES = ("j1.k", "j2.k", "j3.k", "p4.k")
DRAWS = draws(40, 400)


@pytest.mark.parametrize("by_teaching", [False, True])
def test_the_interval_of_what_is_left_holds_it(by_teaching: bool) -> None:
    """Along the longest semi-axis of the ellipsoid 95 % of the residuals of the true robot lie within it."""
    truth = arm()
    campaign = arm_campaign(truth, SOURCES, count=8, noise=0.0)
    kind = campaign.measurement
    q = arm_poses(4, seed=8)
    place, turn = rigid_pose(truth.nominal, "tip", np.ascontiguousarray(q.T))
    path = Targets("tip", place.T, np.moveaxis(turn, -1, 0), q)
    loads = PathLoads((AppliedWrenches("tip", np.array([[120.0, -80.0, -200.0, 5.0, 3.0, -4.0]])),))
    wanted = taught(truth, path, q, loads) if by_teaching else path
    hits, sizes = [], []
    for seed in range(DRAWS):
        read = Measured(kind, campaign.readings + scatter(kind, truth, SOURCES, seed), SOURCES)
        fit = estimate(truth, read, NAMES)
        model = truth.with_parameters(dict(zip(fit.names, fit.values, strict=True)))
        known = IdentifiedModel(model, fit.names, fit.covariance_stated, math.nan)
        goal = taught(model, path, q, loads) if by_teaching else path
        command = correct(model, goal, loads, "position").command
        if by_teaching:
            expected = Prediction("tip", np.zeros((4, 6)), taught_covariance(known, q, command, "tip", loads))
        else:
            expected = expected_residual(known, command, "tip", loads)
        axes, directions = expected.ellipsoid()
        left = residual(truth, command, wanted, loads).position
        off = np.abs(np.einsum("ni,ni->n", left, directions[:, :, 0]))
        hits.append(off < quantile_95(np.inf) * axes[:, 0])
        sizes.append(off.mean())
    assert np.mean(sizes) > 2e-6
    share = np.mean(hits, axis=0)
    assert share.mean() == pytest.approx(0.95, abs=spread_of_share(0.95, DRAWS, 1.5))
    np.testing.assert_allclose(share, 0.95, atol=spread_of_share(0.95, DRAWS, 3.5))


def test_a_vertical_axis_without_load_may_lie_on_either_side_of_its_backlash():
    """By its mean the robot stands in the middle; both sides, half of the backlash away, are as probable."""
    robot = read_robot("kuka-kr270").without("foundation_compliance").with_parameters({"A1.gap": 2e-4})
    elements = tuple(
        replace(e, transition=50.0) if isinstance(e, JointBacklash) and e.joint == "A1" else e for e in robot.elements
    )
    soft = replace(robot, elements=elements)
    known = IdentifiedModel(soft, ("A2.k",), np.zeros((1, 1)), np.nan)
    q = np.array([[0.3, -1.2, 1.4, 0.0, 0.6, 0.0]])
    found = expected_residual(known, q, soft.tool)
    apart = [kinematics(robot.nominal, q + side * 2e-4 * np.eye(6)[:1], soft.tool).position[0] for side in (1, -1)]
    expected = np.linalg.norm(apart[0] - apart[1]) / 2
    assert expected > 2e-4
    assert np.sqrt(np.trace(found.covariance[0, :3, :3])) == pytest.approx(expected, rel=1e-4)
    aside = PathLoads((AppliedWrenches(soft.tool, [[0, 500.0, 0, 0, 0, 0]]),))
    assert np.trace(expected_residual(known, q, soft.tool, aside).covariance[0, :3, :3]) < 1e-3 * expected**2
