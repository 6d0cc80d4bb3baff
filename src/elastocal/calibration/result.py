"""From the ladder of a campaign to its ``Calibration``: estimates, outliers by rows, errors, warnings."""

from __future__ import annotations

import numpy as np

from elastocal.calibration.calibration import Calibration
from elastocal.calibration.campaign import Campaign
from elastocal.calibration.campaigns import Seen
from elastocal.calibration.changes import changes
from elastocal.calibration.estimates import Estimate, Estimates, Outlier, Residuals, shrinkage_of
from elastocal.calibration.fit import Fit, distances
from elastocal.calibration.judgement import LEVEL, misfit_of, optimism_of, warnings_of
from elastocal.calibration.ladder import Ladder
from elastocal.calibration.load_slips import AS_THEY_ARE
from elastocal.calibration.noise import REPEATS, SIDE, prior_conflicts
from elastocal.calibration.posterior import compliances_of
from elastocal.calibration.sight import Sight
from elastocal.calibration.span import narrow
from elastocal.calibration.springs import Springs
from elastocal.calibration.standing import came_back
from elastocal.calibration.states import gather
from elastocal.calibration.words import automatic
from elastocal.model.robot import Robot
from elastocal.results import Finding
from elastocal.solve.evidence import Posterior
from elastocal.solve.nested import ENOUGH
from elastocal.solve.outliers import Unit
from elastocal.solve.summary import ErrorSummary
from elastocal.spatial.entries import Array


def result_of(
    read: Campaign,
    campaign: Campaign,
    ladder: Ladder,
    units: tuple[Unit, ...],
    repeats: tuple[Outlier, ...],
    assumed: tuple[Finding, ...],
) -> Calibration:
    """``read`` is the campaign before wrong ``repeats`` were left out of it."""
    chosen = ladder.chosen.fit
    sight, task = chosen.task.sight, chosen.task
    post = chosen.posterior
    sizes = np.exp(post.log_scales[len(post.blocks.groups) :]).tolist()
    scales = {p.scale.name: v for p, v in zip(post.blocks.noise, sizes, strict=True) if p.scale.name != SIDE}
    lost = (*repeats, *(o for u in units for o in outliers_of(campaign, sight, u)))
    kept = np.setdiff1d(np.arange(campaign.count), [o.row for o in lost])
    repeated = gather(task.robot, campaign.take(kept))
    if repeated.single_reading > 0:
        scales[REPEATS] = repeated.single_reading
    inside = np.where(task.dropped, np.nan, chosen.left_out)
    everything = np.where(task.dropped & sight.used, _plain_residuals(chosen), chosen.left_out)
    if repeats:
        everything = everything + _moved_by_repeats(Sight(gather(task.robot, read)), sight)
    nominal = ladder.nominal.fit
    instrument = task.instrument
    changed, springs = changes(chosen, campaign), Springs(chosen)
    beside = springs.before(changed, LEVEL)
    changed = changed if beside is None else changes(beside, campaign)
    told = {f.code for f in assumed} | {"load-size" for f in assumed if f.data.get("word") == AS_THEY_ARE}
    stood = not came_back(campaign, sight, chosen.robot, chosen.placing)
    discrepancy, unfit = misfit_of(ladder, instrument, _visible(sight, task.robot, campaign), changed, stood, springs)
    optimism = optimism_of(ladder)
    inflation = _inflation(post) * max(
        (w.data["refitted"]["mean"] / w.data["leave_one_out"] for w in optimism), default=1.0
    )
    return Calibration(
        robot=chosen.robot,
        uncalibrated=task.robot,
        names=task.names,
        covariance=chosen.covariance,
        placing=chosen.placing,
        nominal_placing=nominal.placing,
        stations=sight.states.stations,
        markers=sight.states.markers,
        noise=scales,
        discrepancy=discrepancy,
        instrument=instrument,
        freedom=_freedom(post),
        inflation=inflation,
        length=campaign.length,
        angle=campaign.angle,
        load_frame=sight.states.load_frame,
        reference_temperature=sight.states.reference,
        parameters=estimates_of(chosen, inflation),
        outliers=lost,
        warnings=(
            *assumed,
            *changed,
            *unfit,
            *optimism,
            *narrow(task.robot, campaign.joint_values(task.robot), "the campaign"),
            *prior_conflicts(post),
            *(w for w in warnings_of(campaign, ladder, lost) if w.code not in told),
        ),
        words=ladder.chosen.words,
        leave_one_out=ErrorSummary.of(distances(sight, inside), sight.unit),
        leave_one_out_all=ErrorSummary.of(distances(sight, everything), sight.unit),
        before=ErrorSummary.of(distances(sight, np.where(task.dropped, np.nan, nominal.left_out)), sight.unit),
        ladder=ladder,
        residuals=_residuals(ladder),
        seen=Seen.of(task.robot, read),
        shrinkage=shrinkage_of(chosen),
        compliances=compliances_of(ladder, campaign.loaded),
        repeatability=repeated.scatter if repeated.scatter_freedom >= ENOUGH else float("nan"),
    )


