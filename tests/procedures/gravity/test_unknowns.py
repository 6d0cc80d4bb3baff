"""Columns of the linear problem: friction takes power out, a coupled motor by virtual work, names by the robot file."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from oracle.moving_logs import cobot, recorded, sweeps
from oracle.refusals import refused

from elastocal.measure.sources.friction import Friction
from elastocal.model.transmission import Drives, Transmission
from elastocal.procedures.gravity.fit import fit_masses
from elastocal.procedures.gravity.motors import propose
from elastocal.procedures.gravity.samples import moving_samples, slow_samples
from elastocal.procedures.gravity.unknowns import Coupled, MassPrior, Unknowns, coupled_motors

ARM = cobot()
WRIST = Coupled.parse(ARM, "wrist2 - wrist3")


def dancing(count=1500, seed=0):
    """All joints at once, slowly turning back at different times."""
    rng = np.random.default_rng(seed)
    time = np.arange(count) / 125
    rates, phases = rng.uniform(1, 3, 6), rng.uniform(0, 6, 6)
    inside = np.outer(time, rates) + phases
    q = 0.6 * np.sin(inside) + [0, -1.2, 0.8, 0, 0, 0]
    return time, q, 0.6 * rates * np.cos(inside), -0.6 * rates**2 * np.sin(inside)


def test_a_coupled_motor_does_the_work_of_its_own_turning():
    """tau . q' = c |k . q'| and d (k . q')^2 once the share of each joint's own speed is added."""
    samples = replace(slow_samples(ARM, recorded(ARM, dancing()), share=100.0), moving=False)
    unknowns = Unknowns.of(ARM, samples, None, Friction(), (WRIST,))
    x, v = unknowns.columns(samples, 1), samples.velocity
    at = {n: i for i, n in enumerate(unknowns.names)}
    turning = v @ WRIST.direction
    np.testing.assert_allclose(np.sum(x[:, :, at["wrist2-wrist3 coulomb"]] * v, axis=1), np.abs(turning), atol=1e-12)
    own = sum(x[:, :, at[f"{j} viscous"]] for j in ("wrist2", "wrist3"))
    whole = x[:, :, at["wrist2-wrist3 viscous"]] + own
    np.testing.assert_allclose(np.sum(whole * v, axis=1), turning**2, atol=1e-12)
    assert not np.any(whole[:, :4])


def test_friction_of_a_coupled_motor_is_recovered_and_proposed():
    log = recorded(ARM, dancing(3000))
    motion = moving_samples(ARM, log)
    k = WRIST.direction
    push = 2.5 * k * np.tanh((dancing(3000)[2] @ k) / 5e-3)[:, None]
    samples = moving_samples(ARM, replace(log, torque=log.torque + push))

    def fit(coupled):
        return fit_masses(ARM, samples, prior=MassPrior(), friction=Friction(zero=True), coupled=coupled)

    found = propose(fit, fit(()))
    assert found.coupled.label == "wrist2-wrist3"
    assert found.fit.value("wrist2-wrist3 coulomb") == pytest.approx(2.5, abs=0.15)
    assert max(np.divide(found.after, found.before)) < 0.9

    def plain(coupled):
        return fit_masses(ARM, motion, prior=MassPrior(), friction=Friction(zero=True), coupled=coupled)

    assert propose(plain, plain(())) is None


def test_motors_that_turn_with_several_joints_are_read_from_the_structure_matrix():
    structure = np.diag([100.0, 120, 100, -80, 80, 50])
    structure[5, 4] = -25.0
    drives = Drives(structure, np.full(6, np.nan), np.zeros(6))
    robot = replace(ARM, transmission=Transmission(ARM.joints, np.eye(6), np.zeros(6), drives))
    (motor,) = coupled_motors(robot)
    assert motor.label == "-0.5 wrist2+wrist3"
    np.testing.assert_allclose(motor.direction, [0, 0, 0, 0, -0.5, 1])
    word = replace(ARM, transmission=Transmission(ARM.joints, np.eye(6), np.zeros(6), None, "", ("wrist2+wrist3",)))
    assert [c.label for c in coupled_motors(word)] == ["wrist2+wrist3"]
    assert coupled_motors(ARM) == ()
    for text in ("wrist2", "wrist2++wrist3", "+"):
        with refused("format", text):
            Coupled.parse(ARM, text)


def test_directions_behind_a_filter_are_those_of_a_step():
    """One clean turn back: the sign goes from one to the other within the window, as a filtered step does."""
    samples = moving_samples(ARM, recorded(ARM, sweeps(1, times=1)), friction=False, cutoff=5.0)
    way = samples.direction(np.eye(6)[1])
    fast = np.abs(samples.velocity[:, 1]) > 0.4
    np.testing.assert_allclose(way[fast], np.sign(samples.velocity[fast, 1]), atol=1e-9)
