"""Configurations all over the joint ranges, the same every time."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.campaigns import arm
from oracle.robots import SHIPPED

from elastocal.files.robot.read import read_robot
from elastocal.model.limits import spread_configurations, starts


@pytest.mark.parametrize("name", SHIPPED)
def test_configurations_fill_the_joint_ranges_evenly(name):
    model = read_robot(name)
    if not model.n:
        assert spread_configurations(model, 10).shape == (10, 0)
        return
    q = spread_configurations(model, 400)
    np.testing.assert_array_equal(q, spread_configurations(model, 400))
    np.testing.assert_array_equal(q[:100], spread_configurations(model, 100))
    assert model.beyond_limits(q) == ()
    half = model.size / 2
    limits = np.array([m.limits or ((-np.pi, np.pi) if m.kind == "revolute" else (-half, half)) for m in model.motions])
    unit = (q - limits[:, 0]) / (limits[:, 1] - limits[:, 0])
    assert unit.min() >= 0
    assert unit.max() < 1
    for parts in (2, 4):  # shares of every part of every range
        counts = np.stack([np.bincount(c, minlength=parts) for c in (unit * parts).astype(int).T])
        np.testing.assert_allclose(counts / 400, 1 / parts, atol=0.03)
    for i in range(model.n):  # and of every quarter of every pair of ranges
        for j in range(i):
            cell = (unit[:, i] < 0.5) * 2 + (unit[:, j] < 0.5)
            np.testing.assert_allclose(np.bincount(cell, minlength=4) / 400, 0.25, atol=0.04)


def test_joints_without_limits_turn_half_a_turn_and_slide_half_the_length_to_either_side():
    model = arm()
    ends = np.array([np.pi] * 3 + [model.size / 2])
    q = spread_configurations(model, 300)
    np.testing.assert_allclose(q.min(axis=0), -ends, rtol=0.02)
    np.testing.assert_allclose(q.max(axis=0), ends, rtol=0.02)


def test_searches_start_in_the_middle():
    model = read_robot("kuka-kr270")
    found = starts(model, 9)
    np.testing.assert_allclose(found[0], [np.mean(m.limits) for m in model.motions], atol=1e-12)
    assert np.abs(found[0]).max() > 0.3
    np.testing.assert_array_equal(found[1:], spread_configurations(model, 8))
