"""A kind of measurement: what the model says an instrument reads, and how that depends on the parameters.

Identification knows this interface and the model's parameter table, nothing else:

    y = f(model) + errors,    dy = F dpi,

with y one row of R numbers per reading.  A kind that is affine in its parameters is fitted in one step.  Its
residuals are shown in the unit that people use for it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

from elastocal.errors import UnsupportedError
from elastocal.kinds import kinds_in
from elastocal.measure.setup import Setup
from elastocal.model.robot import Robot
from elastocal.quantities import length
from elastocal.spatial.entries import Array, Ints
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.model.surfaces.surface import Touches

Statics = Literal["loaded", "linear"]
Column = tuple[str, Array, str]
"""Title without a unit, numbers (N,) and their dimension."""


@dataclass(frozen=True)
class Row:
    """One of the R numbers of a reading: its name and SI unit (m, rad, N or N m).

    Rows of one ``group`` come from one instrument or marker: they scatter alike.
    """

    name: str
    unit: str
    group: str


class Measurement(ABC):
    """N readings of R numbers each, of one kind."""

    kind: ClassVar[str]
    states: ClassVar[int] = 1
    """How many times the instrument is read for one value (two for a difference)."""
    table_columns: ClassVar[Mapping[str, str]] = {}
    """Columns of a campaign's table for the R numbers and their dimensions; with some, campaign files may name it."""
    touching: ClassVar[bool] = False
    """Whether the arm presses on objects; otherwise a load acts on it."""

    @classmethod
    def of_setup(cls, setup: Setup) -> Measurement:
        """The measurement of a loaded arm that a campaign file describes, for a kind with ``table_columns``."""
        raise UnsupportedError(f"a measurement of {cls.kind} is not made from a table of one number per column")

    @property
    @abstractmethod
    def count(self) -> int:
        """N"""

    @property
    @abstractmethod
    def rows(self) -> tuple[Row, ...]:
        """The R numbers of a reading."""

    @property
    @abstractmethod
    def pose(self) -> Ints:
        """Number (N,) of the configuration of every reading; readings that share it are left out together."""

    @property
    @abstractmethod
    def state(self) -> Ints:
        """Number (N,) of configuration and load; readings that share it are repeats."""

    @property
    @abstractmethod
    def affine(self) -> bool:
        """True where readings are affine in every parameter that has a column."""

    def names(self, model: Robot, wanted: Sequence[str] | None) -> tuple[str, ...]:
        """Parameters of the model that this kind has columns for, of those wanted (None: all), in table order."""
        return tuple(model.parameters.names[i] for i in model.parameters.select(wanted))

    @abstractmethod
    def predict(self, model: Robot) -> Array:
        """What should be read, (N, R) in SI; nan where the state is not determined."""

    @abstractmethod
    def derivative(self, model: Robot, names: Sequence[str]) -> Array:
        """dy/dpi, (N, R, p) in the order of ``names``; nan where the state is not determined."""

    def structure(self, model: Robot, names: Sequence[str]) -> Measurement:
        """The kind that rank decisions are made with: the same without effects of second order, where there is one.

        A bent arm tells apart in principle what a straight one does not, by differences far below any noise.
        """
        return self

    @property
    def statics(self) -> Statics:
        """Whether readings are those of the loaded equilibrium, or of the linear model of it."""
        return "loaded"

    def at_equilibrium(self) -> Measurement:
        """The same by the loaded equilibrium, as a true robot has it."""
        return self

    def linear(self) -> Measurement | None:
        """The same by the linear model, affine in the compliances; None where there is none."""
        return None

    def by_joints(self, model: Robot) -> Array:
        """How the readings move with the joints, (N, R, n)."""
        raise UnsupportedError(
            f"a measurement of {self.kind} does not say how joint errors move it; leave the source out"
        )

    @property
    def objects(self) -> Touches:
        """What is touched, of contacts."""
        raise UnsupportedError(f"a measurement of {self.kind} touches nothing", value=self.kind)

    def by_objects(self, model: Robot) -> Array:
        """How the readings move with the place and size of the objects, (N, R, p) by ``objects.parameters``."""
        raise UnsupportedError(f"a measurement of {self.kind} touches nothing", value=self.kind)

    def by_force(self, model: Robot) -> Array:
        """How they move with an error of the force sensor along x, y, z: (N, R, 3)."""
        raise UnsupportedError(f"a measurement of {self.kind} touches nothing", value=self.kind)

    @property
    def groups(self) -> tuple[str, ...]:
        """The instruments or markers read, in order."""
        return tuple(dict.fromkeys(row.group for row in self.rows))

    @property
    def judged(self) -> list[int]:
        """Rows whose prediction errors are summed up: those in the unit of the first."""
        return [i for i, row in enumerate(self.rows) if row.unit == self.rows[0].unit]

    @property
    def watched(self) -> Setup | None:
        """Configurations, load and markers, of kinds that watch markers of a loaded arm."""
        return None

    @property
    def setup(self) -> Setup:
        """The same, of kinds that have it."""
        if self.watched is None:
            raise UnsupportedError(
                f"a measurement of {self.kind} has no markers and no load: such an error cannot apply to it",
                value=self.kind,
            )
        return self.watched

    @property
    def load_frame(self) -> str:
        """The frame that is loaded, or that touches."""
        return self.setup.load.frame

    def written(self, readings: Array) -> Iterator[Column]:
        """Columns of a table of readings (N, R)."""
        if not self.table_columns:
            raise UnsupportedError(
                f"a campaign of {self.kind} cannot be written as a table; write deflections or positions"
            )
        for (name, dimension), column in zip(self.table_columns.items(), readings.T, strict=True):
            yield name, column, dimension


