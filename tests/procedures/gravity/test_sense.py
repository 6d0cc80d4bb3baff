"""The sign of the torques is found, for both signs; swapped columns are refused."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.logs import logged, planar_arm, planar_torques, waves
from oracle.refusals import refused

from elastocal.errors import InputError
from elastocal.procedures.gravity.samples import slow_samples
from elastocal.procedures.gravity.sense import check_torque_columns, stated_sense, torque_sense

ARM = planar_arm()
Q, V = waves(2, 1200, seed=3)


def samples(**more):
    return slow_samples(ARM, logged(ARM, Q, V, torque=planar_torques(Q), coulomb=2.0, noise=0.3, **more))


@pytest.mark.parametrize("sign", [1, -1])
def test_the_sign_is_found(sign):
    found = torque_sense(ARM, samples(sense=sign))
    assert found.sign == sign
    assert sign * found.agreement[0] > 0.98
    assert found.ratio == pytest.approx(1, abs=0.1)
    assert "expected torque of J1" in found.reason
    assert found.reason.startswith("the torque of the drives:" if sign == 1 else "the torque of the load, against")


def test_masses_that_are_off_still_tell_the_sign_and_the_size():
    light = ARM.with_parameters({n: 0.01 * v for n, v in zip(ARM.parameters.names, ARM.parameters.values, strict=True)})
    found = torque_sense(light, samples(sense=-1))
    assert found.sign == -1
    assert found.ratio == pytest.approx(100, rel=0.1)


def test_a_sign_that_is_stated_wins_and_what_speaks_against_it_is_said():
    found = stated_sense(ARM, samples(sense=-1), 1)
    assert found.sign == 1
    assert "AGAINST WHICH J1 SPEAKS: correlation -0.9" in found.reason
    assert "AGAINST" not in stated_sense(ARM, samples(sense=-1), -1).reason


def test_swapped_columns_are_refused_and_straight_ones_are_not():
    straight = samples()
    check_torque_columns(ARM, straight)
    swapped = slow_samples(ARM, logged(ARM, Q, V, torque=planar_torques(Q)[:, ::-1], noise=0.3))
    with pytest.raises(InputError) as caught:
        check_torque_columns(ARM, swapped)
    assert (caught.value.code, caught.value.value[:2]) == ("implausible", ("J1", "J2"))


@pytest.mark.parametrize("sign", [1, -1])
def test_an_arm_that_stays_level_tells_its_sign_by_the_size_of_its_torques(sign):
    q, v = waves(2, 1200, seed=1, size=0.25, rate=0.4)
    q = q + np.array([0.1, 0.2])
    log = logged(ARM, q, v, torque=planar_torques(q), coulomb=(4.0, 1.5), noise=0.3, sense=sign)
    found = torque_sense(ARM, slow_samples(ARM, log))
    assert found.sign == sign
    assert np.max(np.abs(found.agreement)) < 0.8
    assert "about zero)" in found.reason


def test_what_follows_no_weight_has_no_sign():
    noise = slow_samples(ARM, logged(ARM, Q, V, torque=np.zeros_like(Q), noise=1.0))
    with refused("no-agreement", parameter="torques"):
        torque_sense(ARM, noise)
    q, v = waves(2, 1200, seed=1, size=0.25, rate=0.4)
    weight = planar_torques(q + np.array([0.1, 0.2]))
    mirrored = slow_samples(
        ARM, logged(ARM, q + np.array([0.1, 0.2]), v, torque=2 * weight.mean(axis=0) - weight, noise=1.0)
    )
    with refused("no-agreement", parameter="torques"):
        torque_sense(ARM, mirrored)
    weightless = planar_arm(masses=False)
    with refused("no-weight", parameter="torques"):
        torque_sense(weightless, samples())
    assert np.isnan(stated_sense(weightless, samples(), -1).ratio)


def level(sense=1, order=(0, 1), factor=(1.0, 1.0)):
    """An arm that stays near level, its friction larger than the variation of its weight."""
    q, v = waves(2, 1200, seed=1, size=0.25, rate=0.4)
    q = q + np.array([0.1, 0.2])
    drive = planar_torques(q) + np.array([4.0, 1.5]) * np.sign(v)
    torque = (drive * np.asarray(factor))[:, list(order)]
    return slow_samples(ARM, logged(ARM, q, v, torque=torque, noise=0.3, sense=sense))


@pytest.mark.parametrize("sign", [1, -1])
def test_columns_swapped_under_friction_are_told_by_their_size(sign):
    check_torque_columns(ARM, level(sign))
    with refused("implausible", ("J1", "J2")):
        check_torque_columns(ARM, level(sign, order=(1, 0)))


@pytest.mark.parametrize("sign", [1, -1])
def test_a_slip_in_one_column_is_told_of_that_joint(sign):
    np.testing.assert_allclose(torque_sense(ARM, level(sign)).factors, 1, atol=0.1)
    slipped = torque_sense(ARM, level(sign, factor=(1.0, -1.0)))
    np.testing.assert_allclose(slipped.factors, [1, -1], atol=0.1)
    np.testing.assert_allclose(torque_sense(ARM, level(sign, factor=(1.0, 1000.0))).factors, [1, 1000], rtol=0.1)
    np.testing.assert_allclose(stated_sense(ARM, level(sign), -sign).factors, -1, atol=0.1)
