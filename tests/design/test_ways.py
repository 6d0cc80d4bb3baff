"""Moves between poses that are free in themselves."""

from __future__ import annotations

import numpy as np
from design.cell_desk import arm, candidates_of

from elastocal.design.cell import Cell, Link
from elastocal.design.feasibility.collision import Obstacles
from elastocal.design.feasibility.reach import ToolBox
from elastocal.design.obstacles.obstacle import SphereObstacle
from elastocal.design.route import blocked

BODY = (Link("q1", "elbow", 0.05), Link("q2", "tool", 0.05))


def test_a_post_between_two_free_poses() -> None:
    post = SphereObstacle(centre=(1.45 * np.cos(0.6), 1.45 * np.sin(0.6), 0.0), radius=0.02)
    cell = Cell(BODY, (post,))
    candidates = candidates_of(arm(), [[0.0, 0.0], [0.2, 0.0], [1.0, 0.0], [1.4, 0.0]])
    assert Obstacles().passes(candidates, cell).all()
    assert blocked(candidates, cell, [Obstacles(), ToolBox(radius=9.0)]) == ((1, "obstacles"),)
    assert blocked(candidates, cell, [ToolBox(radius=9.0)]) == ()
    folded = candidates_of(arm(), [[0.2, 0.0], [0.2, 2.8], [1.0, 2.8], [1.0, 0.0]])
    assert blocked(folded, cell, [Obstacles()]) == ()
