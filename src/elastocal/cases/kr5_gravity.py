"""Gravity torque of the KUKA KR5 (Hayat, Udai and Saha 2013, section III): virtual RSI logs to eq. (15)-(17), Table IV
and the validation of figure 9."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from elastocal.cases.case import Case, Figure, Outcome, Progress, unwatched
from elastocal.cases.kr5_logs import COULOMB, NOISE, VISCOUS, sweep_log, validation_log
from elastocal.report.blocks import Lines, Series

if TYPE_CHECKING:
    import numpy as np

    from elastocal.gravity.fit import GravityFit
    from elastocal.gravity.hold_out import Judged
    from elastocal.gravity.recursion import Recursion
    from elastocal.gravity.terms import Term
    from elastocal.measure.joint_log import JointLog
    from elastocal.model.robot import RobotModel

G = 9.81
MOVED = {"A5": 4, "A3": 2, "A2": 1}
POSE_DEG = (90, -90, 90, 0, 0, 0)
DRAWN = 300
TABLE_4 = {"A5": (11.47, 1.169, 4.90, 0.499), "A3": (89.49, 8.612, 88.86, 9.058), "A2": (375.70, 38.297, 0.0, 0.0)}
"""m d_x g, m d_x, m d_y g, m d_y as printed."""
SINE = {"A5": 1, "A3": -1, "A2": 1}
"""Signs that the sines have in eq. (15)-(17); Table IV prints sizes without them."""


@dataclass(frozen=True, eq=False)
class _Run:
    """The fit of all joints, the recursion, and the motion of Table V judged with and without friction."""

    found: GravityFit
    recursion: Recursion
    validation: Judged
    without_friction: np.ndarray


class GravityCase(Case):
    name: ClassVar[str] = "kr5-gravity"
    title: ClassVar[str] = "KUKA KR5: gravity torque and mass moments from joint torques"
    source: ClassVar[str] = "Hayat, Udai and Saha 2013 (iNaCoMM), section III, Tables III to V, eq. (10)-(17)"

    def run(self, rng: np.random.Generator, progress: Progress = unwatched) -> Outcome:
        done = _computed(rng, progress)
        terms = {t.joint: t for t in _terms(done.found)}
        figures = (
            *_coefficients(terms, {t.joint: t for t in done.recursion.terms}, done.recursion),
            *_moments(terms),
            *_friction(done.found),
            *_validation(done),
        )
        return Outcome(self.name, _verdict(terms, done), figures, _curves(done))


def _computed(rng: np.random.Generator, progress: Progress) -> _Run:
    from elastocal.files.robot_yaml import read_robot
    from elastocal.gravity.fit import identify_gravity
    from elastocal.gravity.hold_out import judge
    from elastocal.gravity.recursion import recursive_moments
    from elastocal.gravity.samples import slow_samples
    from elastocal.gravity.sense import torque_sense
    from elastocal.measure.sources.friction import Friction

    model = read_robot("kuka-kr5")
    sweeps, general = (_read(text, model) for text in (sweep_log(rng), validation_log(rng)))
    samples, other = slow_samples(model, sweeps), slow_samples(model, general)
    sense = torque_sense(model, samples)
    progress(1, 3)
    recursion = recursive_moments(model, samples, sense.sign)
    seek = tuple(p.name for p in model.parameters if p.kind == "link_mass")
    weightless = model.with_parameters(dict.fromkeys(seek, 0.0))
    found = identify_gravity(weightless, samples, sense=sense, friction=Friction(), seek=seek)
    progress(2, 3)
    judged = judge(found, other, model)
    progress(3, 3)
    return _Run(found, recursion, judged, other.torque - sense.sign * judged.prediction.weight.torque)


def _read(text: str, model: RobotModel) -> JointLog:
    """Through the reader of real logs."""
    from pathlib import Path
    from tempfile import TemporaryDirectory

    from elastocal.files.joint_log import read_log
    from elastocal.files.write import write_files

    with TemporaryDirectory() as folder:
        path = Path(folder) / "rsi.xml"
        write_files({path: text})
        return read_log(path, model)


def _terms(found: GravityFit) -> tuple[Term, ...]:
    import numpy as np

    from elastocal.gravity.expressions import expressions

    return expressions(found.model, np.radians(POSE_DEG), found.wide)


def _coefficients(all_at_once: dict[str, Term], alone: dict[str, Term], recursion: Recursion) -> tuple[Figure, ...]:
    from math import degrees

    out = []
    for way, terms in (("", all_at_once), ("_sweep", alone)):
        route = "sweep by sweep, eq. (12)-(14)" if way else "all joints at once, from weightless links"
        t5, t3, t2 = (terms[j] for j in MOVED)
        out += [
            Figure(f"tau5_cos{way}", -11.47, t5.cosine, "N m", f"eq. (15), {route}; +- {t5.cosine_sd:.2g}"),
            Figure(f"tau5_sin{way}", 4.90, t5.sine, "N m", f"eq. (15), {route}; +- {t5.sine_sd:.2g}"),
            Figure(
                f"tau3_amplitude{way}", -126.28, t3.amplitude, "N m", f"eq. (16), {route}; +- {t3.amplitude_sd:.2g}"
            ),
            Figure(
                f"tau3_phase_deg{way}",
                44.85,
                degrees(t3.phase),
                "deg",
                f"eq. (16), {route}; +- {degrees(t3.phase_sd):.2g}",
            ),
            Figure(f"tau2_cos{way}", -375.70, t2.cosine, "N m", f"eq. (17), {route}; +- {t2.cosine_sd:.2g}"),
            Figure(f"tau2_sin{way}", 0.0, t2.sine, "N m", f"eq. (17) has none; {route}; +- {t2.sine_sd:.2g}"),
        ]
    constant = next(s.constant for s in recursion.series if s.joint == "A5")
    note = "eq. (15), dropped there as friction; the virtual log goes both ways and has no constant"
    return (*out, Figure("tau5_constant", -0.052, constant, "N m", note))


def _moments(terms: dict[str, Term]) -> tuple[Figure, ...]:
    from math import cos, radians, sin

    out = []
    for joint, printed in TABLE_4.items():
        t, link = terms[joint], joint[1]
        sine = SINE[joint] * t.sine
        found = (-t.cosine, -t.cosine / G, sine, sine / G)
        names = (f"m{link}_dx_g", f"m{link}_dx", f"m{link}_dy_g", f"m{link}_dy")
        for name, published, value, unit in zip(names, printed, found, ("N m", "kg m") * 2, strict=True):
            sign = (
                f"; the sign of eq. (15)-(17), {'+' if SINE[joint] > 0 else '-'} sin, taken off"
                if "_dy" in name
                else ""
            )
            note = "Table IV, from the log" + sign + (_MISPRINT if name == "m3_dx" else "")
            out.append(Figure(name, published, value, unit, note))
    x, y = 126.28 * cos(radians(44.85)), 126.28 * sin(radians(44.85))
    return (
        *out,
        Figure("m3_dx_printed", 8.612, 89.49 / G, "kg m", "Table IV: 89.49 N m divided by 9.81; 8.612 is a misprint"),
        Figure("m3_dx_g_resolved", 89.49, x, "N m", "126.28 cos 44.85 deg of eq. (16)"),
        Figure("m3_dy_g_resolved", 88.86, y, "N m", "126.28 sin 44.85 deg of eq. (16)"),
    )


_MISPRINT = "; 8.612 is a misprint of 9.122 = 89.49 / 9.81, and eq. (16) itself gives 89.53 / 9.81 = 9.126"


def _friction(found: GravityFit) -> tuple[Figure, ...]:
    from elastocal.gravity.friction_found import friction_found

    planted = {"coulomb": COULOMB, "viscous": VISCOUS}
    return tuple(
        Figure(f"{t.term}_{t.joint[1]}", None, t.value, t.unit,
               f"planted: {planted[t.term][MOVED[t.joint]]:g}; +- {t.sd:.2g}")
        for t in friction_found(found)
        if t.joint in MOVED
    )  # fmt: skip


def _validation(done: _Run) -> tuple[Figure, ...]:
    judged = done.validation
    rms, largest = judged.rms(judged.error), judged.largest(judged.error)
    raw = judged.rms(done.without_friction)
    out = []
    for joint, j in MOVED.items():
        i = joint[1]
        out += [
            Figure(
                f"validation_rms_{i}", None, float(rms[j]), "N m", f"Table V motion; the log's noise is {NOISE[j]:g}"
            ),
            Figure(f"validation_max_{i}", None, float(largest[j]), "N m", "Table V motion"),
            Figure(f"validation_rms_gravity_{i}", None, float(raw[j]), "N m", "without friction, as in figure 9"),
        ]
    count = int(judged.extrapolated().sum())
    return (*out, Figure("validation_extrapolated", None, float(count), "1", f"of {judged.samples.log.count} samples"))


def _curves(done: _Run) -> tuple[Lines, ...]:
    """Figure 9: torques of the virtual log and those of the expressions found."""
    import numpy as np

    judged, out = done.validation, []
    time = judged.samples.log.time
    assert time is not None
    for joint, j in MOVED.items():
        rows = np.flatnonzero(np.isfinite(judged.error[:, j]))
        rows = rows[np.unique(np.linspace(0, len(rows) - 1, DRAWN).astype(int))]
        x = tuple(float(t) for t in time[rows])
        kinds = {"log": judged.samples.torque, "gravity and friction": judged.prediction.reading,
                 "gravity": done.found.sense.sign * judged.prediction.weight.torque}  # fmt: skip
        series = tuple(
            Series(name, x, tuple(float(v) for v in values[rows, j]), points=name == "log")
            for name, values in kinds.items()
        )
        out.append(Lines(f"figure9_{joint}", f"Table V motion, joint {joint[1]}", "time", "s", "torque", "N m", series))
    return tuple(out)


def _verdict(terms: dict[str, Term], done: _Run) -> str:
    judged = done.validation
    rms = judged.rms(judged.error)
    said = ", ".join(f"{rms[j]:.2g} N m on joint {joint[1]}" for joint, j in MOVED.items())
    return (
        f"From virtual logs with friction and noise: {terms['A5'].text}; {terms['A3'].phase_text}; {terms['A2'].text}. "
        f"On the motion of Table V they leave {said} (rms), which is the noise put in. Table IV misprints one mass "
        "moment: 8.612 kg m for 9.122."
    )
