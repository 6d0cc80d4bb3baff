"""Figures in a plane: contour tracking seen from above, force-deflection loops, and maps over places of a workpiece.

Contour tracking (002 figure 1) is drawn to scale, with robot, objects, contacts and forces.  Loops are readings with
their four lines; a number by direction is a polar map.  Maps of places show the robot, the floor and the program.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np

from elastocal.model.statics.loaded_arm import skeleton
from elastocal.report.blocks import Axis, Heatmap, Lines, Series, floats
from elastocal.report.colours import Role

if TYPE_CHECKING:
    from elastocal.model.places import Reached
    from elastocal.model.robot import Robot
    from elastocal.procedures.contact.plan import ContactScene
    from elastocal.procedures.loops.directions import DirectionFit
    from elastocal.procedures.loops.fit import LoopFit
    from elastocal.procedures.loops.loop import Estimate
    from elastocal.spatial.entries import Array, Bools


LONGEST, CLIPPED = 0.13, 2.0
"""Length of the largest measured force as a share of the picture; a model's arrow is cut at so many times that."""


def contact_lines(when: Literal["before", "after"], scene: ContactScene) -> Lines:
    """Forces read and forces of the model before or after calibration."""
    everything = np.concatenate([*scene.arms, *scene.outlines, scene.points])
    extent = float(np.max(np.ptp(everything, axis=0)))
    most = float(np.nanmax(np.linalg.norm(scene.felt, axis=1)))
    scale = LONGEST * extent / most
    sizes = np.linalg.norm(scene.expected, axis=1)
    cut = int(np.sum(sizes > CLIPPED * most))
    factor = np.minimum(1.0, CLIPPED * most / np.maximum(sizes, 1e-12))[:, None]
    notes: tuple[str, ...] = (
        f"Seen along z, the arm at the first contact with each object; the longest measured force is {most:.3g} N.",
    )
    if cut:
        notes += (
            f"{cut} arrows of the model are cut at {CLIPPED * most:.3g} N; the largest is {np.nanmax(sizes):.3g} N.",
        )
    if none := int(np.sum(sizes == 0)):
        notes += (f"In {none} contacts the model does not touch the object at all.",)
    series = (
        _outlines("objects", scene.outlines, "floor"),
        _outlines("robot", scene.arms, "robot"),
        _outlines("force measured", _arrows(scene.points, scale * scene.felt, 0.015 * extent), "read"),
        _outlines("force of the model", _arrows(scene.points, scale * factor * scene.expected, 0.02 * extent), when),
        Series("contacts", floats(1e3 * scene.points[:, 0]), floats(1e3 * scene.points[:, 1]), True, role="read"),
    )
    return Lines(
        f"contour_{when}", f"Contour tracking {when} calibration", "x", "mm", "y", "mm", series, notes, equal=True
    )


def _arrows(points: Array, forces: Array, head: float) -> list[Array]:
    """Shaft and head of every force as one line."""
    out = []
    for start, force in zip(points, forces, strict=True):
        length = float(np.linalg.norm(force))
        if not length > 0 or not np.isfinite(start).all():
            continue
        along = force / length
        across = np.array([-along[1], along[0]])
        end = start + force
        barb = min(head, 0.5 * length)
        sides = [end - barb * (along + s * 0.5 * across) for s in (1, -1)]
        out.append(np.array([start, end, sides[0], end, sides[1]]))
    return out


def _outlines(name: str, lines: Sequence[Array], role: Role) -> Series:
    """Lines as one curve, parted by points without a height."""
    x: list[float] = []
    y: list[float] = []
    for line in lines:
        x += [*floats(1e3 * line[:, 0]), 1e3 * float(line[-1, 0])]
        y += [*floats(1e3 * line[:, 1]), float("nan")]
    return Series(name, tuple(x), tuple(y), role=role)


_LINES = (
    ("loading, F > 0", 1, 1),
    ("unloading, F > 0", 1, -1),
    ("loading, F < 0", -1, -1),
    ("unloading, F < 0", -1, 1),
)


def loop_graphs(key: str, title: str, fit: LoopFit, notes: tuple[str, ...] = ()) -> tuple[Lines, ...]:
    """Displacement against force, and what the compliance leaves of it: the gap and the hysteresis, which it hides."""
    whole = Lines(key, title, "force", "N", "displacement", "um", _series(fit, 0.0), notes)
    p = fit.compliance.value
    if not np.isfinite(p):
        return (whole,)
    name = "displacement less p F"
    return whole, Lines(f"{key}_gap", f"{title}: gap and hysteresis", "force", "N", name, "um", _series(fit, p), notes)


