"""What an identification found and whether to trust it, in sentences."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from elastocal.app.pages.identify import doubts as doubts
from elastocal.app.pages.identify.contacts import contact_verdict
from elastocal.app.pages.identify.residuals import before_errors
from elastocal.app.pages.identify.units import unit_flags
from elastocal.app.pages.reading_units import ReadingUnit, reading_unit
from elastocal.identifiability.groups import Group

if TYPE_CHECKING:
    from elastocal.app.commands.identify import IdentifyResult

UNLIKELY = 0.01
WIDE = 1.5


def verdict(result: IdentifyResult) -> tuple[str, ...]:
    """What was found and whether to trust it."""
    study, fit = result.study, result.study.fit
    found = study.identification
    shown = reading_unit(fit.campaign.measurement)
    names = fit.names[: fit.problem.parameters]
    alone = sum(
        found.groups.group[found.groups.names.index(n)] is Group.IDENTIFIABLE and n not in result.standing
        for n in names
    )
    sought = (
        found.stages[0].parameters
        - len(found.groups.names)
        + sum(n in found.sought.parameters.names for n in found.groups.names)
    )
    above = sum(float(v) > found.thresholds[0] for v in fit.ratios[: len(names)])
    lines = [
        f"{len(names)} of the {sought} parameters sought are estimated, {alone} of them alone and {len(names) - alone} "
        f"for a combination, from {fit.problem.readings} numbers; {above} stand out of the noise by a factor of "
        f"{found.thresholds[0]:g}.",
        f"They leave {shown.text(result.residual_rms)} per axis unexplained{_share(result)}; a pose that took no part "
        f"in the fit is predicted to {_predicted(shown, found.stages[-1].left_out)}{_before(result, shown)}.",
    ]
    return (*lines, *contact_verdict(result), *_trust(result))


def _share(result: IdentifyResult) -> str:
    share = result.explained
    return f" ({100 * share:.2f} % of what moved is explained)" if math.isfinite(share) else ""


def _predicted(shown: ReadingUnit, value: float) -> str:
    return shown.text(value) if math.isfinite(value) else "an unknown accuracy (a pose alone holds up a parameter)"


def _before(result: IdentifyResult, shown: ReadingUnit) -> str:
    """What the same poses were predicted to by the robot file."""
    import numpy as np

    errors = before_errors(result)[:, list(shown.rows)]
    known = errors[np.isfinite(errors)]
    return (
        f", where the robot file predicts it to {shown.text(float(np.sqrt(np.mean(known**2))))}" if known.size else ""
    )


def _trust(result: IdentifyResult) -> list[str]:
    study, fit = result.study, result.study.fit
    out = []
    if study.identification.gross:
        worst = study.identification.gross[0]
        out.append(
            f"LEFT OUT as gross errors: {len(study.identification.gross)}; the worst is {worst.place}: read "
            f"{doubts.small(study, worst) * worst.value:.4g} {doubts.small_unit(study, worst)}, the others say "
            f"{doubts.small(study, worst) * worst.predicted:.4g}."
        )
    if study.suspects:
        worst = study.suspects[0]
        out.append(
            f"DOUBTFUL READINGS: {len(study.suspects)}; the worst is {worst.place}, {worst.sigmas:.0f} standard "
            f"deviations from what the others say."
        )
    if study.repeats.probability < UNLIKELY:
        pure = study.repeats.pure_error
        times = f"{study.repeats.lack_of_fit / pure:.2g} times what repeats scatter" if pure else "not zero as repeats'"
        lacks = f"something of {1e6 * study.discrepancy.sd:.3g} um" if math.isfinite(study.discrepancy.sd) else "a part"
        out.append(
            f"LACK OF FIT: the residuals are {times} (probability {study.repeats.probability:.1g}): the model lacks "
            f"{lacks}; predictions carry it."
        )
    if fit.stated and fit.scatter > WIDE:
        out.append(
            f"NOISE: residuals scatter {fit.scatter:.3g} times more than stated; accuracies were enlarged accordingly. "
            "Either an error source is missing or the model is."
        )
    out += unit_flags(result)
    impossible = _negative(result)
    if impossible:
        out.append(
            f"IMPOSSIBLE: {', '.join(impossible)} came out negative: it is consistent with zero, or stands for others "
            "that the model lacks; do not read it as a compliance."
        )
    if not fit.converged:
        out.append("NOT CONVERGED: the fit stopped before it settled; start from better values or seek fewer.")
    source, share = study.budget.overall()[0]
    out.append(f"The largest error source is {source} ({100 * share:.0f} % of the variance on average).")
    if not found_clear(result):
        out.append("The rank is not clear-cut; add configurations that differ more.")
    own = set(study.identification.sought.parameters.names)
    silent = [d.name for d in study.identification.dropped if d.reason.startswith("G2") and d.name in own]
    if silent:
        named = ", ".join(silent[:8]) + (" ..." if len(silent) > 8 else "")
        out.append(f"Not seen at all: {named}; load the arm in other directions to find them.")
    return out


def _negative(result: IdentifyResult) -> list[str]:
    """Joint compliances below zero."""
    fit = result.study.fit
    kinds = {p.name: p.kind for p in fit.model.parameters}
    return [n for n, v in zip(fit.names, fit.values, strict=True) if "joint_compliance" in kinds.get(n, "") and v < 0]


def found_clear(result: IdentifyResult) -> bool:
    return result.study.identification.groups.rank.clear
