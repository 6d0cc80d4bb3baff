"""What a plan keeps clear of unless a wider cell is asked for, and what of it was checked.

    floor            nothing of the arm, its tool and payload below the foot of the robot
    keep-out         the forearm and what follows stay out of a cylinder round the first axis
    self-collision   shapes of the robot file (a URDF's collisions), else capsules whose radii go by its size
    free axes        axes that turn more than once stay within half a turn to either side: hoses, cables
    ways             the straight joint-space way from home to the first pose and from pose to pose

Parts that always touch (the foot and the floor, neighbours) are left out by themselves, and named.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from elastocal.design.candidates import CandidateSet, Poses, free_axes, joint_ranges, programmable
from elastocal.design.cell import Link, Safety
from elastocal.design.feasibility.collision import Obstacles, SelfCollision, collision_pairs, cut_short, obstacle_pairs
from elastocal.design.feasibility.filter import Filter, Removed, screened_by
from elastocal.design.feasibility.places import JointLimits, LineOfSight
from elastocal.design.loading import Hanging, Loading
from elastocal.design.obstacles import Capsule, Floor, Obstacle
from elastocal.design.route import Ways
from elastocal.design.task import PlanTask
from elastocal.model.loads.payload import Payload
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

RADIUS = 0.035
"""Radius of a link over the length of the arm: 0.14 m of a KR 270, 0.05 m of a 10 kg arm."""
THIN = 0.25
"""The same of frames beside the chain (markers) over that of a link."""
HOPS, NEAR = 2, 5
"""Configurations between home and a pose at most, and how many of the nearest are tried."""
KEEP_OUT = 0.1
"""Radius of the keep-out cylinder over the length of the arm."""
DENSITY = 2700.0
"""Of a payload in kg/m^3: its size, where only its mass is known, is that of a ball of aluminium."""


@dataclass(frozen=True)
class Check:
    """One thing that was ``done`` or not, in words."""

    code: str
    done: bool
    text: str


def safe_task(task: PlanTask) -> PlanTask:
    """The task with what its ``safety`` asks for; what the task states itself stays as it is."""
    safety, model = task.safety, task.model
    if safety is None or safety.wide or not model.n:
        return task
    guards = (*_floor(task, safety), *_keep_out(model, safety))
    links = task.cell.links or body(
        model, RADIUS * model.size, None if task.measuring.kind != "contact" else task.load_frame
    )
    cell = replace(task.cell, links=links, guards=guards)
    given = {f.kind for f in task.filters}
    more: list[Filter] = []
    if Obstacles.kind not in given and (guards or cell.obstacles):
        more.append(Obstacles())
    if SelfCollision.kind not in given and safety.self_collision:
        more.append(SelfCollision())
    loads = tuple(_above(load, safety.floor, model) for load in task.loadings)
    draw = replace(task.draw, turn=safety.turn)
    filters = (*_narrowed(task.filters, model, safety.turn), *more)
    return replace(task, cell=cell, filters=filters, loadings=loads, draw=draw)


def body(model: Robot, radius: float, pressing: str | None = None) -> tuple[Link, ...]:
    """Shapes of the robot file; where it has none capsules from frame to frame, to the tool and to every other frame;
    balls round payloads.

    What leads to a frame that is ``pressing`` on something is thin, since it must come near; a tool is no thicker than
    the thinnest shape of what carries it.
    """
    arm = {f.name for f in model.tree.path(model.tool)}
    out = [Link.of(shape) for shape in model.shapes]
    known = {shape.frame for shape in model.shapes}
    for frame in model.tree.frames:
        slides = frame.joint is not None and frame.joint.kind == "prismatic"
        shown = frame.name in known if frame.joint is None else frame.parent in known and not slides
        if (frame.pose.translation.any() or slides) and not shown:
            thin = frame.name not in arm or frame.name == pressing
            own = min([radius, *(s.radius for s in model.shapes if s.frame == frame.parent)])
            out.append(Link(frame.parent, frame.name, THIN * radius if thin else own))
    for load in (e for e in model.elements if isinstance(e, Payload) and e.mass > 0):
        ball = float(np.cbrt(3 * load.mass / (4 * np.pi * DENSITY)) + np.linalg.norm(load.moment) / load.mass)
        out.append(Link(load.frame, load.frame, ball))
    return tuple(out)


def home_pose(task: PlanTask, candidates: CandidateSet) -> Array:
    """Joint values (n,) of the task's home.

    Else zero of the axes, the middle of the ranges, or the candidate nearest to it: the first that all filters allow.
    """
    model = task.model
    if task.home is not None:
        return np.asarray(task.home)
    low, high = joint_ranges(model, task.draw.turn)
    middle, span = (low + high) / 2, np.where(high > low, high - low, 1.0)
    near = candidates.poses.q[np.argsort(np.max(np.abs(candidates.poses.q - middle) / span, axis=1))[:8]]
    usual = np.concatenate(
        [model.controller.to_joints(np.zeros((1, model.n))), programmable(model, middle[None]), near]
    )
    places = CandidateSet.of(Poses(model, usual), (), candidates.frame)
    filters = [f for f in task.filters if f.kind in (JointLimits.kind, Obstacles.kind, SelfCollision.kind)]
    good = np.ones(len(usual), dtype=bool)
    good[[row for row, _, _ in model.beyond_limits(usual)]] = False
    for each in filters:
        good &= each.passes(places, task.cell)
    return np.asarray(usual[int(np.argmax(good))] if good.any() else near[0])


@dataclass(frozen=True, eq=False)
class Access:
    """How the arm comes from ``home`` (n,) to configurations: ``over`` which others (k, n), by the bytes of their q.

    Every straight way of it is free.
    """

    home: Array
    over: Mapping[bytes, Array]

    def between(self, start: Array, end: Array) -> Array | None:
        """Configurations (k, n) between two, by way of home; None where one of them is not known."""
        a, b = (self._to(q) for q in (start, end))
        return None if a is None or b is None else np.concatenate([a[::-1], self.home[None], b])

    def _to(self, q: Array) -> Array | None:
        if np.array_equal(q, self.home):
            return np.zeros((0, len(q)))
        return self.over.get(np.ascontiguousarray(q).tobytes())


def accessible(task: PlanTask, candidates: CandidateSet) -> tuple[CandidateSet, Access, Removed]:
    """Candidates whose configurations can be come to from home by free straight ways, over ``HOPS`` others at most."""
    home, q = home_pose(task, candidates), candidates.poses.q
    ways = Ways(task.model, task.cell, task.filters)
    free = np.array([not word for word in ways.blocked(np.repeat(home[None], len(q), axis=0), q)])
    over = {q[i].tobytes(): np.zeros((0, len(home))) for i in np.flatnonzero(free)}
    for _ in range(HOPS):
        left, known = np.flatnonzero(~free), np.flatnonzero(free)
        if not len(left) or not len(known):
            break
        near = np.array([known[np.argsort(np.max(np.abs(q[known] - q[i]), axis=1))[:NEAR]] for i in left])
        words = ways.blocked(np.repeat(q[left], near.shape[1], axis=0), q[near.ravel()])
        clear = np.array([not w for w in words]).reshape(near.shape)
        for i, row, good in zip(left, near, clear, strict=True):
            if good.any():
                via = q[row[int(np.argmax(good))]]
                over[q[i].tobytes()] = np.concatenate([over[via.tobytes()], via[None]])
                free[i] = True
    keep = free[candidates.at]
    (step,) = screened_by((), "way from home", keep)
    return (candidates if keep.all() else candidates.picked(np.flatnonzero(keep))), Access(home, over), step


def safety_checks(task: PlanTask, blocked: int) -> tuple[Check, ...]:
    """What was checked for the poses and ways of a plan, and what was not; ``blocked`` ways are not free."""
    cell, kinds = task.cell, {f.kind for f in task.filters}
    shapes, turn, free = Obstacles.kind in kinds and bool(cell.links), task.draw.turn, free_axes(task.model)
    floor = next((g for g in (*cell.guards, *cell.obstacles) if isinstance(g, Floor)), None)
    keep = next((g for g in cell.guards if isinstance(g, Capsule)), None)
    solid = ", ".join(o.label for o in cell.obstacles if not isinstance(o, Floor))
    half = f"{np.degrees(np.pi if turn is None else turn):.0f} deg"
    height = "" if floor is None else f" at z = {1e3 * floor.height:.0f} mm of the base"
    radius = "" if keep is None else f", radius {1e3 * keep.radius:.0f} mm"
    checks = (
        ("joint-limits", True, "joint limits of the robot file"),
        *((("free-axes", turn is not None, f"{', '.join(free)} within {half} of zero"),) if free else ()),
        ("floor", shapes and floor is not None, f"floor{height}, with tool and payload"),
        ("keep-out", shapes and keep is not None, f"keep-out cylinder round the first axis{radius}"),
        ("self-collision", SelfCollision.kind in kinds and bool(cell.links), f"the arm with itself, {_judged(task)}"),
        ("obstacles", shapes and bool(solid), f"obstacles: {solid}" if solid else "obstacles (none are stated)"),
        ("ways", shapes and not blocked, "straight joint-space ways from home to the first pose and from pose to pose"),
        *_sight(task),
        ("outside", False, "people, fixtures, hoses and cables, and the way from where the robot stands to home"),
    )
    return tuple(Check(*each) for each in checks)


def _sight(task: PlanTask) -> tuple[tuple[str, bool, str], ...]:
    """Of a campaign without loads, which a tracker reads: whether it sees the markers."""
    if task.prior is None:
        return ()
    done = LineOfSight.kind in {f.kind for f in task.filters}
    return (("line-of-sight", done, f"line of sight to the tracker{'' if done else ' (its place is not stated)'}"),)


def _judged(task: PlanTask) -> str:
    """What stands for the links of the arm."""
    shapes = dict.fromkeys(link.start for link in task.cell.links if link.places)
    others = dict.fromkeys(link.label for link in task.cell.links if not link.places)
    by = f"by shapes of the robot file ({', '.join(shapes)})" if shapes else ""
    rest = f"by capsules ({', '.join(others)})" if shapes else "by capsules from joint to joint"
    return " and ".join(word for word in (by, rest if others else "") if word)


def always_touching(task: PlanTask) -> tuple[str, ...]:
    """Pairs that are not compared, or not by their capsules, because they touch in every configuration."""
    cell, kinds, out = task.cell, {f.kind for f in task.filters}, list[str]()
    if Obstacles.kind in kinds:
        clearance = next(f.clearance for f in task.filters if isinstance(f, Obstacles))
        pairs = obstacle_pairs(task.model, cell, clearance)
        out += _counted([p.text for p in pairs if p.by != "capsule"], [p.text for p in pairs])
    if SelfCollision.kind in kinds:
        short = cut_short(task.model, cell.links)
        how = {True: "not compared", False: "compared without the ends that face each other"}
        named = [f"{a.label} with {b.label} ({how[short[a, b] is None]})" for a, b in short]
        every = [
            f"{a.label} with {b.label} ({word})"
            for a, b in collision_pairs(task.model, cell.links)
            for word in how.values()
        ]
        out += _counted(named, every)
    return tuple(out)


def _counted(left: list[str], every: list[str]) -> list[str]:
    """Each once; where it stands for some of several pieces, how many."""
    many = Counter(left)
    return [
        text if n == every.count(text) else f"{text.removesuffix(')')}, {n} of {every.count(text)} pieces)"
        for text, n in many.items()
    ]


def _floor(task: PlanTask, safety: Safety) -> tuple[Obstacle, ...]:
    stated = any(isinstance(o, Floor) for o in task.cell.obstacles)
    return () if safety.floor is None or stated else (Floor(name="floor", height=safety.floor),)


def _keep_out(model: Robot, safety: Safety) -> tuple[Obstacle, ...]:
    """A capsule round the first axis up to the second joint, where the first one turns about the vertical."""
    first = [f for f in model.tree.path(model.tool) if f.joint is not None]
    if safety.keep_out is None or len(first) < 3 or first[0].joint is None or first[0].joint.kind != "revolute":
        return ()
    some = Poses(model.nominal, np.zeros((1, model.n)))
    axis = some.rotation(first[0].name)[0] @ first[0].joint.unit_axis
    if abs(axis[2]) < 1 - 1e-6:
        return ()
    radius = KEEP_OUT * model.size if safety.keep_out == "size" else safety.keep_out
    x, y, _ = (float(v) for v in some.origin(first[0].name)[0])
    top = float(some.origin(first[1].name)[0, 2]) - radius
    return (Capsule(name="keep-out cylinder", start=(x, y, min(0.0, top)), end=(x, y, max(0.0, top)), radius=radius),)


def _above(load: Loading, floor: float | None, model: Robot) -> Loading:
    """A weight hangs above the floor as well."""
    down = np.allclose(model.gravity[:2], 0) and model.gravity[2] < 0
    if floor is None or not down or not isinstance(load, Hanging) or load.floor is not None:
        return load
    return replace(load, floor=floor)


def _narrowed(filters: tuple[Filter, ...], model: Robot, turn: float | None) -> tuple[Filter, ...]:
    """Joint limits with free axes held within ``turn``, where they are not stated."""
    free = free_axes(model)
    if turn is None or not free:
        return filters
    limits = next((f for f in filters if isinstance(f, JointLimits)), JointLimits())
    axes = {**dict.fromkeys(free, (-turn - 1e-9, turn + 1e-9)), **limits.axes}
    return (replace(limits, axes=axes), *(f for f in filters if f is not limits))
