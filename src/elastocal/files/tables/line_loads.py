"""CSV files of loads by line of a program: from each line on, until the next one.

line,fx_N,fy_N,fz_N,payload_kg
1,0,0,0,20
40,-400,0,-150,20
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from elastocal.compensation.process import LineLoads
from elastocal.errors import InputError
from elastocal.files.tables.configurations import WRENCH
from elastocal.files.tables.raw import Field, add_once, read_csv, si_number, understood
from elastocal.files.units import DIMENSIONS, FORCE, MOMENT

LINE, PAYLOAD = "line", "payload"


def read_line_loads(path: Path) -> LineLoads:
    import numpy as np

    raw = read_csv(path)
    units: dict[str, Mapping[str, float]] = {w: FORCE if w[0] == "f" else MOMENT for w in WRENCH}
    units[PAYLOAD] = DIMENSIONS["mass"]
    fields: dict[str, Field] = {}
    for place, column in enumerate(raw.header):
        name, factor = (LINE, 1.0) if column == LINE else understood(raw, column, units, (LINE,))
        add_once(raw, fields, name, Field(place, factor))
    if LINE not in fields or not raw.rows:
        raise InputError(f"{raw.top}: needs a column line and at least one row, such as line,fx_N and 1,-400")
    first = np.array([si_number(raw, row, fields[LINE]) for row in raw.rows])
    if np.any(np.diff(first) <= 0):
        row = int(np.argmax(np.diff(first) <= 0)) + 1
        raise InputError(f"{raw.file}, line {raw.rows[row][0]}: line {first[row]:g} does not follow {first[row - 1]:g}")
    wrench = np.array(
        [[si_number(raw, row, fields[w]) if w in fields else 0.0 for w in WRENCH] for row in raw.rows]
    ).reshape(-1, 6)
    has = PAYLOAD in fields
    mass = np.array([si_number(raw, row, fields[PAYLOAD]) if has else np.nan for row in raw.rows])
    if np.any(mass < 0):
        row = int(np.argmax(mass < 0))
        raise InputError(
            f"{raw.file}, line {raw.rows[row][0]}: a payload of {mass[row]:g} kg; give a mass, not below 0"
        )
    return LineLoads(raw.file, first, wrench, mass)
