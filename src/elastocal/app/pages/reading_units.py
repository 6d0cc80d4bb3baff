"""In which unit residuals of a kind of measurement are shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from elastocal.measure.kind import Measurement


@dataclass(frozen=True)
class ReadingUnit:
    """``factor`` from SI to ``unit``; ``rows`` are the numbers of a reading that have it."""

    factor: float
    unit: str
    rows: tuple[int, ...]

    @property
    def digits(self) -> dict[str, int]:
        """How a column shows it: tenths of a micrometre, three digits of anything else."""
        return {"decimals": 1} if self.unit == "um" else {"digits": 3}

    def text(self, value: float) -> str:
        return f"{self.factor * value:.3g} {self.unit}"


def reading_unit(kind: Measurement) -> ReadingUnit:
    """Of the rows that predictions are judged by: micrometres for lengths, SI for forces and torques."""
    si = kind.rows[0].unit
    factor, unit = {"m": (1e6, "um"), "rad": (1e6, "urad")}.get(si, (1.0, si))
    return ReadingUnit(factor, unit, tuple(kind.judged))
