"""Tables as people see them: grouped columns, rounded numbers, numbered footnotes, dashes for the unknown."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby
from math import floor, isfinite, log10

from elastocal.report.blocks import Cell, Column, Table, Unknown

DASH = "\N{EN DASH}"


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


def displayed(table: Table, most: int | None = None) -> Shown:
    """The first ``most`` rows (default all) of a table, ready to print; a column with no entry is left out."""
    rows = table.rows if most is None else table.rows[:most]
    columns = [(i, c) for i, c in enumerate(table.columns) if c.shown]
    groups = [list(g) for _, g in groupby(columns, key=lambda c: c[1].group or c[1].key)]
    groups = [g for g in groups if not rows or any(row[i] is not None for row in rows for i, _ in g)]
    footnotes: list[str] = []
    shown = []
    for row in rows:
        cells = []
        for group in groups:
            parts = [_cell(row[i], column, footnotes) for i, column in group]
            cells.append(" ".join(parts))
        shown.append(tuple(cells))
    numeric = tuple(all(_is_number(row[i]) for row in rows for i, _ in g) for g in groups)
    notes = list(table.notes) + _reasons(rows)
    if len(rows) < len(table.rows):
        notes.append(
            f"{len(table.rows) - len(rows)} more rows are not shown here; a CSV or JSON file holds all of them."
        )
    return Shown(tuple(_header(g) for g in groups), numeric, tuple(shown), tuple(notes), tuple(footnotes))


def number(value: float, decimals: int | None = None) -> str:
    """A number for people: fixed decimals, or six significant digits, never a negative zero."""
    if not isfinite(value):
        return DASH
    if decimals is None:
        return f"{value + 0.0:.6g}"
    text = f"{value:.{decimals}f}"
    return text[1:] if text.startswith("-") and float(text) == 0 else text


def significant(value: float) -> str:
    """A number with three digits that count, as 0.123, 12.3 or 12300; an exponent only for the very small."""
    if not isfinite(value):
        return DASH
    rounded = float(f"{value:.2e}")
    if rounded == 0 or abs(rounded) < 1e-4:
        return f"{rounded + 0.0:.3g}"
    return f"{rounded:.{max(0, 2 - floor(log10(abs(rounded))))}f}"


def length(metres: float) -> str:
    """A length for people, up to three digits: 12.3 um, 450 um, 35.9 mm, 2.61 m."""
    if not isfinite(metres):
        return DASH
    size = abs(float(f"{metres:.2e}"))
    factor, unit = (1e6, "um") if size < 1e-3 else (1e3, "mm") if size < 1 else (1.0, "m")
    return f"{factor * metres:.3g} {unit}"


def told_apart(one: float, other: float) -> tuple[str, str]:
    """Two numbers with as many decimals as show three digits of their difference."""
    gap = abs(one - other)
    decimals = max(0, 2 - floor(log10(gap))) if isfinite(gap) and gap > 0 else 3
    return number(one, decimals), number(other, decimals)


def concise(value: float, sd: float) -> str:
    """Value and standard deviation as ``0.302(4)e-6``: the digits in brackets are the sd in the last places shown.

    Two digits of the sd where it begins with 1, else one (GUM 7.2.6); powers of ten in steps of three.
    """
    if not isfinite(value) or not isfinite(sd) or sd <= 0:
        return DASH
    size = max(abs(value), sd)
    power = 3 * floor(log10(size) / 3)
    if size / 10.0**power >= 100:
        power += 3
    a, e = value / 10.0**power, sd / 10.0**power
    digits = 2 if f"{e:.1e}"[0] == "1" else 1
    decimals = max(0, digits - 1 - floor(log10(float(f"{e:.{digits - 1}e}"))))
    shown = round(e * 10**decimals) if decimals else round(e)
    tail = f"e{power:d}" if power else ""
    return f"{number(a, decimals)}({shown}){tail}"


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
    return number(value, column.decimals) if column.digits is None else number(float(f"{value:.{column.digits}g}"))


def _is_number(value: Cell) -> bool:
    return (
        value is None or isinstance(value, Unknown) or (isinstance(value, int | float) and not isinstance(value, bool))
    )


def _reasons(rows: tuple[tuple[Cell, ...], ...]) -> list[str]:
    """Why cells are dashes, each reason once, with the rows it holds for."""
    found: dict[str, list[int]] = {}
    for n, row in enumerate(rows, start=1):
        for reason in dict.fromkeys(c.reason for c in row if isinstance(c, Unknown)):
            found.setdefault(reason, []).append(n)
    return [f"{DASH} in {_named(where)}: {reason}." for reason, where in found.items()]


def _named(where: list[int]) -> str:
    if len(where) == 1:
        return f"row {where[0]}"
    if len(where) > 8:
        return f"{len(where)} rows"
    return "rows " + ", ".join(str(n) for n in where)
