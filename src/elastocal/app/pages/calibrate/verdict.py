"""What an identification found and whether to trust it, in sentences."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from elastocal.app.pages.calibrate import doubts
from elastocal.app.pages.calibrate.before import before_rms
from elastocal.app.pages.calibrate.contacts import contact_verdict
from elastocal.app.pages.calibrate.warnings import warnings
from elastocal.app.pages.reading_units import ReadingUnit, reading_unit
from elastocal.identifiability.groups import Group
from elastocal.report.display import length, told_apart

if TYPE_CHECKING:
    from elastocal.app.commands.calibrate import CalibrateResult
    from elastocal.app.points_check import PointsCheck
    from elastocal.study.whole import Study


def verdict(result: CalibrateResult) -> tuple[str, ...]:
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
        f"{len(names)} of the {sought} parameters sought {'is' if len(names) == 1 else 'are'} estimated, "
        f"{_standing_for(alone, len(names))}, from {fit.problem.readings} numbers; "
        f"{_counted(above, len(names))} out of the noise by a factor of {found.thresholds[0]:g}.",
        f"{'It leaves' if len(names) == 1 else 'They leave'} {shown.text(result.residual_rms)} per axis "
        f"unexplained{_share(result)}; a pose that took no part in the fit is predicted to "
        f"{_predicted(shown, found.stages[-1].left_out)}{_before(result, shown)}.",
    ]
    return (*lines, *_points(result.points), *contact_verdict(result), *_trust(result))


def _standing_for(alone: int, count: int) -> str:
    if alone == count:
        return "each for itself"
    if alone == 0:
        return "each for a combination"
    return f"{alone} for {'itself' if alone == 1 else 'themselves'} and {count - alone} for a combination"


def _counted(above: int, count: int) -> str:
    if above == count:
        return "it stands" if count == 1 else "all stand"
    return f"{above or 'none'} stand{'s' * (above < 2)}"


def _share(result: CalibrateResult) -> str:
    share = result.explained
    return f" ({100 * share:.2f} % of what moved is explained)" if math.isfinite(share) else ""


def _predicted(shown: ReadingUnit, value: float) -> str:
    return shown.text(value) if math.isfinite(value) else "an unknown accuracy (a pose alone holds up a parameter)"


def _before(result: CalibrateResult, shown: ReadingUnit) -> str:
    """What the same poses were predicted to by the robot file."""
    before = before_rms(result)
    return f", where the robot file predicts it to {shown.text(before)}" if math.isfinite(before) else ""


def _points(found: PointsCheck | None) -> list[str]:
    """The points against the robot file, in one line."""
    if found is None:
        return []
    at = found.placement
    moved = ""
    if at.fitted is not None:
        moved = f"; {length(at.fitted[1])} after the shift and turn ({math.degrees(at.turn):.2g} deg) that fit best"
    off = float((at.shift**2).sum() ** 0.5)
    unseen = "differences do not see" if found.differences else "registration finds"
    shift = f" (all are shifted by {length(off)}, which {unseen})" if off > at.rms else ""
    worst = f"worst {length(float(at.away[at.worst]))}: {found.worst}"
    return [f"{found.what.capitalize()} against the robot file: rms {length(at.rms)}, {worst}{moved}{shift}."]


def _trust(result: CalibrateResult) -> list[str]:
    study = result.study
    source, share = study.budget.overall()[0]
    out = [f"The largest error source is {source} ({100 * share:.0f} % of the variance on average)."]
    if not study.identification.groups.rank.clear:
        out.append("The rank is not clear-cut; add configurations that differ more.")
    return [*_left_out(study), *warnings(result), *out, *_silent(study)]


def _left_out(study: Study) -> list[str]:
    gross = study.identification.gross
    if not gross:
        return []
    worst, factor = gross[0], doubts.small(study, gross[0])
    read, others = told_apart(factor * worst.value, factor * worst.predicted)
    return [
        f"LEFT OUT as gross errors: {len(gross)}; the worst is {worst.place}: read {read} "
        f"{doubts.small_unit(study, worst)}, the others say {others}."
    ]


def _silent(study: Study) -> list[str]:
    """What no reading sees: masses, which no other load shows, and the rest."""
    kinds = {p.name: p.kind for p in study.identification.sought.parameters}
    silent = [d.name for d in study.identification.dropped if d.reason.startswith("G2") and d.name in kinds]
    masses = [n for n in silent if kinds[n] in ("link_mass", "payload")]
    others = [n for n in silent if n not in masses]
    out = [f"Not seen at all: {_named(others)}; load the arm in other directions to find them."] if others else []
    if masses:
        out.append(
            f"Not seen at all: {_named(masses)}; their weight bends nothing that was read, so no load helps and no "
            "prediction needs them: leave them out of seek, or find them from joint torques (elastocal gravity)."
        )
    return out


def _named(names: list[str]) -> str:
    return ", ".join(names[:8]) + (" ..." if len(names) > 8 else "")
