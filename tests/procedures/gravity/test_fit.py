"""All joints at once: closed forms, Pinocchio, intervals that hold, friction, what acts together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from oracle.logs import LENGTH, MASSES, MOMENTS, correlated, joined, logged, planar_arm, planar_torques, sweep, waves
from oracle.refusals import refused

from elastocal.files.robot.read import read_robot
from elastocal.measure.sources.friction import Friction
from elastocal.model.loads.link_mass import LinkMass
from elastocal.procedures.gravity.fit import fit_masses
from elastocal.procedures.gravity.motors import friction_terms
from elastocal.procedures.gravity.prediction import predict_torque
from elastocal.procedures.gravity.samples import slow_samples
from elastocal.procedures.gravity.sense import stated_sense
from elastocal.procedures.gravity.unknowns import MassPrior

ARM = planar_arm()
BASE = {"J1.mx": MOMENTS["J1.mx"] + LENGTH * MASSES["J2"], "J1.mz": MOMENTS["J1.mz"], "J2.mx": MOMENTS["J2.mx"],
        "J2.mz": MOMENTS["J2.mz"]}  # fmt: skip


def weightless(model=ARM):
    return model.with_parameters({p.name: 0.0 for p in model.parameters if p.kind == "link_mass"})


def samples(count=400, seed=0, noise=0.2, sense=1, size=1.2, rate=0.3, **more):
    q, v = waves(2, count, seed=7, size=size, rate=rate)
    log = logged(ARM, q, v, torque=planar_torques(q), noise=noise, seed=seed, sense=sense, **more)
    return replace(slow_samples(ARM, log, friction=bool(more), share=0.05), pace=0.0)  # these torques have no inertia


@pytest.mark.parametrize("sense", [1, -1])
def test_base_parameters_of_the_planar_arm_from_nothing_known(sense):
    found = samples(sense=sense, noise=1e-3)
    fit = fit_masses(weightless(), found, sense=stated_sense(ARM, found, sense))
    values = {n: fit.value(n) for n in fit.names}
    assert set(values) == set(BASE)
    for name, value in BASE.items():
        assert values[name] == pytest.approx(value, abs=1e-3)
    (group,) = fit.base.subgroups
    assert [c.text() for c in group.combinations] == ["J1.mx + 0.5 J2.m"]
    assert fit.base.rank.rank == 4
    assert {n: str(g) for n, g in zip(fit.base.names, fit.base.group, strict=True)} == {
        "J1.m": "G2", "J1.mx": "G3", "J1.my": "G2", "J1.mz": "G1", "J2.m": "G3", "J2.mx": "G1", "J2.my": "G2",
        "J2.mz": "G1"}  # fmt: skip


def test_friction_is_told_from_weight_and_its_sign_from_the_direction():
    found = samples(count=2500, coulomb=(3.0, 1.0), viscous=(8.0, 2.0), noise=0.05)
    fit = fit_masses(weightless(), found, sense=stated_sense(ARM, found, 1), friction=Friction(zero=True))
    terms = {(t.joint, t.term): t for t in friction_terms(fit)}
    truth = {("J1", "coulomb"): 3, ("J1", "viscous"): 8, ("J2", "coulomb"): 1, ("J2", "viscous"): 2, ("J1", "zero"): 0}
    for key, value in truth.items():
        assert abs(terms[key].value - value) < 4 * terms[key].sd
        assert terms[key].sd < 0.3
    assert terms["J2", "viscous"].unit == "N m s/rad"
    assert fit.value("J2.mx") == pytest.approx(MOMENTS["J2.mx"], abs=0.01)


def test_one_way_motion_leaves_friction_unknown_with_a_reason():
    q, v = sweep([0.2, -1.2], 1, 1.2)
    half = len(q) // 2
    log = logged(ARM, q[:half], v[:half], coulomb=1.0, noise=0.02)
    fit = fit_masses(ARM, slow_samples(ARM, log), friction=Friction(viscous=False))
    groups = dict(zip(fit.base.names, fit.base.group, strict=True))
    assert (groups["J1.mx"], groups["J2.mx"]) == ("G2", "G1")  # no reading of J1 counts
    still, moved = friction_terms(fit)
    assert np.isnan(moved.value)
    assert "moved one way only" in moved.reason
    assert "one constant: 1" in moved.reason
    assert still.reason == "it never moves, so that its friction has no sign; 0 readings count, 20 are needed"
    assert friction_terms(fit_masses(ARM, slow_samples(ARM, log, friction=False))) == ()


def test_intervals_hold_as_often_as_they_say_with_independent_noise():
    inside, stated, errors = [], [], []
    for seed in range(40):
        found = samples(seed=seed, noise=0.5)
        fit = fit_masses(ARM, found)
        told = ("J1.mz", "J2.mx", "J2.mz")
        error, sd = np.array([fit.value(n) - BASE[n] for n in told]), np.array([fit.sd(n) for n in told])
        inside.append(np.abs(error) < 1.96 * sd)
        errors.append(error)
        stated.append(sd)
    assert 0.89 <= np.mean(inside) <= 0.995
    np.testing.assert_allclose(np.std(errors, axis=0), np.mean(stated, axis=0), rtol=0.3)


def test_correlated_noise_counts_for_what_it_is_worth():
    inside, naive = [], []
    for seed in range(30):
        found = samples(seed=seed, noise=correlated((400, 2), 0.85, 0.5, seed))
        fit = fit_masses(ARM, found)
        error, sd = abs(fit.value("J2.mx") - MOMENTS["J2.mx"]), fit.sd("J2.mx")
        inside.append(error < 1.96 * sd)
        naive.append(error < 1.96 * sd * np.sqrt(fit.worth[1] / 400))
        assert fit.worth[1] < 120
    assert np.mean(inside) >= 0.84
    assert np.mean(naive) < 0.7


def test_a_robot_of_known_masses_is_found_again_as_pinocchio_weighs_it():
    """The KR 270's weight by Pinocchio; a fit that starts from nothing predicts it where no sample was."""
    pin = pytest.importorskip("pinocchio")
    from reference.test_pinocchio import pinocchio_model

    model = read_robot("kuka-kr270").without("gravity_compensator")
    theirs = pinocchio_model(model)
    data = theirs.createData()

    def weigh(q):
        return np.array([pin.computeGeneralizedGravity(theirs, data, row) for row in q])

    q, v = waves(6, 1500, seed=2, size=0.9, rate=0.2)
    q = q + np.radians([0, -80, 80, 0, 0, 0])
    found = slow_samples(model, logged(model, q, v, torque=weigh(q), noise=0.5), friction=False, share=0.5)
    start = weightless(model)
    fit = fit_masses(start, found, sense=stated_sense(start, found, 1))
    other = waves(6, 40, seed=9, size=0.5, rate=2.0)[0] + np.radians([0, -70, 90, 0, 0, 0])
    prediction = predict_torque(fit, other)
    assert np.abs(weigh(other)).max() > 1000
    error = prediction.torque - weigh(other)
    assert np.sqrt(np.mean(error**2)) < 0.5
    assert np.mean(np.abs(error[:, 1:]) < 2.5 * prediction.sd[:, 1:] + 1e-9) > 0.9


