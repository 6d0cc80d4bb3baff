"""Inertia of logs that are taken as slow: by Lagrange written elsewhere, in the torques and in the intervals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from oracle.draws import draws
from oracle.logs import STEP, logged, planar_arm, planar_torques, waves
from procedures.gravity.test_moving import accelerated

from elastocal.procedures.gravity.fit import fit_masses
from elastocal.procedures.gravity.nuisances import SlowInertia
from elastocal.procedures.gravity.prediction import predict_torque
from elastocal.procedures.gravity.samples import slow_samples
from elastocal.procedures.gravity.unknowns import MassPrior

ARM = planar_arm()
BODIES = tuple(ARM.elements)
SDS = [MassPrior().sds(b) for b in BODIES]


def slow_log(seed, rate, noise):
    q, v = waves(2, 3000, seed=seed, size=0.8, rate=rate)
    a = np.gradient(v, STEP, axis=0)
    torque = planar_torques(q) + accelerated(q, v, a)
    return q, slow_samples(ARM, logged(ARM, q, v, torque=torque, noise=noise, seed=seed), friction=False, share=1.0)


def test_the_inertia_taken_off_is_that_of_lagrange():
    q, samples = slow_log(3, 0.6, 0.0)
    v, a = samples.velocity, samples.acceleration
    inertia = SlowInertia.of(ARM, BODIES, SDS, samples)
    inner = slice(100, -100)
    np.testing.assert_allclose(inertia.torque(samples)[inner], accelerated(q, v, a)[inner], atol=1e-9)
    assert np.abs(inertia.torque(samples)).max() > 0.5
    assert 2 <= inertia.directions.shape[1] <= 12
    unknown = SlowInertia.of(ARM, BODIES, [[np.inf] * 10] * 2, samples)
    assert np.all(unknown.directions[:20] == 0)  # of bodies of which nothing is known; rotors stay


def test_intervals_hold_what_inertia_does_to_a_slow_log():
    """Masses of the file are off as the prior says; for weight alone torques mislead beyond their scatter."""
    inside, bare = [], []
    for seed in range(draws(5, 50)):
        rng = np.random.default_rng(seed)
        q, samples = slow_log(seed, 0.5, 0.05)
        values = {p.name: p.value for b in BODIES for p in b.parameters(ARM.tree)}
        sds = {p.name: s for b, each in zip(BODIES, SDS, strict=True)
               for p, s in zip(b.parameters(ARM.tree), each, strict=False)}  # fmt: skip
        file = ARM.with_parameters({n: v + 0.7 * sds[n] * rng.normal() for n, v in values.items()})
        for held, part in ((inside, samples), (bare, replace(samples, pace=0.0))):
            seen = predict_torque(fit_masses(file, part, prior=MassPrior()), q[::100])
            held.append(np.abs(seen.torque - planar_torques(q[::100])) < 1.96 * seen.sd)
    print(f"95 % intervals hold {np.mean(inside):.1%}, without inertia {np.mean(bare):.1%}")
    assert np.mean(inside) > 0.85
    assert np.mean(bare) < 0.7


def test_the_rotor_of_a_light_wrist_is_among_what_is_not_known():
    """Rotors stand between the wrist's own inertia and the shoulder's."""
    light = ARM.with_parameters({p.name: 1e-2 * p.value for p in BODIES[1].parameters(ARM.tree)})
    bodies = tuple(light.elements)
    q, v = waves(2, 1500, seed=1, size=0.8, rate=0.5)
    samples = slow_samples(light, logged(light, q, v, noise=1e-4), friction=False, share=1.0)
    inertia = SlowInertia.of(light, bodies, [MassPrior().sds(b) for b in bodies], samples)
    arm = BODIES[0].mass * (BODIES[0].moment[0] / BODIES[0].mass) ** 2
    rotor = 5e-2 * arm * samples.acceleration * [0, 1]
    columns, torque = inertia.columns(samples), rotor
    z = np.linalg.lstsq(columns.reshape(-1, columns.shape[2]), torque.reshape(-1), rcond=None)[0]
    assert np.abs(torque - columns @ z).max() < 0.05 * np.abs(torque).max()
    assert np.linalg.norm(z) < 3
