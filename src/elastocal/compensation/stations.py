"""Places along a program where its command is corrected, in the order of execution, and where they are for the robot.

A station is a target where a move first uses it, or a point on an arc that a corrected program runs through in chords.
Between two targets the tool goes

    line:  p(s) = p_0 + s (p_1 - p_0),   R(s) = R_0 exp(s log(R_0^T R_1))
    arc:   p(s) = c + Rot(axis, s angle) (p_0 - c) + s rise

Bases and tools of the program become frames of the model; seen from the robot the tool is at

    T_robot_tool = T_robot_base T_base_tool         (base of the program)

and axis values become the pose that the controller takes them for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property, lru_cache
from math import acos, ceil, cos, pi

import numpy as np
from numpy.typing import NDArray

from elastocal.compensation.program import Inserted, Move, Program
from elastocal.errors import MissingError, RangeError, ShapeError, UnsupportedError
from elastocal.model.frames import BASE, Frame
from elastocal.model.kinematics import rigid_pose
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.spatial.pose import Pose
from elastocal.spatial.rotation import Rotation
from elastocal.values import dataclass


def between(program: Program, number: int, shares: Array) -> Inserted:
    """Nominal targets at ``shares`` (k,) of a move, each in (0, 1)."""
    move = program.moves[number]
    if move.start is None or not (move.motion == "linear" or move.arc):
        raise UnsupportedError(
            f"{move.file}, line {move.line}: is not a line or arc with a known start; leave it as it is",
            code="no-known-start",
        )
    one, two = program.targets[move.start], program.targets[move.end]
    if "joints" in (one.kind, two.kind) or (one.base, one.tool) != (two.base, two.tool):
        raise UnsupportedError(
            f"{move.file}, line {move.line}: starts in another frame or from axis values; leave it as it is",
            code="another-start",
        )
    a, b = program.positions[move.start], program.positions[move.end]
    s = np.asarray(shares, dtype=float)[:, None]
    places = a + s * (b - a)
    if move.arc and len(s):
        centre, axis = np.array(move.arc.centre), np.eye(3)[move.arc.axis]
        turns = Rotation.from_rotvec(s * move.arc.angle * axis)
        places = centre + turns.apply(a - centre) + s * move.arc.rise * axis
    ends = program.rotations[[move.start, move.end]]
    if np.isnan(ends).any() or not len(s):
        return Inserted(places, np.full((len(s), 3, 3), np.nan))
    if np.array_equal(*ends):
        return Inserted(places, np.repeat(ends[:1], len(s), axis=0))
    first, last = np.repeat(ends[:, None], len(s), axis=1)
    return Inserted(places, rotations_between(first, last, s[:, 0]))


def rotations_between(first: Array, last: Array, fraction: Array) -> Array:
    """Rotations (K, 3, 3) at fractions (K,) of the turn about one axis from (K, 3, 3) to (K, 3, 3)."""
    start = Rotation.from_matrix(first)
    way = (start.inv() * Rotation.from_matrix(last)).as_rotvec()
    return np.asarray((start * Rotation.from_rotvec(fraction[:, None] * way)).as_matrix())


def chord_shares(program: Program, number: int, tolerance: float) -> Array:
    """Shares (k,) that split an arc into equal chords which stay within ``tolerance`` (m) of it: r (1 - cos(d/2))."""
    move = program.moves[number]
    if move.arc is None or move.start is None:
        return np.empty(0)
    step = min(2 * acos(max(1 - tolerance / _radius(program, move), -1.0)), pi / 2)
    count = max(ceil(abs(move.arc.angle) / step - 1e-9), 1)
    return np.arange(1, count) / count


def chord_height(program: Program, number: int, count: int) -> float:
    """How far (m) an arc is from so many equal chords of it."""
    move = program.moves[number]
    return 0.0 if move.arc is None else _radius(program, move) * (1 - cos(move.arc.angle / (2 * count)))


def _radius(program: Program, move: Move) -> float:
    assert move.arc is not None
    offset = program.positions[move.start] - np.array(move.arc.centre)
    return float(np.linalg.norm(np.delete(offset, move.arc.axis)))


def chords(program: Program, tolerance: float) -> dict[int, Inserted]:
    """The points that stand for the arcs of a program when it is corrected, by number of the move."""
    if not tolerance > 0:
        raise RangeError(f"chords: the tolerance {tolerance} m is not positive; give for example 1e-5", value=tolerance)
    arcs = [i for i, m in enumerate(program.moves) if m.arc]
    return {i: between(program, i, chord_shares(program, i, tolerance)) for i in arcs}


@dataclass(frozen=True, eq=False)
class Stations:
    """``target`` (S,) is the number of the target that a station is or leads to; ``move`` (S,) that of the first move.

    ``share`` (S,) is 1 at a target and the share of the arc before it; ``position`` (S, 3), ``rotation`` (S, 3, 3) are
    in the base of the target, ``joints`` (S, n) the controller's axes, nan where a station does not have them.
    """

    program: Program
    target: Ints
    move: Ints
    share: Array
    position: Array
    rotation: Array
    joints: Array

    def __len__(self) -> int:
        return len(self.target)

    @cached_property
    def whole(self) -> Bools:
        """True (S,) at targets of the program."""
        return np.asarray(self.share == 1.0)

    @cached_property
    def row(self) -> Ints:
        """The station (N,) of every target."""
        out = np.full(len(self.program.targets), -1, dtype=np.int64)
        out[self.target[self.whole]] = np.flatnonzero(self.whole)
        return out

    @cached_property
    def nodes(self) -> Ints:
        """Stations (M, 3) where moves start (where they end, if that is not known), of their auxiliary points (the same
        where they have none), and where they end."""
        moves = self.program.moves
        nodes = [[m.end if t is None else t for t in (m.start, m.via, m.end)] for m in moves]
        return self.row[np.array(nodes, dtype=np.int64).reshape(-1, 3)]

    def way(self, move: int) -> Ints:
        """Stations of a move in order: where it starts, its auxiliary point or those on its arc, and where it ends."""
        start, via, end = self.nodes[move]
        inner = self.arcs.get(move, ())
        return np.array([start, *(inner if len(inner) else [via] * int(via != end)), end], dtype=np.int64)

    @cached_property
    def arcs(self) -> dict[int, Ints]:
        """Stations on the arc of every move that has one, by its number."""
        inner = np.flatnonzero(~self.whole)
        moves, first = np.unique(self.move[inner], return_index=True)
        out = dict(zip(moves.tolist(), np.split(inner, first[1:]), strict=True)) if len(inner) else {}
        empty = np.empty(0, dtype=np.int64)
        return {i: out.get(i, empty) for i, m in enumerate(self.program.moves) if m.arc is not None}

    @cached_property
    def kind(self) -> NDArray[np.str_]:
        """Of the target (S,)."""
        return np.array([t.kind for t in self.program.targets], dtype="U6")[self.target]

    @cached_property
    def by_axes(self) -> Bools:
        """True (S,) where the program gives the axes, not a pose."""
        return np.asarray(self.kind == "joints")

    @cached_property
    def lines(self) -> Ints:
        """Line (S,) of the move."""
        return np.array([m.line for m in self.program.moves], dtype=np.int64)[self.move]

    def name(self, row: int) -> str:
        """``c7 (contour.csv, line 11)``"""
        program, number = self.program, int(self.target[row])
        target, move = program.targets[number], program.moves[int(self.move[row])]
        place = f"{move.file}, line {move.line}"
        if move.via == number:
            place += ", via"
        part = "" if self.whole[row] else f", {100 * self.share[row]:.0f} % of the arc"
        return f"{target.name} ({place}{part})" if target.name else f"{place}{part}"


def stations(program: Program, chord: float) -> Stations:
    """All stations; arcs of G-code get points so that their chords stay within ``chord`` (m) of them."""
    arcs = chords(program, chord) if any(m.arc for m in program.moves) else {}
    at, move, share = visits(program, {i: len(points.positions) for i, points in arcs.items()})
    out = Stations(program, at, move, share, program.positions[at], program.rotations[at], program.joints[at])
    for i, rows in out.arcs.items():
        out.position[rows], out.rotation[rows] = arcs[i].positions, arcs[i].rotations
    return out


def visits(
    program: Program, further: Mapping[int, int], before: Mapping[int, int] | None = None
) -> tuple[Ints, Ints, Array]:
    """Targets (K,) in the order in which moves (K,) first use them, and shares (K,) of these moves, 1 at a target.

    ``further`` are the points that moves pass before their ends, by number of the move, and ``before`` how many of them
    come before the auxiliary point, if not all.
    """
    count = np.zeros(len(program.moves), dtype=np.int64)
    count[list(further)] = list(further.values())
    move = np.repeat(np.arange(len(count)), count + 2)
    place = np.arange(len(move)) - np.repeat(np.cumsum(count + 2) - count - 2, count + 2)
    ends = np.array([m.end for m in program.moves], dtype=np.int64)
    vias = np.array([-1 if m.via is None else m.via for m in program.moves], dtype=np.int64)
    first = count.copy()
    first[list(before or {})] = list((before or {}).values())
    target = np.where(place == first[move], vias[move], ends[move])
    used = (place != first[move]) & (place <= count[move])
    whole = np.flatnonzero(~used & (target >= 0))
    share = np.where(used, (place + (place < first[move])) / (count[move] + 1), 1.0)
    used[whole[np.unique(target[whole], return_index=True)[1]]] = True
    return target[used], move[used], share[used]


@dataclass(frozen=True, eq=False)
class Placed:
    """``model`` has the program's tools as frames; ``position`` (S, 3), ``rotation`` (S, 3, 3) are in robot axes.

    ``reference`` (S, n) are the axes where the program gives them, as joint values, else nan.
    """

    model: Robot
    stations: Stations
    position: Array
    rotation: Array
    reference: Array

    @cached_property
    def frames(self) -> tuple[str, ...]:
        """Tool frame of every station."""
        names = {name: tool_frame(name) for name in self.stations.program.tools}
        tools = [names[t.tool] for t in self.stations.program.targets]
        return tuple(map(tools.__getitem__, self.stations.target.tolist()))

    def base(self, row: int) -> Pose:
        target = self.stations.program.targets[int(self.stations.target[row])]
        return _pose(self.stations.program, "base", target.base)

    def in_robot(self, position: Array, rotation: Array) -> tuple[Array, Array]:
        """Poses (S, 3), (S, 3, 3) in the base of each station, seen from the robot."""
        place, turn = _bases(self.stations)
        return place + np.einsum("nij,nj->ni", turn, position), np.einsum("nij,njk->nik", turn, rotation)

    def in_program(self, position: Array, rotation: Array) -> tuple[Array, Array]:
        """Poses (S, 3), (S, 3, 3) in robot axes, seen from the base of each station."""
        place, turn = _bases(self.stations)
        return np.einsum("nji,nj->ni", turn, position - place), np.einsum("nji,njk->nik", turn, rotation)


WORLD = ("world", "base_frame")
"""Frames of a robot that are the controller's own base: by name, and what becomes of link ``base`` of a URDF."""


