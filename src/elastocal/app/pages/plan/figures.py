"""Where candidates, chosen poses and test poses are, and accuracy against the number of poses, as pictures."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from elastocal.design.candidates import Poses
from elastocal.design.obstacles import BoxObstacle, Capsule, Floor, SphereObstacle
from elastocal.model.statics.loaded_arm import skeleton
from elastocal.report.blocks import Lines, Scene, Series, floats
from elastocal.report.colours import Role
from elastocal.report.parts import Dots, Ellipsoids, Labels, Part, Point, Strokes
from elastocal.report.robot_scene import (
    MOST_ARMS,
    UNIT,
    arm_parts,
    dots,
    drawn_words,
    floor_part,
    force_arrows,
    force_scale,
    load_forces,
    robot_parts,
    spread_out,
)
from elastocal.spatial.rotation import rpy_matrix
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.design.cell import Cell
    from elastocal.design.obstacles import Obstacle
    from elastocal.design.result import Plan
    from elastocal.spatial.entries import Array


ALL = "all poses"
MOST = 1500
"""Candidates that are drawn."""


@dataclass(frozen=True)
class Counted:
    """What counts at the task: the factor from SI, its unit, and words."""

    factor: float
    unit: str
    key: str
    what: str
    sentence: str


COUNTED = {
    "m": Counted(1e3, "mm", "mm", "length", "Expected position error after compensation"),
    "N m": Counted(1.0, "N m", "Nm", "torque of all joints", "Expected error of the torques that hold the arm"),
}


def pictures(plan: Plan) -> tuple[Lines, ...]:
    """The tool from above and from the side; of what is chosen, everywhere that it takes the arm to."""
    problem, model = plan.problem, plan.task.model
    every = problem.candidates.poses
    thin = every.picked(np.arange(0, len(every), max(1, -(-len(every) // MOST))))
    sets: list[tuple[str, Role, Poses]] = [
        ("feasible candidates", "file", thin),
        ("test poses", "program", Poses(model, problem.tests.q)),
        ("chosen", "after", plan.task.measuring.stations(plan.chosen)[0].poses),
    ]
    if plan.task.tests is None:
        sets.pop(1)
    places = [(name, role, poses.origin(model.tool)) for name, role, poses in sets]
    return (
        Lines("from_above", "Tool seen from above", "x", "m", "y", "m",
              tuple(_marks(n, r, p[:, 0], p[:, 1]) for n, r, p in places), equal=True),
        Lines("from_the_side", "Tool seen from the side", "distance from the base axis", "m", "height", "m",
              tuple(_marks(n, r, np.hypot(p[:, 0], p[:, 1]), p[:, 2]) for n, r, p in places), equal=True),
    )  # fmt: skip


def _marks(name: str, role: Role, x: Array, y: Array) -> Series:
    return Series(name, floats(x), floats(y), points=True, role=role)


def curve(plan: Plan) -> tuple[Lines, ...]:
    """Errors at the test poses, and the parameters' accuracy, against the number of poses."""
    counted, many = COUNTED[plan.task.measuring.counted], plan.task.measuring.noun
    counts = tuple(float(p.count) for p in plan.curve)
    each = tuple(
        Series(name, counts, floats(100 * shares))
        for name, value, shares in zip(plan.problem.names, plan.problem.values, plan.curve_shares.T, strict=True)
        if value
    )
    both = tuple(
        Series(name, counts, tuple(counted.factor * e[i] for e in plan.curve_errors))
        for i, name in enumerate(("root mean square", "largest"))
    )
    return (
        Lines("error_curve", "Expected error at the test poses", many, "", "error", counted.unit, both),
        Lines("accuracy_curve", "Expected accuracy of the parameters", many, "", "accuracy", "%", each[:12]),
    )


