"""Maps over places of a workpiece, with the robot, the floor and the program drawn in them."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from numpy import array, concatenate, isfinite, linspace, nan, where

from elastocal.report.blocks import Axis, Heatmap, Series

if TYPE_CHECKING:
    from elastocal.model.places import Reached
    from elastocal.model.robot import Robot
    from elastocal.spatial.entries import Array

XYZ = "xyz"
ROOM = 0.5
"""About a map, over its longest side."""


def place_map(
    key: str, title: str, name: str, unit: str, at: Reached, values: Array, drawn: tuple[Series, ...] = ()
) -> Heatmap:
    """Values (N,) over the plane, in mm of the object's axes."""
    plane = at.plane
    x, y = (tuple(1e3 * float(v) for v in values) for values in plane.values)
    first, second = (XYZ[i] for i in plane.axes)
    lost = int((~at.reached).sum())
    unknown = int((at.reached & ~isfinite(values)).sum())
    notes = [
        f"At {XYZ[plane.normal]} = {1e3 * plane.height:.4g} mm of the work object; the tool keeps its orientation."
    ]
    notes += (
        [f"{lost} of {len(at.reached)} places are not reached within the joint limits and stay empty."] if lost else []
    )
    notes += (
        [f"At {unknown} places the loaded equilibrium is not determined: backlash carries no force."] if unknown else []
    )
    return Heatmap(key, title, Axis(first, "mm", x), Axis(second, "mm", y), name, unit, at.table(values), tuple(notes),
                   equal=True, drawn=drawn)  # fmt: skip


def drawn_robot(model: Robot, near: Array, at: Reached, frame: str) -> tuple[Series, ...]:
    """The arm as it stands at one place, and the floor where the plane is upright, seen along the plane's normal."""
    from elastocal.model.skeleton import skeleton

    plane = at.plane
    line = 1e3 * plane.seen(skeleton(model, near[None], tip=frame).line[0])
    out = [_path("robot", _cut(line, at), at, "robot")]
    down = plane.object.rotation.T @ model.gravity
    if abs(down[plane.normal]) < 0.1 * float(abs(down).max()) and plane.axes[1] == int(abs(down).argmax()):
        floor = 1e3 * plane.seen(line[0] * 0)[plane.axes[1]]
        low, high = _window(at)
        ends = (max(float(line[:, plane.axes[0]].min()), low[0]), high[0])
        if not low[1] < floor < high[1]:
            return tuple(out)
        out.append(Series("floor", ends, (float(floor),) * 2, role="floor"))
    return tuple(out)


def _window(reached: Reached) -> tuple[Array, Array]:
    """What is drawn, mm: the map and some room about it, so that a far robot does not make it small."""
    ends = 1e3 * array([[v.min(), v.max()] for v in reached.plane.values])
    room = ROOM * float((ends[:, 1] - ends[:, 0]).max())
    return ends[:, 0] - room, ends[:, 1] + room


def _cut(line: Array, reached: Reached) -> Array:
    """Points along a line, nan outside of what is drawn."""
    steps = linspace(0, 1, 60)[:, None]
    dense = concatenate([a + steps * (b - a) for a, b in pairwise(line)])
    low, high = _window(reached)
    seen = dense[:, list(reached.plane.axes)]
    inside = array(((seen >= low) & (seen <= high)).all(axis=1))
    return where(inside[:, None], dense, nan)


def drawn_path(points: Array, at: Reached) -> Series:
    """The program in the plane."""
    return _path("program", 1e3 * at.plane.seen(points), at, "program")


def _path(name: str, points: Array, reached: Reached, role: str) -> Series:
    first, second = (tuple(float(v) for v in points[:, i]) for i in reached.plane.axes)
    return Series(name, first, second, role=role)  # type: ignore[arg-type]
