"""Lever arms: torque F l and angle s / l, and the gripper's own part taken off."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.dial_gauge import readings
from oracle.refusals import refused

from elastocal.procedures.loops.fit import fit_loops
from elastocal.procedures.loops.joints import JointResult, joint_elements, joint_values
from elastocal.procedures.loops.loop import Estimate, loop_of
from elastocal.solve.nested import f_test

K, GAMMA, SLIP, LEVER = 1.08e-4, 1.34e-4, 2e-5, 0.33


def test_a_fit_of_angle_over_torque_gives_the_same():
    rng = np.random.default_rng(1)
    force, way, cycle = readings(K * LEVER**2, GAMMA * LEVER, SLIP * LEVER, noise=2e-6, rng=rng)
    found = joint_values(fit_loops([loop_of(force, way, cycle)])[0], LEVER)
    direct = fit_loops([loop_of(force * LEVER, way / LEVER, cycle)])[0]
    for one, other in (
        (found.compliance, direct.compliance),
        (found.half_gap, direct.half_gap),
        (found.half_hysteresis, direct.half_hysteresis),
    ):
        assert (one.value, one.sd) == pytest.approx((other.value, other.sd), rel=1e-9)
    assert found.compliance.value == pytest.approx(K, abs=4 * found.compliance.sd)


def test_the_grippers_part_is_taken_off_with_its_variance():
    p_ee, g_ee = Estimate(3.76e-5, 2e-7), Estimate(5e-5, 1e-6)
    force, way, cycle = readings(K * LEVER**2 + p_ee.value, GAMMA * LEVER + g_ee.value, 0.0)
    fit = fit_loops([loop_of(force, way, cycle)], 2e-6)[0]
    found = joint_values(fit, LEVER, (p_ee, g_ee))
    assert found.compliance.value == pytest.approx(K, rel=1e-9)
    assert found.half_gap.value == pytest.approx(GAMMA, rel=1e-9)
    assert found.compliance.sd == pytest.approx(np.hypot(fit.compliance.sd, 2e-7) / LEVER**2, rel=1e-9)
    assert found.half_gap.sd == pytest.approx(np.hypot(fit.half_gap.sd, 1e-6) / LEVER, rel=1e-9)


@pytest.mark.parametrize("lever", [0.0, -0.3, float("nan")])
def test_a_lever_is_a_positive_length(lever):
    fit = fit_loops([loop_of(*readings(K, GAMMA, SLIP))])[0]
    with refused("range", lever):
        joint_values(fit, lever)


@pytest.mark.parametrize(("seed", "sign"), [(6, 1), (7, 1), (3, -1)])
def test_a_backlash_of_a_fraction_of_its_sd_is_not_written(seed, sign):
    """0.2 and 1.3 standard deviations above zero, and 0.6 below."""
    rng = np.random.default_rng(seed)
    force, way, cycle = readings(K * LEVER**2, 2e-8 * LEVER, SLIP * LEVER, noise=2e-6, rng=rng)
    values = joint_values(fit_loops([loop_of(force, way, cycle)])[0], LEVER)
    assert 0 < sign * values.half_gap.value < 2 * values.half_gap.sd
    result = JointResult("J1", LEVER, (0,), values, (f_test(0.0, 1, 5), f_test(0.0, 1, 5)))
    spring, gap = joint_elements([result])
    assert spring.numbers
    assert not gap.numbers
    assert gap.reason
