"""The noise table of the cylindrical robot's report, with its noise read as a standard deviation and as a variance.

The report calls 1e-5 to 5e-4 a variance and gives it in m (0.01 to 0.5 mm in its text).  As a variance it can only be
in mm^2, standard deviations of 0.1 to 0.7 mm: in m^2 they would be 3 to 22 mm, as large as deflections or larger.

Which reading the printed errors favour, those in z alone can tell.  In z the robot yields by dz = k1 F_z and by nothing
else, so least squares over the calibration's wrenches leaves

    k1' - k1 = sigma g / |F_z|,    error in z under F:  sigma g F / |F_z|,    |F_z|^2 = sum of F_z^2,  g normal, sd 1.

Neither stiffnesses nor path enter.  The wrenches are not printed; F / |F_z| is taken as one number for all four rows of
the table, since 30 random wrenches are about as large as 30 others.  With it free, the likelihood of the printed |z| in
a reading with standard deviations sigma_i is greatest at (F / |F_z|)^2 = mean of (z_i / sigma_i)^2 and is there, up to
a factor that is the same in all readings,

    1 / ((F / |F_z|)^n  sigma_1 ... sigma_n).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod, sqrt
from typing import TYPE_CHECKING, Any

from elastocal.published.figure import Figure
from elastocal.published.printed import Printed
from elastocal.report.blocks import Lines, Series

if TYPE_CHECKING:
    from elastocal.spatial.entries import Array


DRAWS = 200
FORCE, WRENCHES = 1000.0, 30
PRINTED = Printed("cylindrical")
TABLE: dict[float, tuple[float, ...]] = {r["noise"]: tuple(r["error_mm"]) for r in PRINTED.table("section 4.2")}
"""Mean errors (mm) in x, y and z by the number that the report calls noise."""
NOISE = tuple(TABLE)


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
        words: dict[str, Any] = {"draws": DRAWS, "sd": 1e3 * self.reading.sd(self.printed)}
        return tuple(
            PRINTED.figure(
                f"error_{name}_mm_at_{1e3 * self.printed:g}{self.reading.unit}", float(self.errors[:, axis].mean()),
                low=low[axis], high=high[axis], **words,
            )
            for axis, name in enumerate("xyz")
        )  # fmt: skip


def noise_figures(levels: tuple[Level, ...]) -> tuple[Figure, ...]:
    """The table in both readings that make sense."""
    return tuple(f for reading in DRAWN for level in levels if level.reading is reading for f in level.figures())


def noise_curves(levels: tuple[Level, ...]) -> tuple[Lines, ...]:
    """Mean error against the printed noise, one page per axis."""
    x = tuple(1e3 * v for v in NOISE)
    out = []
    for axis, name in enumerate("xyz"):
        series = [Series("printed", x, tuple(TABLE[v][axis] for v in NOISE), points=True)]
        for reading in DRAWN:
            means = tuple(float(v.errors[:, axis].mean()) for v in levels if v.reading is reading)
            series.append(Series(f"read as {reading.words}", x, means))
        note = f"Means of {DRAWS} draws; the report prints one draw each."
        title = f"Error in {name} after compensation"
        out.append(Lines(f"noise_{name}", title, "noise as printed", "mm", "mean error", "mm", tuple(series), (note,)))
    return tuple(out)


def ratios(reading: Reading) -> tuple[float, ...]:
    """z / sigma of every row."""
    return tuple(1e-3 * TABLE[v][2] / reading.sd(v) for v in NOISE)


def vertical_force(reading: Reading) -> float:
    """Rms F_z (N) of the 30 wrenches that makes the printed errors most likely."""
    z = ratios(reading)
    return FORCE / sqrt(sum(r**2 for r in z) / len(z) * WRENCHES)


def likelihood(reading: Reading) -> float:
    """Of the printed errors in z, wrenches free; only quotients of readings mean something."""
    z = ratios(reading)
    return 1 / (sqrt(sum(r**2 for r in z) / len(z)) ** len(z) * prod(reading.sd(v) for v in NOISE))


def heights_figures() -> tuple[Figure, ...]:
    out = list[Figure]()
    for reading in READINGS:
        rows = zip(NOISE, ratios(reading), strict=True)
        out += PRINTED.figures({f"z_over_sd_at_{1e3 * v:g}{reading.unit}": ratio for v, ratio in rows})
        force = vertical_force(reading)
        out.append(PRINTED.figure(f"vertical_force_{reading.unit}", force, wrenches=WRENCHES))
    return (*out, PRINTED.figure("likelihood_ratio_z", likelihood(VARIANCE) / likelihood(STANDARD)))


def heights_text() -> str:
    said = {r: ", ".join(f"{z:.2g}" for z in ratios(r)) for r in (STANDARD, VARIANCE)}
    odds = likelihood(VARIANCE) / likelihood(STANDARD)
    better = (
        f"so the variance fits better, {odds:.2g} times as likely"
        if odds > 1
        else f"so the standard deviation fits better, {1 / odds:.2g} times as likely"
    )
    return (
        "The report calls its noise a variance but gives it as a length. The error in z alone can tell, since neither "
        f"stiffnesses nor path enter it: over the noise it is {said[STANDARD]} if that is a standard deviation in mm "
        f"and {said[VARIANCE]} if it is a variance in mm^2. These should be draws of one normal distribution, whose "
        f"width depends on the wrenches only (which are not printed); {better} with that width free: four numbers, a "
        f"hint and no proof. The vertical forces would be {vertical_force(STANDARD):.0f} or "
        f"{vertical_force(VARIANCE):.0f} N rms; with a variance in m^2 {1e-3 * vertical_force(VARIANCE_M):.1f} kN."
    )
