"""What a calibration gives and whether to trust it, in order of importance: findings with numbers and text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from elastocal.measure.kind import reading_unit, small_unit
from elastocal.model.robot import Robot
from elastocal.quantities import length, told_apart
from elastocal.reduction.study import Study
from elastocal.reduction.warnings import PointsCheck, calibration_warnings, nominal_rms
from elastocal.results import Finding, note
from elastocal.solve.identifiability import Group
from elastocal.solve.summary import rms
from elastocal.values import dataclass


@dataclass(frozen=True, eq=False)
class Judged:
    """A study with what it is judged by: the robot of the file and its points.

    ``points`` compares the points read with the robot file, None where only differences were read.  ``own`` are
    findings of the procedure that measured, ``combined`` the names of estimates that stand for a combination with what
    M3 fixes.
    """

    study: Study
    described: Robot
    points: PointsCheck | None = None
    own: tuple[Finding, ...] = ()
    combined: frozenset[str] = frozenset()

    @property
    def residual_rms(self) -> float:
        """Per axis in SI, of the numbers that predictions are judged by; nan where there are none."""
        return _rms(self.study, self.study.fit.residuals)

    @property
    def r_squared(self) -> float:
        """Share of the mean square of what was read that the model explains; nan but for differences."""
        if self.study.fit.campaign.measurement.states != 2:
            return float("nan")
        read = _rms(self.study, self.study.fit.campaign.readings)
        return 1 - (self.residual_rms / read) ** 2 if read else float("nan")

    @property
    def warnings(self) -> tuple[Finding, ...]:
        mine = (f for f in self.own if f.severity == "warning")
        return (*mine, *calibration_warnings(self.study, self.described, self.points))

    @property
    def verdict(self) -> tuple[Finding, ...]:
        """All findings, warnings among them."""
        study, notes = self.study, (f for f in self.own if f.severity != "warning")
        return (
            _estimated(self), _errors(self), *_points(self.points), *notes, *_removed(study), *self.warnings,
            *_sources(study), *_unobservable(study),
        )  # fmt: skip


def _rms(study: Study, values: Any) -> float:
    judged = study.fit.campaign.measurement.judged
    return rms(values[:, judged][study.fit.problem.used[:, judged]])


def _estimated(judged: Judged) -> Finding:
    fit, identification = judged.study.fit, judged.study.identification
    names = fit.names[: fit.problem.parameters]
    count = len(names)
    group = dict(zip(identification.groups.names, identification.groups.group, strict=True))
    alone = sum(group[n] is Group.IDENTIFIABLE and n not in judged.combined for n in names)
    nuisance = sum(n not in identification.sought.parameters.names for n in identification.groups.names)
    sought = identification.stages[0].parameters - nuisance
    significant = sum(float(v) > identification.thresholds[0] for v in fit.ratios[:count])
    text = (
        f"{count} of the {sought} parameters sought {'is' if count == 1 else 'are'} estimated, "
        f"{_separately(alone, count)}, from {fit.problem.readings} numbers; "
        f"{_all_of(significant, count)} significant (abs(value)/sd >= {identification.thresholds[0]:g})."
    )
    return note(
        "estimated", text, estimated=count, sought=sought, separately=alone, significant=significant,
        threshold=identification.thresholds[0], numbers=fit.problem.readings,
    )  # fmt: skip


def _separately(alone: int, count: int) -> str:
    if alone == count:
        return "each separately"
    return f"{alone} separately and {count - alone} as a combination" if alone else "all as combinations"


def _all_of(some: int, count: int) -> str:
    if some == count:
        return "it is" if count == 1 else "all are"
    return f"{some or 'none'} {'are' if some > 1 else 'is'}"


def _errors(judged: Judged) -> Finding:
    shown = reading_unit(judged.study.fit.campaign.measurement)
    residual, r2 = judged.residual_rms, judged.r_squared
    left_out, nominal = judged.study.identification.stages[-1].left_out, nominal_rms(judged.study, judged.described)
    share = f" (R2 {100 * r2:.2f} %)" if math.isfinite(r2) else ""
    unseen = shown.text(left_out) if math.isfinite(left_out) else "not known (one pose alone determines a parameter)"
    before = f"; error of the robot file {shown.text(nominal)}" if math.isfinite(nominal) else ""
    text = f"RMS residual {shown.text(residual)} per axis{share}; leave-one-out error {unseen}{before}."
    return note("errors", text, rms_residual=residual, r_squared=r2, leave_one_out=left_out, nominal=nominal)


def _points(check: PointsCheck | None) -> Iterator[Finding]:
    """The points against the robot file, in one line."""
    if check is None:
        return
    placement = check.placement
    moved = ""
    if placement.fitted is not None:
        turn = f"{math.degrees(placement.turn):.2g} deg"
        moved = f"; {length(placement.fitted[1])} after the shift and turn ({turn}) that fit best"
    off = float((placement.shift**2).sum() ** 0.5)
    unseen = "differences do not see" if check.differences else "registration finds"
    shift = f" (all are shifted by {length(off)}, which {unseen})" if off > placement.rms else ""
    farthest = float(placement.away[placement.worst])
    worst = f"worst {length(farthest)}: {check.worst}"
    text = f"{check.what.capitalize()} against the robot file: rms {length(placement.rms)}, {worst}{moved}{shift}."
    yield note("points", text, rms=placement.rms, worst=check.worst, farthest=farthest, shift=off)


def _removed(study: Study) -> Iterator[Finding]:
    excluded = study.identification.excluded
    if not excluded:
        return
    worst = excluded[0]
    factor, unit = small_unit(study.fit.campaign.measurement.rows[worst.row].unit)
    read, others = told_apart(factor * worst.value, factor * worst.predicted)
    text = (
        f"OUTLIERS REMOVED: {len(excluded)}; the worst, {worst.place}, read {read} {unit}, the others predict {others}."
    )
    yield note("outliers-removed", text, places=[g.place for g in excluded], sigmas=worst.sigmas)


def _sources(study: Study) -> Iterator[Finding]:
    source, share = study.budget.overall()[0]
    text = f"The largest error source is {source} ({100 * share:.0f} % of the variance on average)."
    yield note("error-source", text, source=source, share=share)
    if not study.identification.groups.rank.clear:
        yield note("rank-unclear", "The rank is not clear-cut; add configurations that differ more.")


def _unobservable(study: Study) -> Iterator[Finding]:
    """What no reading sees: masses, which no other load shows, and the rest."""
    kinds = {p.name: p.kind for p in study.identification.sought.parameters}
    unseen = [d.name for d in study.identification.dropped if d.reason.startswith("G2") and d.name in kinds]
    masses = [n for n in unseen if kinds[n] in ("link_mass", "payload")]
    others = [n for n in unseen if n not in masses]
    if others:
        text = f"Unobservable: {_named(others)}; load the arm in other directions to see them."
        yield note("unobservable", text, parameters=others)
    if masses:
        text = (
            f"Unobservable: {_named(masses)}; their weight bends nothing that was read, so no load helps and no "
            "prediction needs them: leave them out of seek, or find them from joint torques."
        )
        yield note("unobservable-mass", text, parameters=masses)


def _named(names: Sequence[str]) -> str:
    return ", ".join(names[:8]) + (" ..." if len(names) > 8 else "")
