"""What a log does not say of itself and the user does: its torques in a table of their own, units, rows per second.

    motor_positions.csv  Joint_1,Joint_2,...          motor_torques.csv  Joint_1,Joint_2,...

Rows of both are the same instants.  Columns without units are the axes of their names, else in their order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path

from elastocal.errors import RangeError, ShapeError, UnitError, UnknownNameError
from elastocal.files.tables.csv_file import csv_parts
from elastocal.files.tables.raw import Origin, RawTable
from elastocal.model.robot import Robot
from elastocal.values import dataclass

ANY = ("counts", "motor_deg", "motor_rad", "motor_turns", "motor_Nm", "A")
UNITS = {"revolute": ("deg", "rad", "Nm", *ANY), "prismatic": ("mm", "m", "N", *ANY)}
"""By the kind of the axis that a column is of."""
TORQUES = {"Nm": "torque_Nm", "N": "torque_N", "motor_Nm": "motor_torque_Nm", "A": "current_A"}


@dataclass(frozen=True)
class Given:
    """``torques`` are a second table; ``units`` of values and torques, such as motor_rad,motor_Nm; ``rate`` in Hz."""

    torques: Path | None = None
    units: str = ""
    rate: float | None = None

    def __post_init__(self) -> None:
        known = tuple(dict.fromkeys(u for units in UNITS.values() for u in units))
        for word in self._words:
            if word not in known:
                raise UnknownNameError("unit of a log", word, known, parameter="units")
        if self.rate is not None and not 0 < self.rate < 1e9:
            raise RangeError.of("rate", self.rate, "give the rows per second, such as 1000")

    @property
    def any(self) -> bool:
        return self != Given()

    @property
    def _words(self) -> tuple[str, ...]:
        return tuple(w.strip() for w in self.units.split(",") if w.strip())

    def parts(self, path: Path, model: Robot, size: int) -> Iterator[RawTable]:
        """The log in tables of ``size`` rows, its columns named with units."""
        first = (self._named(raw, model, torques=False) for raw in csv_parts(path, size=size))
        if self.torques is None:
            yield from first
            return
        second = (self._named(raw, model, torques=True) for raw in csv_parts(self.torques, size=size))
        for one, other in zip_longest(first, second):
            if one is None or other is None or len(one.rows) != len(other.rows):
                raise ShapeError(
                    f"{path} and {self.torques} have not as many rows as each other; give the same instants in both",
                    file=str(self.torques), parameter="torque_log",
                )  # fmt: skip
            yield joined(one, other)

    def _named(self, raw: RawTable, model: Robot, torques: bool) -> RawTable:
        """With units on columns that are called as axes or joints alone, or one for each axis by other names."""
        axes = model.controller.axes
        called = {n.casefold(): a for a, j in zip(axes, model.joints, strict=True) for n in (j, a)}
        bare = [title for title in raw.header if not title.startswith("time")]
        names = {title: called[title.casefold()] for title in bare if title.casefold() in called}
        if not names and len(bare) == len(axes) and not any("_" in title.rstrip("0123456789_") for title in bare):
            names = dict(zip(bare, axes, strict=True))
        kinds = dict(zip(axes, (m.kind for m in model.motions), strict=True))
        titles = {}
        for title, axis in names.items():
            fits = [w for w in self._words if w in UNITS[kinds[axis]] and (w in TORQUES) == torques]
            if not fits:
                what = "torques" if torques else "values"
                raise UnitError(
                    f"{raw.top}: column {title!r} has no unit; state that of the {what}, such as rad,Nm (of slides "
                    "m,N too), of motors motor_rad,motor_Nm", parameter="units",
                )  # fmt: skip
            titles[title] = f"{axis}_{TORQUES.get(fits[0], fits[0])}"
        origins = tuple(Origin(raw.file, title) for title in raw.header)
        return replace(raw, header=tuple(titles.get(t, t) for t in raw.header), origins=origins)


def joined(one: RawTable, other: RawTable) -> RawTable:
    """Side by side; lines are those of the first table, and of the second where that was read."""
    if one.numerals != other.numerals:
        raise UnitError(f"{one.file} and {other.file} write decimals in different ways; write both with a point")
    lines = {a[0]: b[0] for a, b in zip(one.rows, other.rows, strict=True)}
    keep = [i for i, title in enumerate(other.header) if title not in one.header]
    rows = tuple((a[0], (*a[1], *(b[1][i] for i in keep))) for a, b in zip(one.rows, other.rows, strict=True))
    origins = tuple(replace(other.origin(i), lines=lines) for i in keep)
    return replace(
        one, header=(*one.header, *(other.header[i] for i in keep)), rows=rows, origins=(*one.origins, *origins),
        notes=(*one.notes, *other.notes), more=(*one.more, Path(other.file)),
    )  # fmt: skip
