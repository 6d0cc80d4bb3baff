"""Gravity torque of the KUKA KR5 (Hayat, Udai and Saha 2013, section III): virtual RSI logs to eq. (15)-(17), Table IV
and the validation of figure 9.  Table IV is recomputed from the virtual log, from eq. (16), and from itself.

Virtual RSI logs of the KUKA KR5: the motions of Tables III and V of Hayat, Udai and Saha 2013 with the torques of
their eq. (15)-(17), friction and noise, as telegrams every 12 ms.

No log is published.  Friction and noise are assumptions of a usual size; speeds are slow enough for inertia not to
matter.  The zero of every torque is exact.  Their drawings are figures 7 and 9.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import cos, degrees, radians, sin
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from elastocal.files.log.read import read_log
from elastocal.files.robot.read import read_robot
from elastocal.files.write import write_files
from elastocal.measure.joints import JointLog
from elastocal.measure.sources.friction import Friction
from elastocal.model.robot import Robot
from elastocal.procedures.gravity.fit import GravityFit, fit_masses
from elastocal.procedures.gravity.motors import friction_terms
from elastocal.procedures.gravity.prediction import Validation, validate
from elastocal.procedures.gravity.samples import slow_samples
from elastocal.procedures.gravity.sense import torque_sense
from elastocal.procedures.gravity.sweeps import Recursion, recursive_moments
from elastocal.procedures.gravity.terms import Term, expressions
from elastocal.published.case import Case, Figure, Outcome, Progress, curve
from elastocal.report.blocks import Lines
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

PRINTED = Case("kr5-gravity")
MOVED = {"A5": 4, "A3": 2, "A2": 1}
POSE_DEG = (90, -90, 90, 0, 0, 0)
CYCLE_MS = 12
SWEEPS = (
    (4, (90, -90, 90, 0, -90, 0), 90, 8.0),
    (2, (90, -90, 90, 0, 90, 0), 0, 6.0),
    (1, (90, 0, 90, 0, 0, 0), -90, 5.0),
)
"""Table III: column of the joint, initial position in deg, final value of the joint, mean speed in deg/s (assumed)."""
TABLE_5 = ((90, -45, 30, 0, -90, 0), (90, -90, 50, 0, 90, 0))
"""Initial and final position in deg."""
TABLE_5_SPEED = 6.0
"""Mean speed of joint 5 in deg/s (assumed)."""
COULOMB = (10.0, 12.0, 8.0, 3.0, 1.5, 1.0)
VISCOUS = (20.0, 30.0, 15.0, 3.0, 2.0, 1.0)
NOISE = (0.5, 0.5, 0.3, 0.1, 0.1, 0.1)
"""N m, N m s/rad and N m (standard deviation) of joints 1 to 6, assumed."""


def published_torques(q: Array) -> Array:
    """(N, 6) in N m by eq. (15)-(17) at joint values (N, 6) in rad; zero where nothing is published."""
    a = q[:, 1] + q[:, 2] + q[:, 4]
    out = np.zeros(q.shape)
    out[:, 4] = -11.47 * np.cos(a) + 4.90 * np.sin(a)
    out[:, 2] = -126.28 * np.cos(q[:, 1] + q[:, 2] - np.radians(44.85)) + out[:, 4]
    out[:, 1] = -375.70 * np.cos(q[:, 1]) + out[:, 2]
    return out


def sweep_log(rng: np.random.Generator) -> str:
    """Table III, each sweep forth and back, with a pause of the log between them."""
    ipoc, parts = 1_000_000, []
    for joint, start, end, speed in SWEEPS:
        final = np.array(start, dtype=np.float64)
        final[joint] = end
        forth = _path(np.array(start, dtype=np.float64), final, speed)
        parts.append(_telegrams(np.concatenate([forth, forth[::-1]]), ipoc, rng))
        ipoc += CYCLE_MS * (2 * len(forth) + 400)
    return "".join(parts)


def validation_log(rng: np.random.Generator) -> str:
    """Table V, all three joints at once."""
    first, last = (np.array(p, dtype=np.float64) for p in TABLE_5)
    return _telegrams(_path(first, last, TABLE_5_SPEED), 5_000_000, rng)


def _path(first: Array, last: Array, speed: float) -> Array:
    """(N, 6) in deg, from rest to rest; ``speed`` is the mean one of the joint that goes furthest."""
    count = int(np.max(np.abs(last - first)) / speed / (1e-3 * CYCLE_MS))
    share = (1 - np.cos(np.pi * np.linspace(0, 1, count))) / 2
    return np.asarray(first + share[:, None] * (last - first))


def _telegrams(degrees: Array, ipoc: int, rng: np.random.Generator) -> str:
    """One telegram per row; friction opposes the motion, so that the drives give it on top of the weight."""
    q = np.radians(degrees)
    velocity = np.gradient(q, 1e-3 * CYCLE_MS, axis=0)
    friction = np.array(COULOMB) * np.sign(velocity) + np.array(VISCOUS) * velocity
    torque = published_torques(q) + friction + np.array(NOISE) * rng.normal(size=q.shape)
    lines = []
    for row, (angles, torques) in enumerate(zip(degrees, torque, strict=True)):
        a, t = (" ".join(f'A{i}="{v:.4f}"' for i, v in enumerate(values, 1)) for values in (angles, torques))
        lines.append(f'<Rob Type="KUKA"><AIPos {a}/><GearTorque {t}/><IPOC>{ipoc + CYCLE_MS * row}</IPOC></Rob>\n')
    return "".join(lines)


DRAWN = 300
PAUSE = 1.0
"""Seconds without a sample that part two sweeps."""


def sweeps(log: JointLog) -> Iterator[Lines]:
    """Figure 7: angles and torques of the moved joints over time, sweep after sweep."""
    assert log.time is not None
    rows = np.unique(np.linspace(0, len(log.time) - 1, 3 * DRAWN).astype(int))
    pauses = np.flatnonzero(np.diff(log.time[rows]) > PAUSE) + 1
    time = np.insert(log.time[rows], pauses, log.time[rows][pauses])
    for entry, values in (("figure7_angles", np.degrees(log.q)), ("figure7_torques", log.torque)):
        shown = np.insert(values[rows], pauses, np.nan, axis=0)
        yield PRINTED.lines(entry, [curve(f"joint {joint[1]}", time, shown[:, j]) for joint, j in MOVED.items()])


def validation(judged: Validation, gravity: Array) -> Iterator[Lines]:
    """Figure 9: torques of the virtual log and those of the expressions found; ``gravity`` as the log counts it."""
    time = judged.samples.log.time
    assert time is not None
    kinds = {"log": judged.samples.torque, "gravity and friction": judged.prediction.reading, "gravity": gravity}
    for joint, j in MOVED.items():
        rows = np.flatnonzero(np.isfinite(judged.error[:, j]))
        rows = rows[np.unique(np.linspace(0, len(rows) - 1, DRAWN).astype(int))]
        series = [curve(name, time[rows], values[rows, j], points=name == "log") for name, values in kinds.items()]
        yield PRINTED.lines("figure9", series, f"figure9_{joint}", joint=joint[1])


G = 9.81
IN_LOG = {"A5": (11.47, 4.90), "A3": (126.28 * cos(radians(44.85)), 126.28 * sin(radians(44.85))), "A2": (375.70, 0.0)}
"""m d_x g and m d_y g that eq. (15)-(17) put into the log."""
SINE = {"A5": 1, "A3": -1, "A2": 1}
"""Signs that the sines have in eq. (15)-(17); Table IV prints sizes without them."""


def moments(terms: dict[str, Term]) -> tuple[Figure, ...]:
    """Of every link by what the log gives, then what follows from print alone."""
    out = []
    for joint, (x, y) in IN_LOG.items():
        t, link = terms[joint], joint[1]
        sine = SINE[joint] * t.sine
        names = (f"m{link}_dx_g", f"m{link}_dx", f"m{link}_dy_g", f"m{link}_dy")
        pairs = ((-t.cosine, x), (-t.cosine / G, x / G), (sine, y), (sine / G, y / G))
        out += [PRINTED.figure(n, value, put_in=truth) for n, (value, truth) in zip(names, pairs, strict=True)]
    x, y = IN_LOG["A3"]
    return (*out, *_divided(), *PRINTED.figures({"m3_dx_g_resolved": x, "m3_dy_g_resolved": y}))


def _divided() -> tuple[Figure, ...]:
    """Mass moments of Table IV from the torques beside them; one is beyond the digits of these: a misprint."""
    values = dict[str, float]()
    for joint, (x, _, y, _) in PRINTED.table("IV").items():
        values |= {f"m{joint[1]}_{axis}_printed": torque / G for axis, torque in (("dx", x), ("dy", y)) if torque}
    return PRINTED.figures(values)


@dataclass(frozen=True, eq=False)
class _Run:
    """The sweeps, the fit of all joints, the recursion, the motion of Table V judged with and without friction."""

    sweeps: JointLog
    fit: GravityFit
    recursion: Recursion
    validation: Validation
    without_friction: np.ndarray


def run(rng: np.random.Generator, progress: Progress) -> Outcome:
    done = _computed(rng, progress)
    terms = {t.joint: t for t in _terms(done.fit)}
    figures = (
        *_coefficients(terms, {t.joint: t for t in done.recursion.terms}, done.recursion),
        *moments(terms),
        *_friction(done.fit),
        *_validation(done),
    )
    gravity = done.fit.sense.sign * done.validation.prediction.weight.torque
    rms = done.validation.rms(done.validation.error)
    left = ", ".join(f"{rms[j]:.2g} N m on joint {joint[1]}" for joint, j in MOVED.items())
    curves = (*sweeps(done.sweeps), *validation(done.validation, gravity))
    return PRINTED.outcome(figures, curves, left=left, **terms)


def _computed(rng: np.random.Generator, progress: Progress) -> _Run:
    model = read_robot("kuka-kr5")
    swept, general = (_read(text, model) for text in (sweep_log(rng), validation_log(rng)))
    samples, other = slow_samples(model, swept), slow_samples(model, general)
    sense = torque_sense(model, samples)
    progress(1, 3)
    recursion = recursive_moments(model, samples, sense.sign)
    seek = tuple(p.name for p in model.parameters if p.kind == "link_mass")
    weightless = model.with_estimates(dict.fromkeys(seek, 0.0))
    fitted = fit_masses(weightless, samples, sense=sense, friction=Friction())
    progress(2, 3)
    judged = validate(fitted, other)
    progress(3, 3)
    return _Run(swept, fitted, recursion, judged, other.torque - sense.sign * judged.prediction.weight.torque)


def _read(text: str, model: Robot) -> JointLog:
    """Through the reader of real logs."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "rsi.xml"
        write_files({path: text})
        return read_log(path, model)


