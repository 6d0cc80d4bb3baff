"""Rows of a CSV toolpath: cells with their places, and what they say of targets and moves."""

from __future__ import annotations

import re
from math import hypot, isinf
from typing import cast

import numpy as np

from elastocal.compensate.posts.collect import Collector
from elastocal.compensate.posts.csv_columns import CAMROB, columns
from elastocal.compensate.posts.krl_data import literal
from elastocal.compensate.posts.text import BOM, LINE, NUMBER, Text
from elastocal.compensate.program import Kind, Motion, Target
from elastocal.errors import InputError
from elastocal.spatial.pose import Pose

_FRAME = re.compile(r"#[ \t]*(base|tool)\b[^{}]*(\{[^{}]*\})", re.I)
_NUMBER = re.compile(NUMBER, re.A)
_CAMROB = re.compile(r"(?:[ \t]*[-+]?[\d.]+[ \t]*;){12}")


class Reading:
    """One pass through the lines."""

    def __init__(self, text: Text, into: Collector) -> None:
        self.text, self.into = text, into
        self.columns = CAMROB
        self.separator = ""
        self.wrenches: list[list[float]] = []
        self.found: dict[str, dict[str, Pose]] = {"base": {}, "tool": {}}

    def run(self) -> None:
        text = self.text.text
        for number, found in enumerate(LINE.finditer(text), start=1):
            start, end = found.span()
            start += len(BOM) if text.startswith(BOM, start) else 0
            line = text[start:end].rstrip("\r\n")
            if line.lstrip(" \t").startswith("#"):
                self._comment(start, line)
            elif line.strip(" \t;,"):
                if self.separator:
                    self._row(number, start, line)
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

    def _row(self, number: int, start: int, line: str) -> None:
        cells, cols = self._cells(line), self.columns
        try:
            read = [self._number(cells, place, start) for place in cols.places]
            wrench = [0.0] * 6
            for i, (place, factor) in cols.wrench.items():
                wrench[i] = self._number(cells, place, start)[0] * factor
            feed = self._number(cells, cols.feed[0], start)[0] * cols.feed[1] if cols.feed else np.nan
            self._usable([v for v, _, _ in read])
        except ValueError as problem:
            self.into.skip(self.text, start, start + len(line), str(problem))
            return
        words = {w: cells[p][1].strip(' \t"') for w, p in cols.words.items() if p < len(cells)}
        kinds = {"joints": "joints", "point": "point", "vector": "axis"}
        kind = cast(Kind, kinds.get(cols.form, "pose"))
        named = (words.get("name", ""), kind, words.get("base") or "base", words.get("tool") or "tool")
        target = self.into.target(
            Target(self.text.name, number, *named), [(s, e) for _, s, e in read], [v for v, _, _ in read]
        )
        joint = cols.form == "joints" or words.get("motion", "").lower() in ("joint", "ptp", "movej")
        motion: Motion = "joint" if joint else "linear"
        self.into.move((self.text.name, number), motion, target, feed=feed)
        self.wrenches.append(wrench)

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
        if self.columns.form in ("quaternion", "vector") and hypot(*values[3:]) < 0.5:
            raise ValueError("its quaternion or direction is not of unit length")
