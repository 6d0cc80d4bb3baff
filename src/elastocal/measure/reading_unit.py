"""In which unit residuals of a kind of measurement are shown."""

from __future__ import annotations

from dataclasses import dataclass

from elastocal.measure.kind import Measurement
from elastocal.quantities import length


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
