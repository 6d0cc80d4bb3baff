"""The way of the program: a weight is put on once, so its poses are gone through twice, and the way back counts."""

from __future__ import annotations

import numpy as np
import pytest
from design.cell_desk import arm, candidates_of

from elastocal.design.cell import Cell, Link
from elastocal.design.feasibility.collision import Obstacles
from elastocal.design.feasibility.reach import ToolBox
from elastocal.design.loading.loading import Actuator, Hanging
from elastocal.design.method import Measuring
from elastocal.design.obstacles.obstacle import SphereObstacle
from elastocal.design.route import Ways, ordered
from elastocal.model.statics.observation import Marker

WEIGHT, JACK = Hanging(masses=(5.0,)), Actuator(sizes=(50.0,), directions=((0, 1, 0),))
FOLDED = [[0.2, 0.0], [0.2, 2.8], [1.0, 2.8], [1.0, 0.0]]


def test_the_route_is_that_of_the_stops() -> None:
    both = candidates_of(arm(), FOLDED, WEIGHT, JACK).picked(
        np.array([0, 2, 5, 7])
    )  # two under the weight, two under the jack
    deflection, position = (Measuring(kind, (Marker("tool"),)) for kind in ("deflection", "position"))
    assert deflection.route(both) == (0, 1, 0, 1, 2, 3)
    assert position.route(both) == (0, 1, 2, 3)
    assert deflection.route(candidates_of(arm(), FOLDED)) == (0, 1, 2, 3)
    for method in (deflection, position):
        halts = method.program(both, 1, np.full(2, np.nan))
        np.testing.assert_array_equal([s.q for s in halts], both.q[list(method.route(both))])


def test_the_way_back_to_the_first_pose_is_looked_at() -> None:
    """Folded in between, the arm passes the post; stretched from the last pose to the first it does not."""
    post = SphereObstacle(centre=(1.45 * np.cos(0.6), 1.45 * np.sin(0.6), 0.0), radius=0.02)
    cell = Cell((Link("q1", "elbow", 0.05), Link("q2", "tool", 0.05)), (post,))
    ways, q = Ways(arm(), cell, (Obstacles(),)), np.array(FOLDED)
    route = list(Measuring("deflection", (Marker("tool"),)).route(candidates_of(arm(), FOLDED, WEIGHT)))
    words = ways.blocked(q[route][:-1], q[route][1:])
    assert words == ("", "", "", "obstacles", "", "", "")
    assert [bool(w) for w in ways.blocked(q[:-1], q[1:])] == [False] * 3
    closed = ways.between(q)
    np.testing.assert_array_equal(closed, closed.T)
    assert closed[0, 3]
    assert not closed[[0, 1, 2], [1, 2, 3]].any()
    via = ways.detour(q[3], q[0], q)
    assert via is not None
    path = np.array([q[3], *via, q[0]])
    assert not any(ways.blocked(path[:-1], path[1:]))


def test_ways_that_are_not_free_are_put_last() -> None:
    """The shortest order has a way that is closed; the next one has not, and its time is that of its motion alone."""
    poses = np.array([[0.0], [1.0], [2.0], [3.5]])
    closed = np.zeros((4, 4), dtype=bool)
    closed[1, 2] = closed[2, 1] = True
    free = ordered(poses, np.ones(1))
    assert free.order.tolist() in ([0, 1, 2, 3], [3, 2, 1, 0])
    found = ordered(poses, np.ones(1), closed=closed)
    steps = list(zip(found.order, found.order[1:], strict=False))
    assert not any(closed[a, b] for a, b in steps)
    assert found.time == pytest.approx(sum(abs(poses[a, 0] - poses[b, 0]) for a, b in steps))


def test_a_post_between_two_free_poses() -> None:
    post = SphereObstacle(centre=(1.45 * np.cos(0.6), 1.45 * np.sin(0.6), 0.0), radius=0.02)
    cell = Cell((Link("q1", "elbow", 0.05), Link("q2", "tool", 0.05)), (post,))
    candidates = candidates_of(arm(), [[0.0, 0.0], [0.2, 0.0], [1.0, 0.0], [1.4, 0.0]])
    assert Obstacles().passes(candidates, cell).all()
    q = candidates.q
    assert Ways(arm(), cell, (Obstacles(), ToolBox(radius=9.0))).blocked(q[:-1], q[1:]) == ("", "obstacles", "")
    assert Ways(arm(), cell, (ToolBox(radius=9.0),)).blocked(q[:-1], q[1:]) == ("", "", "")
