"""A compensator's spring: start values without a guess, samples of what is known of it, the spring that balances."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from oracle.draws import draws
from oracle.refusals import refused
from oracle.spring_arm import NAMES, SPRING, TRUTH, campaign, two_joints

from elastocal.app.pages.calibrate.trust import noise_table
from elastocal.measure.markers import Deflection
from elastocal.measure.measured import Measured
from elastocal.measure.setup import Setup
from elastocal.measure.sources.instrument import Reading
from elastocal.model.compliant.joint_compliance import JointCompliance
from elastocal.model.frames import BASE, Frame, FrameTree, JointMotion
from elastocal.model.loads.gravity_compensator import GravityCompensator
from elastocal.model.loads.link_mass import LinkMass
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import Robot
from elastocal.model.statics.holding import balancing_spring, weight_torque
from elastocal.model.statics.observation import Marker
from elastocal.reduction.compensator import compensator_of, equivalent_compliance, sample_spring, start_values
from elastocal.reduction.fit import estimate
from elastocal.reduction.study import study
from elastocal.solve.nonlinear_sampling import NonlinearPosterior
from elastocal.spatial.pose import Pose


def test_start_values_come_from_the_readings_alone():
    """A light load, so that the linear theory holds: the truth comes back whatever the file says."""
    truth = two_joints()
    data = campaign(truth, 1.0, 0.0, np.random.default_rng(0))
    guess = truth.with_parameters(dict(zip(NAMES, (1e-5, 1e-6, 3e-5, 0.05), strict=True)))
    found = start_values(guess, data, NAMES, compensator_of(guess, NAMES))
    assert [found.values[n] for n in NAMES] == pytest.approx(TRUTH, rel=2e-3)
    q = found.angles
    x, s = 1.3 - q, np.sqrt(0.65**2 + 0.04 + 0.26 * np.cos(1.3 - q))
    eta = 0.4 / s * (0.13 / s**2 * np.sin(x) ** 2 + np.cos(x)) - np.cos(x)
    np.testing.assert_allclose(found.equivalent, 1 / (1 / 3e-6 + 0.13 * eta / 2e-6), rtol=1e-4)


def test_start_values_need_three_angles_and_a_spring_that_can_be():
    truth = two_joints()
    data = campaign(truth, 1.0, 0.0, np.random.default_rng(0), poses=2)
    with refused("few-readings", 2):
        start_values(truth, data, NAMES, compensator_of(truth, NAMES))
    push = replace(campaign(truth, 1.0, 0.0, np.random.default_rng(0)))
    with refused("noise", "j1"):
        start_values(truth, replace(push, readings=-push.readings), NAMES, compensator_of(truth, NAMES))


def test_an_angle_at_which_the_joint_is_not_loaded_is_passed_over():
    """At one pose nothing pulls, at another next to nothing: both say nothing of the spring, the others enough."""
    truth = two_joints()
    data = campaign(truth, 1.0, 0.0, np.random.default_rng(0))
    kind = data.measurement
    w = kind.where.load.wrench.copy()
    w[4:6], w[8:10] = 0.0, 1e-6 * w[8:10]
    kind = Deflection(Setup(kind.where.q, AppliedWrenches("tip", w), kind.where.markers))
    noise = 1e-9 * np.random.default_rng(1).normal(size=data.readings.shape)
    weak = Measured(kind, kind.predict(truth) + noise, (Reading(sd=1e-9),))
    found = start_values(truth.with_parameters({"j1.k_c": 3e-5}), weak, NAMES, compensator_of(truth, NAMES))
    assert [found.values[n] for n in NAMES] == pytest.approx(TRUTH, rel=0.05)
    assert np.sum(np.isnan(found.equivalent)) == 1


def test_only_a_spring_that_is_sought_with_its_joint_counts():
    model = two_joints()
    assert compensator_of(model, NAMES) is not None
    assert compensator_of(model, ("j2.k", "j1.k_c", "j1.s_0")) is None
    assert compensator_of(model.without("gravity_compensator"), ("j1.k", "j2.k")) is None


@pytest.fixture
def few_draws(monkeypatch):
    """Of tests that ask for the fit only: a sixteenth of the usual draws of the spring."""
    monkeypatch.setattr("elastocal.reduction.study.sample_spring", partial(sample_spring, draws=300))


LENGTH = draws(900, 5000)
"""Draws of tests that look at what was sampled."""


@pytest.fixture
def some_draws(monkeypatch):
    monkeypatch.setattr("elastocal.reduction.study.sample_spring", partial(sample_spring, draws=LENGTH))


def test_the_search_needs_no_help_and_recovers_the_spring(few_draws):
    truth = two_joints()
    data = campaign(truth, 400.0, 1e-6, np.random.default_rng(1), poses=20)
    wrong = truth.with_parameters({"j1.k_c": 5e-5, "j1.s_0": 0.1, "j1.k": 1e-6, "j2.k": 1e-6})
    found = study(wrong, data, NAMES, rng=np.random.default_rng(0))
    assert any("starts from" in s for s in found.missing)
    assert set(found.fit.names) == set(NAMES)
    at = [found.fit.names.index(n) for n in NAMES]
    z = (found.fit.values[at] - TRUTH) / found.fit.sd[at]
    assert np.abs(z).max() < 4
    assert found.posterior is not None
    low, high = found.posterior.interval(0.999)[:, at]
    assert np.all((low < TRUTH) & (high > TRUTH))


def test_the_curve_sampled_has_the_slopes_of_the_loaded_model():
    truth = two_joints()
    data = campaign(truth, 50.0, 1e-6, np.random.default_rng(2))
    fit = estimate(truth, data, NAMES)
    q = np.repeat(data.measurement.setup.q[:, 0], 3)
    psi = fit.values[[0, 2, 3]]
    kappa = equivalent_compliance(SPRING, q, psi)
    reach = fit.problem.matrix[:, 0] / (kappa / psi[0]) ** 2
    for place, column in ((1, 2), (2, 3)):
        step = np.zeros(3)
        step[place] = 1e-5 * psi[place]
        up, down = (equivalent_compliance(SPRING, q, psi + s * step) for s in (1, -1))
        expected = reach * (up - down) / (2 * step[place])
        np.testing.assert_allclose(fit.problem.matrix[:, column], expected, atol=2e-3 * np.abs(expected).max())


def test_samples_agree_with_emcee_on_the_same_density():
    """Where the spring is known badly the posterior is skew, and both samplers must see the same."""
    emcee = pytest.importorskip("emcee")
    truth = two_joints()
    data = campaign(truth, 60.0, 4e-6, np.random.default_rng(3), poses=14)
    fit = estimate(truth, data, NAMES)
    drawn = sample_spring(fit, SPRING, rng=np.random.default_rng(4), draws=draws(2000, 5000))
    assert drawn.converged
    q = np.repeat(data.measurement.setup.q[:, 0], 3)
    here = fit.values[[0, 2, 3]]
    kappa = equivalent_compliance(SPRING, q, here)
    reach = fit.problem.matrix[:, 0] / (kappa / here[0]) ** 2
    m = len(fit.problem.misfit)

    def density(x):
        psi = here * (1 + x[:, :3])
        good = np.all(psi > 0, axis=1)
        psi = np.where(good[:, None], psi, here)
        curve = reach * (equivalent_compliance(SPRING, q, psi) - kappa)
        rest = fit.problem.misfit - curve - x[:, 3:4] * fit.sd[1] * fit.problem.matrix[:, 1]
        flat = -2 * np.log(psi[:, 0]) - 3 * np.log(psi[:, 1])  # flat in 1/k, 1/k_c and s_0/k_c
        return np.where(good, flat - 0.5 * np.sum(rest**2, axis=1) / np.exp(2 * x[:, 4]) - m * x[:, 4], -np.inf)

    rng = np.random.default_rng(5)
    start = rng.normal(size=(40, 5)) * np.array([*(0.3 * fit.sd[[0, 2, 3]] / here), 1.0, 0.1])
    sampler = emcee.EnsembleSampler(40, 5, density, vectorize=True)
    sampler.random_state = np.random.RandomState(6).get_state()
    sampler.run_mcmc(start, draws(3000, 10000))
    chain = sampler.get_chain(discard=500, flat=True)
    for name, column in (("j1.k", 0), ("j1.k_c", 1), ("j1.s_0", 2)):
        i = fit.names.index(name)
        ours = np.quantile(drawn.flat[:, i], [0.05, 0.5, 0.95])
        theirs = fit.values[i] * (1 + np.quantile(chain[:, column], [0.05, 0.5, 0.95]))
        np.testing.assert_allclose(ours, theirs, atol=0.15 * drawn.sd[i])


def test_a_study_of_a_spring_samples_it_without_linearising_and_tells_one_noise(some_draws):
    truth = two_joints()
    data = campaign(truth, 400.0, 2e-5, np.random.default_rng(8), poses=14)
    found = study(truth, data, NAMES, rng=np.random.default_rng(0))
    spring = compensator_of(found.fit.model, NAMES)
    alone = sample_spring(found.fit, spring, rng=np.random.default_rng(0), draws=LENGTH)
    assert isinstance(found.posterior, NonlinearPosterior)
    np.testing.assert_array_equal(found.posterior.draws, alone.draws)
    low, high = found.posterior.interval()[:, found.fit.names.index("j1.k_c")]
    middle = np.median(found.posterior.flat[:, found.fit.names.index("j1.k_c")])
    assert high - middle > 1.1 * (middle - low)  # skew, as a linearised spring is not
    rows = [row for row in noise_table(found).rows if str(row[0]).startswith("noise of")]
    assert [row[0] for row in rows] == ["noise of tip"]
    assert 0.7 < rows[0][1] < 1.4


def test_one_noise_of_several_markers_is_not_told_as_that_of_each(few_draws):
    truth = two_joints()
    data = campaign(truth, 400.0, 1e-6, np.random.default_rng(8), poses=6)
    where = data.measurement.where
    kind = Deflection(replace(where, markers=(Marker("tip"), Marker("j2"))))
    exact = kind.predict(truth)
    noisy = exact + 1e-6 * np.sqrt(2) * np.random.default_rng(2).normal(size=exact.shape)
    found = study(truth, Measured(kind, noisy, (Reading(sd=1e-6),)), NAMES, rng=np.random.default_rng(0))
    names = [row[0] for row in noise_table(found).rows if str(row[0]).startswith("noise of")]
    assert names == ["noise of all markers"]
    joints = study(truth, Measured(kind, noisy, (Reading(sd=1e-6),)), ("j?.k",), rng=np.random.default_rng(0))
    names = [row[0] for row in noise_table(joints).rows if str(row[0]).startswith("noise of")]
    assert names == ["noise of tip", "noise of j2"]


# --- a spring that the readings do not tell ---------------------------------------------------------------------------


def held(found):
    values = found.fit.model.parameters
    return [float(values.values[values.index(n)]) for n in ("j1.k_c", "j1.s_0")]


def test_a_spring_lost_in_the_noise_is_held_as_a_pair_at_the_robot_files_values(few_draws):
    """s_0 stands out by itself, k_c does not; where the search began does not matter."""
    truth = two_joints()
    file = truth.with_parameters({"j1.k_c": 2.2e-6, "j1.s_0": 0.41})
    data = campaign(truth, 400.0, 5e-5, np.random.default_rng(8), poses=14)
    found = study(file, data, NAMES, rng=np.random.default_rng(0))
    assert any("starts from" in s for s in found.missing)
    dropped = {d.name: d for d in found.identification.dropped}
    assert set(dropped) == {"j1.k_c", "j1.s_0"}
    assert dropped["j1.k_c"].ratio < 5 < dropped["j1.s_0"].ratio
    assert held(found) == [dropped[n].fixed_at for n in ("j1.k_c", "j1.s_0")] == [2.2e-6, 0.41]
    assert dropped["j1.k_c"].reason == dropped["j1.s_0"].reason
    assert "of j1.k_c, " in dropped["j1.s_0"].reason
    assert "fixed together" in dropped["j1.s_0"].reason
    alone = estimate(file, data, ("j1.k", "j2.k"))
    np.testing.assert_allclose(found.fit.values, alone.values, rtol=1e-6)


def test_a_badly_known_spring_that_is_not_the_robot_files_is_kept_as_a_pair(few_draws):
    truth = two_joints()
    file = truth.with_parameters({"j1.k_c": 2e-5, "j1.s_0": 0.3})
    data = campaign(truth, 400.0, 6e-5, np.random.default_rng(8), poses=14)
    found = study(file, data, NAMES, rng=np.random.default_rng(0))
    assert set(found.fit.names) == set(NAMES)
    assert found.fit.ratios[found.fit.names.index("j1.k_c")] < 5


def test_half_a_spring_is_not_estimated(few_draws):
    """Two angles give two numbers, joint and spring have three: what is left of the spring means nothing."""
    truth = two_joints()
    data = campaign(truth, 400.0, 1e-6, np.random.default_rng(0), poses=2, repeats=4)
    file = truth.with_parameters({"j1.k_c": 2.2e-6})
    found = study(file, data, NAMES, rng=np.random.default_rng(0))
    assert not {"j1.k_c", "j1.s_0"} & set(found.fit.names)
    reasons = {d.name: d.reason for d in found.identification.dropped}
    assert "neither means anything beside a guess of the other" in reasons["j1.k_c"] + reasons["j1.s_0"]
    assert held(found) == [2.2e-6, 0.4]


def weighing(mass=30.0, arm=0.5):
    tree = FrameTree(
        (Frame("j", BASE, Pose(), JointMotion("revolute", (0, -1, 0))), Frame("tip", "j", Pose(translation=(1, 0, 0))))
    )
    load = LinkMass(frame="j", mass=mass, moment=(mass * arm, 0.0, 0.0))
    return Robot("weighing", tree, "tip", (JointCompliance(joint="j", k=1e-6), load), np.array([0, 0, -10.0]))


def test_weight_torque_is_that_of_a_pendulum():
    q = np.linspace(-2, 2, 9)
    np.testing.assert_allclose(weight_torque(weighing(), q[:, None], "j"), -150 * np.cos(q), atol=1e-9)


def test_a_spring_without_free_length_balances_a_pendulum_everywhere():
    """Classical: with s_0 = 0 and the spring's angle right, K_c a L = m g r and nothing is left."""
    q = np.linspace(-1.2, 1.2, 13)[:, None]
    geometry = GravityCompensator(joint="j", a_x=0.0, a_y=0.7, L=0.2, phi0=-np.pi / 2, k_c=1e-6, s_0=0.1)
    found = balancing_spring(weighing(), q, geometry)
    assert 1 / found.spring.k_c == pytest.approx(150 / (0.7 * 0.2), rel=1e-9)
    assert found.spring.s_0 == pytest.approx(0.0, abs=1e-9)
    assert found.share == pytest.approx(1.0, abs=1e-9)
    assert found.spring.mode == "torque"


def test_a_shifted_spring_does_its_best_and_one_on_the_wrong_side_is_refused():
    q = np.linspace(-1.2, 1.2, 25)[:, None]
    geometry = GravityCompensator(joint="j", a_x=0.3, a_y=0.7, L=0.2, phi0=-np.pi / 2 + 0.4, k_c=1e-6, s_0=0.1)
    found = balancing_spring(weighing(), q, geometry)
    assert 0.5 < found.share < 0.999
    for change in ({"k_c": found.spring.k_c * 1.05}, {"s_0": found.spring.s_0 * 0.9}):
        other = replace(found.spring, **change)
        assert np.sum((found.weight - other.torque(found.angles)) ** 2) > np.sum(found.left**2)
    with refused("infeasible", "j"):
        balancing_spring(weighing(), q, replace(geometry, phi0=np.pi / 2))