def test_a_prior_holds_what_the_log_does_not_tell():
    q, v = sweep([0.2, -1.2], 1, 1.2)
    found = slow_samples(ARM, logged(ARM, q, v, noise=0.02), friction=False)
    wrong = ARM.with_parameters({"J2.mx": 1.5 * MOMENTS["J2.mx"]})
    fit = fit_masses(wrong, found, prior=MassPrior(0.3, 0.05))
    values = {n: fit.value(n) for n in fit.names}
    sds = {n: fit.sd(n) for n in fit.names}
    assert values["J2.mx"] == pytest.approx(MOMENTS["J2.mx"], abs=0.01)
    assert sds["J1.m"] == pytest.approx(0.3 * MASSES["J1"], rel=0.01)
    link = next(e for e in ARM.elements if e.frame == "J1")
    assert MassPrior(0.3, 0.05).sds(link)[1] == pytest.approx(np.hypot(0.3 * MOMENTS["J1.mx"], 0.05 * MASSES["J1"]))
    assert np.isinf(MassPrior().sds(LinkMass(frame="J1", mass=0.0))).all()
    with refused("range", (-0.1, 0.03)):
        MassPrior(share=-0.1)


def test_the_tremble_of_locked_joints_adds_no_base_parameters():
    kr5 = read_robot("kuka-kr5")
    logs = [
        logged(kr5, *sweep(np.radians(base), j, np.radians(end), 0.25), noise=0.1)
        for base, j, end in (([90, -90, 90, 0, -90, 0], 4, 90), ([90, -90, 90, 0, 90, 0], 2, 0))
    ]
    still = joined(*logs)
    shaken = joined(*logs)
    object.__setattr__(shaken, "q", still.q + 2e-6 * np.random.default_rng(0).normal(size=still.q.shape))
    ranks = [fit_masses(kr5, slow_samples(kr5, log, friction=False)).base.rank.rank for log in (still, shaken)]
    assert ranks[0] == ranks[1] == 6
