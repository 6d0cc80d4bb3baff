"""Torques written out: closed forms, both texts, accuracies by draws."""

from __future__ import annotations

import re

import numpy as np
import pytest
from oracle.logs import LENGTH, MASSES, MOMENTS, G, planar_arm
from oracle.refusals import refused

from elastocal.files.robot.read import read_robot
from elastocal.model.statics.holding import holding_torque
from elastocal.procedures.gravity.terms import Term, expressions, level_joints
from elastocal.reduction.error_budget import Wide

KR5 = read_robot("kuka-kr5")
POSE = np.radians([90, -90, 90, 0, 0, 0])


def test_the_planar_arm_in_closed_form():
    outer, inner = expressions(planar_arm(), np.array([0.4, 0.9]))
    assert (outer.joint, inner.joint, outer.next, inner.next) == ("J2", "J1", None, "J2")
    assert outer.cosine == pytest.approx(G * MOMENTS["J2.mx"])
    assert outer.sine == pytest.approx(-G * MOMENTS["J2.mz"])
    assert inner.cosine == pytest.approx(G * (MOMENTS["J1.mx"] + LENGTH * MASSES["J2"]))
    assert inner.sine == pytest.approx(-G * MOMENTS["J1.mz"])


def test_the_printed_expressions_of_the_kr5():
    t5, t3, t2 = expressions(KR5, POSE)
    assert t5.text == "tau_A5 = -11.47 cos(A2 + A3 + A5) + 4.90 sin(A2 + A3 + A5)"
    assert t3.phase_text == "tau_A3 = -126.28 cos(A2 + A3 - 44.85 deg) + tau_A5"
    assert t2.phase_text == "tau_A2 = -375.70 cos(A2) + tau_A3"
    assert np.isnan(t5.cosine_sd)


@pytest.mark.parametrize(("a", "b"), [(-89.5, -89.1), (-11.5, 4.9), (3.0, 4.0), (3.0, -4.0), (0.0, 2.0), (-1.0, 0.0)])
def test_both_texts_say_the_same_torque(a, b):
    term = Term("J", (("J", 1),), a, b, 0.1, 0.2, 0.0, None)
    angle = np.linspace(-3, 3, 7)
    np.testing.assert_allclose(
        term.amplitude * np.cos(angle - term.phase), a * np.cos(angle) + b * np.sin(angle), atol=1e-12
    )
    assert abs(term.phase) <= np.pi / 2
    size, shift = re.fullmatch(r"tau_J = (\S+) cos\(J(?: ([+-] \S+) deg)?\)", term.phase_text).groups()
    at = np.radians(float((shift or "0").replace(" ", "")))
    np.testing.assert_allclose(float(size) * np.cos(angle + at), a * np.cos(angle) + b * np.sin(angle), atol=0.02)


def test_amplitude_and_phase_are_as_accurate_as_draws_say():
    covariance = np.array([[0.04, 0.015], [0.015, 0.09]])
    term = Term("J", (("J", 1),), -8.0, 5.0, 0.2, 0.3, 0.015, None)
    drawn = np.random.default_rng(1).multivariate_normal([-8.0, 5.0], covariance, 20000)
    assert term.amplitude_sd == pytest.approx(np.std(np.hypot(*drawn.T)), rel=0.03)
    assert term.phase_sd == pytest.approx(np.std(np.arctan2(-drawn[:, 1], -drawn[:, 0])), rel=0.03)


def test_accuracies_of_expressions_are_those_of_drawn_masses():
    names = ("A2.mx", "A3.m", "A3.mz", "A5.mx", "A5.mz")
    rng = np.random.default_rng(2)
    root = 0.05 * rng.normal(size=(5, 5))
    known = Wide(names, root @ root.T)
    values = [KR5.parameters.values[KR5.parameters.index(n)] for n in names]
    drawn = [
        expressions(KR5.with_parameters(dict(zip(names, d, strict=True))), POSE)
        for d in rng.multivariate_normal(values, known.covariance, 400)
    ]
    for i, term in enumerate(expressions(KR5, POSE, known)):
        spread = np.cov([(d[i].cosine, d[i].sine) for d in drawn], rowvar=False)
        stated = [[term.cosine_sd**2, term.cross], [term.cross, term.sine_sd**2]]
        np.testing.assert_allclose(stated, spread, rtol=0.3, atol=1e-3)


def test_joints_that_turn_the_other_way_count_against():
    """Three parallel axes, the middle one reversed: the sums hold with the signs."""
    model = read_robot("kuka-kr270")
    pose = np.radians([0, -60, 80, 0, 40, 0])
    terms = expressions(model.without("gravity_compensator"), pose)
    q = pose + np.zeros((9, 1))
    rng = np.random.default_rng(0)
    q[:, [1, 2, 4]] += rng.uniform(-1, 1, (9, 3))
    torque, last = holding_torque(model.without("gravity_compensator"), q), np.zeros(9)
    for term in terms:
        angle = sum(sign * q[:, model.joints.index(j)] for j, sign in term.angles)
        last = term.cosine * np.cos(angle) + term.sine * np.sin(angle) + term.next_sign * last
        np.testing.assert_allclose(last, torque[:, model.joints.index(term.joint)], atol=1e-8)
    assert len(terms) == 3


def test_no_level_axis_and_no_gravity_are_said():
    with refused("unobservable", "planar"):
        level_joints(planar_arm(gravity=(0, 9.81, 0)), np.zeros(2))
    with refused("range", "planar"):
        level_joints(planar_arm(gravity=(0, 0, 0)), np.zeros(2))
