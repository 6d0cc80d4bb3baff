"""G-code: lines with G0 to G3 and words X Y Z, rotary A B C or the tool axis A3= B3= C3= (Siemens).

Units by G20/G21 (mm until then), G90/G91, centres of arcs from their start until G90.1.  A frame is the work offset
G54 to G59; G10 L2 states it in the file.  What A B C turn must be given (``Given.rotary``); they are kept otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.spatial.transform import Rotation

from elastocal.compensate.posts.angles import aligned, euler_near
from elastocal.compensate.posts.collect import Collector
from elastocal.compensate.posts.digits import turned
from elastocal.compensate.posts.gcode_walk import Block, Run, Walk
from elastocal.compensate.posts.gcode_words import COLUMNS
from elastocal.compensate.posts.gcode_write import Writer
from elastocal.compensate.posts.post import Post
from elastocal.compensate.posts.text import opened
from elastocal.compensate.program import Changes, Given, Program
from elastocal.errors import InputError
from elastocal.spatial.entries import Array, Ints
from elastocal.spatial.pose import Pose

_ROTARY = re.compile(r"[XYZ]{2,3}")


@dataclass(frozen=True, eq=False)
class GcodeLayout:
    """Lines with motion by file, and the values (N, 9) of X Y Z in m, A B C in deg, A3 B3 C3."""

    blocks: Mapping[str, list[Block | Run]]
    values: Array
    rotary: str


class Gcode(Post):
    kind: ClassVar[str] = "gcode"
    suffixes: ClassVar[tuple[str, ...]] = (".nc", ".ngc", ".gcode", ".tap", ".mpf", ".cnc", ".eia")

    def read(self, files: Mapping[str, bytes], given: Given | None = None) -> Program:
        given = given or Given()
        rotary = _checked(given.rotary)
        into = Collector()
        bases: dict[str, Pose] = {}
        blocks: dict[str, list[Block | Run]] = {}
        for name, data in files.items():
            text = opened(name, data)
            walk = Walk(text, into, rotary, bool(re.search(r"(?i)M0?6(?!\d)", text.text)), bases)
            walk.run()
            blocks[name] = walk.blocks
        values = into.values.array(float, 9)
        kinds = np.array([t.kind for t in into.targets], dtype=object)
        if (kinds == "point").any():
            _say_what_is_open(into, values, given)
        return Program(
            language=self.kind,
            files=dict(files),
            targets=tuple(into.targets),
            positions=values[:, :3].copy(),
            rotations=_rotations(values, kinds, rotary, given),
            joints=np.empty((len(values), 0)),
            moves=tuple(into.moves),
            skipped=tuple(into.skipped),
            bases=into.frames("base", given.bases, bases),
            tools=into.frames("tool", given.tools, {}),
            notes=tuple(into.notes),
            layout=GcodeLayout(blocks, values, rotary),
        )

    def write(self, program: Program, changes: Changes) -> dict[str, bytes]:
        layout = program.layout
        assert isinstance(layout, GcodeLayout)
        changed = changes.changed(program)
        desired = layout.values.copy()
        desired[changed, :3] = changes.positions[changed]
        turns = np.flatnonzero(turned(changes.rotations, program.rotations))
        desired[turns] = _orientation(program, layout, turns, desired[turns], changes.rotations[turns])
        points = {}
        for number, inserted in changes.inserted.items():
            move = program.moves[number]
            if move.motion == "joint" or move.fixed:
                raise InputError(f"{move.file}, line {move.line}: no points can be put in; {move.fixed or 'it is G0'}")
            ends = np.repeat(layout.values[[move.end]], len(inserted.positions), axis=0)
            ends[:, :3] = inserted.positions
            ends = _orientation(program, layout, np.full(len(ends), move.end), ends, inserted.rotations)
            points[number] = ends.tolist()
        out = {}
        used = np.flatnonzero(~np.isnan(desired).all(axis=0)).tolist()
        for name, data in program.files.items():
            writer = Writer(opened(name, data), program.moves, desired, layout.values, points, used)
            for block in layout.blocks[name]:
                writer.run(block) if isinstance(block, Run) else writer.block(block)
            out[name] = writer.edits.applied(writer.text.text).encode("latin-1")
        return out


def _checked(rotary: str) -> str:
    order = rotary.upper()
    if order and (not _ROTARY.fullmatch(order) or len(set(order)) < len(order) or order[1:] == "Z"):
        raise InputError(f"rotary {rotary!r} is not understood; give the axes from the part on, such as ZY, XY or ZYX")
    return order


def _say_what_is_open(into: Collector, values: Array, given: Given) -> None:
    if given.orientation is None:
        into.note("the program gives points without the orientation of the tool; state it")
    if not np.isnan(values[:, 3:6]).all():
        into.note("A B C are kept as they are: how they turn the tool is not stated")


def _columns(rotary: str) -> list[int]:
    return [COLUMNS.index("ABC"["XYZ".index(letter)]) for letter in rotary]


def _rotations(values: Array, kinds: Array, rotary: str, given: Given) -> Array:
    out = np.full((len(values), 3, 3), np.nan)
    if given.orientation is not None:
        out[kinds == "point"] = given.orientation
    vector = (kinds != "point") & ~np.isnan(values[:, 6])
    out[vector] = aligned(values[vector, 6:])
    turned_by = (kinds != "point") & ~vector
    if turned_by.any():
        angles = values[turned_by][:, _columns(rotary)]
        out[turned_by] = Rotation.from_euler(rotary, angles, degrees=True).as_matrix()
    return out


def _orientation(program: Program, layout: GcodeLayout, rows: Ints, values: Array, rotations: Array) -> Array:
    """Values (M, 9) with the words that turn the tools of targets ``rows`` as ``rotations`` (M, 3, 3) say."""
    out = values.copy()
    open_ = np.array([program.targets[i].kind == "point" for i in rows], dtype=bool)
    vector = ~open_ & ~np.isnan(values[:, 6])
    out[vector, 6:] = rotations[vector][:, :, 2] * np.linalg.norm(values[vector, 6:], axis=1, keepdims=True)
    by_angles = ~open_ & ~vector
    if by_angles.any():
        columns = _columns(layout.rotary)
        old = np.zeros((int(by_angles.sum()), 3))
        old[:, : len(columns)] = np.radians(values[by_angles][:, columns])
        sequence = (layout.rotary + "Z")[:3]  # the turn about the tool axis is free where two axes turn it
        out[np.ix_(np.flatnonzero(by_angles), np.array(columns))] = np.degrees(
            euler_near(rotations[by_angles], sequence, old)
        )[:, : len(columns)]
    return out
