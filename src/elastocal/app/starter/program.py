"""A square in reach of a robot, to have something to correct: in its language, else as a table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from elastocal.spatial.entries import Array
from elastocal.spatial.pose import Pose

if TYPE_CHECKING:
    from elastocal.compensation.posts.post import ToolPath
    from elastocal.model.inverse_kinematics import Task
    from elastocal.model.robot import Robot

_SHARE = 0.05
_INNER = (0.3, 0.4, 0.5, 0.6, 0.7)
_SPREAD = 200
_ROOM = 0.02
"""Least distance from a joint limit, as a share of the range."""
_FREE = 0.05
"""Smallest singular value of the Jacobian, lengths in those of the arm: the square keeps off singular poses."""
_CORNERS = ((0, 0), (1, 0), (1, 1), (0, 1), (0, 0))


class Example(NamedTuple):
    """A program; ``options`` of ``compensate`` (YAML) state what it leaves open, ``note`` why it is a table."""

    name: str
    text: str
    options: dict[str, str]
    note: str


def square_program(model: Robot, asked: str = "") -> Example | None:
    """In the language of the robot, or in the ``asked`` one; None where nothing is in reach."""
    from elastocal.compensation.posts.post import language, post_in
    from elastocal.errors import InputError

    try:
        corner = _reachable(model)
    except InputError:  # fewer joints than a path takes
        corner = None
    if corner is None:
        return None
    post = post_in(asked or language(model) or "csv")
    hindrance = post.hindrance(model)
    post = post_in("csv") if hindrance else post
    path = _square(model, *corner)
    ((name, text),) = post.example(model, path).items()
    options = {key: json.dumps(value) for key, value in post.left_open(model, path).items()}
    return Example(name, text, options, hindrance and f"the example program is a table: {hindrance}")


def _reachable(model: Robot) -> tuple[Array, Array] | None:
    """Joint values (n,) that the square starts from, farthest from limits along it, and its two sides (2, 3) in m.

    Places of a handy height and distance come first; the others are looked at only where none of these will do.
    """
    from elastocal.model.inverse_kinematics import task
    from elastocal.model.kinematics import kinematics, rigid_pose
    from elastocal.model.limits import extent

    wanted, size = task(model, model.tool), extent(model)
    moved = [i for i in wanted.rows if i < 3]
    if not moved:
        return None
    sides = float(f"{_SHARE * size:.0e}") * np.eye(3)[[moved[0], moved[min(1, len(moved) - 1)]]]
    low, high = np.array([m.limits or (-np.pi, np.pi) for m in model.motions]).T
    start = _starts(model, low, high)
    place, _ = rigid_pose(model.nominal, model.tool, start)
    arms = kinematics(model.nominal, start.T, model.tool).jacobian / np.array([size] * 3 + [1.0] * 3)[:, None]
    free = np.linalg.svd(arms[:, list(wanted.rows)], compute_uv=False)[:, -1] > _FREE
    handy = (np.hypot(place[0], place[1]) > 0.3 * size) & (place[2] > 0.1 * size) & (place[2] < 0.4 * size)
    for some in (start[:, free & handy], start[:, free & ~handy]):
        margin = _margin(model, wanted, some, sides, (low[:, None], high[:, None]))
        if (margin > _ROOM).any():
            return some[:, int(np.argmax(margin))], sides
    return None


def _margin(model: Robot, wanted: Task, start: Array, sides: Array, limits: tuple[Array, Array]) -> Array:
    """Least share of a joint's range (N,) that is left along the square from each start; -inf where it is lost."""
    from elastocal.model.inverse_kinematics import inverse_kinematics
    from elastocal.model.kinematics import rigid_pose

    low, high = limits
    place, turn = rigid_pose(model.nominal, model.tool, start)
    margin = np.full(start.shape[1], np.inf)
    for corner in sorted(set(_CORNERS)):
        there = np.flatnonzero(margin > _ROOM)
        begin = start[:, there]
        goal = place[:, there] + (np.array(corner) @ sides)[:, None]
        solution = inverse_kinematics(model.nominal, model.tool, wanted, goal, turn[:, :, there], begin)
        room = np.minimum(solution.q - low, high - solution.q) / (high - low)
        near = np.abs(solution.q - begin).max(axis=0) < 0.5
        margin[there] = np.minimum(margin[there], np.where(solution.reached & near, room.min(axis=0), -np.inf))
    return margin


def _starts(model: Robot, low: Array, high: Array) -> Array:
    """Joint values (n, N): of a 6R arm with the others at zero, of other robots all over the ranges."""
    from itertools import product

    from elastocal.model.limits import spread_configurations

    if model.n != 6 or any(m.kind != "revolute" for m in model.motions):
        return spread_configurations(model, _SPREAD).T
    start = np.zeros((6, len(_INNER) ** 3))
    for j, shares in zip((1, 2, 4), np.array(list(product(_INNER, repeat=3))).T, strict=True):
        inside = max(low[j], -np.pi), min(high[j], np.pi)
        start[j] = inside[0] + shares * (inside[1] - inside[0])
    return start


def _square(model: Robot, q: Array, sides: Array) -> ToolPath:
    from elastocal.compensation.posts.post import ToolPath
    from elastocal.compensation.run import flange_of
    from elastocal.model.kinematics import rigid_pose

    place, turn = (a[..., 0] for a in rigid_pose(model.nominal, model.tool, q[:, None]))
    hand, held = (a[..., 0] for a in rigid_pose(model.nominal, flange_of(model), q[:, None]))
    corners = place + np.array(_CORNERS) @ sides
    comment = (
        f"a square of {1e3 * sides.max():g} mm at the tool of {model.name}, to be corrected: replace it by your program"
    )
    tool = Pose(held.T @ turn, held.T @ (place - hand))
    return ToolPath("square", q, corners, turn, tool, comment, _held(model, q, corners, turn))


def _held(model: Robot, q: Array, corners: Array, turn: Array) -> Array | None:
    """Orientations (k, 3, 3) at the corners, of an arm that turns its tool as it moves it; None where it need not."""
    from elastocal.model.inverse_kinematics import inverse_kinematics, task
    from elastocal.model.kinematics import rigid_pose

    wanted = task(model, model.tool)
    if wanted.aim == "pose":
        return None
    start, turns = np.repeat(q[:, None], len(corners), axis=1), np.repeat(turn[..., None], len(corners), axis=2)
    solution = inverse_kinematics(model.nominal, model.tool, wanted, corners.T, turns, start)
    return np.moveaxis(rigid_pose(model.nominal, model.tool, solution.q)[1], -1, 0)
