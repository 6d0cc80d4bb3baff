"""``calibrate``: robot, joint values and readings in, the best predictor that they support out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from os import PathLike

import numpy as np

from elastocal.arguments import checked
from elastocal.calibration.calibration import Calibration
from elastocal.calibration.campaign import Campaign
from elastocal.calibration.campaigns import Seen, joined
from elastocal.calibration.causes import with_causes
from elastocal.calibration.changes import renumbered
from elastocal.calibration.estimates import shrinkage_of
from elastocal.calibration.fit import ROUGH, Fit, fit
from elastocal.calibration.given import Prior
from elastocal.calibration.judgement import warnings_of
from elastocal.calibration.kept import Kept
from elastocal.calibration.ladder import Climber, climb, leaves_enough, usual
from elastocal.calibration.load_slips import accepted_loads, check_deflections_read
from elastocal.calibration.many import MANY, fit_many, neighbours, sample_rows
from elastocal.calibration.noise import Instrument
from elastocal.calibration.outliers import explained, log_probability, not_believed, robust_fit, screen
from elastocal.calibration.placing import LEAST_PLACED, Placing
from elastocal.calibration.result import estimates_of, outliers_of, result_of
from elastocal.calibration.screening import (
    distinct_rows,
    repeats_by_model,
    repeats_of_many,
    without_bad_repeats,
    without_beyond,
)
from elastocal.calibration.sight import Sight
from elastocal.calibration.slips import check_slips, put_right
from elastocal.calibration.starts import start_placing
from elastocal.calibration.states import States, gather
from elastocal.calibration.task import Task
from elastocal.calibration.words import automatic, check_deflections, check_words, with_words
from elastocal.errors import ConflictError, InputError, MissingError, RangeError, UnknownNameError
from elastocal.files.robot.read import read_robot
from elastocal.model.compliant.joint_backlash import JointBacklash
from elastocal.model.kinematics import kinematics
from elastocal.model.robot import Robot
from elastocal.results import Finding
from elastocal.solve.outliers import Unit
from elastocal.solve.summary import ErrorSummary
from elastocal.spatial.entries import Bools, Ints
from elastocal.spatial.threads import one_thread

TRANSITION = 0.03
"""Share of the torque that loads bring to a joint, within which the side of its backlash changes over."""
Watch = Callable[[str], None]
Priors = tuple[Prior, ...]


@checked("campaign", "model")
@one_thread
def calibrate(
    robot: Robot | str | PathLike[str],
    campaign: Campaign | Sequence[Campaign],
    model: str | Sequence[str] = "auto",
    *,
    outliers: bool = True,
    accept: str | Sequence[str] = (),
    start: Calibration | None = None,
    progress: Watch = lambda step: None,
) -> Calibration:
    """Calibrate by one campaign or several.

    ``model`` is "auto" or the words to choose from, ``outliers`` False keeps every reading.  ``accept`` holds words of
    slips that were proposed (``slips``).  ``start`` is a calibration by nearly the same readings, whose model is kept
    and whose estimates the search starts from.  ``progress`` is told every step as it begins.
    """
    asked = check_words(model)
    if start is not None and asked is not None:
        raise ConflictError("start keeps the model of a calibration; leave out model, or start")
    if not isinstance(robot, Robot):
        robot = read_robot(robot)
    if not isinstance(campaign, Campaign):
        campaign = joined(robot, campaign)
    campaign = campaign.ordered(robot)
    check_deflections_read(campaign)
    rows = distinct_rows(campaign)
    if len(rows) < campaign.count:
        once = calibrate(
            robot, campaign.take(rows), model, outliers=outliers, accept=accept, start=start, progress=progress
        )
        return _with_copies(once, campaign, rows)
    first = gather(robot, campaign)
    _check_size(Sight(first))
    if first.poses > MANY:
        return _calibrate_many(robot, campaign, first, model, outliers, accept, start, progress)
    progress("points against the robot")
    checked = check_slips(robot, campaign, accept)
    robot, campaign = checked.robot, checked.campaign
    campaign, beyond = without_beyond(robot, campaign) if outliers else (campaign, ())
    campaign, lost = without_bad_repeats(robot, campaign) if outliers else (campaign, ())
    lost = (*beyond, *lost)
    sight = Sight(gather(robot, campaign))
    robot, assumed = _compliant(robot, campaign)
    robot = _with_transitions(robot, sight)
    loaded = campaign.loaded or campaign.deflection is not None
    kept = None if start is None else Kept(start)
    words = automatic(robot, loaded=loaded, placed=sight.placed, warms=campaign.warms) if asked is None else asked
    words = words if kept is None else kept.words(robot)
    if not sight.placed:
        check_deflections(words)
    if "thermal" in words and campaign.temperature is None:
        raise MissingError("model word thermal: no temperatures were read; give temperature_C, or leave the word out")
    progress("start values")
    placing = (None if kept is None else kept.placing(sight)) or start_placing(robot, sight)
    _check_priors(robot, words, campaign)
    instrument = replace(_instrument(robot, sight, campaign), bent=robot)
    dropped = np.zeros_like(sight.used)
    units: tuple[Unit, ...] = ()
    rich: Fit | None = None
    if outliers:
        progress("outliers")
        dropped, units, rich = _left_out(robot, sight, placing, words, instrument, campaign, kept)
        campaign, bad_repeats = repeats_by_model(campaign, rich, units)
        if bad_repeats:
            lost, sight = (*lost, *bad_repeats), sight.with_readings(gather(robot, campaign))
            dropped, units, rich = _left_out(robot, sight, rich.placing, words, instrument, campaign, kept, rich)
        dropped, units = _taken_back(campaign, sight, dropped, units)
    elif instrument.loads:  # what errors of the load do depends on compliances, of which the file may know little
        rich = _started(robot, sight, placing, usual(words), instrument, campaign.priors, None)
    instrument = instrument if rich is None else replace(instrument, bent=rich.robot)
    climber = Climber(sight, robot, dropped, placing, instrument, campaign.priors, progress, rich)
    ladder = climb(climber, words) if kept is None else kept.climb(climber)
    known = (*campaign.notes, *checked.findings, *assumed, *(() if kept is None else kept.findings))
    return with_causes(result_of(checked.campaign, campaign, ladder, units, lost, known), checked.campaign)


def _with_copies(cal: Calibration, campaign: Campaign, rows: Ints) -> Calibration:
    """Of a campaign with copies of ``rows``: outliers by the rows of the whole, and a word on the copies."""
    copies = np.setdiff1d(np.arange(campaign.count), rows)
    lines = ", ".join(campaign.line(int(i)) for i in copies[:5]) + " ..." * (len(copies) > 5)
    rows_are = "1 row is the same as another" if len(copies) == 1 else f"{len(copies)} rows are the same as others"
    count = "counts" if len(copies) == 1 else "count"
    text = f"{rows_are} in every number and {count} once: {lines}"
    finding = Finding("copies", "warning", text, {"rows": copies.tolist()})
    out = tuple(replace(o, row=int(rows[o.row])) for o in cal.outliers)
    warned = [
        replace(w, data={**w.data, "rows": sorted({o.row for o in out})})
        if w.code == "outliers"
        else renumbered(w, rows)
        for w in cal.warnings
    ]
    left = replace(cal.residuals, order=rows[cal.residuals.order])
    return replace(cal, outliers=out, warnings=(*warned, finding), residuals=left)


def _calibrate_many(
    robot: Robot, campaign: Campaign, states: States, model: str | Sequence[str], outliers: bool,
    accept: str | Sequence[str], start: Calibration | None, progress: Watch,
) -> Calibration:  # fmt: skip
    """The model by a sample of the poses, its parameters by all."""
    progress("points against the robot")
    right = put_right(robot, campaign, accept)
    campaign = read = right.campaign
    as_they_are = accepted_loads(accept)  # the other words are applied, and this one would be asked for again
    checked = check_slips(right.robot, neighbours(campaign), as_they_are)
    checked = replace(checked, findings=tuple(f for f in checked.findings if f.code != "accepted"))
    robot, seen = checked.robot, Seen.of(checked.robot, campaign)
    campaign, beyond = without_beyond(robot, campaign) if outliers else (campaign, ())
    known = None if accept or checked.findings else states.members
    campaign, lost = without_bad_repeats(robot, campaign, known) if outliers else (campaign, ())
    lost = (*beyond, *lost)
    if accept or lost or checked.findings:
        states = gather(robot, campaign)
    rows = sample_rows(states, campaign.count)
    small = calibrate(
        robot, campaign.take(rows), model, outliers=outliers, accept=as_they_are, start=start, progress=progress
    )
    assert small.ladder is not None
    chosen, nominal = small.ladder.chosen.fit, small.ladder.nominal.fit
    none = None if outliers else np.zeros((states.count, chosen.task.sight.rows), dtype=bool)
    many = fit_many(chosen, states, none, watch=progress)
    campaign, bad_repeats = repeats_of_many(campaign, states, many)
    if bad_repeats:
        lost, states = (*lost, *bad_repeats), gather(robot, campaign)
        many = fit_many(chosen, states, watch=progress)
    dropped, units = _taken_back(campaign, Sight(states), many.dropped, many.units)
    if len(units) < len(many.units):
        many = replace(fit_many(chosen, states, dropped, watch=progress), units=units)
    before = fit_many(nominal, states, many.dropped, watch=progress)
    fitted, unit = many.fit, chosen.task.sight.unit
    out = (*lost, *(o for u in many.units for o in outliers_of(campaign, Sight(states), u)))
    power, free = fitted.posterior.blocks.power, float(fitted.posterior.blocks.free.sum())
    own = {"accepted", "outliers", "not-converged", "few-poses", "likely-cause"}
    told = own | {f.code for f in checked.findings}
    text = (
        f"model, noise and prior scales are chosen on {chosen.task.sight.states.poses} of "
        f"{states.poses} poses, spread evenly; parameters, outliers and errors are of all"
    )
    sampled = Finding("sampled", "note", text, {"sample": chosen.task.sight.states.poses, "poses": states.poses})
    ladder = replace(small.ladder, chosen=replace(small.ladder.chosen, fitted=fitted))
    warned = [w for w in warnings_of(campaign, ladder, out) if w.code in own]
    whole = replace(
        small,
        robot=fitted.robot,
        covariance=fitted.covariance,
        reference_temperature=states.reference,
        placing=fitted.placing,
        nominal_placing=before.fit.placing,
        freedom=max(small.freedom, power * many.count - fitted.posterior.effective - free),
        parameters=estimates_of(fitted, small.inflation),
        outliers=out,
        warnings=(
            *right.findings,
            *checked.findings,
            *(renumbered(w, np.flatnonzero(rows)) for w in small.warnings if w.code not in told),
            *warned,
            sampled,
        ),
        leave_one_out=ErrorSummary.of(many.left_out, unit),
        leave_one_out_all=ErrorSummary.of(many.everything, unit),
        before=ErrorSummary.of(before.left_out, unit),
        residuals=replace(small.residuals, order=np.arange(campaign.count)[rows][small.residuals.order]),
        seen=seen,
        shrinkage=shrinkage_of(fitted),
    )
    return with_causes(whole, read)


def _instrument(robot: Robot, sight: Sight, campaign: Campaign) -> Instrument:
    """Of differences and distances alone a beam is one number: that at the tool."""
    readings = 1 if sight.placed else 2
    stated = replace(Instrument.of(campaign.noise, readings), turn_sd=campaign.orientation_noise)
    if sight.states.position is not None:
        return stated
    return stated.at_points(kinematics(robot.nominal, sight.states.q).position, readings)


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
        "the robot file has no compliance: start values by the size of the robot are assumed, and estimated from "
        "there; the nominal robot of this calibration bends by them too"
    )
    made = robot.with_joint_compliance()
    stated = {p.name: p.value for p in robot.parameters.rows}
    names = [p.name for p in made.parameters.rows if p.value != stated.get(p.name)]
    return made, (Finding("assumed-compliance", "warning", text, {"parameters": names}),)


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
    robot: Robot, sight: Sight, placing: Placing, words: tuple[str, ...], instrument: Instrument, campaign: Campaign,
    kept: Kept | None = None, before: Fit | None = None,
) -> tuple[Bools, tuple[Unit, ...], Fit]:  # fmt: skip
    """Outliers by the richest model, so that what it explains is not left out; and its fit without them.

    ``before`` is that of nearly the same readings, from which the searches begin, and so is what was ``kept``."""
    priors, rich = campaign.priors, usual(words)
    if kept is not None:
        task = Task(sight, *with_words(robot, rich, priors), "joints", np.zeros_like(sight.used), instrument)
        doubtful = not_believed(replace(task, family="points"), placing, kept.unknowns(task))
        dropped = (kept.dropped(campaign, sight) | doubtful) & sight.used
        fitted = kept.fitted(replace(task, dropped=dropped), placing, settled=ROUGH)
    else:
        fitted = _started(robot, sight, placing, rich, instrument, priors, before)
    tried = [screen(fitted.task, fitted)]
    # where little is left to judge readings by, smaller models judge too
    while kept is None and len(rich) > 1 and not leaves_enough(fitted):
        rich = rich[:-1]
        fitted = _started(robot, sight, placing, rich, instrument, priors, before)
        tried.append(screen(fitted.task, fitted))
    screened = max(tried, key=log_probability) if len(tried) > 1 else tried[0]
    everything = explained(screened) if screened.units else None
    if everything is not None:
        return np.zeros_like(sight.used), (), everything
    return screened.fit.task.dropped, screened.units, screened.fit


def _started(
    robot: Robot, sight: Sight, placing: Placing, rich: tuple[str, ...], instrument: Instrument, priors: Priors,
    before: Fit | None,
) -> Fit:  # fmt: skip
    """A model fitted without the points that robust weights do not believe."""
    none, made = np.zeros_like(sight.used), with_words(robot, rich, priors)
    if before is None or before.task.dropped.shape != none.shape:
        smooth = tuple(w for w in rich if w != "backlash" or len(rich) == 1)  # signs that flip do not help a start
        first = Task(sight, *with_words(robot, smooth, priors), "points", none, instrument)
        x, placing, doubtful = robust_fit(first, placing, np.zeros(len(first.names)))
        known = dict(zip(first.names, x.tolist(), strict=True))
    else:
        doubtful, known = before.task.dropped, dict(zip(before.task.names, before.x.tolist(), strict=True))
    task = Task(sight, *made, "joints", doubtful & sight.used, instrument)
    x = np.array([known.get(n, 0.0) for n in task.names])
    near = () if before is None else (before.posterior,)
    if before is not None and before.task.names == task.names:  # where the tool's states are known
        task, (placing, x) = replace(task, robot=before.task.robot, wanted=before.task.wanted), before.start
    return fit(task, placing, x, near=near, settled=ROUGH, rate=1.0 if before is None else before.rate)


def _taken_back(
    campaign: Campaign, sight: Sight, dropped: Bools, units: tuple[Unit, ...]
) -> tuple[Bools, tuple[Unit, ...]]:
    """Without units that hold a reading which is kept whatever the test says."""
    out, left, s = dropped.copy(), [], sight.states
    for unit in units:
        if not any(campaign.kept(o.row) for o in outliers_of(campaign, sight, unit)):
            left.append(unit)
            continue
        for r in unit.rows:
            state = int(np.flatnonzero((s.pose == unit.block) & (s.slot == r // sight.rows))[0])
            out[state, r % sight.rows] = False
    return out, tuple(left)


def _check_size(sight: Sight) -> None:
    """Refuse what cannot have an answer: too few poses, or fewer numbers than instrument and markers have unknowns."""
    numbers, poses = int(sight.used.sum()), sight.states.poses
    least = LEAST_PLACED if sight.placed else 2
    unknowns = 6 * len(sight.states.stations) + 3 * sight.states.points if sight.placed else 0
    if poses >= least and numbers > unknowns:
        return
    have = f"{poses} pose{'s' * (poses != 1)} with {numbers} numbers"
    need = f"more than {unknowns} numbers at {least} poses or more" if unknowns else f"{least} poses or more"
    raise InputError(
        f"{have} are too few to calibrate with: {need} are needed; 30 poses are usual", code="few-poses", value=poses
    )
