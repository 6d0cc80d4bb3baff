"""Paths against all orders, and what an order must be."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle.refusals import refused

from elastocal.design.route import ordered

SPEEDS = np.array([1.0, 2.0, 0.5])


def way(poses, order, setup=None, change=0.0):
    """Time of a path, step by step."""
    time = 0.0
    for a, b in pairwise(order):
        time += max(abs(poses[b] - poses[a]) / SPEEDS)
        if setup is not None and setup[a] != setup[b]:
            time += change
    return time


@given(seed=st.integers(0, 10**6), m=st.integers(1, 12))
@settings(max_examples=40)
def test_an_order_names_every_pose_once_and_is_not_longer(seed, m):
    poses = np.random.default_rng(seed).normal(size=(m, 3))
    found = ordered(poses, SPEEDS)
    assert sorted(found.order) == list(range(m))
    assert found.time == pytest.approx(way(poses, found.order), abs=1e-12)
    assert found.before == pytest.approx(way(poses, range(m)), abs=1e-12)
    assert found.time <= found.before


@pytest.mark.parametrize("seed", range(6))
def test_small_paths_are_near_the_shortest(seed):
    poses = np.random.default_rng(seed).normal(size=(7, 3))
    shortest = min(way(poses, order) for order in permutations(range(7)))
    assert shortest - 1e-12 <= ordered(poses, SPEEDS).time <= 1.1 * shortest


def test_a_line_is_walked_along():
    poses = np.array([3.0, 0.0, 4.0, 1.0, 2.0])[:, None] * np.ones(3)
    found = ordered(poses, SPEEDS)
    assert list(found.order) in ([1, 3, 4, 0, 2], [2, 0, 4, 3, 1])
    assert (found.time, found.before) == (8.0, 22.0)  # 0.5 per s is the slowest: 4 / 0.5


@pytest.mark.parametrize("seed", range(3))
def test_many_poses_get_much_shorter(seed):
    """Better than turning pieces of the given order alone, and than the nearest next pose alone, from any first."""
    poses = np.random.default_rng(seed).normal(size=(40, 3))
    found = ordered(poses, SPEEDS)
    assert found.time < 0.5 * found.before
    assert found.time < way(poses, turned(poses)) - 1e-6
    assert found.time < 0.99 * min(way(poses, nearest(poses, first)) for first in range(40))
    np.testing.assert_array_equal(found.order, ordered(poses, SPEEDS).order)


def nearest(poses, first):
    order, left = [first], set(range(len(poses))) - {first}
    while left:
        order.append(min(left, key=lambda b: max(abs(poses[b] - poses[order[-1]]) / SPEEDS)))
        left.remove(order[-1])
    return order


def turned(poses):
    """The best piece of the order given turned round, again and again."""
    order = list(range(len(poses)))
    while True:
        m = len(order)
        pieces = [(i, j) for i in range(m) for j in range(i + 2, m + 1)]
        options = [[*order[:i], *order[i:j][::-1], *order[j:]] for i, j in pieces]
        away = np.max(np.abs(poses[:, None] - poses) / SPEEDS, axis=2)
        best = min(options, key=lambda o: away[o[:-1], o[1:]].sum())
        if way(poses, best) > way(poses, order) - 1e-12:
            return order
        order = best


def test_slow_joints_count_more():
    poses = np.array([[0.0, 0, 0], [1.0, 0, 0], [0.0, 0, 1.0], [1.0, 0, 1.0]])
    assert ordered(poses, np.array([1.0, 1.0, 0.1])).time == pytest.approx(12.0)
    assert ordered(poses, np.array([0.1, 1.0, 1.0])).time == pytest.approx(12.0)
    assert ordered(poses, np.array([1.0, 1.0, 1.0])).time == pytest.approx(3.0)


def test_set_ups_stay_together_where_a_change_takes_long():
    rng = np.random.default_rng(4)
    poses, setup = rng.normal(size=(12, 3)), np.arange(12) % 3
    found = ordered(poses, SPEEDS, setup=setup, change=100.0)
    assert np.sum(np.diff(setup[found.order]) != 0) == 2
    assert found.time == pytest.approx(way(poses, found.order, setup=setup, change=100.0))
    assert np.sum(np.diff(setup[ordered(poses, SPEEDS).order]) != 0) > 2


def test_bad_input():
    poses = np.zeros((4, 3))
    for wrong, code, value in [
        ({"poses": np.zeros(3), "speeds": SPEEDS}, "shape", (3,)),
        ({"poses": poses, "speeds": np.array([1.0, 0.0, 1.0])}, "shape", 3),
        ({"poses": poses, "speeds": SPEEDS[:2]}, "shape", 3),
        ({"poses": poses, "speeds": SPEEDS, "setup": np.zeros(3, dtype=int)}, "shape", 4),
        ({"poses": poses, "speeds": SPEEDS, "change": -1.0}, "change-time", None),
    ]:
        with refused(code, value):
            ordered(**wrong)
