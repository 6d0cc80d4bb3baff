"""Which way is down is found for floor, wall, ceiling and tilted pedestals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from oracle.draws import draws
from oracle.logs import logged, sweep, waves
from oracle.refusals import refused
from scipy.spatial.transform import Rotation

from elastocal.files.robot.read import read_robot
from elastocal.measure.sources.friction import Friction
from elastocal.model.loads.link_mass import LinkMass
from elastocal.model.statics.holding import holding_torque
from elastocal.procedures.gravity import identify
from elastocal.procedures.gravity.samples import slow_samples
from elastocal.procedures.gravity.sense import find_gravity

KR5 = read_robot("kuka-kr5")
MIDDLE = np.radians([0, -80, 80, 0, 20, 0])
DOWN = {
    "floor": [0, 0, -9.81],
    "wall": [0, -9.81, 0],
    "ceiling": [0, 0, 9.81],
    "tilted": Rotation.from_euler("xy", [12, -25], degrees=True).apply([0, 0, -9.81]),
}


def samples(gravity, seed=0, sense=1, scale=1.0, count=1200):
    truth = replace(KR5, gravity=np.array(gravity, dtype=float))
    q, v = waves(6, count, seed=4, size=0.8, rate=0.2)
    q = q + MIDDLE
    log = logged(truth, q, v, torque=scale * holding_torque(truth, q), coulomb=3.0, viscous=4.0, noise=1.0, seed=seed,
                 sense=sense)  # fmt: skip
    return slow_samples(KR5, log, share=0.5)


@pytest.mark.parametrize("way", list(DOWN))
@pytest.mark.parametrize("sense", [1, -1])
def test_down_is_found(way, sense):
    found = find_gravity(KR5, samples(DOWN[way], sense=sense), sense, Friction())
    sd = np.sqrt(np.diag(found.covariance))
    np.testing.assert_allclose(found.gravity, DOWN[way], atol=max(4 * sd.max(), 0.02))
    expected = np.arccos(np.clip(np.dot(DOWN[way], [0, 0, -1]) / 9.81, -1, 1))
    assert found.away == pytest.approx(expected, abs=0.01)
    assert found.direction_sd < 0.01
    np.testing.assert_allclose(found.mounted(KR5).gravity, DOWN[way], atol=0.1)


def test_masses_that_are_all_too_light_change_the_length_only():
    found = find_gravity(KR5, samples(DOWN["tilted"], scale=1.4), 1, Friction())
    assert np.linalg.norm(found.gravity) == pytest.approx(1.4 * 9.81, rel=0.01)
    np.testing.assert_allclose(found.mounted(KR5).gravity, DOWN["tilted"], atol=0.1)


def test_the_accuracy_is_that_of_repeated_logs():
    count = draws(16, 200)
    found = [find_gravity(KR5, samples(DOWN["wall"], seed=s, count=400), 1, Friction()) for s in range(count)]
    spread = np.std([f.gravity for f in found], axis=0)
    np.testing.assert_allclose(
        np.mean([np.sqrt(np.diag(f.covariance)) for f in found], axis=0), spread, rtol=3.5 / np.sqrt(2 * count)
    )
    mean = np.mean([f.gravity for f in found], axis=0)
    turned = [np.linalg.norm(np.cross(f.gravity, mean)) / np.linalg.norm(mean) ** 2 for f in found]
    assert np.sqrt(np.mean(np.square(turned))) < 2 * np.mean([f.direction_sd for f in found])


def test_poses_that_do_not_tell_are_refused():
    q, v = sweep(np.radians([90, -90, 90, 0, -90, 0]), 4, 1.5, 0.2)
    with refused("no-down"):
        find_gravity(KR5, slow_samples(KR5, logged(KR5, q, v, noise=0.1)), 1)


def weighed_on_a_tilted_base(seed):
    """Masses 15 % and centres 15 mm off the file's: errors of direction and of holding torques in their sd, by a log
    of torques from the true masses."""
    rng = np.random.default_rng(seed)
    changed = [
        replace(e, mass=e.mass * (1 + 0.15 * rng.normal()),
                moment=tuple(np.array(e.moment) + 0.015 * e.mass * rng.normal(size=3)))
        if isinstance(e, LinkMass) else e for e in KR5.elements
    ]  # fmt: skip
    truth = replace(KR5, elements=tuple(changed), gravity=np.array(DOWN["tilted"]))
    q, v = waves(6, 1000, seed=seed, size=0.8, rate=0.2)
    log = logged(truth, q + MIDDLE, v, coulomb=3.0, viscous=4.0, noise=1.0, seed=seed)
    found = identify(KR5, log, torques="drive", find_mounting=True, slow=0.5, inertia="leave-out", hold_out=0.0)
    poses = MIDDLE + rng.uniform(-0.6, 0.6, (10, 6))
    there = found.predict(poses)
    way = found.mounting.gravity / np.linalg.norm(found.mounting.gravity)
    turned = np.arccos(np.clip(way @ DOWN["tilted"] / 9.81, -1, 1))
    off = there.torque - holding_torque(truth, poses)
    return turned / found.mounting.direction_sd, off[:, :5] / there.sd[:, :5]  # nothing weighs on the last joint


def test_holding_torques_carry_the_uncertainty_of_the_direction():
    """A shoulder whose axis stands knows the tilt alone: with the direction taken as exact its error is 20 sd."""
    turned, errors = zip(*(weighed_on_a_tilted_base(seed) for seed in range(4)), strict=True)
    assert max(turned) < 4
    assert np.sqrt(np.mean(np.square(errors), axis=(0, 1))).max() < 2
    assert np.mean(np.abs(errors) < 1.96) > 0.85
