"""Kinetostatic calibration of a SCARA by touching discs (Ruggeri et al., section 5.1, figure 3 and table 2).

The document gives discs, forces and an "actual" robot: its contacts are made anew, once with the 40 N of the document
everywhere and once with 20 N and 40 N taking turns, which alone tells gripper compliance from gripper backlash.

Inputs of the contact case: discs, plan and values of 002 (figure 3, table 2), and the robot made of them.

Chance: many draws of noise against the one that is published, and many starts.
"""

from __future__ import annotations

from math import log10

import numpy as np

from elastocal.errors import InputError
from elastocal.files.robot.read import read_robot
from elastocal.measure.contacts import ContactForce, ContactGap, contacts_of
from elastocal.measure.measured import Measured
from elastocal.measure.sources.arm import Encoder
from elastocal.measure.sources.instrument import ForceSensor
from elastocal.model.robot import Robot
from elastocal.model.surfaces.disc import Disc
from elastocal.model.surfaces.surface import Touches
from elastocal.procedures.contact.calibrate import force_error
from elastocal.procedures.contact.gaps import Iterations, gap_campaign, iterate
from elastocal.procedures.contact.plan import ContactPlan, as_measurement, contact_scene
from elastocal.published.case import Case, Figure, Listing, Outcome, Progress, Row, curve
from elastocal.report.blocks import Lines
from elastocal.report.plane_figures import contact_lines
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

PRINTED = Case("scara-contact")
DISCS = (((-0.25, 0.30), 0.15), ((0.20, 0.40), 0.05), ((0.05, 0.25), 0.08))
PER_DISC = 12
LEVELS = (20.0, 40.0)
CLOSE, EXACT = 1e-8, 1e-6
"""Relative error of a success; predicted next step, in scales, after which a search without noise ends."""
OFF_M, OFF_RAD = 3e-3, 2e-3
"""How far random starts are off at most."""
FORCE_SD, JOINT_SD = 1.15, 5e-6
"""Noise on F and Q. The document states none; its e_f of 1.25 to 1.35 N is what 36 plane contacts leave of about so
much: mean length sqrt(pi / 2) sd, times sqrt(60 / 72) for the twelve parameters fitted to 72 numbers."""


@dataclass(frozen=True)
class Value:
    """A parameter of table 2: its name in the robot file counts from ``nominal``; ``noisy`` is estimated with noise."""

    figure: str
    name: str
    nominal: float
    actual: float
    noisy: float

    @property
    def published(self) -> float:
        """Estimated without noise."""
        return PRINTED.value(self.figure)

    @property
    def unit(self) -> str:
        return PRINTED.unit(self.figure)


VALUES = tuple(Value(**row) for row in PRINTED.table("2"))
NAMES = tuple(v.name for v in VALUES)


def nominal() -> Robot:
    return read_robot("scara-ruggeri")


def actual() -> Robot:
    return nominal().with_parameters({v.name: v.actual - v.nominal for v in VALUES})


def plan(levels: tuple[float, ...]) -> ContactPlan:
    """Twelve contacts around each disc, forces taking turns."""
    discs = tuple(Disc(name=f"disc{i}", centre=c, radius=r) for i, (c, r) in enumerate(DISCS, 1))
    angle = 2 * np.pi * np.arange(PER_DISC) / PER_DISC
    circle = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(PER_DISC)])
    points = np.concatenate([np.array([*c, 0.0]) + r * circle for c, r in DISCS])
    which = np.repeat(np.arange(len(DISCS)), PER_DISC)
    return ContactPlan(Touches("gripper", discs, which), points, np.resize(levels, len(points)), "xy")


def touched(levels: tuple[float, ...]) -> tuple[ContactForce, Array]:
    """Joint values of the actual robot in the plan's contacts, and the forces that it feels, both without error."""
    planned = plan(levels)
    kind, reached = as_measurement(actual(), planned)
    assert reached.all()
    return kind, planned.force[:, :2]


@dataclass(frozen=True, eq=False)
class Draws:
    """Errors (draws, 12) of the parameters and e_f (draws,) of fits to noisy contacts."""

    errors: Array
    e_f: Array

    def figures(self) -> list[Figure]:
        sizes = f"{FORCE_SD:g} N on F per axis, {1e6 * JOINT_SD:g} urad on Q; {len(self.e_f)} draws"
        return [
            PRINTED.figure("e_f_noise_N", float(self.e_f.mean()), sizes=sizes),
            PRINTED.figure("e_f_noise_sd_N", float(self.e_f.std(ddof=1))),
            PRINTED.figure("largest_bias_in_sd", self._bias()),
        ]

    def _bias(self) -> float:
        sd = self.errors.std(axis=0, ddof=1)
        return float(np.max(np.abs(self.errors.mean(axis=0)) / sd))

    def listing(self) -> Listing:
        """Root mean square errors against the published single draw."""
        rms = np.sqrt(np.mean(self.errors**2, axis=0))
        rows: list[Row] = []
        for v, spread in zip(VALUES, rms, strict=True):
            error = v.noisy - v.actual
            rows.append(
                {"parameter": v.figure, "unit": v.unit, "actual": v.actual, "published_error": error,
                 "rms_error": float(spread), "published_over_rms": error / float(spread)}
            )  # fmt: skip
        note = (
            "Two force levels here, 40 N everywhere in the document: its p_ee and g_ee are off together, by 1.77e-4 m "
            "(40 N * p_ee) and 1.88e-4 m, which the printed signs of eq. (7) cancel."
        )
        return Listing("noise", tuple(rows), note)