@dataclass(frozen=True, eq=False)
class MarkerMeasurement(Measurement):
    """Readings of markers on a loaded arm; a kind says what its six numbers of a pose are called."""

    symbols: ClassVar[tuple[str, str, str, str, str, str]]
    where: Setup

    @property
    def watched(self) -> Setup:
        return self.where

    @property
    def count(self) -> int:
        return self.where.count

    @property
    def pose(self) -> Ints:
        return self.where.pose

    @property
    def state(self) -> Ints:
        return self.where.state

    def by_joints(self, model: Robot) -> Array:
        return self.where.by_joints(model)

    @property
    def rows(self) -> tuple[Row, ...]:
        return tuple(
            Row(f"{m.frame}.{symbol}", "m" if i < 3 else "rad", m.frame)
            for m in self.where.markers
            for i, symbol in enumerate(self.symbols[: m.rows])
        )

    def written(self, readings: Array) -> Iterator[Column]:
        if self.table_columns:
            yield from super().written(readings)
            return
        for row, column in zip(self.rows, readings.T, strict=True):
            yield row.name, column, "length" if row.unit == "m" else "angle"


def measurement_kinds() -> dict[str, type[Measurement]]:
    """Every kind of measurement: those of this folder, and of other packages."""
    from elastocal import measure

    return kinds_in(measure, Measurement, group="elastocal.measurements")


@dataclass(frozen=True)
class ReadingUnit:
    """``factor`` from SI to ``unit``; ``rows`` are the numbers of a reading that have it."""

    factor: float
    unit: str
    rows: tuple[int, ...]

    @property
    def decimals(self) -> int | None:
        """Digits after the point in a column: tenths of a micrometre."""
        return 1 if self.unit == "um" else None

    @property
    def digits(self) -> int | None:
        """Significant digits in a column of anything else."""
        return None if self.unit == "um" else 3

    def key(self, name: str) -> str:
        return f"{name}_{self.unit.replace(' ', '')}"

    def text(self, value: float) -> str:
        return length(value) if self.unit == "um" else f"{self.factor * value:.3g} {self.unit}"


def reading_unit(kind: Measurement) -> ReadingUnit:
    """Of the rows that predictions are judged by: micrometres for lengths, SI for forces and torques."""
    si = kind.rows[0].unit
    factor, unit = {"m": (1e6, "um"), "rad": (1e6, "urad")}.get(si, (1.0, si))
    return ReadingUnit(factor, unit, tuple(kind.judged))


def small_unit(si: str) -> tuple[float, str]:
    """Single readings in mm and mrad, the rest in SI: the factor and the unit."""
    return (1e3, f"m{si}") if si in ("m", "rad") else (1.0, si)
