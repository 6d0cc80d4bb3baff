"""What was logged: rows in which some motors turned, their encoders counted and some joints moved.

A series is a set of rows with the same zero of the counters: joint values that it does not record stood still.
Joint values are in rad or m, motor angles in rad, counts in counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from elastocal.errors import InputError
from elastocal.spatial.entries import Array

What = Literal["counts", "motor", "joint"]
TURN = 2 * np.pi


@dataclass(frozen=True, eq=False)
class AxisColumn:
    """Numbers of one heading in SI; ``factor`` leads from what is printed (``texts``) to them.

    ``added`` are the counts by which ``values`` are ahead of what a counter that ran over shows.
    """

    heading: str
    values: Array
    factor: float
    texts: tuple[str, ...]
    added: Array | float = 0.0

    @classmethod
    def of(cls, heading: str, numbers: Sequence[float], factor: float = 1.0) -> AxisColumn:
        values = np.asarray(numbers, dtype=np.float64)
        return cls(heading, values * factor, factor, tuple(f"{v:.12g}" for v in values))

    def as_printed(self, values: Array) -> Array:
        """Numbers of this column (n,) in the unit and with the zero that they are printed in."""
        return np.asarray((values - self.added) / self.factor)


@dataclass(frozen=True, eq=False)
class EncoderSeries:
    """Rows of one ``table`` by axis; ``rows`` are their numbers there, ``row_word`` what these count."""

    table: str
    rows: tuple[int, ...]
    counts: Mapping[str, AxisColumn]
    joints: Mapping[str, AxisColumn] = field(default_factory=dict)
    motors: Mapping[str, AxisColumn] = field(default_factory=dict)
    row_word: str = "row"

    def __post_init__(self) -> None:
        for what, axis, column in self.columns():
            if len(column.values) != len(self.rows):
                raise InputError(f"{self.table}: {what} of {axis} has {len(column.values)} of {len(self.rows)} rows")
            if not np.all(np.isfinite(column.values)):
                raise InputError(f"{self.table}, column {column.heading}: holds a number that is not finite")

    def columns(self) -> Iterator[tuple[What, str, AxisColumn]]:
        yield from (("counts", a, c) for a, c in self.counts.items())
        yield from (("motor", a, c) for a, c in self.motors.items())
        yield from (("joint", a, c) for a, c in self.joints.items())

    def column(self, what: What, axis: str) -> AxisColumn:
        return {"counts": self.counts, "motor": self.motors, "joint": self.joints}[what][axis]

    def place(self, row: int, column: AxisColumn) -> str:
        return f"{self.table}, {self.row_word} {self.rows[row]}, column {column.heading}"

    def with_added(self, axis: str, counts: Array | float) -> EncoderSeries:
        """The same with these counts added to what the encoder of an axis shows."""
        old = self.counts[axis]
        column = replace(old, values=old.values + counts, added=old.added + counts)
        return replace(self, counts={**self.counts, axis: column})


def named_axes(series: Sequence[EncoderSeries]) -> tuple[str, ...]:
    """Every axis that is named, in the order of its first mention."""
    return tuple(dict.fromkeys(axis for s in series for _, axis, _ in s.columns()))
