"""The noise table of the cylindrical robot's report, with its noise read as a standard deviation and as a variance.

The report calls 1e-5 to 5e-4 a variance and gives it in m (0.01 to 0.5 mm in its text).  As a variance it can only be
in mm^2, standard deviations of 0.1 to 0.7 mm: in m^2 they would be 3 to 22 mm, as large as deflections or larger.
Which reading the printed errors favour, ``cylindrical_heights`` asks of the errors in z.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

from elastocal.cases.case import Figure, Why
from elastocal.report.blocks import Lines, Series

if TYPE_CHECKING:
    from elastocal.spatial.entries import Array

DRAWS = 200
PRINTED = {
    1e-5: (0.012, 0.033, 0.077),
    5e-5: (0.047, 0.032, 0.193),
    1e-4: (0.038, 0.040, 0.308),
    5e-4: (0.662, 0.819, 0.266),
}
"""Mean errors (mm) in x, y and z by the number that the report calls noise."""
NOISE = tuple(PRINTED)


@dataclass(frozen=True)
class Reading:
    """How a printed number becomes a standard deviation (m)."""

    unit: str
    words: str
    sd: Callable[[float], float]


STANDARD = Reading("mm", "standard deviation in mm", lambda v: v)
VARIANCE = Reading("mm2", "variance in mm^2", lambda v: 1e-3 * sqrt(1e3 * v))
VARIANCE_M = Reading("m2", "variance in m^2", sqrt)
READINGS = (STANDARD, VARIANCE, VARIANCE_M)
DRAWN = (STANDARD, VARIANCE)


@dataclass(frozen=True, eq=False)
class Level:
    """Mean errors of the compensated path (draws, 3), in mm, at one printed noise in one reading."""

    printed: float
    reading: Reading
    errors: Array

    @property
    def range(self) -> Array:
        """5 and 95 %, (2, 3)."""
        import numpy as np

        return np.asarray(np.quantile(self.errors, [0.05, 0.95], axis=0))

    def figures(self) -> tuple[Figure, ...]:
        low, high = self.range
        out = []
        for axis, printed in enumerate(PRINTED[self.printed]):
            note = (
                f"mean of {DRAWS} draws, 5-95 %: {low[axis]:.3g} to {high[axis]:.3g} mm; noise read as "
                f"{self.reading.words}: {1e3 * self.reading.sd(self.printed):.3g} mm sd; printed: one draw, "
                f"{_MISSING['xyz'[axis]]}"
            )
            name = f"error_{'xyz'[axis]}_mm_at_{1e3 * self.printed:g}{self.reading.unit}"
            mean = float(self.errors[:, axis].mean())
            out.append(Figure(name, printed, mean, "mm", note, "table in section 4.2", Why.INPUTS, 1e-3))
        return tuple(out)


_MISSING = {
    "x": "wrenches, stiffnesses and path not printed",
    "y": "wrenches, stiffnesses and path not printed",
    "z": "the calibration's wrenches not printed (stiffnesses and path have no part in it)",
}


def noise_figures(levels: tuple[Level, ...]) -> tuple[Figure, ...]:
    """The table in both readings that make sense."""
    return tuple(f for reading in DRAWN for level in levels if level.reading is reading for f in level.figures())


def noise_curves(levels: tuple[Level, ...]) -> tuple[Lines, ...]:
    """Mean error against the printed noise, one page per axis."""
    x = tuple(1e3 * v for v in NOISE)
    out = []
    for axis, name in enumerate("xyz"):
        series = [Series("printed", x, tuple(PRINTED[v][axis] for v in NOISE), points=True)]
        for reading in DRAWN:
            means = tuple(float(v.errors[:, axis].mean()) for v in levels if v.reading is reading)
            series.append(Series(f"read as {reading.words}", x, means))
        note = f"Means of {DRAWS} draws; the report prints one draw each."
        title = f"Error in {name} after compensation"
        out.append(Lines(f"noise_{name}", title, "noise as printed", "mm", "mean error", "mm", tuple(series), (note,)))
    return tuple(out)
