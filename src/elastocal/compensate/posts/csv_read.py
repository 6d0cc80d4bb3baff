"""Rows of a CSV toolpath: cells with their places, and what they say of targets and moves."""

from __future__ import annotations

import re
from functools import cached_property
from math import hypot, isinf
from typing import cast

import numpy as np

from elastocal.compensate.posts.collect import Collector
from elastocal.compensate.posts.csv_columns import CAMROB, columns
from elastocal.compensate.posts.krl_data import literal
from elastocal.compensate.posts.repeats import Repeats
from elastocal.compensate.posts.rows import Rows
from elastocal.compensate.posts.text import BOM, NUMBER, Text
from elastocal.compensate.program import Kind, Motion, Target
from elastocal.errors import InputError
from elastocal.spatial.entries import Array
from elastocal.spatial.pose import Pose

_FRAME = re.compile(r"#[ \t]*(base|tool)\b[^{}]*(\{[^{}]*\})", re.I)
SHORT = 0.5
"""Length below which nothing can be meant as a quaternion or direction."""
_NUMBER = re.compile(NUMBER, re.A)
_CAMROB = re.compile(r"(?:[ \t]*[-+]?[\d.]+[ \t]*;){12}")


class Reading:
    """One pass through the lines."""

    def __init__(self, text: Text, into: Collector) -> None:
        self.text, self.into = text, into
        self.columns = CAMROB
        self.separator = ""
        self.wrenches = Rows()
        self.found: dict[str, dict[str, Pose]] = {"base": {}, "tool": {}}

    def run(self) -> None:
        text, number = self.text.text, 0
        while number < len(self.text.starts):
            number += 1
            start, end = self.text.span(number)
            start += len(BOM) if text.startswith(BOM, start) else 0
            line = text[start:end].rstrip("\r\n")
            if line.lstrip(" \t").startswith("#"):
                self._comment(start, line)
            elif line.strip(" \t;,"):
                if self.separator:
                    number += self._row(number, start, line)
                else:
                    self._header(number, start, line)
        if not self.separator:
            raise InputError(f"{self.text.name}: is empty; the first line names the columns, such as x_mm,y_mm,z_mm")

    def _comment(self, start: int, line: str) -> None:
        stated = _FRAME.search(line)
        if stated:
            value = literal(self.text.name, self.text.text, start + stated.start(2), start + stated.end(2))
            pose = value.pose() if value else None
            if pose is None:
                where = f"{self.text.name}, line {self.text.line(start)}"
                raise InputError(f"{where}: the {stated[1]} needs numbers for X, Y, Z, A, B and C (mm, deg)")
            self.found[stated[1].lower()][stated[1].lower()] = pose

    def _header(self, number: int, start: int, line: str) -> None:
        self.separator = next((c for c in ";\t" if c in line), ",")
        if _CAMROB.match(line):
            self.into.note("read as KUKA.CAMRob: X Y Z A B C in columns 1 to 6, mm and deg, tool in column 13")
            self._row(number, start, line)
            return
        where = f"{self.text.name}, line {number}"
        self.columns = columns([c for _, c in self._cells(line)], where)
        if self.columns.form in ("rotvec", "XYZ"):
            said = "a rotation vector (rad)" if self.columns.form == "rotvec" else "angles about x, y, z in turn (deg)"
            self.into.note(f"rx ry rz are read as {said}")

    def _cells(self, line: str) -> list[tuple[int, str]]:
        """Place and text of every cell."""
        if '"' in line:
            found = re.finditer(rf'(?:"[^"]*"|[^"{self.separator}])*(?:{self.separator}|\Z)', line)
            return [(m.start(), m[0].removesuffix(self.separator)) for m in found if m[0] or m.start() == 0]
        out, at = [], 0
        for cell in line.split(self.separator):
            out.append((at, cell))
            at += len(cell) + 1
        return out

    def _row(self, number: int, start: int, line: str) -> int:
        """Reads a row, and those after it that repeat it but for their numbers; how many these are."""
        cells, cols = self._cells(line), self.columns
        pushed = [place for place, _ in cols.wrench.values()]
        fed = [cols.feed[0]] if cols.feed else []
        try:
            every = [self._number(cells, place, start) for place in (*cols.places, *pushed, *fed)]
            read = every[: len(cols.places)]
            self._usable([v for v, _, _ in read])
        except ValueError as problem:
            self.into.skip(self.text, start, start + len(line), str(problem))
            return 0
        numbers = np.array([v for v, _, _ in every])
        wrench, feed = self._load(numbers[None])
        words = {w: cells[p][1].strip(' \t"') for w, p in cols.words.items() if p < len(cells)}
        kinds = {"joints": "joints", "point": "point", "vector": "axis"}
        kind = cast(Kind, kinds.get(cols.form, "pose"))
        named = (words.get("name", ""), kind, words.get("base") or "base", words.get("tool") or "tool")
        target = self.into.target(
            Target(self.text.name, number, *named), [(s, e) for _, s, e in read], [v for v, _, _ in read]
        )
        joint = cols.form == "joints" or words.get("motion", "").lower() in ("joint", "ptp", "movej")
        motion: Motion = "joint" if joint else "linear"
        self.into.move((self.text.name, number), motion, target, feed=float(feed[0]))
        self.wrenches.extend(wrench)
        return 0 if '"' in line else self._repeat(number, [(s, e) for _, s, e in every])

    def _load(self, numbers: Array) -> tuple[Array, Array]:
        """Wrenches (n, 6) and feeds (n,) from the numbers (n, k) of a row: target, wrench, feed."""
        cols, first = self.columns, len(self.columns.places)
        wrench = np.zeros((len(numbers), 6))
        for place, (i, (_, factor)) in enumerate(cols.wrench.items(), start=first):
            wrench[:, i] = numbers[:, place] * factor
        return wrench, numbers[:, -1] * cols.feed[1] if cols.feed else np.full(len(numbers), np.nan)

    def _repeat(self, number: int, spans: list[tuple[int, int]]) -> int:
        cols = self.columns
        block = self.repeats.like(number, spans, None)
        if block is not None and cols.form in ("quaternion", "vector"):
            block = block.before(np.linalg.norm(block.values[:, 3 : len(cols.places)], axis=1) < SHORT)
        if block is None or not len(block.values):
            return 0
        names = self._words("name", block.lines)
        frames = [self._words(w, range(number, block.lines[-1] + 1)) for w in ("base", "tool", "motion")]
        if any(len(set(words)) > 1 for words in frames):
            return 0
        wrench, feed = self._load(block.values)
        k = len(cols.places)
        new = self.into.repeat(block._replace(spans=block.spans[:, :k]), block.values[:, :k], names, feed.tolist())
        self.wrenches.extend(wrench)
        return len(new)

    def _words(self, column: str, lines: range) -> list[str]:
        """The words of a column on some lines; none where there is no such column."""
        place = self.columns.words.get(column)
        if place is None:
            return []
        text = self.text
        rows = (text.text[slice(*text.span(i))].split(self.separator, place + 1) for i in lines)
        return [cells[place].strip(' \t\r\n"') if place < len(cells) else "" for cells in rows]

    @cached_property
    def repeats(self) -> Repeats:
        return Repeats.of(self.text, self.separator != ",")

    def _number(self, cells: list[tuple[int, str]], place: int, start: int) -> tuple[float, int, int]:
        """Value and span; ValueError says what is wrong."""
        if place >= len(cells):
            raise ValueError(f"cell {place + 1} is missing")
        at, cell = cells[place]
        plain = cell.strip(' \t"')
        begin = start + at + (cell.index(plain) if len(plain) < len(cell) else 0)
        number = plain.replace(",", ".") if self.separator != "," else plain
        if not _NUMBER.fullmatch(number) or isinf(float(number)):
            raise ValueError(f"cell {place + 1} is {plain!r}, not a number")
        return float(number), begin, begin + len(plain)

    def _usable(self, values: list[float]) -> None:
        if self.columns.form in ("quaternion", "vector") and hypot(*values[3:]) < SHORT:
            raise ValueError("its quaternion or direction is not of unit length")
