"""A square that a 6R arm can reach, to have something to correct: in the language of the robot, else as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elastocal.spatial.entries import Array
from elastocal.spatial.pose import Pose

if TYPE_CHECKING:
    from elastocal.compensation.posts.post import ToolPath
    from elastocal.model.robot import Robot

_SHARE = 0.05
_INNER = (0.3, 0.4, 0.5, 0.6, 0.7)
_FREE = 0.05
"""Smallest singular value of the Jacobian, lengths in those of the arm: the square keeps off singular poses."""
_CORNERS = ((0, 0), (1, 0), (1, 1), (0, 1), (0, 0))


def square_program(model: Robot) -> tuple[str, str, dict[str, str]] | None:
    """Name, text and options for what it leaves open; None for other joints than 6R, or where nothing is in reach."""
    from elastocal.compensation.posts.post import language, post_kinds

    six = model.n == 6 and all(m.kind == "revolute" for m in model.motions)
    if not six:
        return None
    found = _reachable(model)
    if found is None:
        return None
    post = post_kinds()[language(model) or "csv"]()
    post = post if not post.hindrance(model) else post_kinds()["csv"]()
    ((name, text),) = post.example(model, _square(model, *found)).items()
    options = {"tool": f'["{post.example_tool}={model.tool}"]'} if post.example_tool else {}
    if post.kind == "csv":
        options["near"] = (
            '"' + ",".join(f"{v:.4f}" for v in np.degrees(model.controller.to_controller(found[0][None])[0])) + '"'
        )
    return name, text, options


def _reachable(model: Robot) -> tuple[Array, float] | None:
    """Joint values (n,) that the square starts from, farthest from the limits along it, and its side in m."""
    from itertools import product

    from elastocal.model.inverse_kinematics import inverse_kinematics
    from elastocal.model.kinematics import kinematics, rigid_pose
    from elastocal.model.limits import extent
    from elastocal.model.task import task

    side = float(f"{_SHARE * extent(model):.0e}")
    low, high = np.array([m.limits or (-np.pi, np.pi) for m in model.motions]).T
    start = np.tile(0.0 * low, (len(_INNER) ** 3, 1)).T
    for i, shares in enumerate(np.array(list(product(_INNER, repeat=3))).T):
        j = (1, 2, 4)[i]
        inside = max(low[j], -np.pi), min(high[j], np.pi)
        start[j] = inside[0] + shares * (inside[1] - inside[0])
    place, turn = rigid_pose(model.nominal, model.tool, start)
    wanted = task(model, model.tool)
    margin = np.full(start.shape[1], np.inf)
    for x, y in _CORNERS:
        there = place + side * np.array([x, y, 0.0])[:, None]
        found = inverse_kinematics(model.nominal, model.tool, wanted, there, turn, start)
        room = np.minimum(found.q - low[:, None], high[:, None] - found.q) / (high - low)[:, None]
        near = np.abs(found.q - start).max(axis=0) < 0.5
        margin = np.minimum(margin, np.where(found.reached & near, room.min(axis=0), -np.inf))
    size = extent(model)
    handy = (np.hypot(place[0], place[1]) > 0.3 * size) & (place[2] > 0.1 * size) & (place[2] < 0.4 * size)
    arms = kinematics(model.nominal, start.T, model.tool).jacobian / np.array([size] * 3 + [1.0] * 3)[:, None]
    free = np.linalg.svd(arms, compute_uv=False)[:, -1] > _FREE
    margin = np.where(handy & free, margin, -np.inf)
    best = int(np.argmax(margin))
    return (start[:, best], side) if margin[best] > 0.02 else None


def _square(model: Robot, q: Array, side: float) -> ToolPath:
    from elastocal.compensation.posts.post import ToolPath
    from elastocal.compensation.run import flange_of
    from elastocal.model.kinematics import rigid_pose

    place, turn = (a[..., 0] for a in rigid_pose(model.nominal, model.tool, q[:, None]))
    hand, held = (a[..., 0] for a in rigid_pose(model.nominal, flange_of(model), q[:, None]))
    corners = np.array([place + side * np.array([x, y, 0.0]) for x, y in _CORNERS])
    comment = f"a square of {1e3 * side:g} mm at the tool of {model.name}, to be corrected: replace it by your program"
    return ToolPath("square", q, corners, turn, Pose(held.T @ turn, held.T @ (place - hand)), comment)
