"""Predictions of what was not seen: blocks, extrapolation, the robot file's own masses beside them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from oracle.logs import joined, logged, planar_arm, planar_torques, sweep, waves
from oracle.refusals import refused

from elastocal.measure.sources.friction import Friction
from elastocal.procedures.gravity.fit import fit_masses
from elastocal.procedures.gravity.prediction import predict_torque, split_log, validate
from elastocal.procedures.gravity.samples import slow_samples
from elastocal.procedures.gravity.unknowns import MassPrior

ARM = planar_arm()
HEAVY = ARM.with_parameters({"J2.mx": 1.3 * 1.2, "J1.mx": 0.8 * 1.5})


def moving(count=1500, noise=0.1, **more):
    q, v = waves(2, count, seed=7, size=1.2, rate=0.3)
    return slow_samples(ARM, logged(ARM, q, v, torque=planar_torques(q), noise=noise, **more), share=0.05)


def test_the_split_is_by_blocks():
    samples = moving(1000)
    first, last = split_log(samples, 0.3)
    count = samples.log.count
    assert first.log.count == round(0.7 * count)
    assert last.log.count == count - first.log.count
    assert first.log.lines[-1] < last.log.lines[0]
    np.testing.assert_array_equal(np.concatenate([first.torque, last.torque]), samples.torque)
    np.testing.assert_array_equal(np.concatenate([first.velocity, last.velocity]), samples.velocity)
    for share in (0.0, 1.0, -1):
        with refused("range", share):
            split_log(samples, share)


def test_errors_are_those_of_the_noise_and_the_files_masses_are_worse():
    first, last = split_log(moving(2500, coulomb=2.0, viscous=3.0), 0.3)
    found = fit_masses(HEAVY, first, friction=Friction())
    judged = validate(found, last)
    np.testing.assert_allclose(judged.rms(judged.error), 0.1, rtol=0.15)
    assert np.all(judged.rms(judged.file_error) > 5 * judged.rms(judged.error))
    assert np.all(judged.largest(judged.error) > 2 * judged.rms(judged.error))
    np.testing.assert_allclose(judged.inside(), 0.95, atol=0.04)
    friction = judged.prediction.friction
    known = np.isfinite(last.torque)
    expected = 2.0 * np.sign(last.velocity) + 3.0 * last.velocity
    np.testing.assert_allclose(friction[known], expected[known], atol=0.1)


def test_poses_beyond_those_fitted_are_flagged_and_those_within_are_not():
    near = logged(ARM, *sweep([0.0, -0.4], 1, 0.4, 0.05), noise=0.3)
    samples = slow_samples(ARM, near, friction=False)
    found = fit_masses(ARM, samples, prior=MassPrior(0.3, 0.03))
    inside = predict_torque(found, samples.log.q[::50])
    assert not inside.extrapolated.any()
    far = predict_torque(found, np.array([[0.0, 0.1], [0.0, 1.5], [1.2, 0.1]]))
    assert far.extrapolated[:, 1].tolist() == [False, True, True]
    assert far.sd[1, 1] > 1.5 * inside.sd[:, 1].max()


def test_the_sd_of_a_prediction_is_that_of_repeated_fits():
    pose = np.array([[0.4, 0.9]])
    drawn, stated = [], []
    for seed in range(24):
        q, v = waves(2, 300, seed=7, size=1.2, rate=0.3)
        log = logged(ARM, q, v, torque=planar_torques(q), noise=0.5, seed=seed)
        found = fit_masses(HEAVY, slow_samples(ARM, log, friction=False, share=0.05))
        prediction = predict_torque(found, pose)
        drawn.append(prediction.torque[0])
        stated.append(prediction.sd[0])
    np.testing.assert_allclose(np.mean(drawn, axis=0), planar_torques(pose)[0], atol=4 * np.mean(stated) / np.sqrt(24))
    np.testing.assert_allclose(np.std(drawn, axis=0), np.mean(stated, axis=0), rtol=0.35)


def test_a_joint_without_readings_has_no_error():
    log = joined(logged(ARM, *sweep([0.1, -1.0], 1, 1.0, 0.1), noise=0.1))
    samples = slow_samples(ARM, log)
    judged = validate(fit_masses(ARM, samples, friction=Friction()), samples)
    assert np.isnan(judged.rms(judged.error)[0])
    assert np.isnan(judged.largest(judged.error)[0])
    assert np.isnan(judged.inside()[0])
    assert judged.rms(judged.error)[1] == pytest.approx(0.1, rel=0.2)


def test_friction_of_a_direction_not_seen_is_an_extrapolation():
    q, v = sweep([0.2, -1.2], 1, 1.2)
    half = len(q) // 2
    there, back = (logged(ARM, q[part], v[part], coulomb=1.0, noise=0.1) for part in (slice(half), slice(half, None)))
    found = fit_masses(ARM, slow_samples(ARM, there), friction=Friction())
    judged = validate(found, slow_samples(ARM, back))
    known = np.isfinite(judged.error)
    assert judged.extrapolated()[known].all()
    assert not validate(found, slow_samples(ARM, there)).extrapolated().any()


def test_the_sd_of_a_reading_counts_friction_with_the_masses():
    drawn, stated = [], []
    for seed in range(24):
        samples = moving(800, noise=0.5, coulomb=2.0, viscous=3.0, seed=seed)
        judged = validate(fit_masses(HEAVY, samples, friction=Friction()), samples)
        drawn.append(judged.prediction.reading[::100])
        stated.append(judged.prediction.sd[::100])
    np.testing.assert_allclose(np.mean(np.var(drawn, axis=0, ddof=1)), np.mean(np.square(stated)), rtol=0.35)


def test_beyond_what_was_seen_intervals_grow_by_what_the_model_lacks():
    """A ripple that is no weight: stretches left out miss it, and only extrapolated torques carry it."""
    q, v = (x[: len(x) // 2] for x in sweep([0.0, -0.5], 1, 0.5, 0.05))
    ripple = np.column_stack([np.full(len(q), np.nan), 1.5 * np.sin(7 * q[:, 1])])
    log = logged(ARM, q, v, torque=planar_torques(q) + ripple, noise=0.05)
    found = fit_masses(ARM, slow_samples(ARM, log, friction=False), prior=MassPrior())
    found = replace(found, by_file=np.full(2, np.inf))  # the file knows nothing better
    lacking = found.left_out[1] ** 2 - found.noise[1] ** 2
    assert lacking > 0.02
    near, far = (predict_torque(found, np.array([[0.0, angle]])) for angle in (0.2, 1.6))
    assert near.leverage[0, 1] < 1 < far.leverage[0, 1]
    plain = replace(found, left_out=found.noise)
    bare = [predict_torque(plain, np.array([[0.0, angle]])).sd[0, 1] for angle in (0.2, 1.6)]
    assert near.sd[0, 1] == pytest.approx(bare[0])
    assert far.sd[0, 1] ** 2 - bare[1] ** 2 == pytest.approx(lacking)
    assert bare[1] > bare[0]  # with the leverage itself
