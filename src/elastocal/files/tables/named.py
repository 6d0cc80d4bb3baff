"""Tables that a YAML file names, how they are to be read, and rows of two that belong together.  See docs/imports.md.

    table: readings.csv
    table: {file: export.txt, format: spatial-analyzer, points: "{name}_{marker}", length: mm, join: poses.csv}

Where a command takes a table of points or poses, it also takes a YAML file that names one in this way.

Rows belong together by their names, such as poses to points, and points with and without load.  The latter stand side
by side afterwards, as columns; they are of one table by their state, or of two tables:

    unloaded: Free                        the rows of this state
    unloaded: {file: unloaded.txt}        another table, which is read like the one with load
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from elastocal.errors import ConflictError, DuplicateError, UnknownNameError
from elastocal.files import schema
from elastocal.files.formats.format import WORDS, Asked, format_kinds
from elastocal.files.located import Located, Path_, read_formatted
from elastocal.files.opened import existing, path_of
from elastocal.files.tables.csv_file import read_csv
from elastocal.files.tables.raw import Origin, RawTable
from elastocal.files.tables.remembered import entry_for
from elastocal.files.tables.rows import Line
from elastocal.files.tables.spelling import Numerals
from elastocal.model.robot import Robot
from elastocal.values import dataclass

FORMAT = "elastocal-table/1"
KEY = "table"
PLAIN, BAG = "csv", "ros-bag"
BAGS = (".bag", ".mcap", ".db3")
"""Endings that tell the format."""
APART = ("file", "unloaded", "join", "unmatched", "markers")
"""Keys of a table that one without load does not take over from the one with load."""


@dataclass(frozen=True, kw_only=True)
class TableEntry:
    """Top level of a file that names a table."""

    format: str
    table: Any


def read_table(path: Path) -> RawTable:
    """A CSV file, or the table that a YAML file names."""
    if path.suffix.lower() not in (".yaml", ".yml"):
        return read_csv(path)
    located = read_formatted(path, FORMAT, "a file that names a table")
    entry = schema.construct(TableEntry, located, (), located.data, {})
    return _read(entry.table, Asked(located, (KEY,), None))


def read_tables_of(located: Located, table: Any, robot: Robot) -> dict[str, RawTable]:
    """The tables of a campaign by the words that name their files."""
    several = isinstance(table, list)
    entries: Sequence[Any] = table if several else [table]
    words = [str(e.get("file")) if isinstance(e, dict) else str(e) for e in entries]
    if len(set(words)) != len(words) or not words:
        raise located.error((KEY,), "must name at least one file, and none twice")
    places: list[Path_] = [(KEY, i) if several else (KEY,) for i in range(len(words))]
    return {w: _read(e, Asked(located, p, robot)) for w, e, p in zip(words, entries, places, strict=True)}


def _read(entry: Any, asked: Asked, whole: bool = False) -> RawTable:
    """The table of an entry; ``whole`` with the columns that bring its rows together with others."""
    if isinstance(entry, str):
        path = existing(asked.located, asked.path, entry)
        options = {"format": BAG} if path.suffix.lower() in BAGS else entry_for(path)
        if options is None:
            return read_csv(path)
        entry = {"file": entry, **options}
    if isinstance(entry, dict) and isinstance(entry.get("file"), list):
        message = "is one file; that without load is named by unloaded: {file: ...}, others by a list of tables"
        raise asked.error(("file",), message)
    if not isinstance(entry, dict) or "file" not in entry:
        raise asked.error((), f"{entry!r} should name a file, or be such as {{file: export.csv, format: {PLAIN}}}")
    kind = str(entry.get("format", PLAIN))
    if kind not in format_kinds():
        raise UnknownNameError("format of tables", kind, format_kinds(), asked.where("format"))
    options = {k: v for k, v in entry.items() if k != "format"}
    form = schema.construct(format_kinds()[kind], asked.located, asked.path, options, {})
    raw = form.read(existing(asked.located, asked.path, form.file), asked)
    if isinstance(form.unloaded, dict):
        like = {k: v for k, v in entry.items() if k not in APART}
        free = _read(
            {**like, **form.unloaded}, Asked(asked.located, (*asked.path, "unloaded"), asked.robot), whole=True
        )
        raw = paired_with(raw, free, form.unmatched, asked)
    elif form.unloaded is not None:
        raw = paired(raw, str(form.unloaded), form.unmatched, asked)
    if form.join is not None:
        other = _read(form.join, Asked(asked.located, (*asked.path, "join"), asked.robot))
        raw = joined(raw, other, form.unmatched, asked)
    if form.markers:
        raw = renamed(raw, form.markers, asked)
    return raw if whole else without_matched(raw)


MARKER, MATCHED = "marker", ("state", "repeat")
MOST = 5
"""Names that a message lists."""
Added = tuple[str, int, Origin]
"""A column to add: its name here, its place there, and where it stands."""


def joined(raw: RawTable, other: RawTable, unmatched: str, asked: Asked) -> RawTable:
    """The columns of ``other`` added to the rows that bear the same names."""
    raw, other = _alike(raw, other)
    keys = [h for h in other.header if h in raw.header and h in WORDS]
    if not keys:
        have = ", ".join(h for h in raw.header if h in WORDS) or "none"
        raise asked.error(("join",), f"{other.top}: has no column of names that {raw.file} has too ({have}); add one")
    both = [h for h in other.header if h in raw.header and h not in WORDS]
    if both:
        message = (
            f"{other.file} and {raw.file} have both {both[0]}; points without load are named by unloaded: {{file: ...}}"
        )
        raise asked.error(("join",), message)
    here, there = [raw.header.index(k) for k in keys], [other.header.index(k) for k in keys]
    rows = _once(other, there)
    partner = {row[0]: rows[key] for row in raw.rows if (key := names_of(row, here)) in rows}
    used, name = {row[0] for row in partner.values()}, Path(other.file).name
    lost = [r for r in raw.rows if r[0] not in partner]
    idle = [r for r in other.rows if r[0] not in used]
    own = [i for i, h in enumerate(raw.header) if h in WORDS]
    notes = left_out_notes(raw, unmatched, (lost, own, f"not in {name}"), (idle, there, f"in {name} only"))
    own_top = [(h, i, other.origin(i)) for i, h in enumerate(other.header) if h not in keys]
    added = [(h, i, replace(origin, top=origin.top or other.top)) for h, i, origin in own_top]
    return replace(
        extended(raw, partner, added),
        notes=(*raw.notes, *other.notes, *notes),
        more=(*raw.more, Path(other.file), *other.more),
    )


def _alike(*tables: RawTable) -> list[RawTable]:
    """The tables with numbers written in one way."""
    if len({t.numerals for t in tables}) == 1:
        return list(tables)
    rows = (tuple((n, tuple(map(t.numerals.cell, cells))) for n, cells in t.rows) for t in tables)
    return [replace(t, rows=r, numerals=Numerals()) for t, r in zip(tables, rows, strict=True)]


def renamed(raw: RawTable, markers: Mapping[str, str], asked: Asked) -> RawTable:
    """Markers by the names of the robot's frames."""
    at = raw.header.index(MARKER) if MARKER in raw.header else -1
    there = dict.fromkeys(cells[at].strip() for _, cells in raw.rows) if at >= 0 else {}
    for word in markers:
        if word not in there:
            message = f"no row of {raw.file} is of marker {word!r}; there are {', '.join(there) or 'none'}"
            raise asked.error(("markers", word), message)
    rows = ((line, (*c[:at], markers.get(c[at].strip(), c[at]), *c[at + 1 :])) for line, c in raw.rows)
    return replace(raw, rows=tuple(rows))