def own_base(model: Robot) -> Pose | None:
    """The controller's own base in the robot's root; None where the robot does not say."""
    for name in WORLD:
        frame = next((f for f in model.tree.frames if f.name == name), None)
        if frame is not None and frame.joint is None and frame.parent == BASE:
            at, turn = rigid_pose(model.nominal, name, np.zeros((model.n, 1)))
            return Pose(turn[..., 0], at[..., 0])
    return None


def with_own_base(program: Program, model: Robot, name: str, at_root: bool) -> Program:
    """The program with all bases in the robot's root.

    Its controller's own base ``name`` is taken from the robot where neither the files nor the user state it; bases that
    the user states for such a controller count from there, as its pendant shows them.
    """
    if not name:
        return program
    stated = {base.lower(): pose for base, pose in program.given.bases.items()}
    known = stated.get(name.lower()) or own_base(model)
    own, bases = known or Pose(), dict(program.bases)
    for base, frame in bases.items():
        if base == name and frame.pose is None and (known or at_root):
            bases[base] = frame._replace(pose=own)
        elif base != name and frame.pose is not None and frame.pose is stated.get(base.lower()):
            bases[base] = frame._replace(pose=own @ frame.pose)
    return replace(program, bases=bases)


def tool_frame(name: str) -> str:
    return f"tool {name} of the program"