def _terms(fit: GravityFit) -> tuple[Term, ...]:
    return expressions(fit.model, np.radians(POSE_DEG), fit.known)


def _coefficients(all_at_once: dict[str, Term], alone: dict[str, Term], recursion: Recursion) -> tuple[Figure, ...]:
    out = []
    for way, terms in (("", all_at_once), ("_sweep", alone)):
        t5, t3, t2 = (terms[j] for j in MOVED)
        values = {
            "tau5_cos": (t5.cosine, t5.cosine_sd),
            "tau5_sin": (t5.sine, t5.sine_sd),
            "tau3_amplitude": (t3.amplitude, t3.amplitude_sd),
            "tau3_phase_deg": (degrees(t3.phase), degrees(t3.phase_sd)),
            "tau2_cos": (t2.cosine, t2.cosine_sd),
            "tau2_sin": (t2.sine, t2.sine_sd),
        }
        out += [PRINTED.figure(f"{name}{way}", value, sd=sd) for name, (value, sd) in values.items()]
    constant = next(s.constant for s in recursion.series if s.joint == "A5")
    return (*out, PRINTED.figure("tau5_constant", constant))


def _friction(fit: GravityFit) -> tuple[Figure, ...]:
    planted = {"coulomb": COULOMB, "viscous": VISCOUS}
    return tuple(
        PRINTED.figure(f"{t.term}_{t.joint[1]}", t.value, planted=planted[t.term][MOVED[t.joint]], sd=t.sd)
        for t in friction_terms(fit)
        if t.joint in MOVED
    )


def _validation(done: _Run) -> tuple[Figure, ...]:
    judged = done.validation
    rms, largest = judged.rms(judged.error), judged.largest(judged.error)
    raw = judged.rms(done.without_friction)
    out = []
    for joint, j in MOVED.items():
        i = joint[1]
        out += [
            PRINTED.figure(f"validation_rms_{i}", float(rms[j]), noise=NOISE[j]),
            PRINTED.figure(f"validation_max_{i}", float(largest[j])),
            PRINTED.figure(f"validation_rms_gravity_{i}", float(raw[j])),
        ]
    count, samples = float(judged.extrapolated().sum()), judged.samples.log.count
    return (*out, PRINTED.figure("validation_extrapolated", count, samples=samples))
