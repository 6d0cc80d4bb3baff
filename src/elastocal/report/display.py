"""Tables as people see them: grouped columns, rounded numbers, numbered footnotes, dashes for the unknown."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import groupby
from math import floor, isfinite, log10

from elastocal.quantities import DASH, concise, number, probability, read_in
from elastocal.report.blocks import Cell, Column, Table, Unknown
from elastocal.values import dataclass

ALIKE = 100.0
"""Ratio of numbers up to which they have the same decimals."""
_SCALED = re.compile(r"-?\d+(\.\d+)?")
"""A number that was brought to a unit of the trade."""


@dataclass(frozen=True)
class Shown:
    """Header and cells as strings, ``numeric`` columns to be set flush right, texts for below the table."""

    header: tuple[str, ...]
    numeric: tuple[bool, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]
    footnotes: tuple[str, ...]


def parted(table: Table) -> tuple[Table, ...]:
    """The table as it is shown: one for each part of its columns, behind the first column; notes below the last."""
    table = _in_units_of_the_trade(table)
    parts = [
        [i for i, c in enumerate(table.columns) if i and c.part == part and c.shown]
        for part in sorted({c.part for c in table.columns})
    ]
    parts = [at for at in parts if any(row[i] is not None for row in table.rows for i in at)]
    if len(parts) < 2:
        return (table,)
    made = [
        replace(
            table,
            columns=tuple(table.columns[i] for i in (0, *at)),
            rows=tuple(tuple(row[i] for i in (0, *at)) for row in table.rows),
            notes=table.notes if at is parts[-1] else (),
        )
        for at in parts
    ]
    return (made[0], *(replace(part, title="") for part in made[1:]))


def displayed(table: Table, most: int | None = None, page: bool = False) -> Shown:
    """The first ``most`` rows (default all) of a table, ready to print; a column with no entry is left out.

    On a ``page`` there is room for reasons.
    """
    table = _in_units_of_the_trade(table)
    if any(c.reason for c in table.columns):
        table = replace(table, columns=tuple(replace(c, footnote=not page) if c.reason else c for c in table.columns))
    rows = tuple(table.rows[:most])
    columns = [(i, c) for i, c in enumerate(table.columns) if c.shown]
    groups = [list(g) for _, g in groupby(columns, key=lambda c: c[1].group or c[1].key)]
    groups = [g for g in groups if not rows or any(row[i] is not None for row in rows for i, _ in g)]
    footnotes: list[str] = []
    groups = [_one_format(g, rows) for g in groups]
    shown = []
    for row in rows:
        cells = []
        for group in groups:
            parts = [_cell(row[i], column, footnotes) for i, column in group]
            cells.append(" ".join(parts))
        shown.append(tuple(cells))
    numeric = tuple(all(_is_number(row[i]) for row in rows for i, _ in g) for g in groups)
    notes = list(table.notes) + _reasons(rows, [i for g in groups for i, _ in g])
    if len(rows) < len(table.rows):
        notes.append(
            f"{len(table.rows) - len(rows)} more rows are not shown here; a CSV or JSON file holds all of them."
        )
    return Shown(tuple(_header(g) for g in groups), numeric, tuple(shown), tuple(notes), tuple(footnotes))


def _one_format(group: list[tuple[int, Column]], rows: tuple[tuple[Cell, ...], ...]) -> list[tuple[int, Column]]:
    """Decimals for a whole column.

    Where significant digits are asked for and sizes are alike: as many as show them of the smallest number.  Where
    nothing is asked for and exponents would be needed: as many as show five digits of the largest; what is far smaller
    is zero beside it.
    """
    columns = [c for _, c in group]
    values = [c.scale * v for row in rows for i, c in group if isinstance(v := row[i], float) and isfinite(v)]
    sizes = [abs(v) for v in values if v != 0]
    if not sizes or any(c.decimals is not None or c.probability for c in columns):
        return group
    smallest, largest, digits = min(sizes), max(sizes), max((c.digits or 0 for c in columns), default=0)
    if not all(c.digits for c in columns):
        if not 1e-3 <= largest < 1e7 or not (smallest < 1e-4 or largest >= 1e6):
            return group
        decimals = max(0, 4 - floor(log10(largest)))
    elif all(v.is_integer() for v in values):
        decimals = 0
    elif largest < ALIKE * smallest:
        decimals = max(0, digits - 1 - floor(log10(smallest)))
    else:
        return group
    return [(i, replace(c, decimals=decimals)) for i, c in group]


def _in_units_of_the_trade(table: Table) -> Table:
    """Numbers of columns in SI as people read them, each row in a unit that suits its size."""
    si = [i for i, c in enumerate(table.columns) if c.si]
    if not si:
        return table
    keys = [c.key for c in table.columns]
    at = keys.index("unit")
    rows = []
    for row in table.rows:
        sizes = [abs(v) for v in (row[i] for i in si) if isinstance(v, float) and isfinite(v)]
        factor, unit = read_in(str(row[at]), max(sizes, default=0.0))
        cells = list(row)
        cells[at] = unit
        for i in si:
            value, column = row[i], table.columns[i]
            if isinstance(value, float) and isfinite(value):
                sd = row[keys.index(column.sd)] if column.sd else None
                if isinstance(sd, float) and sd > 0:
                    cells[i] = concise(factor * value, factor * sd)
                else:
                    cells[i] = _digits(factor * value, column.digits)
        rows.append(tuple(cells))
    columns = tuple(replace(c, si=False) for c in table.columns)
    return replace(table, columns=columns, rows=tuple(rows))


def _digits(value: float, digits: int | None) -> str:
    """As many significant digits as asked for, zeros too: 0.3000 beside 0.3343."""
    if value == 0 or not isfinite(value):
        return number(value)
    text = f"{value:#.{digits or 4}g}".rstrip(".")
    return number(float(text)) if "e" in text else text


def _header(group: list[tuple[int, Column]]) -> str:
    columns = [c for _, c in group]
    names = " ".join(c.name for c in columns)
    units = list(dict.fromkeys(c.unit for c in columns if c.unit))
    return f"{names} [{', '.join(units)}]" if units else names


def _cell(value: Cell, column: Column, footnotes: list[str]) -> str:
    if value is None:
        return ""
    if isinstance(value, Unknown):
        return DASH
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        if not column.footnote or not value:
            return value
        if value not in footnotes:
            footnotes.append(value)
        return f"[{footnotes.index(value) + 1}]"
    if isinstance(value, int):
        return str(value)
    if column.probability:
        return probability(value)
    value *= column.scale
    decimals = column.decimals
    return number(value, decimals) if decimals is not None or column.digits is None else _digits(value, column.digits)


def _is_number(value: Cell) -> bool:
    if isinstance(value, str):
        return _SCALED.fullmatch(value) is not None
    return value is None or isinstance(value, Unknown) or not isinstance(value, bool)


def _reasons(rows: tuple[tuple[Cell, ...], ...], seen: list[int]) -> list[str]:
    """Why cells of the columns that are seen are dashes, each reason once, with the rows it holds for."""
    reasons: dict[str, list[int]] = {}
    for n, row in enumerate(rows, start=1):
        for reason in dict.fromkeys(c.reason for i in seen if isinstance(c := row[i], Unknown)):
            reasons.setdefault(reason, []).append(n)
    return [f"{DASH} in {_named(where)}: {reason}." for reason, where in reasons.items()]


def _named(where: list[int]) -> str:
    if len(where) == 1:
        return f"row {where[0]}"
    if len(where) > 8:
        return f"{len(where)} rows"
    return "rows " + ", ".join(str(n) for n in where)
