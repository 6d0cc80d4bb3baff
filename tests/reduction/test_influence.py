"""Influence of single poses against fits that really leave them out."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.campaigns import arm, arm_campaign, planar
from scipy import linalg

from elastocal.files.robot.read import read_robot
from elastocal.measure.markers import Deflection, Position
from elastocal.measure.measured import Measured
from elastocal.measure.setup import Setup
from elastocal.measure.sources.arm import Repeatability
from elastocal.measure.sources.instrument import Reading
from elastocal.measure.sources.places import Registration
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.statics.observation import Marker
from elastocal.reduction.diagnostics import correlations, influence
from elastocal.reduction.fit import estimate
from elastocal.reduction.problem import unknowns

SD = 1e-5
JOINTS = ["j1.k", "j2.k", "j3.k", "p4.k"]
SOURCES = (Reading(sd=SD), Repeatability(sd=2e-5))


def without(campaign, members):
    readings = campaign.readings.copy()
    readings[members] = np.nan
    return Measured(campaign.measurement, readings, campaign.sources)


def test_left_out_residuals_are_those_of_fits_without_the_pose():
    """Seven poses under two loads each, a full covariance, some numbers not read."""
    campaign = arm_campaign(arm(), SOURCES, count=7, poses_each=2)
    readings = campaign.readings.copy()
    readings[3, 1] = readings[8] = np.nan
    campaign = Measured(campaign.measurement, readings, SOURCES)
    fit, pose = estimate(arm(), campaign, JOINTS), campaign.measurement.setup.pose
    found = influence(fit, pose)
    expected = np.full(readings.shape, np.nan)
    for one in range(7):
        members = np.flatnonzero(pose == one)
        assert len(members) == 2
        other = estimate(arm(), without(campaign, members), JOINTS)
        expected[members] = (readings - campaign.measurement.predict(other.model))[members]
    assert np.isnan(expected).sum() == 7
    inside = np.sqrt(np.nanmean(fit.residuals**2))
    assert found.rms([0, 1, 2, 3, 4, 5]) > 1.02 * inside
    np.testing.assert_allclose(found.left_out, expected, rtol=0, atol=1e-6 * inside)
    assert found.rms([1, 4]) == pytest.approx(np.sqrt(np.nanmean(expected[:, [1, 4]] ** 2)), rel=1e-6)


def test_left_out_residuals_of_a_nonlinear_fit_with_priors_are_right_to_first_order():
    truth = planar(2, mass=4.0)
    rng = np.random.default_rng(3)
    q = np.repeat(rng.uniform(-2, 2, (6, 2)), 2, axis=0)
    wrench = np.zeros((12, 6))
    wrench[1::2, :3] = rng.normal(size=(6, 3)) * 300
    kind = Position(Setup(q, AppliedWrenches("tip", wrench), (Marker("tip"),)))
    sources = (Reading(sd=SD), Registration(sd=2e-5, turn_sd=4e-5))
    campaign = Measured(kind, kind.predict(truth) + SD * rng.normal(size=(12, 3)), sources)
    names = ["j1.k", "j2.k", "j2.offset", *(u.name for u in unknowns(campaign, truth))]
    fit, pose = estimate(truth, campaign, names), kind.setup.pose
    found = influence(fit, pose)
    for one in (0, 3):
        members = np.flatnonzero(pose == one)
        other = estimate(truth, without(campaign, members), names)
        p = kind.predict(other.model)
        u = other.values[3:]
        expected = (campaign.readings - p - u[:3] - np.cross(u[3:], p))[members]
        assert np.abs(expected - fit.residuals[members]).max() > 0.05 * SD
        np.testing.assert_allclose(found.left_out[members], expected, rtol=0, atol=0.02 * SD)
    # every unknown is held up by readings or by its own prior
    by_priors = np.diag(fit.unit_covariance)[3:] / np.array([2e-5] * 3 + [4e-5] * 3) ** 2
    assert by_priors.sum() > 0.1
    assert np.sum(found.leverage) == pytest.approx(len(names) - by_priors.sum(), rel=1e-9)


def test_leverage_is_how_much_a_number_decides_its_own_prediction():
    campaign = arm_campaign(arm(), (Reading(sd=SD),), count=5)
    readings = campaign.readings.copy()
    readings[2, 3] = np.nan
    campaign = Measured(campaign.measurement, readings, campaign.sources)
    fit = estimate(arm(), campaign, JOINTS)
    found = influence(fit, campaign.measurement.setup.pose)
    assert np.isnan(found.leverage[2, 3])
    assert np.nansum(found.leverage) == pytest.approx(4, rel=1e-9)
    for at in ((0, 0), (3, 4), (4, 2)):
        moved = readings.copy()
        moved[at] += 1e-3
        other = estimate(arm(), Measured(campaign.measurement, moved, campaign.sources), JOINTS)
        change = campaign.measurement.predict(other.model) - campaign.measurement.predict(fit.model)
        assert found.leverage[at] == pytest.approx(change[at] / 1e-3, rel=1e-6)


def test_a_pose_that_alone_holds_up_a_parameter_cannot_be_left_out():
    """Only the third pose has a force that turns q2."""
    model = read_robot("cylindrical")
    rng = np.random.default_rng(1)
    q = rng.uniform([0, -3, 0.2], [1, 3, 1], (6, 3))
    wrench = np.zeros((6, 6))
    wrench[:, 2] = -500
    wrench[:, :2] = 300 * np.stack([np.cos(q[:, 1]), np.sin(q[:, 1])], axis=1)  # along the arm
    wrench[2, :2] += 200 * np.array([-np.sin(q[2, 1]), np.cos(q[2, 1])])
    kind = Deflection(Setup(q, AppliedWrenches("tool", wrench), (Marker("tool"),)), "linear")
    campaign = Measured(kind, kind.predict(model) + SD * rng.normal(size=(6, 3)), (Reading(sd=SD),))
    found = influence(estimate(model, campaign, ["q1.k", "q2.k", "q3.k"]), kind.setup.pose)
    order = kind.setup.pose == kind.setup.pose[2]
    assert np.isposinf(found.left_out[order]).all()
    assert np.isfinite(found.left_out[~order]).all()
    assert found.rms([0, 1, 2]) == np.inf


def test_correlations_are_those_of_the_normal_equations_and_carry_their_names():
    """Springs of one planar arm pull against each other."""
    truth = planar(3, offsets=False)
    rng = np.random.default_rng(2)
    q = rng.uniform(-0.4, 0.4, (9, 3))
    wrench = rng.normal(size=(9, 6)) * [100, 0, 100, 0, 0, 0]
    kind = Deflection(Setup(q, AppliedWrenches("tip", wrench), (Marker("tip"),)), "linear")
    campaign = Measured(kind, kind.predict(truth) + SD * rng.normal(size=(9, 3)), (Reading(sd=SD),))
    names = ["j1.k", "j2.k", "j3.k"]
    a = kind.derivative(truth, names).reshape(-1, 3)
    covariance = linalg.inv(a.T @ a)
    size = np.sqrt(np.diag(covariance))
    expected = covariance / np.outer(size, size)
    pairs = {(names[i], names[j]): expected[i, j] for i, j in ((0, 1), (0, 2), (1, 2))}
    fit = estimate(truth, campaign, names)
    every = correlations(fit, 0.0)
    assert {(c.first, c.second): pytest.approx(c.coefficient, rel=1e-6) for c in every} == pairs
    sizes = [abs(c.coefficient) for c in every]
    assert sizes == sorted(sizes, reverse=True)
    assert min(pairs.values()) < -0.5
    middle = (sizes[0] + sizes[1]) / 2
    assert [(c.first, c.second) for c in correlations(fit, middle)] == [(every[0].first, every[0].second)]
