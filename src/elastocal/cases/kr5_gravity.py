"""Gravity torque of the KUKA KR5 (Hayat, Udai and Saha 2013, section III): virtual RSI logs to eq. (15)-(17), Table IV
and the validation of figure 9."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from elastocal.cases.case import Case, Figure, Outcome, Progress, Why, unwatched
from elastocal.cases.kr5_drawings import sweeps, validation
from elastocal.cases.kr5_logs import COULOMB, NOISE, VISCOUS, sweep_log, validation_log
from elastocal.cases.kr5_table4 import moments

if TYPE_CHECKING:
    import numpy as np

    from elastocal.measure.joint_log import JointLog
    from elastocal.model.robot import RobotModel
    from elastocal.procedures.gravity.fit import GravityFit
    from elastocal.procedures.gravity.prediction import Validation
    from elastocal.procedures.gravity.recursion import Recursion
    from elastocal.procedures.gravity.terms import Term
    from elastocal.report.blocks import Lines

MOVED = {"A5": 4, "A3": 2, "A2": 1}
POSE_DEG = (90, -90, 90, 0, 0, 0)


@dataclass(frozen=True, eq=False)
class _Run:
    """The sweeps, the fit of all joints, the recursion, the motion of Table V judged with and without friction."""

    sweeps: JointLog
    found: GravityFit
    recursion: Recursion
    validation: Validation
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
            *moments(terms),
            *_friction(done.found),
            *_validation(done),
        )
        return Outcome(self.name, _verdict(terms, done), figures, _curves(done))


def _computed(rng: np.random.Generator, progress: Progress) -> _Run:
    from elastocal.files.robot.read import read_robot
    from elastocal.measure.sources.friction import Friction
    from elastocal.procedures.gravity.fit import fit_masses
    from elastocal.procedures.gravity.prediction import validate
    from elastocal.procedures.gravity.recursion import recursive_moments
    from elastocal.procedures.gravity.samples import slow_samples
    from elastocal.procedures.gravity.sense import torque_sense

    model = read_robot("kuka-kr5")
    swept, general = (_read(text, model) for text in (sweep_log(rng), validation_log(rng)))
    samples, other = slow_samples(model, swept), slow_samples(model, general)
    sense = torque_sense(model, samples)
    progress(1, 3)
    recursion = recursive_moments(model, samples, sense.sign)
    seek = tuple(p.name for p in model.parameters if p.kind == "link_mass")
    weightless = model.with_parameters(dict.fromkeys(seek, 0.0))
    found = fit_masses(weightless, samples, sense=sense, friction=Friction(), seek=seek)
    progress(2, 3)
    judged = validate(found, other, model)
    progress(3, 3)
    return _Run(swept, found, recursion, judged, other.torque - sense.sign * judged.prediction.weight.torque)


def _read(text: str, model: RobotModel) -> JointLog:
    """Through the reader of real logs."""
    from pathlib import Path
    from tempfile import TemporaryDirectory

    from elastocal.files.log.read import read_log
    from elastocal.files.write import write_files

    with TemporaryDirectory() as folder:
        path = Path(folder) / "rsi.xml"
        write_files({path: text})
        return read_log(path, model)


def _terms(found: GravityFit) -> tuple[Term, ...]:
    import numpy as np

    from elastocal.procedures.gravity.terms import expressions

    return expressions(found.model, np.radians(POSE_DEG), found.wide)


def _coefficients(all_at_once: dict[str, Term], alone: dict[str, Term], recursion: Recursion) -> tuple[Figure, ...]:
    from math import degrees

    out = []
    for way, terms in (("", all_at_once), ("_sweep", alone)):
        route = "sweep by sweep, eq. (12)-(14)" if way else "all joints at once, from weightless links"
        t5, t3, t2 = (terms[j] for j in MOVED)
        each = (
            ("tau5_cos", -11.47, t5.cosine, t5.cosine_sd, "N m", 15),
            ("tau5_sin", 4.90, t5.sine, t5.sine_sd, "N m", 15),
            ("tau3_amplitude", -126.28, t3.amplitude, t3.amplitude_sd, "N m", 16),
            ("tau3_phase_deg", 44.85, degrees(t3.phase), degrees(t3.phase_sd), "deg", 16),
            ("tau2_cos", -375.70, t2.cosine, t2.cosine_sd, "N m", 17),
            ("tau2_sin", 0.0, t2.sine, t2.sine_sd, "N m", 17),
        )
        for name, printed, value, sd, unit, equation in each:
            note = f"{'eq. (17) has none; ' if name == 'tau2_sin' else ''}{route}; +- {sd:.2g}"
            place = f"eq. ({equation})"
            out.append(Figure(f"{name}{way}", printed, value, unit, note, place, Why.VIRTUAL, 0.01, put_in=printed))
    constant = next(s.constant for s in recursion.series if s.joint == "A5")
    note = "dropped there as friction; the virtual log goes both ways and has no constant"
    return (*out, Figure("tau5_constant", -0.052, constant, "N m", note, "eq. (15)", Why.VIRTUAL))


def _friction(found: GravityFit) -> tuple[Figure, ...]:
    from elastocal.procedures.gravity.fit import friction_terms

    planted = {"coulomb": COULOMB, "viscous": VISCOUS}
    return tuple(
        Figure(f"{t.term}_{t.joint[1]}", None, t.value, t.unit,
               f"planted: {planted[t.term][MOVED[t.joint]]:g}; +- {t.sd:.2g}")
        for t in friction_terms(found)
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
    gravity = done.found.sense.sign * done.validation.prediction.weight.torque
    return (*sweeps(done.sweeps, MOVED), *validation(done.validation, gravity, MOVED))


def _verdict(terms: dict[str, Term], done: _Run) -> str:
    judged = done.validation
    rms = judged.rms(judged.error)
    said = ", ".join(f"{rms[j]:.2g} N m on joint {joint[1]}" for joint, j in MOVED.items())
    return (
        f"From virtual logs with friction and noise: {terms['A5'].text}; {terms['A3'].phase_text}; {terms['A2'].text}. "
        f"On the motion of Table V they leave {said} (rms), which is the noise put in. Table IV misprints one mass "
        "moment: 8.612 kg m for 9.122."
    )