def _residuals(ladder: Ladder) -> Residuals:
    fit, nominal = ladder.chosen.fit, ladder.nominal.fit
    sight, s = fit.task.sight, fit.task.sight.states
    size = np.sqrt(fit.deletion.number_chi2() / fit.posterior.blocks.power)
    sign = np.sign(np.nan_to_num(fit.deletion.number_residuals()))
    first = np.array([int(m.min()) for m in s.members])
    return Residuals(
        s.q, s.wrench, s.pose, first, sight.lengths, nominal.left_out, fit.left_out, sight.unfold(size * sign), s.time
    )


def _visible(sight: Sight, robot: Robot, campaign: Campaign) -> tuple[str, ...]:
    """Words that these readings could show, sought or not."""
    words = automatic(robot, loaded=campaign.loaded, placed=sight.placed, warms=campaign.warms)
    return (*words, *(("gain",) if sight.placed else ()))


def _moved_by_repeats(read: Sight, kept: Sight) -> Array:
    """How far wrong repeats move the readings (M, rows) of the states that they belong to."""
    out = np.zeros((kept.states.count, kept.rows))
    for key, part in kept.sections.items():
        if key != "orientation":
            change = getattr(read.states, key) - getattr(kept.states, key)
            out[:, part] = np.nan_to_num(change.reshape(len(out), -1))
    return out


def _freedom(post: Posterior) -> float:
    """Numbers less effective parameters less scales that were fitted."""
    return max(3.0, post.blocks.power * post.blocks.count - post.effective - float(post.blocks.free.sum()))


def _inflation(post: Posterior) -> float:
    """Factor on standard deviations for the scales: maximum evidence takes its degrees of freedom from the readings."""
    return float(min(1.5, np.sqrt(1 + float(post.blocks.free.sum()) / _freedom(post))))


def _plain_residuals(fit: Fit) -> Array:
    """Read minus predicted (M, rows), of what took no part too."""
    sight = fit.task.sight
    off, _ = sight.linearise(fit.task.tool, fit.values, fit.placing, exact=False)
    return np.where(sight.used, off, np.nan)


def estimates_of(fit: Fit, inflation: float) -> Estimates:
    post, task = fit.posterior, fit.task
    sds = np.sqrt(np.diag(fit.covariance))
    rows, first = [], 0
    for w, log_s in zip(task.wanted, post.log_scales, strict=False):
        sizes = w.sizes
        for i, name in enumerate(w.names):
            at = first + i
            prior = float(np.exp(log_s) * sizes[i] * (abs(fit.values[at]) if w.log else 1.0))
            unit = task.robot.parameters[name].unit
            value, file_value = float(fit.values[at]), float(task.file_values[at])
            informed = 1 - (float(sds[at]) / prior) ** 2
            sd = min(inflation * float(sds[at]), max(prior, float(sds[at])))  # the prior closes the rest
            rows.append(Estimate(name, value, sd, unit, file_value, prior, w.scale.name, informed))
        first += len(w.names)
    return Estimates(tuple(rows))


def outliers_of(campaign: Campaign, sight: Sight, unit: Unit) -> list[Outlier]:
    """A unit of the fit as rows of the campaign: a pose may have several states, a state several repeats."""
    s, out = sight.states, []
    for slot in sorted({r // sight.rows for r in unit.rows}):
        state = int(np.flatnonzero((s.pose == unit.block) & (s.slot == slot))[0])
        rows = [r % sight.rows for r in unit.rows if r // sight.rows == slot]
        marker, axis = _marker_and_axis(sight, rows)
        if unit.level == "pose":
            marker = axis = None
        for row in s.members[state].tolist():
            out.append(Outlier(row, campaign.line(row), marker, axis, unit.size, unit.probability))
    return out


def _marker_and_axis(sight: Sight, rows: list[int]) -> tuple[str | None, str | None]:
    for key, part in sight.sections.items():
        if part.start <= rows[0] < part.stop:
            at = rows[0] - part.start
            if key == "orientation":
                return None, "orientation"
            if key == "distance":
                return sight.states.markers[at], "distance"
            return sight.states.markers[at // 3], "xyz"[at % 3] if len(rows) == 1 else None
    return None, None
