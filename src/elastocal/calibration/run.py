"""``calibrate``: robot, joint values and readings in, the best predictor that they support out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from os import PathLike

import numpy as np

from elastocal.calibration.calibration import Calibration
from elastocal.calibration.campaign import Campaign
from elastocal.calibration.estimates import Estimate, Estimates, Outlier
from elastocal.calibration.fit import ROUGH, Fit, Task, distances, fit
from elastocal.calibration.joining import joined
from elastocal.calibration.judgement import misfit_of, optimism_of, warnings_of
from elastocal.calibration.ladder import RARE, Climber, Ladder, climb
from elastocal.calibration.many import MANY, fit_many, neighbours, sample_rows
from elastocal.calibration.noise import REPEATS, SIDE, Instrument, prior_conflicts
from elastocal.calibration.outliers import explained, robust_fit, screen
from elastocal.calibration.placing import Placing, within_reach
from elastocal.calibration.priors import Prior
from elastocal.calibration.repeats import distinct_rows, repeats_by_model, without_bad_repeats
from elastocal.calibration.residuals import Residuals
from elastocal.calibration.sight import Sight
from elastocal.calibration.slips import accepted, check_slips
from elastocal.calibration.starts import start_placing
from elastocal.calibration.states import States, gather
from elastocal.calibration.words import automatic, check_words, with_words
from elastocal.errors import ConflictError, InputError, MissingError, RangeError, UnknownNameError
from elastocal.files.robot.read import read_robot
from elastocal.findings import Finding
from elastocal.model.compliant.joint_backlash import JointBacklash
from elastocal.model.kinematics import kinematics
from elastocal.model.robot import Robot
from elastocal.solve.evidence import Posterior
from elastocal.solve.outliers import Unit
from elastocal.solve.summary import ErrorSummary
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.spatial.threads import one_thread

TRANSITION = 0.03
"""Share of the torque that loads bring to a joint, within which the side of its backlash changes over."""
Watch = Callable[[str], None]
Priors = tuple[Prior, ...]


@one_thread
def calibrate(
    robot: Robot | str | PathLike[str],
    campaign: Campaign | Sequence[Campaign],
    model: str | Sequence[str] = "auto",
    *,
    outliers: bool = True,
    accept: str | Sequence[str] = (),
    progress: Watch = lambda step: None,
) -> Calibration:
    """Calibrate by one campaign or several.

    ``model`` is "auto" or the words to choose from, ``outliers`` False keeps every reading.  ``accept`` holds words of
    slips that were proposed (``slips``).  ``progress`` is told every step as it begins.
    """
    asked = check_words(model)
    if not isinstance(robot, Robot):
        robot = read_robot(robot)
    if not isinstance(campaign, Campaign):
        campaign = joined(robot, campaign)
    words_accepted = (accept,) if isinstance(accept, str) else tuple(accept)
    if words_accepted and campaign.position is None:
        raise ConflictError("accept: slips are told by points, and none were read; leave it out")
    rows = distinct_rows(campaign)
    if len(rows) < campaign.count:
        once = calibrate(robot, campaign.take(rows), model, outliers=outliers, accept=accept, progress=progress)
        return _with_copies(once, campaign, rows)
    first = gather(robot, campaign)
    _check_size(Sight(first))
    if first.poses > MANY:
        return _calibrate_many(robot, campaign, first, model, outliers, words_accepted, progress)
    progress("points against the robot")
    checked = check_slips(robot, campaign, words_accepted)
    robot, campaign = checked.robot, checked.campaign
    campaign, beyond = _without_beyond(robot, campaign) if outliers else (campaign, ())
    campaign, lost = without_bad_repeats(robot, campaign) if outliers else (campaign, ())
    lost = (*beyond, *lost)
    sight = Sight(gather(robot, campaign))
    robot, assumed = _compliant(robot, campaign)
    robot = _with_transitions(robot, sight)
    loaded = campaign.loaded or campaign.deflection is not None
    words = automatic(robot, loaded=loaded, placed=sight.placed, warms=_warms(campaign)) if asked is None else asked
    if "thermal" in words and campaign.temperature is None:
        raise MissingError("model word thermal: no temperatures were read; give temperature_C, or leave the word out")
    progress("start values")
    placing = start_placing(robot, sight)
    _check_priors(robot, words, campaign)
    instrument = _instrument(robot, sight, campaign)
    dropped = np.zeros_like(sight.used)
    units: tuple[Unit, ...] = ()
    rich: Fit | None = None
    if outliers:
        progress("outliers")
        dropped, units, rich = _left_out(robot, sight, placing, words, instrument, campaign.priors)
        campaign, told = repeats_by_model(campaign, rich, units)
        if told:
            lost, sight = (*lost, *told), Sight(gather(robot, campaign))
            dropped, units, rich = _left_out(robot, sight, rich.placing, words, instrument, campaign.priors, rich)
        dropped, units = _taken_back(campaign, sight, dropped, units)
        instrument = replace(instrument, bent=rich.robot if instrument.loads else None)
    ladder = climb(Climber(sight, robot, dropped, placing, instrument, campaign.priors, progress, rich), words)
    return _result(checked.campaign, campaign, ladder, units, lost, (*checked.findings, *assumed))


def _without_beyond(robot: Robot, campaign: Campaign) -> tuple[Campaign, tuple[Outlier, ...]]:
    """Without points that no arm reaches, such as codes of a lost beam: no fit can be begun with them."""
    if campaign.position is None:
        return campaign, ()
    origin = kinematics(robot.nominal, campaign.joint_values(robot)).position
    near, _ = within_reach(origin, campaign.station_index, campaign.position)
    gone = np.isnan(near).any(axis=2) & ~np.isnan(campaign.position).any(axis=2)
    gone[[campaign.kept(i) for i in range(campaign.count)]] = False
    if not gone.any():
        return campaign, ()
    out = copy(campaign)
    object.__setattr__(out, "position", np.where(gone[:, :, None], np.nan, campaign.position))
    return out, tuple(
        Outlier(i, campaign.line(i), campaign.markers[j], None, np.nan, 0.0) for i, j in np.argwhere(gone).tolist()
    )


def _with_copies(cal: Calibration, campaign: Campaign, rows: Ints) -> Calibration:
    """Of a campaign with copies of ``rows``: outliers by the rows of the whole, and a word on the copies."""
    copies = np.setdiff1d(np.arange(campaign.count), rows)
    lines = ", ".join(campaign.line(int(i)) for i in copies[:5]) + " ..." * (len(copies) > 5)
    text = f"{len(copies)} rows are the same as others in every number and count once: {lines}"
    found = Finding("copies", "warning", text, {"rows": copies.tolist()})
    out = tuple(replace(o, row=int(rows[o.row])) for o in cal.outliers)
    warned = [
        replace(w, data={**w.data, "rows": sorted({o.row for o in out})}) if w.code == "outliers" else w
        for w in cal.warnings
    ]
    left = replace(cal.residuals, order=rows[cal.residuals.order])
    return replace(cal, outliers=out, warnings=(*warned, found), residuals=left)


def _calibrate_many(
    robot: Robot, campaign: Campaign, states: States, model: str | Sequence[str], outliers: bool,
    accept: tuple[str, ...], progress: Watch,
) -> Calibration:  # fmt: skip
    """The model by a sample of the poses, its parameters by all."""
    progress("points against the robot")
    for word in accept:
        robot, campaign = accepted(robot, campaign, word)
    checked = check_slips(robot, neighbours(campaign))
    robot = checked.robot
    campaign, beyond = _without_beyond(robot, campaign) if outliers else (campaign, ())
    campaign, lost = without_bad_repeats(robot, campaign) if outliers else (campaign, ())
    lost = (*beyond, *lost)
    if accept or lost or checked.findings:
        states = gather(robot, campaign)
    rows = sample_rows(states, campaign.count)
    small = calibrate(robot, campaign.take(rows), model, outliers=outliers, progress=progress)
    assert small.ladder is not None
    chosen, nominal = small.ladder.chosen.fit, small.ladder.nominal.fit
    none = None if outliers else np.zeros((states.count, chosen.task.sight.rows), dtype=bool)
    found = fit_many(chosen, states, none, watch=progress)
    dropped, units = _taken_back(campaign, Sight(states), found.dropped, found.units)
    if len(units) < len(found.units):
        found = replace(fit_many(chosen, states, dropped, watch=progress), units=units)
    before = fit_many(nominal, states, found.dropped, watch=progress)
    fitted, unit = found.fit, chosen.task.sight.unit
    out = (*lost, *(o for u in found.units for o in _outliers(campaign, Sight(states), u)))
    power, free = fitted.posterior.blocks.power, float(fitted.posterior.blocks.free.sum())
    own = {"outliers", "not-converged", "few-poses"}
    text = (
        f"model, noise and prior scales are chosen on {chosen.task.sight.states.poses} of "
        f"{states.poses} poses, spread evenly; parameters, outliers and errors are of all"
    )
    sampled = Finding("sampled", "note", text, {"sample": chosen.task.sight.states.poses, "poses": states.poses})
    ladder = replace(small.ladder, chosen=replace(small.ladder.chosen, fitted=fitted))
    warned = [w for w in warnings_of(campaign, ladder, out) if w.code in own]
    return replace(
        small,
        robot=fitted.robot,
        covariance=fitted.covariance,
        reference_temperature=states.reference,
        placing=fitted.placing,
        nominal_placing=before.fit.placing,
        freedom=max(small.freedom, power * found.count - fitted.posterior.effective - free),
        parameters=_estimates(fitted, small.inflation),
        outliers=out,
        warnings=(*checked.findings, *(w for w in small.warnings if w.code not in own), *warned, sampled),
        leave_one_out=ErrorSummary.of(found.left_out, unit),
        leave_one_out_all=ErrorSummary.of(found.everything, unit),
        before=ErrorSummary.of(before.left_out, unit),
        residuals=replace(small.residuals, order=np.arange(campaign.count)[rows][small.residuals.order]),
    )


def _instrument(robot: Robot, sight: Sight, campaign: Campaign) -> Instrument:
    """Of differences and distances alone a beam is one number: that at the tool."""
    readings = 1 if sight.placed else 2
    stated = replace(Instrument.of(campaign.noise, readings), turn_sd=campaign.orientation_noise)
    if sight.states.position is not None:
        return stated
    return stated.at_points(kinematics(robot.nominal, sight.states.q).position, readings)


def _warms(campaign: Campaign) -> bool:
    return campaign.temperature is not None and bool(np.ptp(campaign.temperature) > 0.5)


def _check_priors(robot: Robot, words: tuple[str, ...], campaign: Campaign) -> None:
    """Priors must be of parameters that are sought."""
    sought = with_words(robot, words)[1]
    names = tuple(n for w in sought for n in w.names)
    for name, value in ((n, v) for p in campaign.priors for n, v in zip(p.names, p.values, strict=True)):
        if name not in names:
            raise UnknownNameError("parameter with a prior", name, names)
        parameter = robot.parameters.values[robot.parameters.index(name)] if name in robot.parameters.names else 0.0
        if any(w.log and name in w.names for w in sought) and not value * parameter > 0:
            raise RangeError(
                f"prior of {name}: its value is {value}; a compliance must have the sign of the robot file"
            )


def _compliant(robot: Robot, campaign: Campaign) -> tuple[Robot, tuple[Finding, ...]]:
    """A rigid robot under load gets start values of compliance by its size."""
    bends = any(np.any(c.compliance()) for c in robot.coordinates)
    if bends or not (campaign.loaded or campaign.deflection is not None):
        return robot, ()
    text = (
        "the robot file has no compliance: start values by the size of the robot are assumed, and estimated from there"
    )
    return robot.with_joint_compliance(), (Finding("assumed-compliance", "warning", text, {}),)


def _with_transitions(robot: Robot, sight: Sight) -> Robot:
    """Backlash whose side changes over within a small share of the torque that the loads of the campaign bring.

    So every state has a mean and an uncertainty, and a search can follow it through zero.
    """
    s = sight.states
    if not s.loaded.any():
        return robot
    arms = kinematics(robot.nominal, s.q[s.loaded], s.load_frame).jacobian
    torque = np.sqrt(np.mean(np.einsum("nij,ni->nj", arms, s.wrench[s.loaded]) ** 2, axis=0))
    least = TRANSITION * np.maximum(torque, 0.01 * torque.max())
    joints = dict(zip(robot.joints, least.tolist(), strict=True))
    elements = [
        replace(e, transition=max(joints[e.joint], 2 * e.threshold))
        if isinstance(e, JointBacklash) and e.sharp and e.joint in joints
        else e
        for e in robot.elements
    ]
    return replace(robot, elements=tuple(elements))


def _left_out(
    robot: Robot, sight: Sight, placing: Placing, words: tuple[str, ...], instrument: Instrument, priors: Priors,
    before: Fit | None = None,
) -> tuple[Bools, tuple[Unit, ...], Fit]:  # fmt: skip
    """Outliers by the richest model, so that what it explains is not left out; and its fit without them.

    ``before`` is that of nearly the same readings, from which the searches begin."""
    none = np.zeros_like(sight.used)
    rich = tuple(w for w in words if w not in RARE or len(words) == 1)
    smooth = tuple(w for w in rich if w != "backlash" or len(rich) == 1)  # signs that flip do not help a start
    first = Task(sight, *with_words(robot, smooth, priors), "points", none, instrument)
    known = {} if before is None else dict(zip(before.task.names, before.x.tolist(), strict=True))
    x, placing, doubtful = robust_fit(first, placing, np.array([known.get(n, 0.0) for n in first.names]))
    task = Task(sight, *with_words(robot, rich, priors), "joints", doubtful & sight.used, instrument)
    known |= dict(zip(first.names, x.tolist(), strict=True))
    x = np.array([known.get(n, 0.0) for n in task.names])
    near = () if before is None else (before.posterior,)
    screened = screen(task, fit(task, placing, x, near=near, settled=ROUGH))
    everything = explained(screened) if screened.units else None
    if everything is not None:
        return none, (), everything
    return screened.fit.task.dropped, screened.units, screened.fit


def _taken_back(
    campaign: Campaign, sight: Sight, dropped: Bools, units: tuple[Unit, ...]
) -> tuple[Bools, tuple[Unit, ...]]:
    """Without units that hold a reading which is kept whatever the test says."""
    out, left, s = dropped.copy(), [], sight.states
    for unit in units:
        if not any(campaign.kept(o.row) for o in _outliers(campaign, sight, unit)):
            left.append(unit)
            continue
        for r in unit.rows:
            state = int(np.flatnonzero((s.pose == unit.block) & (s.slot == r // sight.rows))[0])
            out[state, r % sight.rows] = False
    return out, tuple(left)


def _check_size(sight: Sight) -> None:
    """Refuse what cannot have an answer: too few poses, or fewer numbers than instrument and markers have unknowns."""
    numbers, poses = int(sight.used.sum()), sight.states.poses
    least = 4 if sight.placed else 2
    unknowns = 6 * len(sight.states.stations) + 3 * sight.states.points if sight.placed else 0
    if poses >= least and numbers > unknowns:
        return
    have = f"{poses} pose{'s' * (poses != 1)} with {numbers} numbers"
    need = f"more than {unknowns} numbers at {least} poses or more" if unknowns else f"{least} poses or more"
    raise InputError(
        f"{have} are too few to calibrate with: {need} are needed; 30 poses are usual", code="few-poses", value=poses
    )


def _result(
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
    scales = {
        s.name: float(np.exp(v))
        for s, v in zip(
            post.blocks.scales[len(post.blocks.groups) :], post.log_scales[len(post.blocks.groups) :], strict=True
        )
        if s.name != SIDE
    }
    lost = (*repeats, *(o for u in units for o in _outliers(campaign, sight, u)))
    kept = np.setdiff1d(np.arange(campaign.count), [o.row for o in lost])
    single = gather(task.robot, campaign.take(kept)).single_reading
    if single > 0:
        scales[REPEATS] = single
    inside = np.where(task.dropped, np.nan, chosen.left_out)
    everything = np.where(task.dropped & sight.used, _plain_residuals(chosen), chosen.left_out)
    if repeats:
        everything = everything + _moved_by_repeats(Sight(gather(task.robot, read)), sight)
    nominal = ladder.nominal.fit
    instrument = task.instrument
    discrepancy, unfit = misfit_of(ladder, instrument, _visible(sight, task.robot, campaign))
    optimism = optimism_of(ladder)
    inflation = _inflation(post) * max((w.data["refitted"] / w.data["leave_one_out"] for w in optimism), default=1.0)
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
        parameters=_estimates(chosen, inflation),
        outliers=lost,
        warnings=(*assumed, *unfit, *optimism, *prior_conflicts(post), *warnings_of(campaign, ladder, lost)),
        words=ladder.chosen.words,
        leave_one_out=ErrorSummary.of(distances(sight, inside), sight.unit),
        leave_one_out_all=ErrorSummary.of(distances(sight, everything), sight.unit),
        before=ErrorSummary.of(distances(sight, np.where(task.dropped, np.nan, nominal.left_out)), sight.unit),
        ladder=ladder,
        residuals=Residuals.of(ladder),
    )


def _visible(sight: Sight, robot: Robot, campaign: Campaign) -> tuple[str, ...]:
    """Words that these readings could show, sought or not."""
    words = automatic(robot, loaded=campaign.loaded, placed=sight.placed, warms=_warms(campaign))
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


def _plain_residuals(found: Fit) -> Array:
    """Read minus predicted (M, rows), of what took no part too."""
    sight = found.task.sight
    off, _ = sight.linearise(found.task.tool, found.values, found.placing)
    return np.where(sight.used, off, np.nan)


def _estimates(found: Fit, inflation: float) -> Estimates:
    post, task = found.posterior, found.task
    sds = np.sqrt(np.diag(found.covariance))
    rows, first = [], 0
    for w, log_s in zip(task.wanted, post.log_scales, strict=False):
        sizes = w.sizes
        for i, name in enumerate(w.names):
            at = first + i
            prior = float(np.exp(log_s) * sizes[i]) * (abs(found.values[at]) if w.log else 1.0)
            unit = task.robot.parameters.rows[task.robot.parameters.index(name)].unit
            value, file_value = float(found.values[at]), float(task.file_values[at])
            informed = 1 - (float(sds[at]) / prior) ** 2
            sd = min(
                inflation * float(sds[at]), max(prior, float(sds[at]))
            )  # what readings leave open the prior closes
            rows.append(Estimate(name, value, sd, unit, file_value, prior, w.scale.name, informed))
        first += len(w.names)
    return Estimates(tuple(rows))


def _outliers(campaign: Campaign, sight: Sight, unit: Unit) -> list[Outlier]:
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
