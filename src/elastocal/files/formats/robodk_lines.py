"""The lines of a RoboDK table: 18 cells each, of which those at x = y = z = 0 have not been measured."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from elastocal.errors import InputError
from elastocal.files.tables.raw import Field, RawTable, separator_of, si_number, split_line, text_lines

TITLES = (*(f"J{i}" for i in range(1, 7)), *"XYZWPR", *(f"tool {c}" for c in "XYZWPR"))
JOINTS, PLACE, TURN, TOOL = range(6), range(6, 9), range(9, 12), range(12, 15)
NOTHING = 1e-3
"""mm: a measurement this close to zero was not made."""


def measured_lines(file: Path) -> RawTable:
    """Every measurement that was made, as RoboDK's own columns; a note names the others."""
    lines = text_lines(file, "#")
    if len(lines) < 2:
        raise InputError(f"{file}: holds no measurements; save the table of the calibration project again")
    separator = separator_of(lines[0][1])
    first, *rows = ((n, split_line(file, (n, s), separator)) for n, s in lines)
    if all(_numeric(c) for c in first[1] if c.strip()):
        raise InputError(f"{file}, line {first[0]}: holds numbers where RoboDK writes titles; put the titles back")
    for line, cells in rows:
        if len(cells) < len(TITLES):
            raise InputError(
                f"{file}, line {line}: {len(cells)} cells, but joints, measured pose and tool are {len(TITLES)}; "
                "save the table of the calibration project again"
            )
    whole = RawTable(str(file), TITLES, tuple((n, c[: len(TITLES)]) for n, c in rows), separator != ",", first[0])
    absent = [r for r in whole.rows if all(abs(si_number(whole, r, Field(i, 1.0))) < NOTHING for i in PLACE)]
    if len(absent) == len(whole.rows):
        raise InputError(f"{file}: none of its {len(absent)} measurements has been made: all are at 0, 0, 0")
    text = ", ".join(str(n) for n, _ in absent)
    note = f"{file.name}: left out, since they have not been made (0, 0, 0): measurements in lines {text}."
    kept = tuple(r for r in whole.rows if r not in absent)
    return replace(whole, rows=kept, notes=(note,) if absent else ())


def _numeric(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True
