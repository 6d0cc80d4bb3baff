"""The way of the program: a weight is put on once, so its poses are gone through twice, and the way back counts."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from design.cell_desk import arm, candidates_of

from elastocal.design.cell import Cell, Link
from elastocal.design.feasibility.collision import Obstacles
from elastocal.design.feasibility.places import ToolBox
from elastocal.design.loading import Actuator, Hanging
from elastocal.design.method import Measuring
from elastocal.design.obstacles import SphereObstacle
from elastocal.design.result import Plan
from elastocal.design.route import Ways, ordered
from elastocal.design.safety import accessible
from elastocal.model.statics.observation import Marker

WEIGHT, JACK = Hanging(masses=(5.0,)), Actuator(sizes=(50.0,), directions=((0, 1, 0),))
FOLDED = [[0.2, 0.0], [0.2, 2.8], [1.0, 2.8], [1.0, 0.0]]


def plan_of(q: object, chosen: tuple[int, ...], cell: Cell, home: tuple[float, ...] | None = None) -> Plan:
    """Some of these configurations, as they come."""
    task = SimpleNamespace(
        model=arm(), cell=cell, filters=(Obstacles(),), measuring=Measuring("position", (Marker("tool"),)),
        loadings=(), home=home, safety=None, repeats=1,
    )  # fmt: skip
    candidates = candidates_of(arm(), q)
    access = None if home is None else accessible(task, candidates)[1]  # type: ignore[arg-type]
    problem = SimpleNamespace(task=task, candidates=candidates, access=access)
    return Plan(problem, SimpleNamespace(chosen=chosen), None, None)  # type: ignore[arg-type]


def test_the_route_is_that_of_the_stops() -> None:
    both = candidates_of(arm(), FOLDED, WEIGHT, JACK).picked(
        np.array([0, 2, 5, 7])
    )  # two under the weight, two under the jack
    deflection, position = (Measuring(kind, (Marker("tool"),)) for kind in ("deflection", "position"))
    unloaded = candidates_of(arm(), FOLDED)
    routes = ((deflection, both, [0, 1, 0, 1, 2, 3]), (position, both, range(4)), (deflection, unloaded, range(4)))
    for method, chosen, route in routes:
        halts = method.program(chosen, 1, np.full(2, np.nan))
        np.testing.assert_array_equal([s.q for s in halts], chosen.q[list(route)])


def test_the_way_back_to_the_first_pose_is_looked_at() -> None:
    """Folded in between, the arm passes the post; stretched from the last pose to the first it does not."""
    post = SphereObstacle(centre=(1.45 * np.cos(0.6), 1.45 * np.sin(0.6), 0.0), radius=0.02)
    cell = Cell((Link("q1", "elbow", 0.05), Link("q2", "tool", 0.05)), (post,))
    ways, q = Ways(arm(), cell, (Obstacles(),)), np.array(FOLDED)
    method, chosen = Measuring("deflection", (Marker("tool"),)), candidates_of(arm(), FOLDED, WEIGHT)
    stops = np.array([s.q for s in method.program(chosen, 1, np.full(2, np.nan))])
    words = ways.blocked(stops[:-1], stops[1:])
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


def test_a_plan_takes_a_longer_order_whose_ways_are_free() -> None:
    """The shortest goes 0.8 + 2.8 + 0.8 rad past the post; by folding twice it is 2.8 + 0.8 + 2.8."""
    post = SphereObstacle(centre=(1.45 * np.cos(0.6), 1.45 * np.sin(0.6), 0.0), radius=0.02)
    links = Link("q1", "elbow", 0.05), Link("q2", "tool", 0.05)
    alone, beside = (plan_of(FOLDED, (3, 0, 1, 2), Cell(links, posts)) for posts in ((), (post,)))
    assert (alone.order.order.tolist(), alone.order.time) == ([0, 1, 2, 3], pytest.approx(4.4))
    assert beside.order.time == pytest.approx(6.4)
    assert beside.chosen.q.tolist() in (FOLDED, FOLDED[::-1])
    assert beside.blocked == ()


def test_where_no_short_way_round_is_free_the_way_is_by_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only steps from one to the next of seven places are free, and home is in the middle."""

    def steps(ways: Ways, starts: np.ndarray, ends: np.ndarray) -> tuple[str, ...]:
        return tuple("far" if d > 0.41 else "" for d in np.abs(ends - starts).max(axis=1, initial=0.0))

    monkeypatch.setattr(Ways, "blocked", steps)
    line = np.array([[0.4 * k, 0.0] for k in range(-3, 4)])
    found = plan_of(line, (0, 6), Cell(), home=(0.0, 0.0))
    assert found.blocked == ()
    places = np.array([s.q[0] for s in found.program]) / 0.4
    assert np.round(places).tolist() == [0, -1, -2, -3, -2, -1, 0, 1, 2, 3]
