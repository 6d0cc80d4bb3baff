"""Points that were read with and without load as columns side by side: of one table by their state, or of two tables.

unloaded: Free                        the rows of this state
unloaded: {file: unloaded.txt}        another table, which is read like the one with load
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from elastocal.files.formats.format import WORDS, Asked
from elastocal.files.place import path_of
from elastocal.files.tables.joins import extended, names_of, told
from elastocal.files.tables.raw import Line, RawTable

STATE = "state"
PLACE = ("x", "y", "z")


def paired(raw: RawTable, unloaded: str, unmatched: str, asked: Asked) -> RawTable:
    """The rows of state ``unloaded`` as columns x0 y0 z0 of the others: the k-th of a name goes to the k-th of it."""
    if STATE not in raw.header:
        said = f"{raw.file} has no {STATE}; say which part of the names or which column it is"
        raise asked.error(("unloaded",), said + _or_file(asked, unloaded))
    at = raw.header.index(STATE)
    states = dict.fromkeys(cells[at].strip() for _, cells in raw.rows)
    if unloaded not in states:
        said = f"no row of {raw.file} is of state {unloaded!r}; there are {', '.join(states)}"
        raise asked.error(("unloaded",), said + _or_file(asked, unloaded))
    if len(states) == 1:
        said = f"all rows of {raw.file} are of state {unloaded!r}; name the file with load under file, and this one by"
        raise asked.error((), f"{said} unloaded: {{file: {Path(raw.file).name}}}")
    free = replace(raw, rows=tuple(r for r in raw.rows if r[1][at].strip() == unloaded))
    loaded = replace(raw, rows=tuple(r for r in raw.rows if r[1][at].strip() != unloaded))
    return _side_by_side(loaded, free, unmatched, "not read with load")


def paired_with(raw: RawTable, free: RawTable, unmatched: str, asked: Asked) -> RawTable:
    """The rows of ``free`` as columns x0 y0 z0 of those of ``raw``: the k-th of a name goes to the k-th of it."""
    if not _names(raw, free):
        said = f"{free.file} has no column of names that {raw.file} has too; say what the names of its points mean"
        raise asked.error(("unloaded",), said)
    out = _side_by_side(raw, free, unmatched, f"in {Path(free.file).name} only")
    notes = (*raw.notes, *free.notes, *out.notes[len(raw.notes) :])
    comma = raw.decimal_comma or free.decimal_comma
    return replace(out, notes=notes, decimal_comma=comma, more=(*raw.more, Path(free.file), *free.more))


def _side_by_side(raw: RawTable, free: RawTable, unmatched: str, idle: str) -> RawTable:
    """``idle`` says what is wrong with a reading without load that nothing belongs to."""
    names = _names(raw, free)
    here, there = [raw.header.index(n) for n in names], [free.header.index(n) for n in names]
    partner = _partners(raw, free, here, there)
    used = {row[0] for row in partner.values()}
    lost = [r for r in free.rows if r[0] not in used]
    alone = [r for r in raw.rows if r[0] not in partner]
    notes = told(raw, unmatched, (alone, here, "not read without load"), (lost, there, idle))
    if len(used) < len(partner):
        said = f"{len(used)} readings without load serve {len(partner)} with load, whose errors are then related"
        notes += (f"{Path(raw.file).name}: {said}.",)
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
    there = (Path(asked.located.file).parent / path_of(word)).is_file()
    return f"; a file of its own is written unloaded: {{file: {word}}}" if there else ""
