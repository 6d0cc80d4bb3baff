"""Points that SpatialAnalyzer exports as text: names and Cartesian coordinates in its working frame.

    // Collection,  Group,  Point,  X,  Y,  Z
    Cell, Loaded, P01_M1, 2104.3321, 310.5540, 1022.0101

``points`` says what the names mean: "{state}::{name}_{marker}" is of group and point, ``*`` is anything.  Remarks begin
with //; one that lists the columns gives their order, one that states units their unit.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Literal

from elastocal.errors import FormatError, MissingError, UnitError, UnsupportedError
from elastocal.files.formats.format import WORDS, Asked, TableFormat
from elastocal.files.tables.csv_file import text_lines
from elastocal.files.tables.raw import Origin, RawTable
from elastocal.files.tables.rows import Line, Text, split_line
from elastocal.files.tables.spelling import unit_word
from elastocal.files.units import LENGTH
from elastocal.values import dataclass

BETWEEN = "::"
MOST = 5
_FIELD = re.compile(r"\{(\w+)\}|(\*)")


@dataclass(frozen=True)
class PointNames:
    """Patterns of the last parts of a name (collection, group, point), and the fields in them."""

    parts: tuple[str, ...]
    patterns: tuple[re.Pattern[str], ...]
    fields: tuple[str, ...]

    @staticmethod
    def of(text: str, parts: Sequence[str], asked: Asked) -> PointNames:
        """``parts`` are those of the names in the file."""
        pieces = text.split(BETWEEN)
        fields = tuple(f for f, _ in _FIELD.findall(text) if f)
        for field in fields:
            if field not in WORDS:
                raise asked.unknown("points", "part of a name", field, WORDS)
        if not fields or len(set(fields)) < len(fields):
            raise asked.error(
                ("points",), f"{text!r} must name parts such as {{name}} and {{marker}}, each once", FormatError
            )
        if len(pieces) > len(parts):
            raise asked.error(
                ("points",), f"{text!r} has {len(pieces)} parts, and the file only {', '.join(parts)}", FormatError
            )
        return PointNames(tuple(parts), tuple(re.compile(_regex(p)) for p in pieces), fields)

    def matched(self, file: Path, rows: Sequence[Line], asked: Asked) -> tuple[tuple[Line, ...], tuple[str, ...]]:
        """Rows (parts of the name, coordinates) as (fields, coordinates), and a note on points that do not fit."""
        count, own = len(self.parts), len(self.patterns)
        self._check_others(file, {cells[: count - own] for _, cells in rows}, asked)
        kept, odd = [], []
        for line, cells in rows:
            matches = [p.fullmatch(c) for p, c in zip(self.patterns, cells[count - own : count], strict=True)]
            if all(matches):
                values = {k: v for m in matches if m for k, v in m.groupdict().items()}
                kept.append((line, (*(values[f] for f in self.fields), *cells[count:])))
            else:
                odd.append(f"{BETWEEN.join(cells[:count])} (line {line})")
        if not kept:
            raise asked.error(("points",), f"fits no point of {file}; the first is {odd[0]}", FormatError)
        more = f" and {len(odd) - MOST} more" if len(odd) > MOST else ""
        message = f"{file.name}: left out, since 'points' does not fit: {', '.join(odd[:MOST])}{more}."
        return tuple(kept), ((message,) if odd else ())

    def _check_others(self, file: Path, others: set[tuple[str, ...]], asked: Asked) -> None:
        """Parts that the pattern leaves out are the same in all names, or points of two groups would be one."""
        for i, part in enumerate(self.parts[: len(self.parts) - len(self.patterns)]):
            if len(several := sorted({o[i] for o in others})) > 1:
                words = ", ".join(several[:MOST])
                raise asked.error(
                    ("points",),
                    f"{file} has points of several {part}s ({words}); say what they mean, or begin with *::",
                    MissingError,
                )


def _regex(text: str) -> str:
    out, at = "", 0
    for fields in _FIELD.finditer(text):
        out += re.escape(text[at : fields.start()]) + (f"(?P<{fields[1]}>.+?)" if fields[1] else ".*?")
        at = fields.end()
    return out + re.escape(text[at:])


Word = Literal["collection", "group", "point", "x", "y", "z", "-"]
NAMES, PLACE = ("collection", "group", "point"), ("x", "y", "z")
REMARK = "//"
Remark = tuple[int, str]
_SAME = {"target": "point", "name": "point", "pointname": "point"}
_OTHERS = re.compile(r"\b(cylindrical|spherical|polar|theta|phi)\b", re.IGNORECASE)
_TITLE = re.compile(r"\bx\s*[\[(]\s*([^\])]+)", re.IGNORECASE)
_UNITS = re.compile(r"\bunits?\b[\s:=(\[]*([A-Za-zµμ]+)", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class SpatialAnalyzer(TableFormat):
    """``length`` is the unit of the coordinates, ``order`` the columns where no remark lists them (``-``: not used)."""

    kind: ClassVar[str] = "spatial-analyzer"
    points: str
    length: str | None = None
    order: tuple[Word, ...] = ()

    def read(self, file: Path, asked: Asked) -> RawTable:
        remarks = _remarks(file)
        for line, text in remarks:
            if odd := _OTHERS.search(text):
                problem = f"{file}, line {line} speaks of {odd[0]}; export Cartesian coordinates instead"
                raise asked.error((), problem, UnsupportedError, file=str(file), line=line, value=odd[0])
        rows = _rows(file, asked)
        unit, note = self._unit(file, remarks, asked)
        order, more = self._order(file, remarks, rows, asked)
        parts = [n for n in NAMES if n in order]
        places = [order.index(w) for w in (*parts, *PLACE)]
        for line, cells in rows:
            if len(cells) <= max(places):
                problem = (
                    f"{file}, line {line}: {len(cells)} cells for {', '.join(order)}; export with commas if names "
                )
                problem += "hold blanks"
                raise asked.error((), problem, FormatError, file=str(file), line=line, value=len(cells))
        names = PointNames.of(self.points, parts, asked)
        points, left_out = names.matched(file, [(n, tuple(cells[p] for p in places)) for n, cells in rows], asked)
        titles = (*("point" for _ in names.fields), "X", "Y", "Z")
        return RawTable(
            str(file), (*names.fields, *(f"{c}_{unit}" for c in PLACE)), points, named=asked.where("points"),
            origins=tuple(Origin(str(file), title) for title in titles),
            notes=(_frame(file, remarks, asked), *Text.of(file).notes, *note, *more, *left_out),
            called={(str(file), line): cells[order.index("point")] for line, cells in rows},
        )  # fmt: skip

    @staticmethod
    def states_unit(file: Path) -> bool:
        """Whether a remark of the export states the unit of its coordinates."""
        return any(_stated_unit(text) for _, text in _remarks(file))

    @staticmethod
    def names_in(file: Path) -> list[tuple[str, ...]]:
        """Names of points, in as many parts as they have there."""
        order = next((o for _, text in _remarks(file) if (o := _listed(text))), ())
        lines = text_lines(file, REMARK)
        rows = [_split(file, line, lines[0][1]) for line in lines]
        parts = [i for i, w in enumerate(order) if w in NAMES] or range(max(len(rows[0]) - 3, 0) if rows else 0)
        return [tuple(cells[i] for i in parts) for cells in rows if len(cells) > max(parts, default=0)]

    def _unit(self, file: Path, remarks: list[Remark], asked: Asked) -> tuple[str, tuple[str, ...]]:
        """The unit of the coordinates, and a note where the file says it."""
        stated = [(line, unit) for line, text in remarks if (unit := _stated_unit(text))]
        unit = self.length or (stated[0][1] if stated else None)
        if unit is None:
            raise asked.error(
                ("length",),
                f"{file} does not state the unit of its coordinates; add length: mm, or what it is",
                UnitError,
            )
        if unit not in LENGTH:
            raise asked.error(("length",), f"{unit!r} is not a unit of length; write {', '.join(LENGTH)}", UnitError)
        for line, other in stated:
            if other != unit:
                raise asked.error(
                    ("length",), f"{file}, line {line} states {other}, not {unit}; correct one of the two", UnitError
                )
        if self.length:
            return unit, ()
        return unit, (f"{file.name}: coordinates are in {unit}, as its line {stated[0][0]} says.",)

    def _order(
        self, file: Path, remarks: list[Remark], rows: Sequence[Line], asked: Asked
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """What the cells of a line are, and what is assumed of it or not used."""
        order: tuple[str, ...] = self.order or next((o for _, text in remarks if (o := _listed(text))), ())
        line, count = rows[0][0], len(rows[0][1])
        if not order and not 4 <= count <= 6:
            message = f"{file}, line {line} has {count} cells, and no remark lists the columns"
            message += "; add order: [group, point, x, y, z], or what it is"
            raise asked.error((), message, FormatError, file=str(file), line=line, value=count)
        if not order:
            order = (*NAMES[6 - count :], *PLACE)
            return order, (f"{file.name}: no remark lists the columns; they are taken to be {', '.join(order)}.",)
        if any(w not in order for w in (*PLACE, "point")):
            raise asked.error(("order",), "must hold point, x, y and z", MissingError)
        unused = count - sum(w != "-" for w in order)
        return order, ((f"{file.name}: {unused} of {count} cells of a line are not used.",) if unused > 0 else ())


def _remarks(file: Path) -> list[Remark]:
    lines = enumerate(Text.of(file).whole().splitlines(), start=1)
    return [(n, s.strip().removeprefix(REMARK).strip()) for n, s in lines if s.lstrip().startswith(REMARK)]


def _rows(file: Path, asked: Asked) -> tuple[Line, ...]:
    lines = text_lines(file, REMARK)
    if not lines:
        raise asked.error((), f"{file} holds no points", MissingError, file=str(file), line=None, value="points")
    return tuple((line[0], _split(file, line, lines[0][1])) for line in lines)


def _split(file: Path, line: tuple[int, str], first: str) -> tuple[str, ...]:
    """The cells of a line, between commas or blanks as in the first one."""
    if "," in first:
        return tuple(c.strip() for c in split_line(file, line, ","))
    return split_line(file, (line[0], " ".join(line[1].split())), " ")


def _listed(remark: str) -> tuple[str, ...]:
    """The columns, where a remark lists them: ``Collection, Group, Point, X [mm], ...``"""
    words = [re.sub(r"[\[(].*", "", w).strip().lower() for w in re.split(r"[,;\t]|\s{2,}|\s(?=[A-Za-z])", remark)]
    names = [_SAME.get(w, w) for w in words if w]
    if not {*PLACE, "point"} <= set(names) or len(set(names)) < len(names):
        return ()
    return tuple(w if w in (*NAMES, *PLACE) else "-" for w in names)


def _stated_unit(remark: str) -> str | None:
    """The unit that a remark states for lengths: ``Units: Millimeters``, or a list of columns with ``X [mm]``."""
    match = _UNITS.search(remark) or (_TITLE.search(remark) if _listed(remark) else None)
    unit = unit_word(match[1]) if match else None
    return unit if unit in LENGTH else None


def _frame(file: Path, remarks: list[Remark], asked: Asked) -> str:
    remark = next(
        (f"its line {n} says {text!r}" for n, text in remarks if "frame" in text.lower()), "which it does not name"
    )
    leads = "" if asked.robot is None else "; tracker_frame leads from it to base axes"
    return f"{file.name}: coordinates are of the working frame ({remark}){leads}."
