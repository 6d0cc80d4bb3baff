"""Why not to trust a calibration: every warning is a value with a code and its numbers, in SI, and a text for people.

The texts begin with a word in capitals; a calibration file carries them on, and ``predict``, ``compensate`` and
``export`` repeat them.

    code                 what has happened
    points-far           points read lie far from where the robot file puts them
    worse-than-nominal   the leave-one-out error exceeds the error of the robot file
    outliers             readings that the others contradict are still in the fit
    lack-of-fit          residuals exceed what repeats scatter
    noise-exceeded       residuals exceed the stated noise
    noise-too-small      residuals are far below the stated noise
    prior-conflict       an estimate lies beyond what its prior allows
    omitted-parameter    a score test calls for a parameter that is fixed
    far-from-nominal     a joint compliance is many times that of the robot file, or a small part of it
    negative-compliance  a joint compliance came out below zero
    not-converged        the fit stopped before it converged
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from elastocal.measure.kind import reading_unit
from elastocal.model.robot import Robot
from elastocal.quantities import length, probability, significant
from elastocal.reduction.diagnostics import OmittedParameter, PriorCheck
from elastocal.reduction.slips import FITS, Placement, Slip
from elastocal.reduction.study import Study
from elastocal.results import Finding, warning
from elastocal.solve.nested import LEVEL
from elastocal.solve.summary import rms
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

QUIET, SPARE = 0.2, 20
"""Scatter in units of the stated noise below which something is wrong, and the spare equations to say so."""
OTHER_UNIT = 30.0
"""Times the robot file's value, up or down: more than a guess of a compliance is off."""
MOST = 3
"""Fixed parameters that are named."""


@dataclass(frozen=True, eq=False)
class PointsCheck:
    """Points that were read against the robot file, before anything is fitted.

    ``slip`` is what would explain the misfit, if anything; ``worst`` names the farthest point.  ``differences`` of
    points are what the campaign is about, not where they are.
    """

    differences: bool
    placement: Placement
    slip: Slip | None
    worst: str

    @property
    def what(self) -> str:
        return "unloaded points" if self.differences else "points"


def calibration_warnings(study: Study, described: Robot, points: PointsCheck | None) -> tuple[Finding, ...]:
    """Everything that whoever uses the calibration must know; ``described`` is the robot of the file."""
    misplaced = points is not None and points.placement.far  # off by more than any parameter explains
    return (
        *_points(points),
        *_worse(study, described),
        *_outliers(study),
        *_misfit(study),
        *(_conflict(s) for s in study.priors if s.conflict),
        *omitted([u for u in study.omitted if u.significant and not misplaced]),
        *_too_quiet(study),
        *_far_compliances(study, described),
        *_negative(study),
        *_not_converged(study),
    )


def nominal_errors(study: Study, described: Robot) -> Array:
    """Read minus what the robot file predicts, (N, R) in SI, of the numbers that were used."""
    campaign = study.fit.campaign
    return campaign.readings - campaign.measurement.predict(described)


def nominal_rms(study: Study, described: Robot) -> float:
    """Root mean square per axis of the numbers that predictions are judged by; nan where there are none."""
    return rms(nominal_errors(study, described)[:, list(study.fit.campaign.measurement.judged)])


def _points(check: PointsCheck | None) -> Iterator[Finding]:
    """Points that are far from the robot file, with what may be wrong there."""
    if check is None or not check.placement.far:
        return
    placement = check.placement
    if check.slip is not None:
        why = f"they would fit to {length(check.slip.rms)} if {check.slip.text}"
    elif FITS * placement.others < placement.rms:
        why = f"all but the worst, {check.worst}, fit to {length(placement.others)}: check that line"
    else:
        why = "check the geometry of the robot file, tracker_frame, and whether table and robot belong together"
    off = length(placement.rms)
    text = f"POINTS FAR FROM THE ROBOT FILE: the {check.what} are {off} (rms) from the robot file's; {why}."
    yield warning("points-far", text, rms=placement.rms, worst=check.worst)


def _worse(study: Study, described: Robot) -> Iterator[Finding]:
    """A calibration that predicts worse than none; not where residuals are noise, so that the file was right before."""
    fit = study.fit
    shown = reading_unit(fit.campaign.measurement)
    before, after = nominal_rms(study, described), study.identification.stages[-1].left_out
    if after > before and not fit.stated_chance > LEVEL:
        text = (
            f"WORSE THAN THE ROBOT FILE: the leave-one-out error is {shown.text(after)}, that of the robot file "
            f"{shown.text(before)}. Do not compensate with this; check axes, markers and load of the table."
        )
        yield warning("worse-than-nominal", text, leave_one_out=after, nominal=before)


def _outliers(study: Study) -> Iterator[Finding]:
    if study.outliers:
        worst, count = study.outliers[0], len(study.outliers)
        text = (
            f"OUTLIERS: {count} still in the fit; the worst is {worst.place}, {worst.sigmas:.0f} standard deviations "
            "from what the others predict."
        )
        yield warning("outliers", text, count=count, worst=worst.place, sigmas=worst.sigmas)


