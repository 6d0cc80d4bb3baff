"""What tells record and report of one run from those of others of its command.

The label of a run in the cell's own places is the command and, for programs, the program: ``compensate-part.src``.
A result that goes elsewhere must not replace the record and the report of the one that stands in the cell, so its
place is part of the label: ``compensate-part.src-trial`` after ``--out trial``.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from elastocal.app.cells.uses import TARGETS, Uses
from elastocal.app.cells.values import usual_place
from elastocal.files.cell_yaml import CellFolder


def run_label(home: CellFolder, name: str, uses: Uses, values: Mapping[str, Any], typed: set[str]) -> str:
    """``values`` are seen from the cell, with one program where the command takes programs."""
    program = values.get("program") if "program" in uses.roles else None
    usual = name if program is None else f"{name}-{Path(program).name}"
    own = _own_place(home, uses, values, typed, usual)
    return usual if own is None else "-".join((usual, *_words(home, own)))


def _own_place(home: CellFolder, uses: Uses, values: Mapping[str, Any], typed: set[str], usual: str) -> Path | None:
    """The first typed place that is not the cell's; what only adds to results in the cell is no place of its own."""
    given = {p: Path(values[p]) for p in TARGETS if p in typed and p not in uses.roles and values[p] is not None}
    fills = [f for f in uses.fills if f.output and not any(p in given for p in f.unless)]
    for fill in fills:
        if given.get(fill.parameter, usual_place(home, fill, usual)) != usual_place(home, fill, usual):
            return given[fill.parameter]
    return None if fills else next(iter(given.values()), None)


def _words(home: CellFolder, place: Path) -> tuple[str, ...]:
    """The folders that lead to a place from the cell, but for those of its reports, and its name without an ending."""
    known = home.place("reports")
    seen = place.relative_to(known) if place.is_relative_to(known) else place
    folders = (p for p in seen.parent.parts if p not in ("..", seen.anchor))
    return (*folders, seen.stem if seen.suffix else seen.name)