def without_matched(raw: RawTable) -> RawTable:
    """The table without the columns that only serve to bring rows together."""
    kept = [i for i, h in enumerate(raw.header) if h not in MATCHED]
    return replace(
        raw,
        header=tuple(raw.header[i] for i in kept),
        rows=raw.picked(kept),
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


def left_out_notes(raw: RawTable, unmatched: str, *lost: tuple[Sequence[Line], Sequence[int], str]) -> tuple[str, ...]:
    """A note on rows (with the places of their names, and what is wrong) that are left out, or the refusal of them."""
    notes = []
    for rows, places, wrong in lost:
        listed = [f"{' '.join(names_of(r, places))} (line {r[0]})" for r in rows[:MOST]]
        more = f" and {len(rows) - MOST} more" if len(rows) > MOST else ""
        notes += [f"{wrong}: {', '.join(listed)}{more}"] if rows else []
    if not notes:
        return ()
    if unmatched == "refuse":
        raise ConflictError(
            f"{raw.file}: {'; '.join(notes)}; correct the names, or leave them out by unmatched: leave_out"
        )
    return (f"{Path(raw.file).name}: left out, {'; '.join(notes)}.",)


def _once(table: RawTable, places: Sequence[int]) -> dict[tuple[str, ...], Line]:
    """Rows by their names, none of which may stand twice."""
    rows: dict[tuple[str, ...], Line] = {}
    for row in table.rows:
        key = names_of(row, places)
        if key in rows:
            first = rows[key][0]
            raise DuplicateError(
                f"{table.file}, line {row[0]}: {' '.join(key)} stands in line {first} already; keep one"
            )
        rows[key] = row
    return rows


def _through(origin: Origin, partner: Mapping[int, Line]) -> Origin:
    """The same origin for lines of the table that was extended."""
    lines = {line: row[0] for line, row in partner.items()}
    there = origin.lines
    return replace(origin, lines=lines if there is None else {line: there[n] for line, n in lines.items()})


STATE = "state"
PLACE = ("x", "y", "z")


def paired(raw: RawTable, unloaded: str, unmatched: str, asked: Asked) -> RawTable:
    """The rows of state ``unloaded`` as columns x0 y0 z0 of the others: the k-th of a name goes to the k-th of it."""
    if STATE not in raw.header:
        message = f"{raw.file} has no {STATE}; say which part of the names or which column it is"
        raise asked.error(("unloaded",), message + _or_file(asked, unloaded))
    at = raw.header.index(STATE)
    states = dict.fromkeys(cells[at].strip() for _, cells in raw.rows)
    if unloaded not in states:
        message = f"no row of {raw.file} is of state {unloaded!r}; there are {', '.join(states)}"
        raise asked.error(("unloaded",), message + _or_file(asked, unloaded))
    if len(states) == 1:
        message = (
            f"all rows of {raw.file} are of state {unloaded!r}; name the file with load under file, and this one by"
        )
        raise asked.error((), f"{message} unloaded: {{file: {Path(raw.file).name}}}")
    free = replace(raw, rows=tuple(r for r in raw.rows if r[1][at].strip() == unloaded))
    loaded = replace(raw, rows=tuple(r for r in raw.rows if r[1][at].strip() != unloaded))
    return _side_by_side(loaded, free, unmatched, "not read with load")


def paired_with(raw: RawTable, free: RawTable, unmatched: str, asked: Asked) -> RawTable:
    """The rows of ``free`` as columns x0 y0 z0 of those of ``raw``: the k-th of a name goes to the k-th of it."""
    raw, free = _alike(raw, free)
    if not _names(raw, free):
        message = f"{free.file} has no column of names that {raw.file} has too; say what the names of its points mean"
        raise asked.error(("unloaded",), message)
    out = _side_by_side(raw, free, unmatched, f"in {Path(free.file).name} only")
    notes = (*raw.notes, *free.notes, *out.notes[len(raw.notes) :])
    return replace(out, notes=notes, more=(*raw.more, Path(free.file), *free.more))


def _side_by_side(raw: RawTable, free: RawTable, unmatched: str, idle: str) -> RawTable:
    """``idle`` says what is wrong with a reading without load that nothing belongs to."""
    names = _names(raw, free)
    here, there = [raw.header.index(n) for n in names], [free.header.index(n) for n in names]
    partner = _partners(raw, free, here, there)
    used = {row[0] for row in partner.values()}
    lost = [r for r in free.rows if r[0] not in used]
    alone = [r for r in raw.rows if r[0] not in partner]
    notes = left_out_notes(raw, unmatched, (alone, here, "not read without load"), (lost, there, idle))
    if len(used) < len(partner):
        message = f"{len(used)} readings without load serve {len(partner)} with load, whose errors are then related"
        notes += (f"{Path(raw.file).name}: {message}.",)
    coordinates = [i for i, h in enumerate(free.header) if h.rpartition("_")[0] in PLACE]
    added = [(f"{free.header[i][0]}0{free.header[i][1:]}", i, free.origin(i)) for i in coordinates]
    called = {**raw.called, **free.called}
    return replace(extended(raw, partner, added), notes=(*raw.notes, *notes), called=called)


def _names(raw: RawTable, free: RawTable) -> list[str]:
    """Columns of names that both have, but for the state."""
    return [h for h in raw.header if h in WORDS and h in free.header and h != STATE]


def _partners(raw: RawTable, free: RawTable, here: Sequence[int], there: Sequence[int]) -> dict[int, Line]:
    """The row without load of each line with load; every state begins again with the first."""
    rows: dict[tuple[str, ...], list[Line]] = {}
    for row in free.rows:
        rows.setdefault(names_of(row, there), []).append(row)
    at = [raw.header.index(STATE)] if STATE in raw.header else []
    counts: dict[tuple[str, ...], int] = {}
    out: dict[int, Line] = {}
    for row in raw.rows:
        key = names_of(row, here)
        which = (*key, *names_of(row, at))
        nth = counts.get(which, 0)
        counts[which] = nth + 1
        if nth < len(rows.get(key, ())):
            out[row[0]] = rows[key][nth]
    return out


def _or_file(asked: Asked, word: str) -> str:
    """For whoever has written the name of a file where a state is meant."""
    there = os.path.isfile(Path(asked.located.file).parent / path_of(word))
    return f"; a file of its own is written unloaded: {{file: {word}}}" if there else ""
