"""G-code: lines with G0 to G3 and words X Y Z, rotary A B C or the tool axis A3= B3= C3= (Siemens).

Units by G20/G21 (mm until then), G90/G91, centres of arcs from their start until G90.1.  A frame is the work offset
G54 to G59; G10 L2 states it in the file.  What A B C turn must be given (``Given.rotary``); they are kept otherwise.

Words that a line leaves out mean the value before, so the writer keeps what the control then holds: a word is
exchanged, or added, where the control would otherwise go elsewhere.  Increments are taken from what was written, so
that rounding does not add up.  Corrected arcs become chords (G1).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from math import nan
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from elastocal.compensation.posts.cam import CamPost
from elastocal.compensation.posts.collect import Collector, unsearched
from elastocal.compensation.posts.digits import DECIMALS, exchanged, new_text, turned
from elastocal.compensation.posts.gcode_read import Block, Control, Run, Walk
from elastocal.compensation.posts.gcode_words import ARC_WORDS, COLUMNS, Modal, Use, Word, motion_use
from elastocal.compensation.posts.poses import along_axes, axes_of, euler_near
from elastocal.compensation.posts.post import LONG, PIECE, SHOWN, plain_lines
from elastocal.compensation.posts.text import Edits, Text, opened
from elastocal.compensation.program import Changes, Given, Move, Program
from elastocal.errors import FormatError, InfeasibleError, MissingError
from elastocal.spatial.entries import Array, Ints
from elastocal.spatial.pose import Pose
from elastocal.spatial.rotation import Rotation
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.compensation.streamed import Long

_ROTARY = re.compile(r"[XYZ]{2,3}")


@dataclass(frozen=True, eq=False)
class GcodeLayout:
    """Lines with motion by file, and the values (N, 9) of X Y Z in m, A B C in deg, A3 B3 C3."""

    blocks: Mapping[str, list[Block | Run]]
    values: Array
    rotary: str


class Gcode(CamPost):
    kind: ClassVar[str] = "gcode"
    title: ClassVar[str] = "G-code"
    suffixes: ClassVar[tuple[str, ...]] = (".nc", ".ngc", ".gcode", ".tap", ".mpf", ".cnc", ".eia")
    frames: ClassVar[tuple[str, str]] = ("G54", "T1")
    taken: ClassVar[tuple[str, ...]] = ("T1 M6",)
    stop: ClassVar[str] = "M0"
    end: ClassVar[str] = "M30"

    def read(self, files: Mapping[str, bytes], given: Given | None = None) -> Program:
        given = given or Given()
        rotary = _checked(given.rotary)
        into = Collector()
        bases: dict[str, Pose] = {}
        blocks: dict[str, list[Block | Run]] = {}
        for name, data in files.items():
            text = opened(name, data)
            walk = Walk(text, into, rotary, changes_tools(data), bases, after=_control(given.after))
            with unsearched():
                walk.run()
            blocks[name] = walk.blocks
        values = into.values.array(float, 9)
        kinds = np.array([t.kind for t in into.targets], dtype=object)
        if (kinds == "point").any():
            _say_what_is_open(into, values, given)
        return into.program(
            self.kind, files, given, {"base": bases},
            positions=values[:, :3].copy(), rotations=_rotations(values, kinds, rotary, given),
            joints=np.empty((len(values), 0)), layout=GcodeLayout(blocks, values, rotary), end=walk.end,
        )  # fmt: skip

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
                raise InfeasibleError(
                    f"{move.file}, line {move.line}: no points can be put in; {move.fixed or 'it is G0'}",
                    code="no-points",
                )
            ends = np.repeat(layout.values[[move.end]], len(inserted.positions), axis=0)
            ends[:, :3] = inserted.positions
            ends = _orientation(program, layout, np.full(len(ends), move.end), ends, inserted.rotations)
            points[number] = ends.tolist()
        out = {}
        used = np.flatnonzero(~np.isnan(desired).all(axis=0)).tolist()
        for name, data in program.files.items():
            held = list(_control(program.given.held).at)
            writer = Writer(opened(name, data), program.moves, desired, layout.values, points, used, held)
            for block in layout.blocks[name]:
                writer.run(block) if isinstance(block, Run) else writer.block(block)
            out[name] = writer.edits.applied(writer.text.text).encode("latin-1")
        return out

    def long(self, files: Mapping[str, bytes], least: int = LONG, size: int = PIECE, most: int = SHOWN) -> Long | None:
        from elastocal.compensation.posts.gcode_pieces import Stretches

        return Stretches.of(self, files, least, size, most)

    def opening(self, name: str) -> list[str]:
        return [f"; {name}", "G21 G90 G54"]

    def remark(self, text: str) -> list[str]:
        return [f"; {line}" for line in plain_lines(text)]

    def speed(self, feed: float) -> list[str]:
        return [f"F{feed:g}"]

    def go(self, point: Array) -> list[str]:
        """G1 with the tool axis as A3= B3= C3=."""
        x, y, z, i, j, k = point
        return [f"G1 X{x:.4f} Y{y:.4f} Z{z:.4f} A3={i:.8f} B3={j:.8f} C3={k:.8f}"]

    def dwell(self, seconds: float) -> list[str]:
        return [f"G4 F{seconds:g}"]


def _control(held: object) -> Control:
    return held if isinstance(held, Control) else Control()


def changes_tools(data: bytes) -> bool:
    """Whether tools are changed by M6, and not by T alone."""
    return bool(re.search(rb"(?i)M0?6(?!\d)", data))


def _checked(rotary: str) -> str:
    order = rotary.upper()
    if order and (not _ROTARY.fullmatch(order) or len(set(order)) < len(order) or order[1:] == "Z"):
        raise FormatError(
            f"rotary {rotary!r} is not understood; give the axes from the part on, such as ZY, XY or ZYX", value=rotary
        )
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
    first = _control(given.after).axis
    out[vector] = along_axes(values[vector, 6:], given.orientation, np.array(first) if first else None)
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
    out[vector, 6:] = axes_of(rotations[vector], values[vector, 6:])
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


_SAME = 5e-8
"""Positions (m) that are one position."""
_COPIED = {"G", "F", "S", "D", "H"}


@dataclass
class Writer:
    """``desired`` and ``nominal`` values of targets, ``points`` to put in by move; ``held`` is what the control has."""

    text: Text
    moves: Sequence[Move]
    desired: Array
    nominal: Array
    points: Mapping[int, Sequence[Sequence[float]]]
    columns: Sequence[int]
    """Those that the program uses."""
    held: list[float]
    edits: Edits = field(default_factory=Edits)
    owed: int | None = None
    """The arc motion that the program has in force where chords have put G1 (or a line that may be switched off)."""
    straight: bool = False
    """Whether G1 is surely what chords left in force."""
    restored: int = 0
    """The line before or in which the motion was last stated again."""

    def block(self, block: Block) -> None:
        if block.lost:
            self.held = [nan] * 9
            self._restore(block)
        elif block.target < 0 or (block.modal.motion in (2, 3) and not self._chorded(block)):
            self._follow(block)
            self._restore(block)
        else:
            self._line(block)

    def run(self, run: Run) -> None:
        """Lines of one shape in absolute values, without arcs before them: all are written at once."""
        count = len(run.numbers.values)
        rows = slice(run.target, run.target + count)
        points = any(i in self.points for i in range(run.move, run.move + count)) if self.points else False
        if points or self.owed is not None:
            for block in run.blocks(self.text):
                self.block(block)
            return
        unit = np.array([_unit(run.modal, j) for j in run.places])
        least = np.array([_least(run.modal, j) for j in run.places])
        goals = self.desired[rows][:, run.places] / unit
        written = exchanged(self.text, run.numbers, goals, least, self.edits)
        for j, value in zip(run.places, (written[-1] * unit).tolist(), strict=True):
            self.held[j] = value
        left_out = [j for j in self.columns if j not in run.places]
        if left_out:
            self._add(run, left_out, self.desired[rows])

    def _add(self, run: Run, columns: Sequence[int], desired: Array) -> None:
        """Words that the lines of a run leave out, where the control holds something else."""
        added = [""] * len(desired)
        for j in columns:
            unit, least, name = _unit(run.modal, j), _least(run.modal, j), _named(j)
            for i, goal in enumerate((desired[:, j] / unit).tolist()):
                if goal != goal:
                    continue
                was = self.held[j] / unit
                new = new_text("", was, goal, least)
                self.held[j] = (was if new is None else float(new)) * unit
                added[i] += "" if new is None else f" {name}{new}"
        for place, words in zip((run.numbers.spans[:, :, 1].max(axis=1) + run.behind).tolist(), added, strict=True):
            if words:
                self.edits.add(place, place, words)

    def _follow(self, block: Block) -> None:
        """What the control holds after a line that stays as it is."""
        for j, word in block.line.columns.items():
            value = word.value * _unit(block.modal, j)
            self.held[j] = self.held[j] + value if _incremental(block.modal, j) else value

    def _restore(self, block: Block) -> None:
        """State the motion again where a line has use for it and chords have put another in its place."""
        line = block.line
        if self.owed is None or self.restored == line.number:
            return
        use = motion_use(line, block.modal.cycle)
        self.straight &= use is Use.PASSES and not line.codes
        if use is Use.PASSES:
            return
        self.restored = line.number
        if use is Use.RELIES:
            self.edits.add(line.first, line.first, f"G{self.owed} ")
            if line.deleted:
                return
        elif use is Use.HANDS_ON or line.deleted:
            self.edits.add(line.start, line.start, f"G{self.owed}{self.text.newline}")
        self.owed = None

    def _chorded(self, block: Block) -> bool:
        """Whether an arc must be replaced by chords."""
        end, start = block.target, self.moves[block.move].start
        moved = bool((np.abs(self.desired[end] - self.nominal[end]) > _SAME).any())
        if start is not None:
            moved |= bool((np.abs(np.array(self.held) - self.nominal[start]) > _SAME).any())
        if moved and block.move not in self.points:
            where = f"{block.file}, line {block.line.number}"
            raise MissingError(
                f"{where}: a corrected arc is written as chords; give the points in between", code="no-points"
            )
        return block.move in self.points

    def _line(self, block: Block) -> None:
        points = self.points.get(block.move, ())
        straight = bool(points) and self._put_in(block, points)
        if block.modal.motion in (2, 3):
            self._straighten(block, straight or self.straight)
        else:
            self._restore(block)
        added = self._words(block.modal, self.desired[block.target].tolist(), block.line.columns)
        if added:
            self.edits.add(block.line.place, block.line.place, "".join(f" {w}" for w in added.values()))
        if block.line.deleted:
            for j in (*block.line.columns, *added):
                self.held[j] = nan

    def _put_in(self, block: Block, points: Sequence[Sequence[float]]) -> bool:
        """Lines with G1 to points before the line; False where the control stands on all of them already."""
        text, lines, motion = self.text.text, [], block.motion_word
        others = (w for w in (*block.line.codes, *block.line.others) if w.address in _COPIED and w is not motion)
        head = [text[w.start : w.end] for w in others]
        for point in points:
            words = self._words(block.modal, point, {})
            if words:
                lines.append(" ".join([*head, "G1", *words.values()]) + self.text.newline)
                head = []
        self.edits.add(block.line.start, block.line.start, "".join(lines))
        return bool(lines)

    def _straighten(self, block: Block, straight: bool) -> None:
        """G2 or G3 becomes G1, which the control may hold already (``straight``); centre and radius go."""
        word = block.motion_word
        if word is not None:
            self.edits.add(word.start, word.end, "G1")
        elif not straight:
            self.edits.add(block.line.first, block.line.first, "G1 ")
        self.owed, self.straight = block.modal.motion, True
        for word in block.line.others:
            if word.address in ARC_WORDS:
                start = word.start
                while self.text.text[start - 1] in " \t" and start > block.line.start:
                    start -= 1
                self.edits.add(start, word.end, "")

    def _words(self, modal: Modal, desired: Sequence[float], words: Mapping[int, Word]) -> dict[int, str]:
        """Exchange words, and return those to be added by column."""
        added = {}
        for j in self.columns:
            goal = desired[j]
            if goal != goal:
                continue
            unit, incremental = _unit(modal, j), _incremental(modal, j)
            before = self.held[j] if incremental else 0.0
            word = words.get(j)
            old = self.text.text[word.value_start : word.end] if word else ""
            was = word.value if word else 0.0 if incremental else self.held[j] / unit
            new = new_text(old, was, (goal - before) / unit, _least(modal, j))
            self.held[j] = before + (was if new is None else float(new)) * unit
            if new is None:
                continue
            if word:
                self.edits.add(word.value_start, word.end, new)
            else:
                added[j] = f"{_named(j)}{new}"
        return added


def _named(column: int) -> str:
    return f"{COLUMNS[column]}{'=' if column >= 6 else ''}"


def _unit(modal: Modal, column: int) -> float:
    return modal.unit if column < 3 else 1.0


def _least(modal: Modal, column: int) -> int:
    if column >= 6:
        return DECIMALS["vector"]
    return DECIMALS["deg"] if column >= 3 else DECIMALS["mm" if modal.unit == 1e-3 else "in"]


def _incremental(modal: Modal, column: int) -> bool:
    return not modal.absolute and column < 6
