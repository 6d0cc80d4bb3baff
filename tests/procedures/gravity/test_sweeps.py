"""Sweeps are found, and their series has as many orders as the torque has."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.logs import correlated, joined, logged, planar_arm, planar_torques, sweep, waves
from oracle.refusals import refused
from scipy.stats import f

from elastocal.procedures.gravity.samples import slow_samples
from elastocal.procedures.gravity.sweeps import find_sweeps, fourier
from elastocal.solve.dependent import crowding, scatter_and_worth

ARM = planar_arm()
ANGLE = np.concatenate([np.linspace(-1.4, 1.4, 500), np.linspace(1.4, -1.4, 500)])
VELOCITY = np.concatenate([np.full(500, 0.1), np.full(500, -0.1)]) * (1 + 0.5 * np.cos(3 * ANGLE))
TRUTH = {1: (3.0, -20.0), 2: (0.8, 0.5), 3: (-0.4, 0.6)}


def torque(order, noise, coulomb=2.0, viscous=5.0, constant=0.7):
    out = constant + coulomb * np.sign(VELOCITY) + viscous * VELOCITY + noise
    for k in range(1, order + 1):
        out = out + TRUTH[k][0] * np.sin(k * ANGLE) + TRUTH[k][1] * np.cos(k * ANGLE)
    return out


def white(seed, size=0.1):
    return size * np.random.default_rng(seed).normal(size=len(ANGLE))


@pytest.mark.parametrize("order", [1, 2, 3])
def test_orders_are_chosen_and_coefficients_found(order):
    found = fourier("J", ANGLE, torque(order, white(order)), VELOCITY)
    assert len(found.sine) == order
    for k in range(order):
        assert abs(found.sine[k] - TRUTH[k + 1][0]) < 4 * found.sine_sd[k]
        assert abs(found.cosine[k] - TRUTH[k + 1][1]) < 4 * found.cosine_sd[k]
    assert found.coulomb == pytest.approx(2, abs=0.05)
    assert found.viscous == pytest.approx(5, abs=0.4)
    assert found.constant == pytest.approx(0.7, abs=0.3)
    assert found.scatter == pytest.approx(0.1, rel=0.1)
    assert found.count == 1000
    assert len(found.chance) == min(order, 2)


def test_correlated_noise_invents_no_orders_and_its_intervals_hold():
    inside, orders = [], []
    for seed in range(60):
        noise = correlated((len(ANGLE),), 0.8, 0.3, seed)
        found = fourier("J", ANGLE, torque(1, noise), VELOCITY)
        orders.append(len(found.sine))
        first = fourier("J", ANGLE, torque(1, noise), VELOCITY, order=1)
        inside.append(abs(first.sine[0] - TRUTH[1][0]) < 1.96 * first.sine_sd[0])
    assert np.mean(np.array(orders) > 1) < 0.1
    assert 0.85 <= np.mean(inside) <= 1.0


def test_the_covariance_of_the_first_order_is_that_of_draws():
    """On one side of zero, where cosine and sine are alike."""
    up = ANGLE > -0.3
    found = [fourier("J", ANGLE[up], torque(1, white(s))[up], VELOCITY[up], order=1) for s in range(300)]
    drawn = np.cov([(f.cosine[0], f.sine[0]) for f in found], rowvar=False)
    assert abs(drawn[0, 1]) > 0.5 * np.sqrt(drawn[0, 0] * drawn[1, 1])
    np.testing.assert_allclose(np.mean([f.first for f in found], axis=0), drawn, rtol=0.25)


def test_the_chance_of_a_higher_order_is_that_of_the_f_test():
    """On so few samples that the equations to spare of either order matter."""
    some = slice(3, 500, 38)
    angle, felt = ANGLE[some], torque(1, white(4, 0.5))[some]
    left = []
    for order in (1, 2):
        k = np.arange(1, order + 1)
        terms = np.column_stack([np.ones(len(angle)), np.sin(np.outer(angle, k)), np.cos(np.outer(angle, k))])
        left.append(felt - terms @ np.linalg.lstsq(terms, felt, rcond=None)[0])
    crowd = crowding(np.array([len(angle)]), scatter_and_worth(left[1][:, None])[1])[0]
    spare = len(angle) / crowd - 5
    ratio = (np.sum(left[0] ** 2) / np.sum(left[1] ** 2) - 1) * spare / 2
    found = fourier("J", angle, felt, np.ones(len(angle)))
    assert found.chance[0] == pytest.approx(f.sf(ratio, 2, spare), rel=1e-9)
    assert 0.01 < found.chance[0] < 0.99


def test_one_way_motion_shows_a_constant_and_no_friction():
    up = slice(0, 500)
    found = fourier("J", ANGLE[up], torque(1, white(0))[up], VELOCITY[up], order=1)
    assert np.isnan(found.coulomb)
    assert np.isnan(found.viscous)
    assert found.constant == pytest.approx(0.7 + 2.0 + 5.0 * 0.1, abs=0.5)
    even = np.sign(VELOCITY) * 0.1
    assert np.isnan(fourier("J", ANGLE, torque(1, white(0)), even, order=1).viscous)


def test_sweeps_are_found_with_what_was_locked():
    first = logged(ARM, *sweep([0.2, -0.5], 1, 1.0), torque=None)
    second = logged(ARM, *sweep([0.9, 1.0], 0, -0.4))
    both = logged(ARM, *waves(2, 500))
    samples = slow_samples(ARM, joined(first, both, second))
    found = find_sweeps(samples)
    assert [s.joint for s in found] == [1, 0]
    assert found[0].locked[0] == pytest.approx(0.2)
    assert found[1].locked[1] == pytest.approx(1.0)
    assert found[0].span(samples) == pytest.approx(1.5, abs=0.02)
    assert found[1].span(samples) == pytest.approx(1.3, abs=0.02)


def test_a_log_shorter_than_one_sweep_is_told_how_short():
    q, v = sweep([0.2, 0.1], 1, 0.3)
    samples = slow_samples(ARM, logged(ARM, q, v, torque=planar_torques(q)))
    with refused("narrow-sweeps"):
        find_sweeps(samples)
    few = logged(ARM, *waves(2, 3000, seed=1, rate=0.3)).rows(np.arange(0, 3000, 40))
    with refused("narrow-sweeps"):
        find_sweeps(slow_samples(ARM, few, share=0.1))
    with refused("conflict", (3, 3)):
        fourier("J", ANGLE[:3], ANGLE[:3], np.ones(3))
