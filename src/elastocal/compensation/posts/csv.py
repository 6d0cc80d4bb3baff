"""CSV toolpaths: a header with units (see ``csv_columns``), one target per row, rows in the order of execution.

Comma, semicolon or tab separate; between semicolons or tabs a decimal comma is a decimal point.  Lines starting with #
are comments; ``# base {X 1700, Y 0, Z 800, A 0, B 0, C 0}`` and ``# tool {...}`` (mm, deg) state the frames.  Rows
with a cell that is no number are left as they are and named.  KUKA.CAMRob files have no header.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from math import hypot
from typing import TYPE_CHECKING, ClassVar, cast

import numpy as np

from elastocal.compensation.posts.collect import Collector, Rows
from elastocal.compensation.posts.csv_columns import AXIS, CAMROB, Columns, columns
from elastocal.compensation.posts.digits import DECIMALS, Slots, digit_edits, number_text, turned, with_commas
from elastocal.compensation.posts.krl_data import literal
from elastocal.compensation.posts.poses import as_numbers, as_rotations, kuka_angles
from elastocal.compensation.posts.post import (
    Post,
    ToolPath,
    listed,
    pendant_values,
    plain_lines,
    program_name,
    speed_of,
)
from elastocal.compensation.posts.text import Edit, Edits, Repeats, Text, one_file, opened, shown
from elastocal.compensation.program import Changes, Given, Inserted, Kind, Motion, Move, Program, Target
from elastocal.errors import InputError, MissingError, UnsupportedError
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array
from elastocal.spatial.pose import Pose
from elastocal.untrusted import finite_number
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.design.method import Stop


@dataclass(frozen=True, eq=False)
class CsvLayout:
    slots: Slots
    columns: Columns
    comma: bool


class Csv(Post):
    kind: ClassVar[str] = "csv"
    title: ClassVar[str] = "tables"
    suffixes: ClassVar[tuple[str, ...]] = (".csv",)
    alone: ClassVar[bytes] = rb"[ \t]*+[-+.\deE]++(?:[ \t]*+,[ \t]*+[-+.\deE]++){2,}+[ \t]*+"
    motion: ClassVar[bytes] = rb"[ \t]*+[-+.\d][^\r\n]*+"
    mark: ClassVar[bytes] = b"# elastocal: what follows is the next piece\n"

    def read(self, files: Mapping[str, bytes], given: Given | None = None) -> Program:
        given = given or Given()
        reading = Reading(one_file(files), Collector())
        reading.run()
        into, cols = reading.into, reading.columns
        slots = Slots.of(into, len(cols.places))
        si = slots.values * np.array(cols.factors)
        joints = cols.form == "joints"
        wrenches = reading.wrenches.array(float, 6) if cols.wrench else None
        if cols.kept:
            into.note(f"columns kept as they are: {', '.join(cols.kept)}")
        return into.program(
            self.kind, files, given, reading.frames,
            positions=np.full((len(si), 3), np.nan) if joints else si[:, :3],
            rotations=as_rotations(si[:, 3:], cols.form, given.orientation),
            joints=si if joints else np.empty((len(si), 0)), wrenches=wrenches,
            layout=CsvLayout(slots, cols, reading.separator != ","),
        )  # fmt: skip

    def write(self, program: Program, changes: Changes) -> dict[str, bytes]:
        layout = program.layout
        assert isinstance(layout, CsvLayout)
        texts = {name: opened(name, data) for name, data in program.files.items()}
        cols, changed = layout.columns, changes.changed(program)
        values = layout.slots.values.copy()
        if cols.form == "joints":
            values[changed] = changes.joints[changed] / np.array(cols.factors)
        else:
            values[changed, :3] = changes.positions[changed] / np.array(cols.factors[:3])
            turns = turned(changes.rotations, program.rotations)
            values[turns, 3:] = _orientation(cols, changes.rotations[turns], layout.slots.values[turns])
        least = [DECIMALS[u] for u in cols.units]
        edits = digit_edits(texts, program, layout.slots, values, least, layout.comma)
        for number, points in changes.inserted.items():
            move = program.moves[number]
            edits[move.file].add(*_rows(texts[move.file], layout, move, points))
        return {name: edits[name].applied(t.text).encode("latin-1") for name, t in texts.items()}

    def hindrance(self, model: Robot, stops: Sequence[Stop] = ()) -> str:
        return ""

    def cautions(self, model: Robot, stops: Sequence[Stop]) -> tuple[str, ...]:
        return ("csv moves nothing by itself: whoever makes a program of it waits wait_s at every row, stops where "
                "'do' asks for something, and stops before the first row.",)  # fmt: skip

    def measuring_program(
        self, name: str, model: Robot, stops: Sequence[Stop], notes: Sequence[str] = (), wait: float = 2.0
    ) -> dict[str, str]:
        """A row of axis values per stop; axes that are no letter with a number are counted."""
        shown = model.controller.axes
        named = all(AXIS.fullmatch(a.lower()) for a in shown) and len({a.lower() for a in shown}) == len(shown)
        axes = shown if named else tuple(f"J{i}" for i in range(1, model.n + 1))
        units = ["deg" if m.kind == "revolute" else "mm" for m in model.motions]
        sentences = () if named else (f"{axes[0]} to {axes[-1]} are {', '.join(shown)}",)
        lines = [
            f"# {line}" for note in (*notes, *self.cautions(model, stops), *sentences) for line in plain_lines(note)
        ]
        titles = [f"{a}_{u}" for a, u in zip(axes, units, strict=True)]
        lines.append(",".join(["name", *titles, "speed_percent", "wait_s", "do"]))
        for number, stop in enumerate(stops, 1):
            label = " ".join(plain_lines(stop.label)).replace(",", " ") or f"stop {number}"
            values = (f"{v:.4f}" for v in pendant_values(model, stop.q))
            what = ". ".join(" ".join(plain_lines(s)) for s in (stop.note, *stop.sentences) if s).replace(",", ";")
            lines.append(",".join([label, *values, f"{speed_of(stop, number):g}", f"{wait:g}", what]))
        return {f"{program_name(name)}_program.csv": "\n".join(lines) + "\n"}

    def example(self, model: Robot, path: ToolPath) -> dict[str, str]:
        """Rows of poses; a first one by axes has no place in a table, so that its start is stated by a comment."""
        tool = kuka_angles(path.tool.rotation)
        held = zip("XYZABC", [*(1e3 * path.tool.translation), *tool], strict=True)
        near = listed(pendant_values(model, path.q))
        lines = [
            f"# {path.comment}", f"# near axis values {near}", "# base {X 0,Y 0,Z 0,A 0,B 0,C 0}",
            "# tool {" + ",".join(f"{k} {v + 0.0:.4f}" for k, v in held) + "}",
            "x_mm,y_mm,z_mm,a_deg,b_deg,c_deg,feed_mm_min",
        ]  # fmt: skip
        for pose in path.poses:
            numbers = [*(1e3 * pose.translation), *kuka_angles(pose.rotation)]
            lines.append(",".join(f"{v + 0.0:.4f}" for v in numbers) + ",3000")
        return {f"{path.name}.csv": "\n".join(lines) + "\n"}

    def left_open(self, model: Robot, path: ToolPath) -> dict[str, str | list[str]]:
        return {"near": listed(pendant_values(model, path.q))}


def _orientation(cols: Columns, rotations: Array, old: Array) -> Array:
    """Numbers as written, (M, k)."""
    factors = np.array(cols.factors[3:])
    return np.asarray(as_numbers(rotations, cols.form, old[:, 3:] * factors) / factors)


def _rows(text: Text, layout: CsvLayout, move: Move, points: Inserted) -> Edit:
    """Rows like that of ``move``, before it."""
    cols = layout.columns
    if move.motion != "linear":
        raise UnsupportedError(f"{move.file}, line {move.line}: no rows can be put in; it is not linear")
    start, end = text.content(move.line)
    row = text.text[start:end].rstrip("\r\n")
    old = np.repeat(layout.slots.values[[move.end]], len(points.positions), axis=0)
    numbers = np.hstack([points.positions / np.array(cols.factors[:3]), _orientation(cols, points.rotations, old)])
    spans = layout.slots.spans[move.end].tolist()
    usual = layout.comma and with_commas(np.frombuffer(text.text.encode("latin-1"), np.uint8), layout.slots.spans)
    lines = []
    for values in numbers.tolist():
        edits = Edits()
        for (s, e), value, unit in zip(spans, values, cols.units, strict=True):
            was = text.text[s:e]
            new = number_text(was.replace(",", "."), value, DECIMALS[unit])
            comma = "," in was or (usual and "." not in was)
            edits.add(s - start, e - start, new.replace(".", ",") if comma else new)
        lines.append(edits.applied(row) + text.newline)
    return (start, start, "".join(lines))


_FRAME = re.compile(r"#[ \t]*(base|tool)\b[^{}]*(\{[^{}]*\})", re.I)
SHORT = 0.5
"""Length below which nothing can be meant as a quaternion or direction."""
_CAMROB = re.compile(r"(?:[ \t]*[-+]?[\d.]+[ \t]*;){12}")


class Reading:
    """One pass through the lines."""

    def __init__(self, text: Text, into: Collector) -> None:
        self.text, self.into = text, into
        self.columns = CAMROB
        self.separator = ""
        self.wrenches = Rows()
        self.frames: dict[str, dict[str, Pose]] = {"base": {}, "tool": {}}

    def run(self) -> None:
        text, number = self.text.text, 0
        while number < len(self.text.starts):
            number += 1
            start, end = self.text.content(number)
            line = text[start:end].rstrip("\r\n")
            if line.lstrip(" \t").startswith("#"):
                self._comment(start, line)
            elif line.strip(" \t;,"):
                if self.separator:
                    number += self._row(number, start, line)
                else:
                    self._header(number, start, line)
        if not self.separator:
            name = self.text.name
            message = f"{name}: is empty; the first line names the columns, such as x_mm,y_mm,z_mm"
            raise MissingError(message, code="empty", file=name)

    def _comment(self, start: int, line: str) -> None:
        stated = _FRAME.search(line)
        if stated:
            value = literal(self.text.name, self.text.text, start + stated.start(2), start + stated.end(2))
            pose = value.pose() if value else None
            if pose is None:
                name, number = self.text.name, self.text.line(start)
                raise MissingError(
                    f"{name}, line {number}: the {stated[1]} needs numbers for X, Y, Z, A, B and C (mm, deg)",
                    file=name,
                    line=number,
                    value=stated[1],
                )
            self.frames[stated[1].lower()][stated[1].lower()] = pose

    def _header(self, number: int, start: int, line: str) -> None:
        self.separator = next((c for c in ";\t" if c in line), ",")
        if _CAMROB.match(line):
            self.into.note("read as KUKA.CAMRob: X Y Z A B C in columns 1 to 6, mm and deg, tool in column 13")
            self._row(number, start, line)
            return
        try:
            self.columns = columns([c for _, c in self._cells(line)])
        except InputError as error:
            name = self.text.name
            raise error.reworded(f"{name}, line {number}: {error}", file=name, line=number) from None
        if self.columns.form in ("rotvec", "XYZ"):
            message = (
                "a rotation vector (rad)" if self.columns.form == "rotvec" else "angles about x, y, z in turn (deg)"
            )
            self.into.note(f"rx ry rz are read as {message}")

    def _cells(self, line: str) -> list[tuple[int, str]]:
        """Place and text of every cell."""
        if '"' in line:
            matches = re.finditer(rf'(?:"[^"]*"|[^{self.separator}])*+(?:{self.separator}|\Z)', line)
            return [(m.start(), m[0].removesuffix(self.separator)) for m in matches if m[0] or m.start() == 0]
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
        target = block._replace(spans=block.spans[:, :k], values=block.values[:, :k])
        new = self.into.repeat(target, (), names, feed.tolist())
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
        written = plain.replace(",", ".") if self.separator != "," else plain
        value = finite_number(written)
        if value is None:
            raise ValueError(f"cell {place + 1} is {shown(plain)!r}, not a number")
        return value, begin, begin + len(plain)

    def _usable(self, values: list[float]) -> None:
        if self.columns.form in ("quaternion", "vector") and hypot(*values[3:]) < SHORT:
            raise ValueError("its quaternion or direction is not of unit length")
