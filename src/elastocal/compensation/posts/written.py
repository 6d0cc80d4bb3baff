"""Targets of a few numbers in a row: a position and an orientation, or axes; what most languages write.

A language says in ``Written`` what its numbers mean.  From what its reader collected come a program, and from changes
the numbers that are to stand in the file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from elastocal.compensation.posts.collect import Collector
from elastocal.compensation.posts.digits import DECIMALS, METRES, RADIANS, Slots, digit_edits, turned
from elastocal.compensation.posts.orientation import as_numbers, as_rotations, controller_angles
from elastocal.compensation.posts.text import Edits, Text
from elastocal.compensation.program import Changes, Given, Program
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.spatial.pose import Pose

AXES = 6
Convert = Callable[[Array], Array]


@dataclass(frozen=True)
class Written:
    """Units, and the ``form`` of an orientation (``orientation.as_rotations``); ``reverse``: its last angle first."""

    length: str = "mm"
    form: str = "ZYX"
    angle: str = "deg"
    reverse: bool = False
    axes: str = "deg"

    def rotations(self, numbers: Array, stated: Array | None = None) -> Array:
        """(N, 3, 3) of numbers (N, k) as written."""
        return as_rotations(self._turn(numbers), self.form, stated)

    def numbers(self, rotations: Array, old: Array) -> Array:
        """As written, nearest to the old ones (N, k), Euler angles within half a turn as controllers have them."""
        way = controller_angles if self.form.isupper() else as_numbers
        out = way(rotations, self.form, self._turn(old))
        out = out if self.form == "vector" else out / RADIANS[self.angle]
        return np.asarray(out[:, ::-1] if self.reverse else out)

    def _turn(self, numbers: Array) -> Array:
        ordered = numbers[:, ::-1] if self.reverse else numbers
        return np.asarray(ordered if self.form == "vector" else ordered * RADIANS[self.angle])

    def pose(self, numbers: Array) -> Pose:
        """Of six numbers."""
        return Pose(self.rotations(numbers[None, 3:])[0], numbers[:3] * METRES[self.length])

    def of_pose(self, pose: Pose, near: Array | None = None) -> Array:
        """Six numbers."""
        old = np.zeros((1, 3)) if near is None else near[None]
        return np.concatenate([pose.translation / METRES[self.length], self.numbers(pose.rotation[None], old)[0]])

    @property
    def decimals(self) -> Ints:
        turn = DECIMALS["vector" if self.form == "vector" else self.angle]
        return np.array([DECIMALS[self.length]] * 3 + [turn] * 3)


@dataclass(frozen=True, eq=False)
class Layout:
    """Numbers of the targets; ``own`` is what a language keeps besides."""

    slots: Slots
    own: Any = None


def by_axes(into: Collector) -> Bools:
    return np.array([t.kind == "joints" for t in into.targets], dtype=bool)


def program_of(
    kind: str, files: Mapping[str, bytes], into: Collector, how: Written, given: Given,
    known: Mapping[str, Mapping[str, Pose]], own: Any = None, to_axes: Convert | None = None,
) -> Program:  # fmt: skip
    """``known`` are bases and tools that the files state; ``to_axes`` makes rad of axis numbers (N, 6)."""
    slots = Slots.of(into, AXES)
    axes = by_axes(into)
    values = slots.values
    joints = np.full((len(axes), AXES), np.nan)
    if axes.any():
        joints[axes] = (to_axes or (lambda v: v * RADIANS[how.axes]))(values[axes])
    rotations = np.full((len(axes), 3, 3), np.nan)
    point = ~axes & np.isnan(values[:, 3:]).any(axis=1)
    posed = ~axes & ~point
    rotations[posed] = how.rotations(values[posed, 3:], given.orientation)
    if given.orientation is not None:
        rotations[point] = given.orientation
    return Program(
        language=kind, files=dict(files), targets=tuple(into.targets),
        positions=np.where(axes[:, None], np.nan, values[:, :3] * METRES[how.length]),
        rotations=rotations, joints=joints, moves=tuple(into.moves), skipped=tuple(into.skipped),
        bases=into.frames("base", given.bases, known.get("base", {})),
        tools=into.frames("tool", given.tools, known.get("tool", {})),
        notes=tuple(into.notes), layout=Layout(slots, own),
    )  # fmt: skip


def new_digits(
    texts: Mapping[str, Text], program: Program, changes: Changes, how: Written, of_axes: Convert | None = None,
    axis_decimals: int | None = None,
) -> dict[str, Edits]:  # fmt: skip
    """Edits by file; ``of_axes`` makes axis numbers (N, 6) of rad, with at least so many decimals."""
    layout = program.layout
    assert isinstance(layout, Layout)
    slots, changed = layout.slots, changes.changed(program)
    values = slots.values.copy()
    axes = np.array([t.kind == "joints" for t in program.targets], dtype=bool)
    driven, moved = changed & axes, changed & ~axes
    if driven.any():
        values[driven] = (of_axes or (lambda q: q / RADIANS[how.axes]))(changes.joints[driven])
    values[moved, :3] = changes.positions[moved] / METRES[how.length]
    turns = moved & turned(changes.rotations, program.rotations) & (slots.spans[:, 3, 0] >= 0)
    values[turns, 3:] = how.numbers(changes.rotations[turns], slots.values[turns, 3:])
    least = DECIMALS[how.axes] if axis_decimals is None else axis_decimals
    return digit_edits(texts, program, slots, values, np.where(axes[:, None], least, how.decimals))
