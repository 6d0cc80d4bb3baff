"""Rows of two tables that belong together by their names, such as poses to points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from elastocal.errors import InputError
from elastocal.files.formats.format import WORDS, Asked
from elastocal.files.tables.raw import Line, Origin, RawTable

MARKER, MATCHED = "marker", ("state", "repeat")
MOST = 5
"""Names that a message lists."""
Added = tuple[str, int, Origin]
"""A column to add: its name here, its place there, and where it stands."""


def joined(raw: RawTable, other: RawTable, unmatched: str, asked: Asked) -> RawTable:
    """The columns of ``other`` added to the rows that bear the same names."""
    keys = [h for h in other.header if h in raw.header and h in WORDS]
    if not keys:
        have = ", ".join(h for h in raw.header if h in WORDS) or "none"
        raise asked.error(("join",), f"{other.top}: has no column of names that {raw.file} has too ({have}); add one")
    both = [h for h in other.header if h in raw.header and h not in WORDS]
    if both:
        said = (
            f"{other.file} and {raw.file} have both {both[0]}; points without load are named by unloaded: {{file: ...}}"
        )
        raise asked.error(("join",), said)
    here, there = [raw.header.index(k) for k in keys], [other.header.index(k) for k in keys]
    rows = _once(other, there)
    partner = {row[0]: rows[key] for row in raw.rows if (key := names_of(row, here)) in rows}
    used, name = {row[0] for row in partner.values()}, Path(other.file).name
    lost = [r for r in raw.rows if r[0] not in partner]
    idle = [r for r in other.rows if r[0] not in used]
    own = [i for i, h in enumerate(raw.header) if h in WORDS]
    notes = told(raw, unmatched, (lost, own, f"not in {name}"), (idle, there, f"in {name} only"))
    own_top = [(h, i, other.origin(i)) for i, h in enumerate(other.header) if h not in keys]
    added = [(h, i, replace(origin, top=origin.top or other.top)) for h, i, origin in own_top]
    return replace(
        extended(raw, partner, added),
        decimal_comma=raw.decimal_comma or other.decimal_comma,
        notes=(*raw.notes, *other.notes, *notes),
        more=(*raw.more, Path(other.file), *other.more),
    )


def renamed(raw: RawTable, markers: Mapping[str, str], asked: Asked) -> RawTable:
    """Markers by the names of the robot's frames."""
    at = raw.header.index(MARKER) if MARKER in raw.header else -1
    there = dict.fromkeys(cells[at].strip() for _, cells in raw.rows) if at >= 0 else {}
    for word in markers:
        if word not in there:
            said = f"no row of {raw.file} is of marker {word!r}; there are {', '.join(there) or 'none'}"
            raise asked.error(("markers", word), said)
    rows = ((line, (*c[:at], markers.get(c[at].strip(), c[at]), *c[at + 1 :])) for line, c in raw.rows)
    return replace(raw, rows=tuple(rows))


def without_matched(raw: RawTable) -> RawTable:
    """The table without the columns that only serve to bring rows together."""
    kept = [i for i, h in enumerate(raw.header) if h not in MATCHED]
    return replace(
        raw,
        header=tuple(raw.header[i] for i in kept),
        rows=tuple((line, tuple(cells[i] for i in kept)) for line, cells in raw.rows),
        origins=tuple(raw.origin(i) for i in kept),
    )


def extended(raw: RawTable, partner: Mapping[int, Line], added: Sequence[Added]) -> RawTable:
    """The rows that have a partner (by their lines), with columns of it."""
    rows = (
        (line, (*cells, *(partner[line][1][place] for _, place, _ in added)))
        for line, cells in raw.rows
        if line in partner
    )
    own = (raw.origin(i) for i in range(len(raw.header)))
    return replace(
        raw,
        header=(*raw.header, *(name for name, _, _ in added)),
        rows=tuple(rows),
        origins=(*own, *(_through(origin, partner) for _, _, origin in added)),
    )


def names_of(row: Line, places: Sequence[int]) -> tuple[str, ...]:
    return tuple(row[1][i].strip() for i in places)


def told(raw: RawTable, unmatched: str, *lost: tuple[Sequence[Line], Sequence[int], str]) -> tuple[str, ...]:
    """A note on rows (with the places of their names, and what is wrong) that are left out, or the refusal of them."""
    said = []
    for rows, places, wrong in lost:
        listed = [f"{' '.join(names_of(r, places))} (line {r[0]})" for r in rows[:MOST]]
        more = f" and {len(rows) - MOST} more" if len(rows) > MOST else ""
        said += [f"{wrong}: {', '.join(listed)}{more}"] if rows else []
    if not said:
        return ()
    if unmatched == "refuse":
        raise InputError(f"{raw.file}: {'; '.join(said)}; correct the names, or leave them out by unmatched: leave_out")
    return (f"{Path(raw.file).name}: left out, {'; '.join(said)}.",)


def _once(table: RawTable, places: Sequence[int]) -> dict[tuple[str, ...], Line]:
    """Rows by their names, none of which may stand twice."""
    rows: dict[tuple[str, ...], Line] = {}
    for row in table.rows:
        key = names_of(row, places)
        if key in rows:
            first = rows[key][0]
            raise InputError(f"{table.file}, line {row[0]}: {' '.join(key)} stands in line {first} already; keep one")
        rows[key] = row
    return rows


def _through(origin: Origin, partner: Mapping[int, Line]) -> Origin:
    """The same origin for lines of the table that was extended."""
    lines = {line: row[0] for line, row in partner.items()}
    there = origin.lines
    return replace(origin, lines=lines if there is None else {line: there[n] for line, n in lines.items()})