def scenes(plan: Plan) -> tuple[Scene, ...]:
    """All chosen places of the tool with their loads, then some of the arms one by one."""
    candidates, cell, model = plan.task.measuring.stations(plan.chosen)[0], plan.task.cell, plan.task.model
    arms = skeleton(model, candidates.q)
    rows = spread_out(arms.tip, MOST_ARMS)
    names = [f"P{i + 1}" for i in range(len(candidates))]
    starts, forces = load_forces(model, candidates.q, candidates.load)
    scale, scale_note = force_scale(forces, arms.extent)
    parts: list[Part] = [
        *cell_parts(cell),
        *floor_part(model, arms.line),
        *arm_parts(arms.picked(rows[1:]), "some of the arms", ALL, "faint"),
        *robot_parts(model, candidates.q[rows[0]], "one of the arms", ALL),
        dots("chosen poses", arms.tip, names, ALL, "after"),
        force_arrows(starts, forces, scale, ALL),
    ]
    for i in rows:
        seen = np.array([candidates.poses.origin(m)[candidates.at[i]] for m in cell.markers]).reshape(-1, 3)
        parts += [*arm_parts(arms.picked(np.array([i])), "arm", names[i]), *beams(cell, seen, names[i])]
        parts.append(force_arrows(starts[[i]], forces[[i]], scale, names[i]))
    notes = (scale_note, *drawn_words(len(rows), len(candidates), "arms"))
    return (Scene("scene", "Chosen poses and loads", UNIT, tuple(parts), notes),)


NAME = "obstacles"


def cell_parts(cell: Cell) -> tuple[Part, ...]:
    """Every obstacle, and where the tracker stands."""
    parts = [part for obstacle in cell.obstacles for part in _wires(obstacle)]
    if cell.tracker is None:
        return tuple(parts)
    tracker: Point = cell.tracker
    return (*parts, Dots("tracker", (tracker,), ("tracker",), look="cell"), Labels("tracker", (tracker,), ("tracker",)))


def beams(cell: Cell, markers: Array, view: str) -> tuple[Part, ...]:
    """Lines of sight to markers (k, 3)."""
    if cell.tracker is None or not len(markers):
        return ()
    start = cell.tracker
    lines = tuple((start, (float(x), float(y), float(z))) for x, y, z in markers)
    return (Strokes("line of sight", lines, view, "faint"),)


def _wires(obstacle: Obstacle) -> tuple[Part, ...]:

    from elastocal.design.obstacles import Mesh

    if isinstance(obstacle, BoxObstacle):
        return (_edges(np.array(obstacle.centre), np.array(obstacle.size), rpy_matrix(*obstacle.rpy)),)
    if isinstance(obstacle, Floor):
        return (_edges(np.array([0.0, 0.0, obstacle.height]), np.array([2.0, 2.0, 0.0]), np.eye(3)),)
    if isinstance(obstacle, SphereObstacle):
        return (_balls((obstacle.centre,), obstacle.radius),)
    if isinstance(obstacle, Capsule):
        ends = (obstacle.start, obstacle.end)
        return Strokes(NAME, (ends,), look="cell"), _balls(ends, obstacle.radius)
    assert isinstance(obstacle, Mesh)
    corners = np.array(obstacle.triangles).reshape(-1, 3)
    low, high = corners.min(axis=0), corners.max(axis=0)
    return (_edges((low + high) / 2, high - low, np.eye(3)),)


def _edges(centre: Array, size: Array, turn: Array) -> Strokes:
    """The twelve edges of a box; of a mesh, those of the box round it."""
    signs = list(product((-0.5, 0.5), repeat=3))
    corner = {s: tuple(float(v) for v in centre + turn @ (size * s)) for s in signs}
    pairs = [(a, b) for a in signs for b in signs if a < b and sum(u != v for u, v in zip(a, b, strict=True)) == 1]
    lines = tuple(((*corner[a],), (*corner[b],)) for a, b in pairs)
    return Strokes(NAME, lines, look="cell")  # type: ignore[arg-type]


def _balls(centres: tuple[Point, ...], radius: float) -> Ellipsoids:
    axes = ((radius, 0.0, 0.0), (0.0, radius, 0.0), (0.0, 0.0, radius))
    return Ellipsoids(NAME, centres, (axes,) * len(centres), look="cell")