def _series(fit: LoopFit, off: float) -> tuple[Series, ...]:
    """Readings less the offset of their cycle, and the fitted lines drawn to zero force; both less ``off`` F."""
    loop = fit.loop
    read = 1e6 * (loop.displacement - fit.offsets - off * loop.force)
    groups: tuple[tuple[str, Role, Bools], ...] = (("readings", "read", fit.used), ("left out", "outlier", ~fit.used))
    series = [
        Series(name, floats(loop.force[at]), floats(read[at]), True, role=role)
        for name, role, at in groups
        if np.any(at)
    ]
    p, g, h = (e.value for e in (fit.compliance, fit.half_gap, fit.half_hysteresis))
    for name, side, branch in _LINES:
        at = fit.used & (loop.side == side) & (loop.branch == branch)
        if np.any(at) and np.isfinite(p + g + h):
            force = np.array([0.0, side * np.max(np.abs(loop.force[at]))])
            series.append(Series(name, floats(force), floats(1e6 * ((p - off) * force + g * side - h * branch))))
    return tuple(series)


def direction_map(
    key: str, title: str, units: Array, numbers: Sequence[Estimate], fit: DirectionFit, notes: tuple[str, ...] = ()
) -> Lines:
    """Directions (n, 2) with their numbers, 95 % bars, and what was fitted: um/N, or the whole gap in um."""
    name, unit, factor = ("backlash", "um", 2e6) if fit.root else ("compliance", "um/N", 1e6)
    turn = np.linspace(0.0, 360.0, 121)
    around = np.column_stack([np.cos(np.radians(turn)), np.sin(np.radians(turn))])
    angles = np.round(np.degrees(np.arctan2(units[:, 1], units[:, 0])) % 360.0, 9)
    values, bars = (factor * np.array([(e.value, e.half_width()) for e in numbers]).reshape(-1, 2)).T
    series = [Series("measured, 95 %", floats(angles), floats(values), True, floats(bars), "read")]
    if fit.principal is not None:
        word = "gap of the ellipse" if fit.root else "matrix"
        series.append(Series(word, floats(turn), floats(factor * fit.at(around)[0])))
    if fit.isotropic.known:
        series.append(Series("one number", floats(turn), (factor * fit.isotropic.value,) * len(turn)))
    return Lines(key, title, "direction", "deg", name, unit, tuple(series), notes, polar=True)


XYZ = "xyz"
ROOM = 0.5
"""About a map, over its longest side."""


def place_map(
    key: str, title: str, name: str, unit: str, at: Reached, values: Array, drawn: tuple[Series, ...] = ()
) -> Heatmap:
    """Values (N,) over the plane, in mm of the object's axes."""
    plane = at.plane
    x, y = (floats(1e3 * values) for values in plane.values)
    first, second = (XYZ[i] for i in plane.axes)
    lost = int((~at.reached).sum())
    unknown = int((at.reached & ~np.isfinite(values)).sum())
    notes = [
        f"At {XYZ[plane.normal]} = {1e3 * plane.height:.4g} mm of the work object; the tool keeps its orientation."
    ]
    if lost:
        notes.append(f"{lost} of {len(at.reached)} places are not reached within the joint limits and stay empty.")
    if unknown:
        notes.append(f"At {unknown} places the loaded equilibrium is not determined: backlash carries no force.")
    return Heatmap(key, title, Axis(first, "mm", x), Axis(second, "mm", y), name, unit, at.table(values), tuple(notes),
                   equal=True, drawn=drawn)  # fmt: skip


def drawn_robot(model: Robot, near: Array, at: Reached, frame: str) -> tuple[Series, ...]:
    """The arm as it stands at one place, and the floor where the plane is upright, seen along the plane's normal."""
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
    ends = 1e3 * np.array([[v.min(), v.max()] for v in reached.plane.values])
    room = ROOM * float((ends[:, 1] - ends[:, 0]).max())
    return ends[:, 0] - room, ends[:, 1] + room


def _cut(line: Array, reached: Reached) -> Array:
    """Points along a line, nan outside of what is drawn."""
    steps = np.linspace(0, 1, 60)[:, None]
    dense = np.concatenate([a + steps * (b - a) for a, b in pairwise(line)])
    low, high = _window(reached)
    seen = dense[:, list(reached.plane.axes)]
    inside = np.array(((seen >= low) & (seen <= high)).all(axis=1))
    return np.where(inside[:, None], dense, np.nan)


def drawn_path(points: Array, at: Reached) -> Series:
    """The program in the plane."""
    return _path("program", 1e3 * at.plane.seen(points), at, "program")


def _path(name: str, points: Array, reached: Reached, role: str) -> Series:
    first, second = (floats(points[:, i]) for i in reached.plane.axes)
    return Series(name, first, second, role=role)  # type: ignore[arg-type]
