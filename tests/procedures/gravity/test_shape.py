"""Friction beyond Coulomb and viscous: its share by load is found, Coulomb friction is within its interval."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from oracle.moving_logs import COULOMB, cobot, recorded, sweeps

from elastocal.model.statics.holding import holding_torque
from elastocal.procedures.gravity import identify
from elastocal.procedures.gravity.motors import friction_terms

LIFT = 1


@pytest.fixture(scope="module")
def clean():
    model = cobot()
    return model, sweeps(LIFT), recorded(model, sweeps(LIFT), seed=3)


def coulomb(done):
    (term,) = [t for t in friction_terms(done.arm) if t.joint == "lift" and t.term == "coulomb"]
    return term


def test_friction_by_load(clean):
    """The gear of the lift brakes by 8 % of what it carries: c at the mean load is 8 N m and 8 % of that load."""
    model, (_, q, v, _), log = clean
    load = np.abs(holding_torque(model, q)[:, LIFT])
    torque = log.torque.copy()
    torque[:, LIFT] += 0.08 * load * np.tanh(v[:, LIFT] / 5e-3)
    done = identify(model, replace(log, torque=torque), hold_out=0)
    share, plain = (coulomb(d) for d in (done, identify(model, log, hold_out=0)))
    seen = np.isfinite(done.arm.samples.torque[:, LIFT])
    mean = np.abs(holding_torque(model, done.arm.samples.q[seen])[:, LIFT]).mean()
    assert 0.08 * mean > 3
    assert share.value == pytest.approx(COULOMB[LIFT] + 0.08 * mean, abs=2 * share.sd)
    assert share.value - plain.value == pytest.approx(0.08 * mean, rel=0.1)
    assert done.arm.value("lift friction by load") == pytest.approx(0.08, abs=0.02)
    assert "by load" in [t.term for t in friction_terms(done.arm)]
    assert identify(model, log, hold_out=0).arm.value("lift friction by load") == pytest.approx(0, abs=0.02)


def test_friction_that_falls_with_speed_is_within_the_interval(clean):
    """Over 0.15 rad/s, wider than what is fitted: the estimate is off, and its interval says so."""
    model, (_, _, v, _), log = clean
    torque = log.torque.copy()
    torque[:, LIFT] += 0.3 * COULOMB[LIFT] * np.exp(-np.abs(v[:, LIFT]) / 0.15) * np.tanh(v[:, LIFT] / 5e-3)
    found = coulomb(identify(model, replace(log, torque=torque), hold_out=0))
    assert found.value == pytest.approx(COULOMB[LIFT], abs=2 * found.sd)
    assert found.sd < 0.3 * COULOMB[LIFT]
