"""Predictions, what is known of them, and what a reduction costs, against Monte Carlo and formulas written out."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.campaigns import arm, arm_campaign, arm_poses, loads, planar, scatter
from scipy import stats
from scipy.spatial.transform import Rotation

from elastocal.measure.markers import Deflection, Position
from elastocal.measure.measured import Measured
from elastocal.measure.setup import Setup
from elastocal.measure.sources.instrument import Reading
from elastocal.model.compliant.joint_backlash import JointBacklash
from elastocal.model.compliant.link_compliance import LinkCompliance, as_matrix6
from elastocal.model.limits import spread_configurations
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.statics.deflection import linear_deflection
from elastocal.model.statics.observation import Marker
from elastocal.reduction.diagnostics import discrepancy
from elastocal.reduction.error_budget import reduction_cost
from elastocal.reduction.fit import estimate
from elastocal.reduction.prediction import IdentifiedModel, Prediction, predict, same_size_loads

SD = 1e-5
JOINTS = ("j1.k", "j2.k", "j3.k", "p4.k")
PLAIN = (Reading(sd=SD),)


# --- covariance -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("statics", ["linear", "loaded"])
def test_the_covariance_is_that_of_predictions_with_parameters_drawn_at_random(statics):
    model = planar(2, mass=4.0, offsets=False)
    names = ("j1.k", "j2.k")
    size = np.diag([4e-7, 6e-7])
    covariance = size @ np.array([[1, -0.7], [-0.7, 1]]) @ size
    rng = np.random.default_rng(0)
    q, load = rng.uniform(-2, 2, (3, 2)), AppliedWrenches("tip", rng.normal(size=(3, 6)) * [200, 0, 200, 0, 0, 0])
    got = predict(IdentifiedModel(model, names, covariance, 0.0, statics), q, load)
    kind = Deflection(Setup(q, load, (Marker("tip", "pose"),)), statics)
    np.testing.assert_allclose(got.twist, kind.predict(model), rtol=0, atol=1e-15)
    drawn = rng.multivariate_normal([1e-5, 1.5e-5], covariance, 200 if statics == "loaded" else 500)
    many = np.array([kind.predict(model.with_parameters(dict(zip(names, k, strict=True)))) for k in drawn])
    for i in range(3):
        expected = np.cov(many[:, i].T)
        size = np.sqrt(np.diag(expected).max())
        live = np.sqrt(np.diag(expected)) > 1e-3 * size
        assert live.sum() == 3  # x, z and the turn about y
        unit = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))[np.ix_(live, live)]
        np.testing.assert_allclose(
            got.covariance[i][np.ix_(live, live)] / unit, expected[np.ix_(live, live)] / unit, rtol=0, atol=0.15
        )
    np.testing.assert_allclose(got.sd**2, np.einsum("nii->ni", got.covariance), rtol=1e-12)
    np.testing.assert_allclose(got.half_width, stats.norm.ppf(0.975) * got.sd, rtol=1e-12)


def test_the_order_of_the_names_is_that_of_the_covariance():
    q, load = arm_poses(3, seed=5), loads("grip", 3, seed=6)
    covariance = np.diag([1e-7, 2e-7, 3e-7, 4e-7]) ** 2
    one = predict(IdentifiedModel(arm(), JOINTS, covariance, 0.0, "linear"), q, load)
    other = predict(IdentifiedModel(arm(), JOINTS[::-1], covariance[::-1, ::-1], 0.0, "linear"), q, load)
    np.testing.assert_allclose(other.covariance, one.covariance, rtol=1e-12, atol=1e-30)
    slope = Deflection(Setup(q, load, (Marker("tip", "pose"),)), "linear").derivative(arm(), JOINTS)
    np.testing.assert_allclose(one.sd**2, np.sum((slope * [1e-7, 2e-7, 3e-7, 4e-7]) ** 2, axis=2), rtol=1e-12)


def test_the_discrepancy_is_added_to_lengths_only():
    q, load = arm_poses(2, seed=5), loads("grip", 2, seed=6)
    covariance = 1e-14 * np.eye(4)
    none, nan, some = (
        predict(IdentifiedModel(arm(), JOINTS, covariance, d, "linear"), q, load, "m1").covariance
        for d in (0, np.nan, 3e-5)
    )
    np.testing.assert_array_equal(nan, none)
    np.testing.assert_allclose(some - none, np.tile(np.diag([9e-10] * 3 + [0] * 3), (2, 1, 1)), rtol=0, atol=1e-20)


def test_ellipsoids_have_the_semi_axes_and_directions_of_the_covariance():
    """Turned ellipsoids of known axes; one without a state."""
    axes = np.array([[3e-5, 2e-5, 1e-5], [5e-5, 4e-5, 1e-6], [1.0, 1.0, 1.0]])
    turns = Rotation.random(3, rng=1).as_matrix()
    covariance = np.zeros((3, 6, 6))
    for i in range(3):
        covariance[i, :3, :3] = turns[i] @ np.diag(axes[i] ** 2) @ turns[i].T
    covariance[:, 3:, 3:] = np.eye(3)
    covariance[2] = np.nan
    semi, directions = Prediction("tip", np.zeros((3, 6)), covariance).ellipsoid()
    np.testing.assert_allclose(semi[:2], axes[:2], rtol=1e-9)
    assert np.isnan(semi[2]).all()
    for i in range(2):
        np.testing.assert_allclose(np.abs(np.einsum("ij,ij->j", directions[i], turns[i])), 1, rtol=1e-9)


def test_nothing_is_said_of_states_that_are_not_determined():
    """Backlash on a joint that an upright force does not turn."""
    model = planar(1, offsets=False).with_elements(JointBacklash(joint="j1", gap=1e-3))
    heavy = planar(1, offsets=False, mass=5.0).with_elements(JointBacklash(joint="j1", gap=1e-3))
    load = AppliedWrenches("tip", [[0, 0, -100.0, 0, 0, 0]])
    lost = predict(IdentifiedModel(model, ("j1.k",), np.array([[1e-14]]), 1e-5), np.array([[0.3]]), load)
    assert np.isnan(lost.twist).all()
    assert np.isnan(lost.covariance).all()
    assert np.isnan(lost.ellipsoid()[0]).all()
    found = predict(IdentifiedModel(heavy, ("j1.k",), np.array([[1e-14]]), 1e-5), np.array([[0.3]]), load)
    assert np.isfinite(found.twist).all()
    assert np.isfinite(found.covariance).all()


# --- where to look ----------------------------------------------------------------------------------------------------


def test_loads_of_one_size_along_every_axis():
    got = same_size_loads(np.array([[3.0, 0, 4.0, 100, 0, 0], [1.0, 1, 1, 0, 0, 0]]))
    assert {tuple(row) for row in got} == {
        tuple(sign * 5.0 * (i == axis) for i in range(6)) for axis in range(3) for sign in (1, -1)
    }


# --- discrepancy ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("each", [1, 2, 5])
def test_the_discrepancy_is_the_size_of_a_fault_that_all_repeats_share(each):
    """Every state is off by normal errors of 20 um that no parameter can follow, read with a noise of 14 um."""
    truth, tau = arm(), 2e-5
    campaign = arm_campaign(truth, PLAIN, count=20, each=each, noise=0.0)
    kind = campaign.measurement
    rng = np.random.default_rng(0)
    squares = []
    for seed in range(40):
        fault = np.repeat(tau * rng.normal(size=(20, 6)), each, axis=0)
        readings = campaign.readings + fault + scatter(kind, truth, PLAIN, seed)
        fit = estimate(truth, Measured(kind, readings, PLAIN), JOINTS)
        found = discrepancy(fit)
        squares.append(found.sd**2)
        assert found.reason.startswith("lack of fit" if each > 1 else "residuals beyond the stated noise")
    assert np.sqrt(np.mean(squares)) == pytest.approx(tau, rel=0.04)


def test_without_repeats_and_noise_the_discrepancy_is_unknown():
    campaign = arm_campaign(arm(), PLAIN, count=8)
    fit = estimate(arm(), Measured(campaign.measurement, campaign.readings), JOINTS)
    found = discrepancy(fit)
    assert np.isnan(found.sd)
    assert "cannot be told from noise" in found.reason


def test_less_scatter_than_stated_is_no_discrepancy():
    campaign = arm_campaign(arm(), PLAIN, count=8, noise=0.5)
    fit = estimate(arm(), campaign, JOINTS)
    assert discrepancy(fit).sd == 0


# --- cost of a reduction ----------------------------------------------------------------------------------------------


def test_the_cost_of_a_reduction_is_the_difference_of_two_predictions():
    k = as_matrix6(np.diag([0, 0, 0, 4e-6, 3e-6, 5e-6]))
    truth = arm(LinkCompliance(frame="end", matrix=k))
    rigid = arm(LinkCompliance(frame="end", matrix=as_matrix6(np.zeros((6, 6)))))
    campaign = arm_campaign(truth, PLAIN, count=10)
    full = estimate(truth, campaign, [*JOINTS, "end.k44", "end.k55", "end.k66"])
    less = estimate(rigid, campaign, JOINTS)
    own, along = reduction_cost(full, less, count=24)
    assert own.loads == "loads of the campaign"
    q = spread_configurations(truth, 24)
    wrenches = np.unique(campaign.measurement.setup.wrenches, axis=0)
    axes = same_size_loads(campaign.measurement.setup.wrenches)
    for cost, each in ((own, wrenches), (along, axes)):
        load = AppliedWrenches("grip", each[np.arange(24) % len(each)])
        old, new = (linear_deflection(f.model, q, [load], "tip").translation for f in (full, less))
        gap = np.linalg.norm(old - new, axis=1)
        assert cost.difference == pytest.approx(np.sqrt(np.mean(gap**2)), rel=1e-9)
        assert cost.worst == pytest.approx(gap.max(), rel=1e-9)
        assert cost.deflection == pytest.approx(np.sqrt(np.mean(np.sum(new**2, axis=1))), rel=1e-9)
        for fit, sd in ((full, cost.sd_before), (less, cost.sd_after)):
            draws = np.random.default_rng(1).multivariate_normal(fit.values * 1e6, fit.covariance * 1e12, 120) / 1e6
            spread = np.zeros((120, 24, 3))
            for n, values in enumerate(draws):
                moved = fit.model.with_parameters(dict(zip(fit.names, values, strict=True)))
                spread[n] = linear_deflection(moved, q, [load], "tip").translation
            assert sd == pytest.approx(np.sqrt(np.mean(np.sum(np.var(spread, axis=0), axis=1))), rel=0.15)
    assert own.difference > own.sd_before  # the link does matter


def test_a_campaign_without_load_has_no_such_cost():
    model = planar(2)
    rng = np.random.default_rng(0)
    kind = Position(Setup(rng.uniform(-2, 2, (6, 2)), AppliedWrenches("tip", np.zeros((1, 6))), (Marker("tip"),)))
    campaign = Measured(kind, kind.predict(model) + SD * rng.normal(size=(6, 3)), PLAIN)
    fit = estimate(model, campaign, ["j1.offset", "j2.offset"])
    assert reduction_cost(fit, fit) == ()
