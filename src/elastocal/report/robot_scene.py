"""A robot as parts of a scene, and what a picture decides: how much larger to draw small things, and which poses."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from math import floor, isfinite, log10
from typing import TYPE_CHECKING

import numpy as np

from elastocal.model.kinematics import kinematics
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.statics.loaded_arm import Skeleton, loaded_skeletons, skeleton
from elastocal.report.blocks import Scene
from elastocal.report.parts import Arrows, Capsule, Dots, Ellipsoids, Look, Mesh, Part, Point, Solids, Strokes

if TYPE_CHECKING:
    from elastocal.model.frames import Body
    from elastocal.model.robot import Robot
    from elastocal.reduction.prediction import Prediction
    from elastocal.spatial.entries import Array, Ints


UNIT = "m"
THICKEST, THINNEST = 0.045, 0.014
"""Radius of the first and the last link as a share of the picture."""
MARGIN = 0.12
"""Of the floor beyond what stands on it, as a share of the picture."""
SIDES = 16
"""Of a cylinder as drawn."""
LONGEST = 0.15
"""The largest deflection, force or ellipsoid as a share of the picture."""
MOST_ARMS = 8
"""Arms drawn in one picture."""
MOST_MARKS = 200
"""Points, arrows and ellipsoids of one kind in one picture."""


def points(values: Array) -> tuple[Point, ...]:
    """Rows (N, 3) that are known."""
    rows = values[np.isfinite(values).all(axis=1)]
    return tuple((float(x), float(y), float(z)) for x, y, z in rows)


def arm_parts(arms: Skeleton, name: str = "arm", view: str = "", look: Look = "arm") -> tuple[Part, ...]:
    """Links as capsules along the kinematics, thinner towards the tool, and joints about their axes.

    Arms behind others are lines.
    """
    if look != "arm":
        return (Strokes(name, tuple(points(line) for line in arms.line), view, look),)
    thick, thin = THICKEST * arms.extent, THINNEST * arms.extent
    links: list[Capsule] = []
    joints: list[Capsule] = []
    for line, axes in zip(arms.line, arms.axes, strict=True):
        way = points(line)
        for k, (a, b) in enumerate(itertools.pairwise(way)):
            if a != b:
                links.append(Capsule(a, b, thick + (thin - thick) * k / max(1, len(way) - 2)))
        pieces = [points(piece) for piece in axes]
        for k, ends in enumerate(p for p in pieces if len(p) == 2):
            joints.append(Capsule(ends[0], ends[1], 1.15 * (thick + (thin - thick) * (k + 1) / (len(pieces) + 1))))
    return Solids(name, tuple(links), (), view, "arm"), Solids("joints", tuple(joints), (), view, "joint")


def robot_parts(
    model: Robot, q: Array, name: str = "robot", view: str = "", tip: str | None = None, arm: Skeleton | None = None
) -> tuple[Part, ...]:
    """One robot at joint values (n,): the bodies that its file draws, and capsules along its kinematics where they
    leave out most links that move, as those of a file whose links are meshes and whose table is a box.

    ``arm`` is its skeleton, where that is known already."""
    moved = _moved_with(model, tip or model.tool)
    capsules: tuple[Part, ...] = ()
    if 2 * len({moved.get(b.frame, "") for b in model.bodies} - {""}) < len(set(moved.values()) - {""}):
        capsules = arm_parts(arm or skeleton(model, q[None], tip=tip), name, view)
    if not model.bodies:
        return capsules
    frames = {b.frame: kinematics(model, q[None], b.frame) for b in model.bodies}
    shapes: list[Capsule | Mesh] = []
    for body in model.bodies:
        at = frames[body.frame]
        turn = at.rotation[0] @ body.pose.rotation
        place = at.position[0] + at.rotation[0] @ body.pose.translation
        shapes.append(_shape(body, place, turn))
    return *capsules, Solids(name, tuple(shapes), tuple(b.frame for b in model.bodies), view, "arm")


def _moved_with(model: Robot, tip: str) -> dict[str, str]:
    """The last joint before every frame on the way to a frame, "" before the first."""
    last, out = "", {}
    for frame in model.tree.path(tip):
        last = frame.name if frame.joint is not None else last
        out[frame.name] = last
    return out


def _shape(body: Body, place: Array, turn: Array) -> Capsule | Mesh:
    if body.corners is not None and body.faces is not None:
        return Mesh(points(place + body.corners @ turn.T), tuple((int(a), int(b), int(c)) for a, b, c in body.faces))
    if body.kind == "sphere":
        (centre,) = points(place[None])
        return Capsule(centre, centre, body.sizes[0])
    if body.kind == "box":
        signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        corners = points(place + (signs * np.array(body.sizes) / 2) @ turn.T)
        quads = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
        return Mesh(corners, tuple(f for a, b, c, d in quads for f in ((a, b, c), (a, c, d))))
    radius, length = body.sizes
    angle = 2 * np.pi * np.arange(SIDES) / SIDES
    ring = np.stack([radius * np.cos(angle), radius * np.sin(angle), np.zeros(SIDES)], axis=1)
    ends = [ring + np.array([0.0, 0.0, s * length / 2]) for s in (-1, 1)]
    middles = [[0.0, 0.0, s * length / 2] for s in (-1, 1)]
    corners = points(place + np.concatenate([*ends, middles]) @ turn.T)
    faces = []
    for k in range(SIDES):
        m = (k + 1) % SIDES
        faces += [
            (k, m, SIDES + m),
            (k, SIDES + m, SIDES + k),
            (2 * SIDES, m, k),
            (2 * SIDES + 1, SIDES + k, SIDES + m),
        ]
    return Mesh(corners, tuple(faces))


def floor_part(model: Robot, *places: Array) -> tuple[Part, ...]:
    """The plane that the robot stands on, below all places (N, 3); nothing for one on a wall or a ceiling."""
    down = np.asarray(model.gravity, dtype=np.float64)
    if not (np.linalg.norm(down[:2]) < 0.1 * np.linalg.norm(down) and down[2] < 0):
        return ()
    every = np.concatenate([np.zeros((1, 3)), *(p.reshape(-1, 3) for p in places)])
    low, high = np.nanmin(every, axis=0), np.nanmax(every, axis=0)
    beyond = MARGIN * float(np.max(high - low))
    (a, b), (c, d) = (low[:2] - beyond).tolist(), (high[:2] + beyond).tolist()
    corners = ((a, b, 0.0), (c, b, 0.0), (c, d, 0.0), (a, d, 0.0))
    return (Solids("floor", (Mesh(corners, ((0, 1, 2), (0, 2, 3))),), (), "", "floor"),)


def scene_of_poses(
    key: str, title: str, model: Robot, q: Array, wrench: Array, load_frame: str, tracker: Array | None = None
) -> Scene:
    """All poses as points with their loads, the arm at some of them, the floor and the tracker."""
    arms = skeleton(model, q)
    rows = spread_out(arms.tip, MOST_ARMS)
    starts, forces = load_forces(model, q, AppliedWrenches(load_frame or model.tool, wrench))
    scale, scale_note = force_scale(forces, arms.extent)
    parts: list[Part] = [
        *floor_part(model, arms.line, *(() if tracker is None else (np.asarray(tracker)[None],))),
        dots("poses", arms.tip, [f"pose {i + 1}" for i in range(len(q))], look="after"),
    ]
    if scale:
        parts.append(force_arrows(starts, forces, scale))
    if tracker is not None:
        parts.append(dots("tracker", np.asarray(tracker)[None], ["tracker"], look="cell"))
    for i in rows:
        parts += robot_parts(model, q[i], "robot", f"pose {i + 1}", arm=arms.picked(np.array([i])))
    notes = ((scale_note,) if scale else ()) + drawn_words(len(rows), len(q))
    return Scene(key, title, UNIT, tuple(parts), notes)


def dots(name: str, places: Array, words: Sequence[str] = (), view: str = "", look: Look = "plain") -> Dots:
    """Places (N, 3), those that are known."""
    return Dots(name, points(places), _known(words, places), view, look)


def arrows(
    name: str,
    starts: Array,
    vectors: Array,
    factor: float,
    words: Sequence[str] = (),
    view: str = "",
    look: Look = "plain",
) -> Arrows:
    """Vectors (N, 3) at their starts (N, 3), drawn ``factor`` times larger; those that are known and not zero."""
    ends = starts + factor * vectors
    ends[~np.any(vectors != 0, axis=1)] = np.nan
    ends[~np.isfinite(starts).all(axis=1)] = np.nan
    kept = np.where(np.isfinite(ends).all(axis=1, keepdims=True), starts, np.nan)
    return Arrows(name, points(kept), points(ends), _known(words, ends), view, look)


def ellipsoids(name: str, centres: Array, prediction: Prediction, factor: float, view: str = "") -> Ellipsoids:
    """The one-sigma ellipsoids of a prediction at (N, 3), drawn ``factor`` times larger; those that are known."""
    sizes, directions = prediction.ellipsoid()
    rows = np.flatnonzero(np.isfinite(sizes).all(axis=1) & np.isfinite(centres).all(axis=1))
    scaled = factor * directions * sizes[:, None, :]
    axes = tuple((a, b, c) for a, b, c in (points(scaled[i].T) for i in rows))
    words = tuple(" x ".join(f"{1e6 * v:.3g}" for v in sizes[i]) + " um" for i in rows)
    return Ellipsoids(name, points(centres[rows]), axes, words, view, "expected")


def load_forces(model: Robot, q: Array, load: AppliedWrenches) -> tuple[Array, Array]:
    """Where the load acts on the unloaded arm, and its force in base axes: (N, 3) m and (N, 3) N."""
    at = kinematics(model, q, load.frame)
    force = np.broadcast_to(load.wrench[:, :3], (len(q), 3))
    return at.position, np.einsum("nij,nj->ni", at.rotation, force) if load.follows else np.array(force)


def force_scale(forces: Array, extent: float) -> tuple[float, str]:
    """m of picture per N, such that the largest of (N, 3) takes LONGEST of it; the same in words."""
    most = float(np.nanmax(np.linalg.norm(forces, axis=1), initial=0.0))
    if not most:
        return 0.0, "No force acts; moments have no arrow."
    return LONGEST * extent / most, f"The longest arrow of a load stands for {most:.4g} N."


def force_arrows(starts: Array, forces: Array, scale: float, view: str = "") -> Arrows:
    """Forces (N, 3) in N at their places, ``scale`` m per N."""
    words = [f"{size:.4g} N" for size in np.linalg.norm(forces, axis=1)]
    return arrows("load", starts, forces, scale, words, view, "load")


def loaded_arm(
    model: Robot, q: Array, tip: str | None, start: Array, force: Array, scale: float, view: str,
    arm: Skeleton | None = None,
) -> tuple[Part, ...]:  # fmt: skip
    """The robot at joint values (n,) and the forces (N, 3) on it, seen together."""
    return *robot_parts(model, q, "arm", view, tip, arm), force_arrows(start, force, scale, view)


def drawn_words(count: int, total: int, what: str = "poses") -> tuple[str, ...]:
    """Says that not everything is drawn."""
    return (f"{count} of {total} {what} are drawn, far from each other.",) if count < total else ()


def loaded_scene(
    key: str,
    title: str,
    model: Robot,
    q: Array,
    load: AppliedWrenches | None,
    names: Sequence[str],
    sag: bool = False,
) -> Scene:
    """One view per pose: the arm at rest and, enlarged, under its load; ``sag`` takes the rigid arm for rest.

    At most MOST_ARMS poses far from each other are drawn.
    """
    rows = spread_out(skeleton(model, q).tip, MOST_ARMS)
    at = q[rows]
    applied = () if load is None else (load if len(load.wrench) == 1 else load.picked(rows),)
    rest, bent = loaded_skeletons(model, at, applied, rigid=sag)
    factor = enlargement(rest.extent, float(np.nanmax(np.linalg.norm(bent.line - rest.line, axis=2), initial=0.0)))
    large = rest.enlarged(bent, factor)
    parts: list[Part] = [*floor_part(model, rest.line)]
    notes = [f"Deflections are drawn {times(factor)}."]
    for i, row in enumerate(rows):
        parts += arm_parts(rest.picked(np.array([i])), "at rest", names[row], "faint")
        parts += arm_parts(large.picked(np.array([i])), f"bent, {times(factor)}", names[row])
    for wrench in applied:
        starts, forces = load_forces(model, at, wrench)
        scale, scale_note = force_scale(forces, rest.extent)
        parts += [force_arrows(starts[[i]], forces[[i]], scale, names[row]) for i, row in enumerate(rows)]
        notes.append(scale_note)
    return Scene(key, title, UNIT, tuple(parts), (*notes, *drawn_words(len(rows), len(q))))


def _known(words: Sequence[str], places: Array) -> tuple[str, ...]:
    rows = np.flatnonzero(np.isfinite(places).all(axis=1))
    return tuple(words[int(i)] for i in rows) if words else ()


def enlargement(extent: float, largest: float) -> float:
    """1, 2 or 5 times a power of ten, at most such that ``largest`` takes LONGEST of the picture; 1 for nothing."""
    if not (isfinite(largest) and largest > 0 and isfinite(extent) and extent > 0):
        return 1.0
    wanted = LONGEST * extent / largest
    power = 10.0 ** floor(log10(wanted))
    return power * max(d for d in (1.0, 2.0, 5.0) if d * power <= wanted * (1 + 1e-12))


def times(factor: float) -> str:
    """A factor in words: "200 times larger"."""
    return "to scale" if factor == 1 else f"{factor:,.10g} times larger".replace(",", " ")


def spread_out(points: Array, most: int, first: Sequence[int] = ()) -> Ints:
    """At most ``most`` rows of (N, 3) that lie far from each other, in their order; those of ``first`` come first.

    Each next one is the farthest from all that are chosen; the same for any scale and turn of the picture.
    """
    known = np.flatnonzero(np.isfinite(points).all(axis=1))
    places = points[known]
    wanted = [int(np.flatnonzero(known == i)[0]) for i in dict.fromkeys(first) if i in known]
    chosen = (wanted or list(range(min(1, len(known)))))[:most]
    gap = np.full(len(known), np.inf)
    for i in chosen:
        gap = np.minimum(gap, np.linalg.norm(places - places[i], axis=1))
    while len(chosen) < most and len(known) and gap.max() > 0:
        chosen.append(int(np.argmax(gap)))
        gap = np.minimum(gap, np.linalg.norm(places - places[chosen[-1]], axis=1))
    return np.sort(known[chosen]).astype(np.int64)


def thinned(count: int, most: int) -> Ints:
    """At most ``most`` of ``count`` rows, evenly, both ends included."""
    return np.unique(np.round(np.linspace(0, count - 1, min(most, count)))).astype(np.int64)
