"""ABB RAPID: modules with robtargets and jointtargets, declared or written in place.

mm, deg, quaternions scalar first; a pose is in the work object uframe * oframe.  Configuration and external axes are
kept.  A quaternion that changes is of unit length and has at least eight decimals.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.spatial.transform import Rotation

from elastocal.compensate.posts.collect import Collector
from elastocal.compensate.posts.digits import DECIMALS, Slots, digit_edits, numbers_text, turned
from elastocal.compensate.posts.orientation import quaternion_near
from elastocal.compensate.posts.post import Post
from elastocal.compensate.posts.rapid_data import Statements, declared
from elastocal.compensate.posts.rapid_read import Walk
from elastocal.compensate.posts.text import Edit, Text, opened
from elastocal.compensate.program import Changes, Given, Inserted, Move, Program
from elastocal.errors import InputError
from elastocal.spatial.entries import Array, Bools

_POSE = np.array([DECIMALS["mm"]] * 3 + [DECIMALS["quaternion"]] * 4)


@dataclass(frozen=True, eq=False)
class RapidLayout:
    """Numbers of targets; where the statement of a move, what follows its points, and its end stand, by its line."""

    slots: Slots
    tails: dict[tuple[str, int], tuple[int, int, int]]

    def tail(self, text: Text, move: Move) -> tuple[int, int, int]:
        """Of any move; one that repeats a line is shifted from the first such line."""
        known = self.tails.get((move.file, move.line))
        if known:
            return known
        head = next(r.start for r in self.slots.runs if move.end in r)
        line = move.line - (move.end - head)
        start, at, end = self.tails[move.file, line]
        behind = int(self.slots.spans[move.end].max() - self.slots.spans[head].max())
        return start + text.starts[move.line - 1] - text.starts[line - 1], at + behind, end + behind


class Rapid(Post):
    kind: ClassVar[str] = "rapid"
    suffixes: ClassVar[tuple[str, ...]] = (".mod", ".prg", ".sys", ".modx", ".sysx")

    def read(self, files: Mapping[str, bytes], given: Given | None = None) -> Program:
        given = given or Given()
        texts = {name: opened(name, data) for name, data in files.items()}
        modules = [Statements(text) for text in texts.values()]
        data = declared(modules)
        into = Collector()
        tails: dict[tuple[str, int], tuple[int, int, int]] = {}
        for module in modules:
            Walk(module, data, into, tails).run()
        into.settle()
        slots = Slots.of(into, 7)
        axes = np.array([t.kind == "joints" for t in into.targets], dtype=bool)
        values = slots.values
        rotations = np.full((len(axes), 3, 3), np.nan)
        if not axes.all():
            rotations[~axes] = Rotation.from_quat(values[~axes, 3:], scalar_first=True).as_matrix()
        known = [
            {data.spelled.get(n, n): p for n, p in frames.items() if n not in data.computed}
            for frames in (data.bases, data.tools)
        ]
        return Program(
            language=self.kind,
            files=dict(files),
            targets=tuple(into.targets),
            positions=np.where(axes[:, None], np.nan, values[:, :3] * 1e-3),
            rotations=rotations,
            joints=np.radians(np.where(axes[:, None], values[:, :6], np.nan)),
            moves=tuple(into.moves),
            skipped=tuple(into.skipped),
            bases=into.frames("base", given.bases, known[0]),
            tools=into.frames("tool", given.tools, known[1]),
            notes=tuple(into.notes),
            layout=RapidLayout(slots, tails),
        )

    def write(self, program: Program, changes: Changes) -> dict[str, bytes]:
        layout = program.layout
        assert isinstance(layout, RapidLayout)
        texts = {name: opened(name, data) for name, data in program.files.items()}
        axes = np.array([t.kind == "joints" for t in program.targets], dtype=bool)[:, None]
        values = _values(program, changes, layout.slots, axes[:, 0])
        edits = digit_edits(texts, program, layout.slots, values, np.where(axes, DECIMALS["deg"], _POSE))
        for number, points in changes.inserted.items():
            move = program.moves[number]
            edits[move.file].add(*_points(texts, program, layout, move, points))
        return {name: edits[name].applied(t.text).encode("latin-1") for name, t in texts.items()}


def _values(program: Program, changes: Changes, slots: Slots, axes: Bools) -> Array:
    """mm, quaternion and deg (N, 7) that the targets are to have."""
    values = slots.values.copy()
    changed = changes.changed(program)
    values[changed & axes, :6] = np.degrees(changes.joints[changed & axes])
    moved = changed & ~axes
    values[moved, :3] = changes.positions[moved] * 1e3
    turns = moved & turned(changes.rotations, program.rotations)
    values[turns, 3:] = quaternion_near(changes.rotations[turns], slots.values[turns, 3:])
    return values


def _points(texts: Mapping[str, Text], program: Program, layout: RapidLayout, move: Move, points: Inserted) -> Edit:
    """MoveL to literals that are passed, before the statement of ``move``, with its speed, zone, tool and object."""
    if move.fixed or move.motion != "linear":
        raise InputError(f"{move.file}, line {move.line}: no points can be put in; {move.fixed or 'it is not linear'}")
    text = texts[move.file]
    start, tail, end = layout.tail(text, move)
    line = text.line_start(start)
    rest = re.sub(r"(?i)(,\s*)fine\b", r"\1z0", text.text[tail:end])
    target = program.targets[move.end]
    quaternions = quaternion_near(points.rotations, layout.slots.values[[move.end], 3:])
    lines = []
    for xyz, q in zip(points.positions * 1e3, quaternions, strict=True):
        words = numbers_text(np.array([*xyz, *q]), _POSE)
        pose = f"[[{','.join(words[:3])}],[{','.join(words[3:])}],{target.configuration}]"
        lines.append(f"{text.text[line:start]}{text.text[start : start + 5]} {pose}{rest};{text.newline}")
    return (line, line, "".join(lines))
