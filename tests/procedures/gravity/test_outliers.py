"""Single wrong readings are named, left out once, and the fit is as if they had not been there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from oracle.logs import logged, planar_arm, planar_torques, waves

from elastocal.measure.sources.friction import Friction
from elastocal.procedures.gravity.checks import outlying_readings, screen
from elastocal.procedures.gravity.fit import fit_masses
from elastocal.procedures.gravity.samples import slow_samples

ARM = planar_arm()
Q, V = waves(2, 600, seed=7, size=1.2, rate=0.3)


def spoiled(readings):
    log = logged(ARM, Q, V, torque=planar_torques(Q), coulomb=1.0, noise=0.2)
    torque = log.torque.copy()
    for (row, joint), value in readings.items():
        torque[row, joint] = value
    return slow_samples(ARM, replace(log, torque=torque), share=0.05)


def fit(samples):
    return fit_masses(ARM, samples, friction=Friction(viscous=False))


def test_spikes_are_named_and_left_out():
    planted = {(150, 1): 500.0, (300, 1): -80.0, (420, 0): 90.0}
    samples = spoiled(planted)
    cleaned = screen(fit, samples)
    lines = {(int(samples.log.lines[r]) - 2, j) for r, j in cleaned.outliers}
    assert lines == set(planted)
    assert "log.csv, line 152, torque of J2 = 500 N m (" in cleaned.text()
    without = fit(spoiled(dict.fromkeys(planted, np.nan)))
    np.testing.assert_allclose(cleaned.fit.values, without.values, rtol=1e-9)
    np.testing.assert_allclose(cleaned.fit.noise, 0.2, rtol=0.1)
    assert cleaned.everything.noise[1] > 10
    by_fit = float(cleaned.text().split("500 N m (")[1].split(" ")[0])
    assert by_fit == pytest.approx(planar_torques(Q[150:151])[0, 1] + np.sign(V[150, 1]), abs=0.2)


def test_noise_is_no_outlier_and_a_tenth_of_the_readings_is_not_either():
    cleaned = screen(fit, spoiled({}))
    assert cleaned.outliers == ()
    assert cleaned.text() == ""
    assert cleaned.fit is cleaned.everything
    many = fit(spoiled({(r, 1): 500.0 for r in range(5, 600, 10)}))
    assert not outlying_readings(many).any()


def test_a_long_run_is_what_the_model_lacks():
    assert len(screen(fit, spoiled({(r, 1): 60.0 for r in range(200, 203)})).outliers) == 3
    assert screen(fit, spoiled({(r, 1): 60.0 for r in range(200, 204)})).outliers == ()
