"""Points that were read with and without load, row by row, as columns side by side."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from elastocal.files.formats.format import WORDS, Asked
from elastocal.files.tables.joins import extended, names_of, told
from elastocal.files.tables.raw import Line, RawTable

STATE = "state"
PLACE = ("x", "y", "z")


def paired(raw: RawTable, unloaded: str, unmatched: str, asked: Asked) -> RawTable:
    """The rows of state ``unloaded`` as columns x0 y0 z0 of the others: the k-th of a name goes to the k-th of it."""
    if STATE not in raw.header:
        said = f"{raw.file} has no {STATE}; say which part of the names or which column it is"
        raise asked.error(("unloaded",), said)
    at = raw.header.index(STATE)
    states = dict.fromkeys(cells[at].strip() for _, cells in raw.rows)
    if unloaded not in states:
        raise asked.error(
            ("unloaded",), f"no row of {raw.file} is of state {unloaded!r}; there are {', '.join(states)}"
        )
    names = [i for i, h in enumerate(raw.header) if h in WORDS and i != at]
    partner = _partners(raw, at, names, unloaded)
    used = {row[0] for row in partner.values()}
    free = [r for r in raw.rows if r[1][at].strip() == unloaded and r[0] not in used]
    alone = [r for r in raw.rows if r[1][at].strip() != unloaded and r[0] not in partner]
    notes = told(raw, unmatched, (alone, names, "not read without load"), (free, names, "not read with load"))
    if len(used) < len(partner):
        said = f"{len(used)} readings without load serve {len(partner)} with load, whose errors are then related"
        notes += (f"{Path(raw.file).name}: {said}.",)
    coordinates = [i for i, h in enumerate(raw.header) if h.rpartition("_")[0] in PLACE]
    added = [(f"{raw.header[i][0]}0{raw.header[i][1:]}", i, raw.origin(i)) for i in coordinates]
    return replace(extended(raw, partner, added), notes=(*raw.notes, *notes))


def _partners(raw: RawTable, at: int, names: list[int], unloaded: str) -> dict[int, Line]:
    """The row without load of each line with load."""
    free: dict[tuple[str, ...], list[Line]] = {}
    for row in raw.rows:
        if row[1][at].strip() == unloaded:
            free.setdefault(names_of(row, names), []).append(row)
    counts: dict[tuple[str, ...], int] = {}
    out: dict[int, Line] = {}
    for row in raw.rows:
        key, state = names_of(row, names), row[1][at].strip()
        if state != unloaded:
            nth = counts.get((*key, state), 0)
            counts[(*key, state)] = nth + 1
            if nth < len(free.get(key, ())):
                out[row[0]] = free[key][nth]
    return out
