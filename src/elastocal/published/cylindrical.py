"""Elastostatic calibration of a cylindrical robot (course report): 30 random configurations, then a loaded path.

The compensated command solves for the joint values whose LOADED position is the desired one.  With compliant joints
only, q = IK(x) - k Q with Q taken at IK(x) does that exactly: the bent joints stand where the rigid ones should.  The
report subtracts the deflection computed at the desired point, which is right to first order.

The noise table of the cylindrical robot's report, with its noise read as a standard deviation and as a variance.

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

from collections.abc import Callable, Iterator
from math import prod, sqrt
from typing import Any

import numpy as np

from elastocal.compensation.commands import correct
from elastocal.compensation.loads import PathLoads
from elastocal.compensation.targets import Targets
from elastocal.compensation.verification import Verification, verify
from elastocal.files.robot.read import read_robot
from elastocal.model.kinematics import kinematics
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import Robot
from elastocal.model.statics.deflection import frame_pose
from elastocal.model.statics.equilibrium import equilibrium
from elastocal.model.statics.observation import Marker, linear_observation
from elastocal.published.case import Case, Figure, Outcome, Progress, curve
from elastocal.report.blocks import Lines
from elastocal.solve.linear import determined_values
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

DRAWS = 200
FORCE, WRENCHES = 1000.0, 30
PRINTED = Case("cylindrical")
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


def noise_curves(levels: tuple[Level, ...]) -> Iterator[Lines]:
    """Mean error against the printed noise, one page per axis."""
    x = [1e3 * v for v in NOISE]
    for axis, name in enumerate("xyz"):
        series = [curve("printed", x, (TABLE[v][axis] for v in NOISE), points=True)]
        for reading in DRAWN:
            means = (v.errors[:, axis].mean() for v in levels if v.reading is reading)
            series.append(curve(f"read as {reading.words}", x, means))
        yield PRINTED.lines("noise", series, f"noise_{name}", axis=name, draws=DRAWS)


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


def better_reading(odds: float) -> str:
    if odds > 1:
        return f"so the variance fits better, {odds:.2g} times as likely"
    return f"so the standard deviation fits better, {1 / odds:.2g} times as likely"


EXAGGERATED = 20
"""Errors of 1 mm on a path of 400 mm could not be seen as they are."""
CONFIGURATIONS = 30
LOAD = 1000.0


def run(rng: np.random.Generator, progress: Progress) -> Outcome:
    truth = read_robot("cylindrical")
    study = _Study(truth, *_experiment(truth, rng))
    exact = study.identified(np.zeros(len(study.deflections)), 1.0)
    recovery = float(np.max(np.abs(exact / truth.parameters.values - 1)))
    bare, clean = study.mean_error(np.stack([np.zeros(3), exact]))
    paths = Paths(truth, _path(), LOAD)
    figures = PRINTED.figures(
        {
            "recovery_relative": recovery,
            **{f"uncalibrated_{name}_mm": 1e3 * float(bare[axis]) for axis, name in enumerate("xyz")},
            "compensated_residual_m": float(clean.max()),
            "largest_residual_m": paths.farthest(exact),
        }
    )
    levels = study.levels(rng, progress)
    noisy = [(v, study.identified(_noise(rng, v, study), VARIANCE.sd(v))) for v in NOISE]
    curves = (paths.drawn(exact), *(paths.drawn(k, v) for v, k in noisy), *noise_curves(levels))
    texts = {f"z_over_sd_{r.unit}": ", ".join(f"{z:.2g}" for z in ratios(r)) for r in DRAWN}
    likely = better_reading(likelihood(VARIANCE) / likelihood(STANDARD))
    huge = 1e-3 * vertical_force(VARIANCE_M)
    figures = (*figures, *noise_figures(levels), *heights_figures())
    return PRINTED.outcome(figures, curves, likely=likely, huge=huge, **texts)


@dataclass(frozen=True, eq=False)
class _Study:
    truth: Robot
    matrix: Array
    deflections: Array

    def identified(self, noise: Array, sigma: float) -> Array:
        """Compliances from noisy deflections (position rows only)."""
        names = self.truth.parameters.names
        return determined_values(self.matrix / sigma, (self.deflections + noise) / sigma, names)

    def loaded(self, k: Array) -> Array:
        """Where the true robot goes, (d, n, 3) m, when commanded with the compensations of compliances k (d, 3)."""
        path = _path()
        rigid = np.column_stack([path[:, 2], np.arctan2(path[:, 1], path[:, 0]), np.hypot(path[:, 0], path[:, 1])])
        command = (rigid - k[:, None] * _joint_forces(self.truth, rigid)).reshape(-1, 3)
        push = AppliedWrenches(self.truth.tool, np.full((1, 6), LOAD))
        bent = equilibrium(self.truth, command, [push])
        return np.asarray(frame_pose(self.truth, command, bent, self.truth.tool)[0].T.reshape(len(k), len(path), 3))

    def mean_error(self, k: Array) -> Array:
        """Mean absolute error along the path, (d, 3) m, for compliances (d, 3)."""
        return np.asarray(np.abs(self.loaded(k) - _path()).mean(axis=1))

    def levels(self, rng: np.random.Generator, progress: Progress) -> tuple[Level, ...]:
        """Every printed noise in every reading, from the same draws."""
        out = []
        for number, printed in enumerate(NOISE, 1):
            unit = rng.normal(size=(DRAWS, len(self.deflections)))
            for reading in DRAWN:
                sd = reading.sd(printed)
                k = np.array([self.identified(sd * noise, sd) for noise in unit])
                out.append(Level(printed, reading, 1e3 * self.mean_error(k)))
            progress(number, len(NOISE))
        return tuple(out)


def _noise(rng: np.random.Generator, printed: float, study: _Study) -> Array:
    """One draw, as the report has one."""
    return VARIANCE.sd(printed) * rng.normal(size=len(study.deflections))


def _experiment(truth: Robot, rng: np.random.Generator) -> tuple[Array, Array]:
    """Observation matrix and exact linear deflections of random configurations and wrenches (steps 1-4)."""
    limits = np.array([m.limits for m in truth.motions])
    q = rng.uniform(limits[:, 0], limits[:, 1], (CONFIGURATIONS, 3))
    wrenches = rng.uniform(-LOAD, LOAD, (CONFIGURATIONS, 6))
    _, matrix = linear_observation(truth, q, [AppliedWrenches(truth.tool, wrenches)], [Marker(truth.tool)])
    stacked = matrix.reshape(-1, 3)
    return stacked, stacked @ truth.parameters.values


def _joint_forces(model: Robot, q: Array) -> Array:
    """J^T W at joint values (n, 3)."""
    return np.asarray(np.einsum("nai,a->ni", kinematics(model, q).jacobian, np.full(6, LOAD)))


def _path() -> Array:
    """A circle of 200 mm about (600, 200, 500) mm that rises and falls by 100 mm: the report prints none."""
    t = np.linspace(0, 2 * np.pi, 101)
    return np.column_stack([0.6 + 0.2 * np.cos(t), 0.2 + 0.2 * np.sin(t), 0.5 + 0.1 * np.sin(2 * t)])


@dataclass(frozen=True, eq=False)
class Paths:
    """The true robot, desired positions (n, 3) in m, and the size of every component of the wrench."""

    truth: Robot
    desired: Array
    load: float

    def compensated(self, k: Array) -> Verification:
        """The path on the truth when it is corrected with compliances k (3,)."""
        turn = np.repeat(np.eye(3)[None], len(self.desired), axis=0)  # a PRP robot has no orientation to choose
        x, y, z = self.desired[0]
        targets = Targets(self.truth.tool, self.desired, turn, np.array([z, np.arctan2(y, x), np.hypot(x, y)]))
        loads = PathLoads((AppliedWrenches(self.truth.tool, np.full((1, 6), self.load)),))
        out = correct(self.truth.with_parameters(k), targets, loads)
        return verify(self.truth, out.nominal, out.command, targets, loads)

    def farthest(self, k: Array) -> float:
        """Largest distance (m) that is left."""
        return self.compensated(k).after.distances().max

    def drawn(self, k: Array, printed: float | None = None) -> Lines:
        """Seen from above; ``printed`` is the noise that the compliances were found with, as the report prints it."""
        seen = self.compensated(k)
        ways = {"desired": 0 * self.desired, "uncalibrated": seen.before.position, "compensated": seen.after.position}
        places = {name: 1e3 * (self.desired + EXAGGERATED * off) for name, off in ways.items()}
        series = [curve(name, at[:, 0], at[:, 1]) for name, at in places.items()]
        words = "" if printed is None else f", noise {1e3 * printed:g} mm^2 (variance)"
        key = "path" if printed is None else f"path_{1e3 * printed:g}mm2"
        number = 2 if printed is None else 3 + NOISE.index(printed)
        rest = 1e6 * seen.after.distances().rms
        return PRINTED.lines("path", series, key, noise=words, number=number, rest=rest, by=EXAGGERATED)