def drawn(kind: ContactForce, felt: Array, count: int, rng: np.random.Generator, progress: Progress) -> Draws:
    """Fits from nominal values to contacts with noise on joint values and forces."""
    sources = (ForceSensor(sd=FORCE_SD), Encoder(sd=JOINT_SD))
    true = np.array([v.actual - v.nominal for v in VALUES])
    start, errors, e_f = nominal(), [], []
    for i in range(count):
        read = ContactForce(kind.q + JOINT_SD * rng.normal(size=kind.q.shape), kind.touches, kind.axes)
        forces = felt + FORCE_SD * rng.normal(size=felt.shape)
        gap = ContactGap.of(read, forces)
        iterated = iterate(start, Measured(gap, np.zeros((gap.count, len(gap.rows))), sources), NAMES)
        errors.append(iterated.values(NAMES) - true)
        e_f.append(force_error(read, iterated.model, forces))
        progress(i + 1, count)
    return Draws(np.array(errors), np.array(e_f))


def success_rate(exact: Measured, count: int, rng: np.random.Generator, progress: Progress) -> tuple[float, float]:
    """Share of random starts that find the truth, and how far the worst of those is off, relative."""
    true = np.array([v.actual - v.nominal for v in VALUES])
    geometry = {v.name: OFF_M if v.unit == "m" else OFF_RAD for v in VALUES[:6]}
    gaps, robot = gap_campaign(exact), actual().with_parameters({v.name: 0.0 for v in VALUES[9:]})
    off = []
    for i in range(count):
        start = {n: v + float(rng.uniform(-geometry[n], geometry[n])) for n, v in zip(NAMES[:6], true, strict=False)}
        stiff = {v.name: 1e-5 for v in VALUES[6:9]}
        try:
            iterated = iterate(robot.with_parameters({**start, **stiff}), gaps, NAMES, EXACT)
            off.append(float(np.max(np.abs(iterated.values(NAMES) / true - 1))))
        except InputError:
            off.append(float("inf"))
        progress(i + 1, count)
    good = [e for e in off if e < CLOSE]
    return len(good) / count, max(good, default=float("nan"))


DRAWS, STARTS = 100, 120


def run(rng: np.random.Generator, progress: Progress) -> Outcome:
    kind, felt = touched(LEVELS)
    exact = Measured(kind, felt)
    runs = {
        "gaps": iterate(nominal(), gap_campaign(exact), NAMES, EXACT),
        "forces": iterate(nominal(), exact, NAMES, EXACT),
    }
    e_f = force_error(kind, runs["gaps"].model, felt)
    total = DRAWS + STARTS
    noise = drawn(kind, felt, DRAWS, rng, lambda done, _: progress(done, total))
    rate, worst = success_rate(exact, STARTS, rng, lambda done, _: progress(DRAWS + done, total))
    estimates = runs["gaps"].values(NAMES)
    off = max(abs(x / (v.actual - v.nominal) - 1) for x, v in zip(estimates, VALUES, strict=True))
    figures = (
        PRINTED.figure("e_f_N", e_f),
        PRINTED.figure("iterations", len(runs["forces"].models) - 1),
        *_values(runs["gaps"]),
        *_separable(),
        *noise.figures(),
        PRINTED.figure("success_rate", rate, count=STARTS, worst=worst),
    )  # fmt: skip
    at = {v.figure: v for v in VALUES}
    exactly, noisy = ([getattr(at[n], k) - at[n].actual for n in ("p_ee", "g_ee")] for k in ("published", "noisy"))
    both = {word: (40 * p + g, 40 * p - g) for word, (p, g) in (("off", exactly), ("off_noisy", noisy))}
    curves = (_iterations(runs, exact), *_pictures(runs["gaps"], exact))
    return PRINTED.outcome(figures, curves, noise.listing(), worst=off, rate=100 * rate, starts=STARTS, **both)


def _values(iterations: Iterations) -> list[Figure]:
    """Each parameter; lengths whole, as the document prints them."""
    out = []
    for v, x in zip(VALUES, iterations.values(NAMES), strict=True):
        off = x / (v.actual - v.nominal) - 1
        out.append(PRINTED.figure(v.figure, v.nominal + float(x), actual=v.actual, off=off))
    return out


def _separable() -> tuple[Figure, ...]:
    """Singular values of the forces' Jacobian with columns of unit length, at the actual values (eq. 12)."""
    out = {}
    for levels in ((40.0,), LEVELS):
        kind, _ = touched(levels)
        matrix = kind.derivative(actual(), NAMES).reshape(-1, len(NAMES))
        out[levels] = np.linalg.svd(matrix / np.linalg.norm(matrix, axis=0), compute_uv=False)
    one, two = out[(40.0,)], out[LEVELS]
    return PRINTED.figures({
        "singular_gap_single_force": float(one[-1] / one[-2]), "condition_two_forces": float(two[0] / two[-1])
    })  # fmt: skip


def _iterations(runs: dict[str, Iterations], exact: Measured) -> Lines:
    """e_f of every iteration; the document's figure 3 takes about 30."""
    kind = contacts_of(exact.measurement)
    series = []
    for word, run in runs.items():
        errors = [log10(max(force_error(kind, m, exact.readings), 1e-13)) for m in run.models]
        series.append(curve(f"contacts read as {word}", range(len(errors)), errors))
    longest = max(len(f.models) for f in runs.values()) - 1
    series.append(curve("published, in the end", (0, longest), [log10(PRINTED.value("e_f_N"))] * 2))
    return PRINTED.lines("e_f", series)


def _pictures(iterations: Iterations, exact: Measured) -> list[Lines]:
    before, after = iterations.models[0], iterations.model
    return [contact_lines("before", contact_scene(before, exact)), contact_lines("after", contact_scene(after, exact))]
