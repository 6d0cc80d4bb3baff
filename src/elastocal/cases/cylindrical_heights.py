"""Is the noise of the cylindrical robot's report a standard deviation or a variance?  Its errors in z alone tell.

In z the robot yields by dz = k1 F_z and by nothing else, so least squares over the calibration's wrenches leaves

    k1' - k1 = sigma g / |F_z|,    error in z under F:  sigma g F / |F_z|,    |F_z|^2 = sum of F_z^2,  g normal, sd 1.

Neither stiffnesses nor path enter.  The wrenches are not printed; F / |F_z| is taken as one number for all four rows of
the table, since 30 random wrenches are about as large as 30 others.  With it free, the likelihood of the printed |z| in
a reading with standard deviations sigma_i is greatest at (F / |F_z|)^2 = mean of (z_i / sigma_i)^2 and is there, up to
a factor that is the same in all readings,

    1 / ((F / |F_z|)^n  sigma_1 ... sigma_n).
"""

from __future__ import annotations

from math import prod, sqrt

from elastocal.cases.case import Figure
from elastocal.cases.cylindrical_noise import NOISE, PRINTED, READINGS, STANDARD, VARIANCE, VARIANCE_M, Reading

FORCE, WRENCHES = 1000.0, 30


def ratios(reading: Reading) -> tuple[float, ...]:
    """z / sigma of every row."""
    return tuple(1e-3 * PRINTED[v][2] / reading.sd(v) for v in NOISE)


def vertical_force(reading: Reading) -> float:
    """Rms F_z (N) of the 30 wrenches that makes the printed errors most likely."""
    z = ratios(reading)
    return FORCE / sqrt(sum(r**2 for r in z) / len(z) * WRENCHES)


def likelihood(reading: Reading) -> float:
    """Of the printed errors in z, wrenches free; only quotients of readings mean something."""
    z = ratios(reading)
    return 1 / (sqrt(sum(r**2 for r in z) / len(z)) ** len(z) * prod(reading.sd(v) for v in NOISE))


def figures() -> tuple[Figure, ...]:
    out = []
    for reading in READINGS:
        for v, ratio in zip(NOISE, ratios(reading), strict=True):
            note = f"printed error in z over the noise, read as {reading.words}"
            out.append(Figure(f"z_over_sd_at_{1e3 * v:g}{reading.unit}", None, ratio, "1", note))
        note = f"rms F_z of {WRENCHES} wrenches that makes the errors in z most likely, noise read as {reading.words}"
        out.append(Figure(f"vertical_force_{reading.unit}", None, vertical_force(reading), "N", note))
    note = "of the four errors in z, noise a variance against a standard deviation, wrenches free"
    return (*out, Figure("likelihood_ratio_z", None, likelihood(VARIANCE) / likelihood(STANDARD), "1", note))


def words() -> str:
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
