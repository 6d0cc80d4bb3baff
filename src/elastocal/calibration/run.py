"""``calibrate``: robot, joint values and readings in, the best predictor that they support out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from os import PathLike

import numpy as np

from elastocal.calibration.accuracy import ErrorSummary
from elastocal.calibration.calibration import Calibration
from elastocal.calibration.campaign import Campaign
from elastocal.calibration.estimates import Estimate, Estimates, Outlier
from elastocal.calibration.fit import Fit, Task, distances, fit
from elastocal.calibration.joining import joined
from elastocal.calibration.judgement import misfit_of, warnings_of
from elastocal.calibration.ladder import RARE, Climber, Ladder, climb
from elastocal.calibration.noise import Instrument, prior_conflicts
from elastocal.calibration.outliers import explained, robust_fit, screen
from elastocal.calibration.placing import Placing
from elastocal.calibration.priors import Prior
from elastocal.calibration.repeats import without_bad_repeats
from elastocal.calibration.sight import Sight
from elastocal.calibration.slips import check_slips
from elastocal.calibration.starts import start_placing
from elastocal.calibration.states import gather
from elastocal.calibration.words import automatic, check_words, with_words
from elastocal.errors import InputError, UnknownNameError
from elastocal.files.robot.read import read_robot
from elastocal.findings import Finding
from elastocal.model.kinematics import kinematics
from elastocal.model.robot import Robot
from elastocal.solve.evidence import Posterior
from elastocal.solve.outliers import Unit
from elastocal.spatial.entries import Array, Bools
from elastocal.spatial.threads import one_thread

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
    _check_size(Sight(gather(robot, campaign)))
    progress("points against the robot")
    checked = check_slips(robot, campaign, (accept,) if isinstance(accept, str) else tuple(accept))
    robot, campaign = checked.robot, checked.campaign
    campaign, lost = without_bad_repeats(robot, campaign) if outliers else (campaign, ())
    sight = Sight(gather(robot, campaign))
    robot, assumed = _compliant(robot, campaign)
    loaded = campaign.loaded or campaign.deflection is not None
    words = automatic(robot, loaded=loaded, placed=sight.placed, warms=_warms(campaign)) if asked is None else asked
    progress("start values")
    placing = start_placing(robot, sight)
    _check_priors(robot, words, campaign)
    instrument = _instrument(robot, sight, campaign)
    dropped = np.zeros_like(sight.used)
    units: tuple[Unit, ...] = ()
    if outliers:
        progress("outliers")
        dropped, units, placing = _left_out(robot, sight, placing, words, instrument, campaign.priors)
    ladder = climb(Climber(sight, robot, dropped, placing, instrument, campaign.priors, progress), words)
    return _result(checked.campaign, campaign, ladder, units, lost, (*checked.findings, *assumed))


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
            raise InputError(
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


def _left_out(
    robot: Robot, sight: Sight, placing: Placing, words: tuple[str, ...], instrument: Instrument, priors: Priors
) -> tuple[Bools, tuple[Unit, ...], Placing]:
    """Outliers by the richest model, so that what it explains is not left out."""
    none = np.zeros_like(sight.used)
    rich = tuple(w for w in words if w not in RARE or len(words) == 1)
    smooth = tuple(w for w in rich if w != "backlash" or len(rich) == 1)  # signs that flip do not help a start
    first = Task(sight, *with_words(robot, smooth, priors), "points", none, instrument)
    x, placing, doubtful = robust_fit(first, placing)
    task = Task(sight, *with_words(robot, rich, priors), "joints", doubtful & sight.used, instrument)
    known = dict(zip(first.names, x.tolist(), strict=True))
    x = np.array([known.get(n, 0.0) for n in task.names])
    screened = screen(task, fit(task, placing, x))
    if screened.units:
        everything = fit(replace(task, dropped=none), screened.fit.placing, screened.fit.x)
        if explained(everything, screened):
            return none, (), everything.placing
    return screened.fit.task.dropped, screened.units, screened.fit.placing


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
    }
    lost = (*repeats, *(o for u in units for o in _outliers(campaign, sight, u)))
    inside = np.where(task.dropped, np.nan, chosen.left_out)
    everything = np.where(task.dropped & sight.used, _plain_residuals(chosen), chosen.left_out)
    if repeats:
        everything = everything + _moved_by_repeats(Sight(gather(task.robot, read)), sight)
    nominal = ladder.nominal.fit
    instrument = task.instrument
    discrepancy, unfit = misfit_of(ladder, instrument, _visible(sight, task.robot, campaign))
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
        inflation=_inflation(post),
        length=campaign.length,
        angle=campaign.angle,
        load_frame=sight.states.load_frame,
        reference_temperature=sight.states.reference,
        parameters=_estimates(chosen),
        outliers=lost,
        warnings=(*assumed, *unfit, *prior_conflicts(post), *warnings_of(campaign, ladder, lost)),
        words=ladder.chosen.words,
        leave_one_out=ErrorSummary.of(distances(sight, inside), sight.unit),
        leave_one_out_all=ErrorSummary.of(distances(sight, everything), sight.unit),
        before=ErrorSummary.of(distances(sight, np.where(task.dropped, np.nan, nominal.left_out)), sight.unit),
        ladder=ladder,
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


def _estimates(found: Fit) -> Estimates:
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
            rows.append(Estimate(name, value, float(sds[at]), unit, file_value, prior, w.scale.name, informed))
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
