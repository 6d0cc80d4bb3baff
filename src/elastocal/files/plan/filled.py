"""Readings that somebody has written into the table of a plan."""

from __future__ import annotations

import csv
from pathlib import Path

from elastocal.errors import InputError


def check_cells_empty(path: Path, text: str) -> None:
    """``text`` is about to be written to ``path``: what it leaves empty must be empty there too."""
    if not path.exists():
        return
    new = list(csv.DictReader(text.splitlines()))
    empty = [name for name in new[0] if not any(row[name] for row in new)] if new else []
    old = path.read_bytes().decode("utf-8", errors="replace").splitlines()
    for row in (reader := csv.DictReader(old)):
        filled = [name for name in empty if row.get(name)]
        if filled:
            raise InputError(
                f"{path}, line {reader.line_num}, column {filled[0]}: holds a reading ({row[filled[0]]}), and a new "
                "plan would replace it; move the table to the campaign's folder, or plan into another one",
                code="would-replace",
                file=str(path),
                line=reader.line_num,
                column=filled[0],
                parameter="out",
            )
