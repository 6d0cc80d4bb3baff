"""The way of the program: a weight is put on once, so its poses are gone through twice, and the way back counts."""

from __future__ import annotations

import numpy as np
from design.cell_desk import arm, candidates_of

from elastocal.design.cell import Cell, Link
from elastocal.design.feasibility.collision import Obstacles
from elastocal.design.loading.loading import Actuator, Hanging
from elastocal.design.method import Measuring
from elastocal.design.obstacles.obstacle import SphereObstacle
from elastocal.design.task import PlanTask
from elastocal.design.warnings import blocked_ways
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
    task = PlanTask(arm(), Measuring("deflection", (Marker("tool"),)), None, cell=cell, filters=(Obstacles(),))
    (warning,) = blocked_ways(task, candidates_of(arm(), FOLDED, WEIGHT))
    assert warning.code == "way-blocked"
    assert warning.data == {"from": "P4", "to": "P1", "filter": "obstacles"}
    assert blocked_ways(task, candidates_of(arm(), FOLDED, JACK)) == ()
