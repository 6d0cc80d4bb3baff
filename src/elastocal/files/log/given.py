"""What a log does not say of itself and the user does: its torques in a table of their own, units, rows per second.

    motor_positions.csv  Joint_1,Joint_2,...          motor_torques.csv  Joint_1,Joint_2,...

Rows of both are the same instants.  Columns without units are the axes of their names, else in their order; torques and
currents that are called so (``A1_torque``) are these.  A column that names its unit keeps it: another one that is
stated for its quantity is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path

from elastocal.errors import ConflictError, RangeError, ShapeError, UnitError, UnknownNameError
from elastocal.files.tables.csv_file import csv_parts
from elastocal.files.tables.raw import Origin, RawTable, with_axis_titles
from elastocal.files.tables.spelling import plain_title
from elastocal.model.robot import Robot
from elastocal.values import dataclass

ANY = ("counts", "motor_deg", "motor_rad", "motor_turns", "motor_Nm", "A")
UNITS = {"revolute": ("deg", "rad", "Nm", *ANY), "prismatic": ("mm", "m", "N", *ANY)}
"""By the kind of the axis that a column is of."""
TORQUES = {"Nm": "torque_Nm", "N": "torque_N", "motor_Nm": "motor_torque_Nm", "A": "current_A"}
QUANTITIES = {"torque": ("Nm", "N", "motor_Nm"), "motor_torque": ("Nm", "motor_Nm"), "current": ("A",)}
"""Units of what a title says behind the axis, as in A1_torque."""


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

    def unit(self, kind: str, torque: bool) -> str:
        """What is stated of the values or the torques of a joint of this kind; "" where no unit of them is."""
        stated = [w for w in self._words if (w in TORQUES) == torque]
        fits = [w for w in stated if w in UNITS[kind]]
        if stated and not fits:
            raise UnitError(
                f"units {self.units!r}: none fits the {'torque' if torque else 'value'} of a {kind} joint; add one of "
                f"{', '.join(w for w in UNITS[kind] if (w in TORQUES) == torque)}", parameter="units", value=self.units,
            )  # fmt: skip
        return fits[0] if fits else ""

    def _named(self, raw: RawTable, model: Robot, torques: bool) -> RawTable:
        """With units on columns that are called as axes or joints alone, or one for each axis by other names."""
        if "q_0" in raw.header:
            return raw
        axes = model.controller.axes
        kinds = model.axis_kinds
        called = {n.casefold(): a for a, j in zip(axes, model.joints, strict=True) for n in (j, a)}
        origins = tuple(Origin(raw.file, title) for title in raw.header)
        bare = [title for title in raw.header if not title.startswith("time")]
        if not any(_bare(title, called) for title in bare):
            raw = replace(with_axis_titles(raw, axes), origins=origins)
        names = {title: known for title in raw.header if (known := _bare(title, called)) is not None}
        if not names and len(bare) == len(axes) and not any("_" in title.rstrip("0123456789_") for title in bare):
            names = {title: (axis, "") for title, axis in zip(bare, axes, strict=True)}
        titles = {}
        for title, (axis, quantity) in names.items():
            fits = self._fitting(kinds[axis], quantity, torques)
            if not fits:
                raise _unstated(raw, title, kinds[axis], quantity, torques)
            titles[title] = f"{axis}_{_ending(fits[0], quantity)}"
        self._check(raw, kinds)
        return replace(raw, header=tuple(titles.get(t, t) for t in raw.header), origins=origins)

    def _fitting(self, kind: str, quantity: str, torques: bool) -> list[str]:
        words = [w for w in self._words if w in UNITS[kind]]
        return [w for w in words if (w in QUANTITIES[quantity] if quantity else (w in TORQUES) == torques)]

    def _check(self, raw: RawTable, kinds: Mapping[str, str]) -> None:
        """Refuse a unit that is stated against the one that a title names."""
        for title in raw.header:
            plain = plain_title(title, (*kinds, *(f"{axis}_{q}" for axis in kinds for q in QUANTITIES)))
            axis = next((a for a in kinds if plain.startswith(f"{a}_")), None)
            if axis is None or plain in (f"{axis}_{q}" for q in QUANTITIES) or "_per_" in plain:
                continue
            ending = plain.removeprefix(f"{axis}_")
            quantity = next((q for q in QUANTITIES if ending.startswith(f"{q}_")), "")
            fits = self._fitting(kinds[axis], quantity, False)
            if fits and ending not in [_ending(w, quantity) for w in fits]:
                raise ConflictError(
                    f"{raw.top}: column {title!r} names its unit, and {fits[0]} is stated; leave {fits[0]} out, or "
                    "correct the title", column=title, value=fits[0], parameter="units",
                )  # fmt: skip


def _bare(title: str, called: Mapping[str, str]) -> tuple[str, str] | None:
    """Axis and quantity ("" for its value, or for what the table is of) of a title that names no unit."""
    name = title.casefold()
    for quantity in ("", "motor_torque", "torque", "current"):
        stem = name.removesuffix(f"_{quantity}") if quantity else name
        if stem in called and (stem != name or not quantity):
            return called[stem], quantity
    return None


def _ending(word: str, quantity: str) -> str:
    """What a title has behind the axis, by the unit that is stated; Nm of a motor's torque is of the motor."""
    return "motor_torque_Nm" if quantity == "motor_torque" else TORQUES.get(word, word)


def _unstated(raw: RawTable, title: str, kind: str, quantity: str, torques: bool) -> UnitError:
    what = f"{quantity.replace('_', ' ')}s" if quantity else "torques" if torques else "values"
    write = f"write {title}_{next(u for u in QUANTITIES[quantity] if u in UNITS[kind])}, or " if quantity else ""
    return UnitError(
        f"{raw.top}: column {title!r} has no unit; {write}state that of the {what}, such as rad,Nm (of slides m,N "
        "too), of motors motor_rad,motor_Nm", parameter="units", value=title,
    )  # fmt: skip


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