def _misfit(study: Study) -> Iterator[Finding]:
    """Residuals beyond what repeats scatter, or beyond the stated noise, and what would explain them best."""
    fit, again = study.fit, study.fit.repeats
    best = min((u for u in study.omitted if u.significant), key=lambda u: u.chance, default=None)
    why = f"{best.name} explains it best" if best is not None else "no single parameter that was fixed explains it"
    wider = f"; compliances are taken as uncertain by {100 * fit.share:.2g} % more" if fit.share else ""
    data = {"best": "" if best is None else best.name, "share": fit.share}
    if again.probability < LEVEL:
        ratio = again.lack_of_fit / again.pure_error if again.pure_error else math.inf
        times = f"{ratio:.2g} times what repeats scatter" if again.pure_error else "not zero as repeats'"
        lacks = f"something of {length(study.discrepancy.sd)}" if math.isfinite(study.discrepancy.sd) else "a part"
        text = (
            f"LACK OF FIT: the residuals are {times} (probability {probability(again.probability)}): the model "
            f"lacks {lacks} ({why}); predictions carry it{wider}."
        )
        data |= {"ratio": ratio, "probability": again.probability, "discrepancy": study.discrepancy.sd}
        yield warning("lack-of-fit", text, **data)
    if fit.stated_chance < LEVEL:
        text = (
            f"NOISE: residuals scatter {significant(fit.scatter)} times more than stated (probability "
            f"{probability(fit.stated_chance)}); accuracies were enlarged accordingly{wider}. Either an error source "
            f"is missing or the model is ({why})."
        )
        yield warning("noise-exceeded", text, **data | {"scatter": fit.scatter, "probability": fit.stated_chance})


def _too_quiet(study: Study) -> Iterator[Finding]:
    """What a slip of units leaves in a fit that looks sound."""
    fit = study.fit
    if fit.stated and fit.freedom >= SPARE and fit.scatter < QUIET:
        text = (
            f"NOISE: residuals scatter only {fit.scatter:.2g} of what is stated. Either the stated noise is far too "
            "large, or the readings are in another unit than their columns say (m in columns of mm?)."
        )
        yield warning("noise-too-small", text, scatter=fit.scatter)


def _conflict(prior: PriorCheck) -> Finding:
    value, sd = unknown_text(prior.value, prior.unit), unknown_text(prior.sd, prior.unit)
    text = (
        f"PRIOR CONFLICT: {prior.name} is off by {value}, where {sd} (one sd) is stated: {prior.sigmas:.1f} times what "
        f"it may scatter (probability {probability(prior.chance)}). It may stand for something that is fixed and "
        "wrong; then the parameters are wrong by more than they say."
    )
    return warning(
        "prior-conflict", text, unknown=prior.name, unit=prior.unit, value=prior.value, sd=prior.sd,
        sigmas=prior.sigmas, probability=prior.chance,
    )  # fmt: skip


def unknown_text(value: float, unit: str) -> str:
    """An error in the unit that people state it in: shares in %, lengths in um or mm, angles in mrad."""
    if unit == "m":
        return length(value)
    factor, word = {"1": (100.0, "%"), "rad": (1e3, "mrad")}.get(unit, (1.0, unit))
    return f"{factor * value:.3g} {word}"


def omitted(asked: Sequence[OmittedParameter]) -> Iterator[Finding]:
    """Fixed parameters that a score test calls for, in one warning."""
    if not asked:
        return
    named = ", ".join(f"{u.name} ({_step(u)}, {u.sigmas:.1f} sd)" for u in asked[:MOST])
    more = f" and {len(asked) - MOST} more" if len(asked) > MOST else ""
    which = "each alone, so that one wrong value may raise several. Seek one" if len(asked) > 1 else "seek it"
    text = f"OMITTED PARAMETER: the readings call for {named}{more}; {which}, or give a better value."
    steps = {u.name: {"step": u.step, "sd": u.sd, "unit": u.unit, "probability": u.chance} for u in asked}
    yield warning("omitted-parameter", text, parameters=steps)


def _step(u: OmittedParameter) -> str:
    return f"{100 * u.step / abs(u.value):+.2g} %" if u.value else f"{u.step:+.3g} {u.unit}"


def _far_compliances(study: Study, described: Robot) -> Iterator[Finding]:
    """Joint compliances far above or below those of the robot file."""
    fit = study.fit
    file = {p.name: p.value for p in described.parameters if "joint_compliance" in p.kind and p.value > 0}
    times = {n: float(v) / file[n] for n, v in zip(fit.names, fit.values, strict=True) if n in file and v > 0}
    far = {n: v for n, v in times.items() if not 1 / OTHER_UNIT < v < OTHER_UNIT}
    if not far:
        return
    named = ", ".join(f"{n} is {v:.2g} times" for n, v in list(far.items())[:4]) + (", ..." if len(far) > 4 else "")
    even = len(far) > 1 and max(far.values()) < 2 * min(far.values())
    text = (
        f"FAR FROM THE ROBOT FILE: {named} what the file says{', all by about the same factor' if even else ''}. "
        "Check the units of readings, loads and the robot file."
    )
    yield warning("far-from-nominal", text, factors=far)


def _negative(study: Study) -> Iterator[Finding]:
    fit = study.fit
    kinds = {p.name: p.kind for p in fit.model.parameters}
    pairs = zip(fit.names, fit.values, strict=True)
    below = {n: float(v) for n, v in pairs if "joint_compliance" in kinds.get(n, "") and v < 0}
    if below:
        text = (
            f"NEGATIVE COMPLIANCE: {', '.join(below)} came out negative: it is consistent with zero, or stands for "
            "others that the model lacks; do not read it as a compliance."
        )
        yield warning("negative-compliance", text, values=below)


def _not_converged(study: Study) -> Iterator[Finding]:
    if not study.fit.converged:
        yield warning(
            "not-converged",
            "NOT CONVERGED: the fit stopped before it converged; start from better values or seek fewer.",
        )
