"""Readings of one kind with everything that is known to be wrong with them.

A virtual campaign is what instruments would read of a robot that is known, with every stated error drawn at random.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property

import numpy as np

from elastocal.errors import InfeasibleError, NumberError, RangeError, ShapeError
from elastocal.measure.kind import Measurement
from elastocal.measure.sources.source import ErrorSource
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array, Bools
from elastocal.values import dataclass


@dataclass(frozen=True)
class ParameterPrior:
    """What is known of a parameter before any reading: its value and standard deviation, in SI."""

    name: str
    value: float
    sd: float

    def __post_init__(self) -> None:
        if not (np.isfinite(self.value) and np.isfinite(self.sd) and self.sd > 0):
            raise RangeError(
                f"{self.name}: known beforehand as {self.value:g} with sd {self.sd:g}; give a finite value and a "
                "positive sd, or leave it out where nothing is known",
                value=self.name,
            )


@dataclass(frozen=True, eq=False)
class Measured:
    """``readings`` (N, R) in SI, nan where nothing was read; ``places`` name each reading's row in its file.

    ``spots`` names where the numbers of a reading's group stand, by reading and group, where that is known closer.
    ``priors`` are parameters of which something is known beforehand; they count like one more reading each.
    """

    measurement: Measurement
    readings: Array
    sources: tuple[ErrorSource, ...] = ()
    places: Sequence[str] | None = None
    priors: tuple[ParameterPrior, ...] = ()
    spots: Mapping[tuple[int, str], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        readings = np.asarray(self.readings, dtype=np.float64)
        shape = (self.measurement.count, len(self.measurement.rows))
        if readings.shape != shape:
            raise ShapeError(
                f"readings are {readings.shape} where {shape} are needed: one row per reading",
                value=(readings.shape, shape),
            )
        if np.any(np.isinf(readings)):
            raise NumberError("a reading is infinite; leave it out (nan) or correct it", code="infinite")
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

    def leaving_out(self, places: Iterable[tuple[int, int]]) -> Measured:
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


@dataclass(frozen=True)
class Planted:
    """An outlier that was put in: which number, and by how much (m or rad)."""

    reading: int
    row: int
    size: float


@dataclass(frozen=True, eq=False)
class Virtual:
    """The campaign, what would be read without any error, the common unknowns drawn, and the outliers planted."""

    campaign: Measured
    exact: Array
    drawn: dict[str, float]
    planted: tuple[Planted, ...]


def virtual_campaign(
    truth: Robot,
    measurement: Measurement,
    sources: tuple[ErrorSource, ...],
    rng: np.random.Generator,
    *,
    outliers: int = 0,
    outlier_size: float = 2e-3,
) -> Virtual:
    """Readings of ``truth`` with one draw of every source, and ``outliers`` single lengths off by ``outlier_size``.

    Unknowns that nothing is known of beforehand (an sd of inf) are drawn as zero.
    """
    exact = measurement.predict(truth)
    lost = np.flatnonzero(np.isnan(exact).any(axis=1))
    if len(lost):
        raise InfeasibleError(
            f"reading {lost[0] + 1}: the true robot has no determined state there (backlash without force, or a load "
            "that it cannot hold); leave the configuration out or add a preload"
        )
    readings = exact.copy()
    drawn: dict[str, float] = {}
    for source in sources:
        unknowns = source.unknowns(measurement, truth)
        sd = np.array([u.sd if np.isfinite(u.sd) else 0.0 for u in unknowns])
        u = rng.normal(size=(1 if source.common else measurement.count, len(sd))) * sd
        each = np.broadcast_to(u, (len(exact), len(sd)))
        readings += np.einsum("nrk,nk->nr", source.columns(measurement, truth), each)
        if source.common:
            drawn |= {k.name: float(v) for k, v in zip(unknowns, u[0], strict=True)}
    lengths = [i for i, row in enumerate(measurement.rows) if row.unit == "m"]
    planted = plant(readings, lengths, rng, outliers, outlier_size)
    if sources:
        readings = np.round(readings, 9)  # no instrument writes more than a nanometre
    return Virtual(Measured(measurement, readings, sources), exact, drawn, planted)


def plant(
    readings: Array, rows: Sequence[int], rng: np.random.Generator, outliers: int, size: float
) -> tuple[Planted, ...]:
    """Add outliers of either sign to different numbers of these rows, in place."""
    places = len(rows) * len(readings)
    if outliers > places:
        raise RangeError(f"{outliers} outliers do not fit into {places} numbers; plant fewer", value=(outliers, places))
    out = []
    for place in rng.choice(places, outliers, replace=False):
        reading, row = int(place) // len(rows), rows[int(place) % len(rows)]
        shift = size if rng.random() < 0.5 else -size
        readings[reading, row] += shift
        out.append(Planted(reading, row, shift))
    return tuple(sorted(out, key=lambda p: (p.reading, p.row)))
