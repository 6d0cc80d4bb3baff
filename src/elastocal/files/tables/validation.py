"""CSV files of poses that were commanded and measured, several times each.

    pose,command_x_mm,command_y_mm,command_z_mm,x_mm,y_mm,z_mm
    P1,1000,0,500,1000.12,-0.03,499.91

One row per visit, in the order of the cycles.  Angles a b c (about z, y, x in turn) and command_a ... may be added, and
a column ``direction`` that names where the pose was approached from.  A file of another program is named by a YAML file
(``elastocal.files.tables.named``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from elastocal.errors import ConflictError, MissingError
from elastocal.files.tables.named import read_table
from elastocal.files.tables.raw import Field, RawTable, check_rows, columns_of, si_columns
from elastocal.files.units import ANGLE, LENGTH
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.spatial.entries import Array

POSE, DIRECTION = "pose", "direction"
SAME = 1e-7
"""m and rad by which the commands of one pose may differ."""
_PLACE, _TURN = ("x", "y", "z"), ("a", "b", "c")


@dataclass(frozen=True, eq=False)
class Visits:
    """One pose: ``command`` (3,) and ``reached`` (n, 3) in m, rotations (3, 3), (n, 3, 3) or None, directions (n).

    ``lines`` (n) are those of the file.
    """

    name: str
    command: Array
    reached: Array
    told: Array | None
    turned: Array | None
    directions: tuple[str, ...]
    lines: tuple[int, ...]


def read_visits(path: Path) -> tuple[tuple[Visits, ...], tuple[str, ...]]:
    """Poses in the order of their first rows, and notes on how the file of another program was read."""
    raw = read_table(path)
    fields = _fields(raw)
    turns = [f"{p}{c}" for p in ("command_", "") for c in _TURN]
    given = [t for t in turns if t in fields]
    if given and len(given) < len(turns):
        lacking = next(t for t in turns if t not in fields)
        raise MissingError(
            f"{raw.top}: orientation needs a, b, c and command_a, command_b, command_c; {lacking} is missing"
        )
    names = raw.texts(fields[POSE].place)
    rows: dict[str, list[int]] = {}
    for i, name in enumerate(names):
        rows.setdefault(name, []).append(i)
    words = raw.texts(fields[DIRECTION].place) if DIRECTION in fields else [""] * len(names)
    numbers = [w for w in fields if w not in (POSE, DIRECTION)]
    values = dict(zip(numbers, si_columns(raw, [fields[w] for w in numbers]).T, strict=True))
    return tuple(_visits(raw, values, words, name, some) for name, some in rows.items()), raw.notes


def _fields(raw: RawTable) -> dict[str, Field]:
    units: dict[str, Mapping[str, float]] = {}
    for prefix in ("command_", ""):
        units |= {f"{prefix}{c}": LENGTH for c in _PLACE} | {f"{prefix}{c}": ANGLE for c in _TURN}
    required = (POSE, *(f"{p}{c}" for p in ("command_", "") for c in _PLACE))
    fields = columns_of(raw, units, (POSE, DIRECTION), required)
    check_rows(raw)
    return fields


def _visits(
    raw: RawTable, values: Mapping[str, Array], directions: Sequence[str], name: str, rows: Sequence[int]
) -> Visits:
    import numpy as np

    from elastocal.spatial.rotation import Rotation

    def columns(words: Sequence[str]) -> Array:
        return np.stack([values[w][rows] for w in words], axis=1)

    def turned(prefix: str) -> Array | None:
        if "a" not in values:
            return None
        return np.asarray(Rotation.from_euler("ZYX", columns([f"{prefix}{c}" for c in _TURN])).as_matrix())

    command, turns = columns([f"command_{c}" for c in _PLACE]), turned("command_")
    for told in (command, turns):
        if told is not None and np.abs(told - told[0]).max() > SAME:
            bad = int(np.argmax(np.abs(told - told[0]).reshape(len(told), -1).max(axis=1)))
            line = raw.lines[rows[bad]]
            raise ConflictError(
                f"{raw.file}, line {line}: pose {name} has another command than before; name it otherwise"
            )
    words, lines = tuple(directions[i] for i in rows), tuple(raw.lines[rows].tolist())
    return Visits(name, command[0], columns(_PLACE), None if turns is None else turns[0], turned(""), words, lines)
