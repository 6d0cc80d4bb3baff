"""Logs of a cobot that moves one joint at a time, fast enough for inertia to matter: answers and intervals."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.draws import draws
from oracle.logs import LENGTH, MASSES, MOMENTS, planar_arm, planar_torques
from oracle.moving_logs import COULOMB, VISCOUS, as_currents, cobot, recorded, sweeps
from oracle.refusals import refused

from elastocal.measure.joints import JointLog
from elastocal.model.statics.holding import holding_torque
from elastocal.procedures.gravity import identify
from elastocal.procedures.gravity.motors import friction_terms
from elastocal.procedures.gravity.samples import select_samples
from elastocal.procedures.gravity.unknowns import PACE, MassPrior

FILE = cobot()
SEEN = np.array([[0.0, -1.2, 0.8, -0.8, 0.3, 0.0]])
FAR = np.array([[0.0, -0.1, -0.6, -0.8, 0.3, 0.0]])
LIFT = 1


def weighed(seed=0, time=True, columns=None, joint=LIFT, **more):
    rng = np.random.default_rng(100 + seed)
    truth = cobot(1 + 0.1 * rng.normal(), 0.02 * rng.normal())
    log = recorded(truth, sweeps(joint), seed, time, columns)
    return truth, identify(FILE, log, hold_out=0, **more)


def test_with_time_the_inertia_is_modelled_and_the_answer_holds():
    off = []
    for seed in (*range(draws(1, 20)), 5):
        truth, done = weighed(seed, columns=(LIFT,) if seed % 2 else None)
        assert done.arm.samples.moving
        assert any("its inertia is modelled" in n and "Hz" in n for n in done.notes)
        for pose, grows in ((SEEN, False), (FAR, True)):
            prediction = done.predict(pose)
            error = prediction.torque[0, LIFT] - holding_torque(truth, pose)[0, LIFT]
            off.append(error / prediction.sd[0, LIFT])
            assert prediction.extrapolated[0, LIFT] == grows
        assert done.predict(SEEN).sd[0, LIFT] < 1.0  # of 60 N m
        assert done.predict(FAR).sd[0, LIFT] > 3 * done.predict(SEEN).sd[0, LIFT]
    assert np.all(np.abs(off) < 3)
    assert np.mean(np.abs(off) < 1.96) > 0.9
    terms = {(t.joint, t.term): t for t in friction_terms(done.arm)}
    for term, planted in (("coulomb", COULOMB), ("viscous", VISCOUS)):
        found = terms["lift", term]
        assert abs(found.value - planted[LIFT]) < 3 * found.sd
        assert found.sd < 0.07 * planted[LIFT]  # that friction may fall with speed is in it


def test_without_time_rows_are_taken_as_evenly_spaced():
    for seed in range(draws(1, 10)):
        truth, done = weighed(seed, time=False)
        prediction = done.predict(SEEN)
        assert not done.arm.samples.moving
        assert prediction.torque[0, LIFT] == pytest.approx(holding_torque(truth, SEEN)[0, LIFT], abs=1.0)
        assert abs(prediction.torque[0, LIFT] - holding_torque(truth, SEEN)[0, LIFT]) < 4 * prediction.sd[0, LIFT]
    unknown = {(t.joint, t.term): t for t in friction_terms(done.arm)}["lift", "viscous"]
    assert np.isnan(unknown.value)
    assert "per row only" in unknown.reason


def test_joints_with_too_few_readings_are_refused_by_name_and_the_others_go_on():
    _, done = weighed(columns=(LIFT, 2))
    prediction = done.predict(SEEN)
    assert np.isfinite(prediction.torque[0]).tolist() == [False, True, False, False, False, False]
    assert "never moves" in prediction.refused["elbow"]
    assert prediction.refused["wrist1"] == "no torque of it was logged"
    assert {w.data["joint"] for w in done.warnings if w.code == "refused"} == set(FILE.joints) - {"lift"}


def test_the_rule_of_slowness_can_be_chosen():
    log = recorded(FILE, sweeps(LIFT, top=0.3, rate=0.4))
    left = select_samples(FILE, log, inertia="leave-out", share=0.05)
    fewer = select_samples(FILE, log, inertia="leave-out", share=0.02)
    assert not left.moving
    assert left.fast < fewer.fast
    wide, narrow = (select_samples(FILE, log, inertia="model", cutoff=f) for f in (20.0, 5.0))
    assert wide.moving
    assert wide.motion.cutoff == pytest.approx(20, rel=0.3)
    assert narrow.log.count < wide.log.count
    with refused("missing", parameter="inertia"):
        select_samples(FILE, recorded(FILE, sweeps(LIFT), time=False), inertia="model")


def test_gains_of_currents_are_told_by_masses_that_are_known():
    gains = np.array([11.0, 12.5, 11.0, 9.0, 8.5, 8.0])
    log = as_currents(recorded(FILE, sweeps(LIFT)), gains)
    done = identify(FILE, log, prior=MassPrior(0.02, 0.002), hold_out=0)
    assert done.gains.value[LIFT] == pytest.approx(12.5, abs=3 * done.gains.sd[LIFT])
    assert done.gains.sd[LIFT] < 0.04 * 12.5
    vague = identify(FILE, log, hold_out=0)
    assert vague.gains.sd[LIFT] > 3 * done.gains.sd[LIFT]
    assert vague.predict(SEEN).sd[0, LIFT] > 3 * done.predict(SEEN).sd[0, LIFT]
    unknown = identify(FILE, log, prior=None, hold_out=0)
    assert np.isnan(unknown.gains.value).all()
    (coulomb,) = [t for t in unknown.gains.products if t.term == "coulomb"]
    assert (coulomb.joint, coulomb.unit) == ("lift", "A")
    assert coulomb.value == pytest.approx(COULOMB[LIFT] / 12.5, rel=0.1)
    assert any("products with the gain of lift" in n for n in unknown.notes)


def test_the_sign_is_told_where_friction_hides_the_weight():
    """Sweeps about the vertical: hardly any weight varies; the sign of friction and inertia tells all the same."""
    motion = sweeps(LIFT, start=(0.0, -1.57, 0.0, -1.57, 0.0, 0.0), span=0.5)
    log = recorded(FILE, motion)
    for sense in (1, -1):
        from dataclasses import replace

        done = identify(FILE, replace(log, torque=sense * log.torque), hold_out=0)
        assert done.arm.sense.sign == sense


def test_without_time_inertia_is_taken_per_row_and_intervals_hold():
    """Two links of half a metre by Lagrange written here; mass moments of the file are off by a quarter."""
    arm, step = planar_arm(), 0.012
    inside, off = [], []
    for seed in range(draws(2, 20)):
        rng = np.random.default_rng(seed)
        t = step * np.arange(1500)
        rates, phases = rng.uniform(0.4, 1.6, (2, 3)), rng.uniform(0, 6, (2, 3))
        q = 0.35 * np.sin(t[:, None, None] * rates + phases).sum(axis=2) + rng.uniform(-0.5, 0.5, 2)
        v, a = np.gradient(q, step, axis=0), np.gradient(np.gradient(q, step, axis=0), step, axis=0)
        torque = planar_torques(q) + accelerated(q, v, a) + 1.5 * np.sign(v) + 0.4 * rng.normal(size=q.shape)
        log = JointLog("log.csv", arm.joints, q, torque, np.arange(len(q)) + 2, None, None)
        done = identify(arm.with_parameters({"J2.mx": 1.5, "J1.mx": 1.2}), log, hold_out=0, torques="drive")
        assert done.arm.value(PACE) == pytest.approx(step**-2, rel=0.35)  # by masses that are off by a quarter
        some = q[rng.integers(0, len(q), 40)]
        prediction = done.predict(some)
        error = prediction.torque - planar_torques(some)
        inside.append(np.abs(error) < 1.96 * prediction.sd)
        off.append(error)
    assert np.mean(inside) > 0.9
    assert np.sqrt(np.mean(np.square(off))) < 0.1  # N m; 0.4, and three quarters inside, without the inertia per row


def accelerated(q, v, a):
    """(N, 2): torques of two point masses at their centres by Lagrange; z is up, joints lift."""
    m2, reach = MASSES["J2"], LENGTH
    c1, c2 = (np.array([MOMENTS[f"{j}.mx"], MOMENTS[f"{j}.mz"]]) / MASSES[j] for j in ("J1", "J2"))
    one, two = MASSES["J1"] * c1 @ c1, m2 * c2 @ c2
    both = m2 * reach * (c2[0] * np.cos(q[:, 1]) - c2[1] * np.sin(q[:, 1]))
    turn = m2 * reach * (c2[0] * np.sin(q[:, 1]) + c2[1] * np.cos(q[:, 1]))
    w = a.sum(axis=1)
    inner = (one + m2 * reach**2) * a[:, 0] + two * w + both * (a[:, 0] + w) - turn * v[:, 1] * (2 * v[:, 0] + v[:, 1])
    return np.stack([inner, two * w + both * a[:, 0] + turn * v[:, 0] ** 2], axis=1)
