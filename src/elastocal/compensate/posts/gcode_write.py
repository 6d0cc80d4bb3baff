"""Writes corrected G-code as the control will read it.

Words that a line leaves out mean the value before, so the writer keeps what the control then holds: a word is
exchanged, or added, where the control would otherwise go elsewhere.  Increments are taken from what was written, so
that rounding does not add up.  Corrected arcs become chords (G1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import nan

import numpy as np

from elastocal.compensate.posts.digits import DECIMALS, exchanged, new_text
from elastocal.compensate.posts.edits import Edits
from elastocal.compensate.posts.gcode_modal import Modal
from elastocal.compensate.posts.gcode_walk import Block, Run
from elastocal.compensate.posts.gcode_words import COLUMNS, Word
from elastocal.compensate.posts.text import Text
from elastocal.compensate.program import Move
from elastocal.errors import InputError
from elastocal.spatial.entries import Array

_SAME = 5e-8
"""Positions (m) that are one position."""
_COPIED = {"G", "F", "S", "D", "H"}
_ARC = {"I", "J", "K", "R", "CR"}


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
    edits: Edits = field(default_factory=Edits)
    held: list[float] = field(default_factory=lambda: [nan] * 9)
    replaced: int | None = None
    """The arc motion in whose place the control now holds G1."""

    def block(self, block: Block) -> None:
        if block.lost:
            self.held = [nan] * 9
            self._motion_word(block)
        elif block.target < 0 or (block.modal.motion in (2, 3) and not self._chorded(block)):
            self._follow(block)
            self._motion_word(block)
        else:
            self._line(block)

    def run(self, run: Run) -> None:
        """Lines of one shape that state every word: each stands for itself, so all are written at once."""
        count = len(run.numbers.values)
        rows = slice(run.target, run.target + count)
        points = any(i in self.points for i in range(run.move, run.move + count)) if self.points else False
        if points or run.places != tuple(self.columns) or self.replaced is not None:
            for block in run.blocks(self.text):
                self.block(block)
            return
        unit = np.array([_unit(run.modal, j) for j in run.places])
        least = np.array([_least(run.modal, j) for j in run.places])
        goals = self.desired[rows][:, run.places] / unit
        written = exchanged(self.text, run.numbers, goals, least, self.edits)
        for j, value in zip(run.places, (written[-1] * unit).tolist(), strict=True):
            self.held[j] = value

    def _follow(self, block: Block) -> None:
        """What the control holds after a line that stays as it is."""
        for j, word in block.line.columns.items():
            value = word.value * _unit(block.modal, j)
            self.held[j] = self.held[j] + value if _incremental(block.modal, j) else value

    def _motion_word(self, block: Block) -> None:
        """State the motion again where chords made the control forget it."""
        if self.replaced is None or block.motion_word is not None or block.modal.motion != self.replaced:
            self.replaced = None
        elif block.line.columns or any(w.address in _ARC for w in block.line.others):
            self.edits.add(block.line.first, block.line.first, f"G{self.replaced} ")
            self.replaced = None

    def _chorded(self, block: Block) -> bool:
        """Whether an arc must be replaced by chords."""
        end, start = block.target, self.moves[block.move].start
        moved = bool((np.abs(self.desired[end] - self.nominal[end]) > _SAME).any())
        if start is not None:
            moved |= bool((np.abs(np.array(self.held) - self.nominal[start]) > _SAME).any())
        if moved and block.move not in self.points:
            where = f"{block.file}, line {block.line.number}"
            raise InputError(f"{where}: a corrected arc is written as chords; give the points in between")
        return block.move in self.points

    def _line(self, block: Block) -> None:
        points = self.points.get(block.move, ())
        straight = bool(points) and self._put_in(block, points)
        if block.modal.motion in (2, 3):
            self._straighten(block, straight or self.replaced == block.modal.motion)
        else:
            self._motion_word(block)
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
        self.replaced = block.modal.motion
        for word in block.line.others:
            if word.address in _ARC:
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
                added[j] = f"{COLUMNS[j]}{'=' if j >= 6 else ''}{new}"
        return added


def _unit(modal: Modal, column: int) -> float:
    return modal.unit if column < 3 else 1.0


def _least(modal: Modal, column: int) -> int:
    if column >= 6:
        return DECIMALS["vector"]
    return DECIMALS["deg"] if column >= 3 else DECIMALS["mm" if modal.unit == 1e-3 else "in"]


def _incremental(modal: Modal, column: int) -> bool:
    return not modal.absolute and column < 6
