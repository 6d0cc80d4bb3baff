"""Targets of a few numbers in a row: a position and an orientation, or axes; what most languages write.

A language says in ``Written`` what its numbers mean.  From what its reader collected come a program, and from changes
the numbers that are to stand in the file; it adds what only it knows (``RowPost.added``), and how a point is put in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from elastocal.compensation.posts.collect import Collector
from elastocal.compensation.posts.digits import DECIMALS, METRES, RADIANS, Slots, digit_edits, turned
from elastocal.compensation.posts.poses import (
    Derived,
    as_numbers,
    as_rotations,
    controller_angles,
    new_shifts,
    place_derived,
)
from elastocal.compensation.posts.post import Post
from elastocal.compensation.posts.text import Edit, Text, opened
from elastocal.compensation.program import Changes, Given, Inserted, Move, Program
from elastocal.spatial.entries import Array, Ints
from elastocal.spatial.pose import Pose
from elastocal.values import dataclass

AXES = 6
UNITLESS = ("vector", "quaternion")
Convert = Callable[[Array], Array]


@dataclass(frozen=True)
class Written:
    """Units, and the ``form`` of an orientation (``orientation.as_rotations``); ``reverse``: its last angle first."""

    length: str = "mm"
    form: str = "ZYX"
    angle: str = "deg"
    reverse: bool = False
    axes: str = "deg"

    @property
    def width(self) -> int:
        return 7 if self.form == "quaternion" else 6

    @property
    def decimals(self) -> Ints:
        turn = DECIMALS[self.form if self.form in UNITLESS else self.angle]
        return np.array([DECIMALS[self.length]] * 3 + [turn] * (self.width - 3))

    def rotations(self, numbers: Array, stated: Array | None = None) -> Array:
        """(N, 3, 3) of numbers (N, k) as written."""
        return as_rotations(self._turn(numbers), self.form, stated)

    def numbers(self, rotations: Array, old: Array) -> Array:
        """As written, nearest to the old ones (N, k), Euler angles within half a turn as controllers have them."""
        way = controller_angles if self.form.isupper() else as_numbers
        out = way(rotations, self.form, self._turn(old))
        out = out if self.form in UNITLESS else out / RADIANS[self.angle]
        return np.asarray(out[:, ::-1] if self.reverse else out)

    def _turn(self, numbers: Array) -> Array:
        ordered = numbers[:, ::-1] if self.reverse else numbers
        return np.asarray(ordered if self.form in UNITLESS else ordered * RADIANS[self.angle])

    def rows(self, points: Inserted, near: Array) -> Array:
        """Numbers (k, w) of points, with orientations written near that of a target (w,)."""
        old = np.repeat(near[None, 3:], len(points.positions), axis=0)
        return np.asarray(np.hstack([points.positions / METRES[self.length], self.numbers(points.rotations, old)]))

    def pose(self, numbers: Array) -> Pose:
        """Of six numbers."""
        return Pose(self.rotations(numbers[None, 3:])[0], numbers[:3] * METRES[self.length])

    def of_pose(self, pose: Pose) -> Array:
        """Six numbers."""
        return np.asarray(self.rows(Inserted(pose.translation[None], pose.rotation[None]), np.zeros(self.width))[0])


@dataclass(frozen=True, eq=False)
class Layout:
    """Numbers of the targets, those that are shifts of others, and what a language keeps of its ``own`` besides."""

    slots: Slots
    how: Written
    derived: Mapping[int, Derived] = field(default_factory=dict)
    own: Any = None


def layout_of(program: Program) -> Layout:
    assert isinstance(program.layout, Layout)
    return program.layout


def program_of(
    kind: str, files: Mapping[str, bytes], into: Collector, how: Written, given: Given,
    known: Mapping[str, Mapping[str, Pose]], own: Any = None, to_axes: Convert | None = None,
) -> Program:  # fmt: skip
    """``known`` are bases and tools that the files state; ``to_axes`` makes rad of axis numbers (N, 6)."""
    slots = Slots.of(into, how.width)
    axes = np.array([t.kind == "joints" for t in into.targets], dtype=bool)
    values = slots.values
    joints = np.full((len(axes), AXES), np.nan)
    if axes.any():
        joints[axes] = (to_axes or (lambda v: v * RADIANS[how.axes]))(values[axes, :AXES])
    positions = np.where(axes[:, None], np.nan, values[:, :3] * METRES[how.length])
    rotations = np.full((len(axes), 3, 3), np.nan)
    point = ~axes & np.isnan(values[:, 3:]).any(axis=1)
    posed = ~axes & ~point
    rotations[posed] = how.rotations(values[posed, 3:], given.orientation)
    if given.orientation is not None:
        rotations[point] = given.orientation
    place_derived(into.derived, values[:, :3] * METRES[how.length], positions, rotations)
    layout = Layout(slots, how, into.derived, own)
    arrays = {"positions": positions, "rotations": rotations, "joints": joints}
    return into.program(kind, files, given, known, layout=layout, **arrays)


def new_values(program: Program, changes: Changes, of_axes: Convert | None = None) -> Array:
    """Numbers (N, k) that the targets are to have, as written; ``of_axes`` makes axis numbers (N, 6) of rad."""
    layout = layout_of(program)
    slots, how, changed = layout.slots, layout.how, changes.changed(program)
    values = slots.values.copy()
    axes = np.array([t.kind == "joints" for t in program.targets], dtype=bool)
    driven, moved = changed & axes, changed & ~axes
    moved[list(layout.derived)] = False
    if driven.any():
        values[driven, :AXES] = (of_axes or (lambda q: q / RADIANS[how.axes]))(changes.joints[driven])
    values[moved, :3] = changes.positions[moved] / METRES[how.length]
    turns = moved & turned(changes.rotations, program.rotations)
    values[turns, 3:] = how.numbers(changes.rotations[turns], slots.values[turns, 3:])
    for number, shift in new_shifts(layout.derived, program, changes).items():
        values[number, :3] = shift / METRES[how.length]
    return values


Added = Iterator[tuple[str, Edit]]
"""Edits, each with its file."""


class RowPost(Post):
    """A language of such targets: it says how files are read, and what is edited beside their numbers."""

    def of_axes(self, program: Program) -> tuple[Convert | None, int | None]:
        """Axis numbers of rad, where they are no degrees or radians, and how many decimals they have at least."""
        return None, None

    def points(self, text: Text, program: Program, move: Move, points: Inserted) -> Edit:
        """Lines to further points, before that of a linear move."""
        raise NotImplementedError

    def arcs(self, text: Text, program: Program, move: Move, points: Inserted) -> Iterator[Edit]:
        """The same of an arc, which becomes several: before its line, and behind its auxiliary point."""
        raise NotImplementedError

    def added(self, texts: Mapping[str, Text], program: Program, changes: Changes, values: Array) -> Added:
        """Points that are put in before moves, and whatever goes with the new ``values`` (N, k) of targets."""
        for move, points in put_in(program, changes):
            if move.motion == "linear":
                yield move.file, self.points(texts[move.file], program, move, points)
            else:
                yield from ((move.file, edit) for edit in self.arcs(texts[move.file], program, move, points))

    def write(self, program: Program, changes: Changes) -> dict[str, bytes]:
        layout = layout_of(program)
        texts = {name: opened(name, data) for name, data in program.files.items()}
        convert, decimals = self.of_axes(program)
        values = new_values(program, changes, convert)
        edits = digit_edits(texts, program, layout.slots, values, least_decimals(program, layout.how, decimals))
        for name, edit in self.added(texts, program, changes, values):
            edits[name].add(*edit)
        return {name: edits[name].applied(t.text).encode("latin-1") for name, t in texts.items()}


def least_decimals(program: Program, how: Written, of_axes: int | None = None) -> Ints:
    """(N, k) that the numbers of targets have at least."""
    axes = np.array([t.kind == "joints" for t in program.targets], dtype=bool)[:, None]
    return np.where(axes, DECIMALS[how.axes] if of_axes is None else of_axes, how.decimals)


def arc_edits(
    line: int, behind: int, words: Sequence[str], before: int, form: Callable[[str, str], str]
) -> Iterator[Edit]:
    """Edits that make several arcs of one, whose line begins at ``line`` and whose auxiliary point ends at ``behind``.

    ``words`` are the new points as written; ``form`` makes what leads past one of them to another: a whole line, or of
    the second alone what ends a line, or of the first alone what begins one.
    """
    yield line, line, "".join(form(*pair) for pair in zip(words[:before:2], words[1:before:2], strict=True))
    rest = words[before:]
    if rest:
        whole = "".join(form(*pair) for pair in zip(rest[1:-1:2], rest[2:-1:2], strict=True))
        yield behind, behind, f"{form('', rest[0])}{whole}{form(rest[-1], '')}"


def put_in(program: Program, changes: Changes) -> Iterator[tuple[Move, Inserted]]:
    """Further points, and the moves that they come before the end of."""
    for number, points in sorted(changes.inserted.items()):
        program.moves[number].check_points(len(points.positions))
        yield program.moves[number], points
