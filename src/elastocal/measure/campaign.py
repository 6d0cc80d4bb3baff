"""Readings of one kind with everything that is known to be wrong with them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from elastocal.errors import InputError
from elastocal.measure.kind import Measurement
from elastocal.measure.sources.source import ErrorSource
from elastocal.spatial.entries import Array, Bools


@dataclass(frozen=True)
class Belief:
    """What is known of a parameter before any reading: its value and standard deviation, in SI."""

    name: str
    value: float
    sd: float

    def __post_init__(self) -> None:
        if not (np.isfinite(self.value) and np.isfinite(self.sd) and self.sd > 0):
            raise InputError(
                f"{self.name}: known beforehand as {self.value:g} with sd {self.sd:g}; give a finite value and a "
                "positive sd, or leave it out where nothing is known"
            )


@dataclass(frozen=True, eq=False)
class Campaign:
    """``readings`` (N, R) in SI, nan where nothing was read; ``places`` name each reading's row in its file.

    ``spots`` names where the numbers of a reading's group stand, by reading and group, where that is known closer.
    ``beliefs`` are parameters of which something is known beforehand; they count like one more reading each.
    """

    measurement: Measurement
    readings: Array
    sources: tuple[ErrorSource, ...] = ()
    places: tuple[str, ...] | None = None
    beliefs: tuple[Belief, ...] = ()
    spots: Mapping[tuple[int, str], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        readings = np.asarray(self.readings, dtype=np.float64)
        shape = (self.measurement.count, len(self.measurement.rows))
        if readings.shape != shape:
            raise InputError(f"readings are {readings.shape} where {shape} are needed: one row per reading")
        if np.any(np.isinf(readings)):
            raise InputError("a reading is infinite; leave it out (nan) or correct it")
        object.__setattr__(self, "readings", readings)

    @cached_property
    def measured(self) -> Bools:
        """(N, R)"""
        return np.asarray(np.isfinite(self.readings))

    @property
    def common(self) -> tuple[ErrorSource, ...]:
        """Sources that are nuisance parameters of the whole campaign."""
        return tuple(s for s in self.sources if s.common)

    @property
    def scattering(self) -> tuple[ErrorSource, ...]:
        """Sources that are drawn anew with every reading."""
        return tuple(s for s in self.sources if not s.common)

    def leaving_out(self, places: Iterable[tuple[int, int]]) -> Campaign:
        """The campaign without some numbers, each named by reading and row."""
        readings = self.readings.copy()
        for reading, row in places:
            readings[reading, row] = np.nan
        return replace(self, readings=readings)

    def line(self, reading: int) -> str:
        """Where a reading stands: file and line, if known."""
        return self.places[reading] if self.places else f"reading {reading + 1}"

    def place(self, reading: int, row: int) -> str:
        """Where a number stands: reading (file and line, if known) and what it is."""
        number = self.measurement.rows[row]
        return f"{self.spots.get((reading, number.group), self.line(reading))}, {number.name}"
