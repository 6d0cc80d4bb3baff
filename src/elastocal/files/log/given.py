"""What a log does not say of itself and the user does: its torques in a table of their own, units, rows per second.

    motor_positions.csv  Joint_1,Joint_2,...          motor_torques.csv  Joint_1,Joint_2,...

Rows of both are the same instants.  Columns without units are the axes of their names, else in their order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path

from elastocal.errors import RangeError, ShapeError, UnitError, UnknownNameError
from elastocal.files.tables.raw import Origin, RawTable, csv_parts

VALUES = {u: u for u in ("deg", "rad", "mm", "m", "counts", "motor_deg", "motor_rad", "motor_turns")}
TORQUES = {"Nm": "torque_Nm", "N": "torque_N", "motor_Nm": "motor_torque_Nm", "A": "current_A"}


@dataclass(frozen=True)
class Given:
    """``torques`` are a second table; ``units`` of values and torques, such as motor_rad,motor_Nm; ``rate`` in Hz."""

    torques: Path | None = None
    units: str = ""
    rate: float | None = None

    def __post_init__(self) -> None:
        for word in filter(None, self.units.split(",")):
            if word.strip() not in VALUES | TORQUES:
                raise UnknownNameError("unit of a log", word.strip(), VALUES | TORQUES, parameter="units")
        if self.rate is not None and not 0 < self.rate < 1e9:
            raise RangeError.of("rate", self.rate, "give the rows per second, such as 1000")

    @property
    def any(self) -> bool:
        return self != Given()

    def parts(self, path: Path, axes: tuple[str, ...], joints: tuple[str, ...], size: int) -> Iterator[RawTable]:
        """The log in tables of ``size`` rows, its columns named with units."""
        value, torque = (self._unit(words) for words in (VALUES, TORQUES))
        first = (named(raw, value, axes, joints, "values") for raw in csv_parts(path, size=size))
        if self.torques is None:
            yield from first
            return
        second = (named(raw, torque, axes, joints, "torques") for raw in csv_parts(self.torques, size=size))
        for one, other in zip_longest(first, second):
            if one is None or other is None or len(one.rows) != len(other.rows):
                raise ShapeError(
                    f"{path} and {self.torques} have not as many rows as each other; give the same instants in both",
                    file=str(self.torques), parameter="torque_log",
                )  # fmt: skip
            yield joined(one, other)

    def _unit(self, words: dict[str, str]) -> str:
        return next((words[w.strip()] for w in self.units.split(",") if w.strip() in words), "")


def named(raw: RawTable, unit: str, axes: tuple[str, ...], joints: tuple[str, ...], what: str) -> RawTable:
    """With the unit on columns that are called as axes or joints alone, or by numbers of them in order."""
    bare = [title for title in raw.header if not title.startswith("time")]
    called = {n.casefold(): a for a, j in zip(axes, joints, strict=True) for n in (j, a)}
    names = {title: called[title.casefold()] for title in bare if title.casefold() in called}
    if not names and len(bare) == len(axes) and not any("_" in title.rstrip("0123456789_") for title in bare):
        names = dict(zip(bare, axes, strict=True))
    if names and not unit:
        raise UnitError(
            f"{raw.top}: column {next(iter(names))!r} has no unit; state that of the {what}, such as rad,Nm, "
            "of motors motor_rad,motor_Nm", parameter="units",
        )  # fmt: skip
    header = tuple(f"{names[title]}_{unit}" if title in names else title for title in raw.header)
    origins = tuple(Origin(raw.file, title) for title in raw.header)
    return replace(raw, header=header, origins=origins)


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
