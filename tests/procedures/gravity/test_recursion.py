"""Mass moments from the wrist inwards: closed forms, errors that are handed on, what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.draws import SIGMAS, draws, spread_of_share
from oracle.logs import LENGTH, MASSES, MOMENTS, G, joined, logged, planar_arm, planar_torques, sweep, waves
from oracle.refusals import refused

from elastocal.files.robot.read import read_robot
from elastocal.procedures.gravity.samples import slow_samples
from elastocal.procedures.gravity.sweeps import recursive_moments
from elastocal.procedures.gravity.terms import expressions

ARM = planar_arm()


def swept(seed=0, noise=0.2, sense=1):
    logs = [
        logged(ARM, q, v, torque=planar_torques(q), coulomb=(3.0, 1.0), viscous=(8.0, 2.0), noise=noise,
               seed=100 * seed + i, sense=sense)
        for i, (q, v) in enumerate((sweep([0.3, -1.2], 1, 1.0, 0.2), sweep([-1.0, 0.4], 0, 1.2, 0.2)))
    ]  # fmt: skip
    return slow_samples(ARM, joined(*logs))


@pytest.mark.parametrize("sense", [1, -1])
def test_terms_and_friction_of_the_planar_arm(sense):
    found = recursive_moments(ARM, swept(sense=sense, noise=0.01), sense)
    outer, inner = found.terms
    assert outer.cosine == pytest.approx(G * MOMENTS["J2.mx"], abs=0.02)
    assert outer.sine == pytest.approx(-G * MOMENTS["J2.mz"], abs=0.02)
    assert inner.cosine == pytest.approx(G * (MOMENTS["J1.mx"] + LENGTH * MASSES["J2"]), abs=0.03)
    assert inner.sine == pytest.approx(-G * MOMENTS["J1.mz"], abs=0.03)
    assert [s.coulomb for s in found.series] == pytest.approx([1, 3], abs=0.03)
    assert [s.viscous for s in found.series] == pytest.approx([2, 8], abs=0.3)
    q = waves(2, 50)[0]
    np.testing.assert_allclose(found.torque(q), planar_torques(q)[:, ::-1], atol=0.05)


def test_errors_of_outer_terms_are_handed_on():
    """Intervals of the inner term hold the truth as often as they say, which its own sweep alone would not."""
    truth = G * (MOMENTS["J1.mx"] + LENGTH * MASSES["J2"])
    count = draws(40, 300)
    found = [recursive_moments(ARM, swept(seed), 1) for seed in range(count)]
    errors = np.array([f.terms[1].cosine - truth for f in found])
    stated = np.array([f.terms[1].cosine_sd for f in found])
    alone = np.array([f.series[1].cosine_sd[0] for f in found])
    assert np.std(errors) == pytest.approx(np.mean(stated), rel=SIGMAS / np.sqrt(2 * count))
    assert np.mean(np.abs(errors) < 1.96 * stated) > 0.95 - spread_of_share(0.95, count)
    assert np.mean(alone) < 0.97 * np.mean(stated)


def test_a_joint_that_turns_the_other_way_counts_against():
    arm = planar_arm(second=1.0)
    logs = [
        logged(arm, *sweep(base, j, end, 0.2), noise=0.01)
        for base, j, end in (([0.3, -1.2], 1, 1.0), ([-1, 0.4], 0, 1.2))
    ]
    found = recursive_moments(arm, slow_samples(arm, joined(*logs)), 1)
    for mine, other in zip(found.terms, expressions(arm, np.zeros(2)), strict=True):
        assert mine.angles == other.angles
        assert mine.next_sign == other.next_sign
        assert (mine.cosine, mine.sine) == pytest.approx((other.cosine, other.sine), abs=0.03)
    assert found.terms[1].next_sign == -1
    assert found.terms[1].cosine == pytest.approx(G * (MOMENTS["J1.mx"] + LENGTH * MASSES["J2"]), abs=0.03)


def test_a_joint_between_that_was_not_swept_is_named():
    kr5 = read_robot("kuka-kr5")
    logs = [logged(kr5, *sweep(np.radians(base), j, np.radians(end), 0.2))
            for base, j, end in (([90, -90, 90, 0, -90, 0], 4, 90), ([90, 0, 90, 0, 0, 0], 1, -90))]  # fmt: skip
    with refused("unobservable", "A3"):
        recursive_moments(kr5, slow_samples(kr5, joined(*logs)), 1)
    only = slow_samples(kr5, logged(kr5, *sweep(np.radians([90, -90, 90, 0, -90, 0]), 0, 0.8, 0.08)))
    with refused("unobservable", ("A2", "A3", "A5")):
        recursive_moments(kr5, only, 1)


def test_sweeps_with_other_joints_elsewhere_are_not_mixed():
    kr5 = read_robot("kuka-kr5")
    straight = logged(kr5, *sweep(np.radians([90, -90, 90, 0, -90, 0]), 4, np.radians(90), 0.2))
    turned = logged(kr5, *sweep(np.radians([90, -90, 90, 60, -90, 0]), 4, np.radians(90), 0.2))
    found = recursive_moments(kr5, slow_samples(kr5, joined(straight, turned)), 1)
    assert found.elsewhere == 1
    assert found.terms[0].cosine == pytest.approx(-11.47, abs=0.01)
    assert found.unswept == ("A3", "A2")