def with_tools(model: Robot, program: Program, flange: str) -> Robot:
    """The robot with a frame for every tool of the program."""
    model.tree.frame(flange)
    poses = {tool_frame(name): _pose(program, "tool", name) for name in program.tools}
    numbers = ((name, (*p.rotation.ravel().tolist(), *p.translation.tolist())) for name, p in poses.items())
    return _with_frames(model, flange, tuple(numbers))


@lru_cache(maxsize=8)
def _with_frames(model: Robot, flange: str, tools: tuple[tuple[str, tuple[float, ...]], ...]) -> Robot:
    """The same for one piece of a program after another: what is worked out of a robot is kept with it."""
    poses = {name: Pose(np.reshape(numbers[:9], (3, 3)), np.array(numbers[9:])) for name, numbers in tools}
    frames = (*model.tree.frames, *(Frame(name, flange, pose) for name, pose in poses.items()))
    return replace(model, tree=replace(model.tree, frames=frames))


def placed(model: Robot, stations: Stations) -> Placed:
    """``model`` is one ``with_tools``."""
    by_axes = stations.by_axes
    if by_axes.any() and stations.joints.shape[1] != model.n:
        first = stations.program.targets[int(stations.target[int(np.argmax(by_axes))])]
        raise ShapeError(
            f"{first.where}: has {stations.joints.shape[1]} axes, robot {model.name} has {model.n} "
            f"({', '.join(model.controller.axes)}); use the robot of this program"
        )
    reference = np.full((len(stations), model.n), np.nan)
    out = Placed(model, stations, stations.position, stations.rotation, reference)
    position, rotation = out.in_robot(stations.position, stations.rotation)
    out = replace(out, position=position, rotation=rotation)
    if by_axes.any():
        reference[by_axes] = model.controller.to_joints(stations.joints[by_axes])
        for frame in set(out.frames):
            rows = np.flatnonzero(by_axes & np.array([f == frame for f in out.frames]))
            at, turned = rigid_pose(model.nominal, frame, np.ascontiguousarray(reference[rows].T))
            position[rows], rotation[rows] = at.T, np.moveaxis(turned, -1, 0)
    return out


def _bases(stations: Stations) -> tuple[Array, Array]:
    """Origin (S, 3) and rotation (S, 3, 3) of the base of every station; the robot's own where it gives axes."""
    names = np.array(["" if t.kind == "joints" else t.base for t in stations.program.targets], dtype=object)
    number = {name: i for i, name in enumerate(dict.fromkeys(names[stations.target].tolist()))}
    rows = np.array([number.get(name, -1) for name in names.tolist()])[stations.target]
    known = [_pose(stations.program, "base", name) if name else Pose() for name in number]
    return np.array([p.translation for p in known])[rows], np.array([p.rotation for p in known])[rows]


def _pose(program: Program, word: str, name: str) -> Pose:
    frame = (program.bases if word == "base" else program.tools)[name]
    if frame.pose is None:
        raise MissingError(
            f"{frame.where}: the pose of {word} {name} is stated nowhere; state it, or use the data file of the program"
        )
    return frame.pose
