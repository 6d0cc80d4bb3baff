"""Why not to trust an identification, in capitals: for its verdict, and for the calibration that carries them on."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from elastocal.app.pages.calibrate.before import before_rms
from elastocal.app.pages.calibrate.contacts import object_warnings
from elastocal.app.pages.calibrate.units import unit_flags
from elastocal.app.pages.reading_units import reading_unit
from elastocal.report.display import length, significant

if TYPE_CHECKING:
    from elastocal.app.commands.calibrate import CalibrateResult
    from elastocal.app.points_check import PointsCheck
    from elastocal.identify.strayed import Stated
    from elastocal.identify.unsought import Unsought
    from elastocal.study.whole import Study

UNLIKELY = 0.01
WIDE = 1.5
MOST = 3
"""Parameters taken as exact that are named."""


def warnings(result: CalibrateResult) -> tuple[str, ...]:
    """Everything that whoever uses the calibration must know."""
    study, fit = result.study, result.study.fit
    out = [*object_warnings(result), *_points(result.points), *_worse(result), *_suspects(study), *_misfit(study)]
    out += [_strayed(s) for s in study.stated if s.strayed]
    misplaced = (
        result.points is not None and result.points.placement.far
    )  # points are off by more than any mass explains
    out += [*asked_for([u for u in study.unsought if u.asked and not misplaced]), *unit_flags(result)]
    impossible = _negative(result)
    if impossible:
        out.append(
            f"IMPOSSIBLE: {', '.join(impossible)} came out negative: it is consistent with zero, or stands for others "
            "that the model lacks; do not read it as a compliance."
        )
    if not fit.converged:
        out.append("NOT CONVERGED: the fit stopped before it settled; start from better values or seek fewer.")
    return tuple(out)


def _points(found: PointsCheck | None) -> list[str]:
    """Points that are far from the robot file, with what may be wrong there."""
    if found is None or not found.placement.far:
        return []
    from elastocal.study.slips import FITS

    at = found.placement
    if found.slip is not None:
        why = f"they would fit to {length(found.slip.rms)} if {found.slip.text}"
    elif FITS * at.others < at.rms:
        why = f"all but the worst, {found.worst}, fit to {length(at.others)}: check that line"
    else:
        why = "check the geometry of the robot file, tracker_frame, and whether table and robot belong together"
    return [f"FAR FROM WHERE THEY SHOULD BE: the {found.what} are {length(at.rms)} (rms) from the robot file's; {why}."]


def _worse(result: CalibrateResult) -> list[str]:
    """A calibration that predicts worse than none; not where residuals are noise, so that the file was right before."""
    fit = result.study.fit
    shown = reading_unit(fit.campaign.measurement)
    before, after = before_rms(result), result.study.identification.stages[-1].left_out
    if not after > before or (fit.stated and fit.scatter < WIDE):
        return []
    return [
        f"WORSE THAN THE ROBOT FILE: a pose that took no part in the fit is predicted to {shown.text(after)}, by the "
        f"robot file to {shown.text(before)}. Do not compensate with this; check axes, markers and load of the table."
    ]


def _suspects(study: Study) -> list[str]:
    if not study.suspects:
        return []
    worst = study.suspects[0]
    return [
        f"DOUBTFUL READINGS: {len(study.suspects)}; the worst is {worst.place}, {worst.sigmas:.0f} standard deviations "
        "from what the others say."
    ]


def _misfit(study: Study) -> list[str]:
    """Residuals beyond what repeats scatter, or beyond the stated noise."""
    fit, out = study.fit, []
    if study.repeats.probability < UNLIKELY:
        pure = study.repeats.pure_error
        times = f"{study.repeats.lack_of_fit / pure:.2g} times what repeats scatter" if pure else "not zero as repeats'"
        lacks = f"something of {length(study.discrepancy.sd)}" if math.isfinite(study.discrepancy.sd) else "a part"
        out.append(
            f"LACK OF FIT: the residuals are {times} (probability {study.repeats.probability:.1g}): the model lacks "
            f"{lacks}; predictions carry it."
        )
    if fit.stated and fit.scatter > WIDE:
        out.append(
            f"NOISE: residuals scatter {significant(fit.scatter)} times more than stated; accuracies were enlarged "
            "accordingly. Either an error source is missing or the model is."
        )
    return out


def _strayed(found: Stated) -> str:
    value, sd = shown_unknown(found.value, found.unit), shown_unknown(found.sd, found.unit)
    return (
        f"BEYOND WHAT IS STATED: {found.name} is off by {value}, where {sd} (one sd) is stated: {found.sigmas:.1f} "
        f"times what it may scatter (probability {found.chance:.1g}). It may stand for something that the model takes "
        "as exact and that is wrong; then the parameters are wrong by more than they say."
    )


def asked_for(found: list[Unsought]) -> list[str]:
    if not found:
        return []
    named = ", ".join(_step(u) for u in found[:MOST])
    more = f" and {len(found) - MOST} more" if len(found) > MOST else ""
    which = "each alone, so that one wrong value may raise several. Seek one" if len(found) > 1 else "seek it"
    return [f"TAKEN AS EXACT, BUT ASKED FOR: the readings ask for {named}{more}; {which}, or give a better value."]


def _step(u: Unsought) -> str:
    size = f"{100 * u.step / abs(u.value):+.2g} %" if u.value else f"{u.step:+.3g} {u.unit}"
    return f"{u.name} ({size}, {u.sigmas:.1f} sd)"


def shown_unknown(value: float, unit: str) -> str:
    """An error in the unit that people state it in: shares in %, lengths in um or mm, angles in mrad."""
    if unit == "m":
        return length(value)
    factor, word = {"1": (100.0, "%"), "rad": (1e3, "mrad")}.get(unit, (1.0, unit))
    return f"{factor * value:.3g} {word}"


def _negative(result: CalibrateResult) -> list[str]:
    """Joint compliances below zero."""
    fit = result.study.fit
    kinds = {p.name: p.kind for p in fit.model.parameters}
    return [n for n, v in zip(fit.names, fit.values, strict=True) if "joint_compliance" in kinds.get(n, "") and v < 0]
