"""A calibration against readings that took no part in it, and calibration repeated without some of the poses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from elastocal.arguments import checked
from elastocal.calibration.accuracy import Validation, too_narrow
from elastocal.calibration.campaign import Campaign, check_campaign
from elastocal.calibration.campaigns import Seen
from elastocal.calibration.decision import measured_to
from elastocal.calibration.placing import Placing, placed, tool_points
from elastocal.calibration.screening import distinct_rows, without_lost
from elastocal.calibration.slips import put_right, size_of
from elastocal.calibration.span import Span, extrapolated, narrow
from elastocal.calibration.states import States, gather, mean_by_poses
from elastocal.calibration.tool import ToolStates, tool_of
from elastocal.calibration.validation_causes import Anew, changed, median, moved_instrument, slip
from elastocal.errors import InputError, MissingError, RangeError
from elastocal.files.robot.read import read_robot
from elastocal.model.robot import Robot
from elastocal.quantities import quantile_95
from elastocal.results import Finding
from elastocal.solve.summary import ErrorSummary
from elastocal.spatial.entries import Array, Ints
from elastocal.spatial.pose import rigid_fit
from elastocal.spatial.rotation import rotation_vector

if TYPE_CHECKING:
    from elastocal.calibration.calibration import Calibration


FAR = 0.1
"""Share of the robot's size that no reading of it is off by."""
SHAPE = 0.01
"""The same where the instrument is placed anew."""
Known = tuple[bool, ...]
"""Of every station of a campaign, whether the calibration has seen it."""


def validate(calibration: Calibration, campaign: Campaign, *, refit: bool = False) -> Validation:
    """Errors before (nominal robot) and after, coverage of the intervals, and the paired gain over poses.

    Of positions; of deflections where there are no positions, against the robot of the file; else of distances.
    """
    check_campaign(campaign)
    if campaign.position is None and campaign.deflection is None and campaign.distance is None:
        raise MissingError("validation needs positions, deflections or distances; this campaign has none of them")
    campaign, lost = without_lost(calibration, _same_markers(calibration, campaign.ordered(calibration.robot)))
    states = gather(calibration.robot, campaign, calibration.reference_temperature)
    if states.position is None:
        known: Known = (True,)
        judged = _ranged if states.deflection is None else _deflected
        after, width, expected, before = judged(calibration, states)
    else:
        known = tuple(not refit and s in calibration.stations for s in states.stations)
        after, width, expected = _compared(calibration, states, known)
        before = _away(calibration.nominal, calibration.nominal_placing, calibration.stations, states, known)[0]
    inside = np.abs(after) <= width
    read = np.isfinite(after)
    coverage = float(inside[read].mean())
    predicted, reading = _spreads(calibration, width, expected)
    cause = None if states.position is None else _cause(calibration, campaign, states, after, known, reading, coverage)
    errors, nominal = np.linalg.norm(after, axis=2), np.linalg.norm(before, axis=2)
    gain, half = paired_gain(nominal, errors, states.pose)
    places = tuple(campaign.line(int(rows[0])) for rows in states.members)
    estimated = float(np.sqrt(np.mean(reading[np.isfinite(errors)] ** 2)))
    measured, basis = measured_to(calibration, campaign, states, known.count(False), estimated)
    return Validation(
        ErrorSummary.of(nominal), ErrorSummary.of(errors), coverage, gain, half, errors,
        not all(known), nominal, places, calibration.markers, predicted, reading * np.sqrt(after.shape[2] / 3),
        measured_to=measured, noise_basis=basis,
        **_shared(calibration, campaign, states, errors),
        lost=tuple(dict.fromkeys(o.place for o in lost)), cause=cause,
        orientation=_orientation(calibration, states, known),
    )  # fmt: skip


def _shared(calibration: Calibration, campaign: Campaign, states: States, away: Array) -> dict[str, Any]:
    """States with readings of the calibration itself, states at its joint values and loads that were read again, and
    the points of both; poses, and the range of those that took no part."""
    read = np.isfinite(away)
    at, copied = calibration.seen.among(Seen.of(calibration.robot, campaign))
    known, own = (states.members.sums(rows.astype(np.int64)) > 0 for rows in (at, copied))
    return {
        "shared": int(own.sum()), "revisited": int((known & ~own).sum()), "points_known": int(read[known].sum()),
        "known": tuple(np.flatnonzero(known).tolist()), "pose": tuple(states.pose.tolist()),
        **_ranges(calibration, states.q[~known], away[~known]),
    }  # fmt: skip


def _ranges(calibration: Calibration, joints: Array, away: Array) -> dict[str, Any]:
    """The range of poses (N, n) that took no part, whose points are ``away`` (N, markers) from their predictions."""
    if not len(joints):
        return {}
    span, measured = Span.of(calibration.robot, joints), calibration.seen.q
    far = np.nanmax(np.where(np.isfinite(away), away, -np.inf), axis=1)
    beyond = extrapolated(calibration.robot, measured, joints, errors=np.where(far >= 0, far, np.nan))
    alike = narrow(calibration.robot, joints, "the validation")
    return {"span": np.column_stack([span.low, span.high]), "ranges": (*beyond, *alike)}


def _cause(
    calibration: Calibration, campaign: Campaign, states: States, away: Array, known: Known, reading: Array,
    coverage: float,
) -> Finding | None:  # fmt: skip
    """What else than the robot explains the errors, where they are beyond their intervals.

    Far points that neither another place of the instrument nor a slip brings near are in other units, or of another
    robot.
    """
    if not too_narrow(coverage, int(np.isfinite(away).all(axis=2).sum())):
        return None
    none = (False,) * len(states.stations)
    fitted, placing = _away(calibration.robot, calibration.placing, calibration.stations, states, none)
    at_nominal, _ = _away(calibration.nominal, calibration.nominal_placing, calibration.stations, states, none)
    distance, nearest = median(away), median(fitted)
    wrong = slip(calibration, campaign, states, nearest)
    size = size_of(calibration.robot, states.q)
    if distance >= FAR * size and nearest > SHAPE * size:
        raise _far_off(distance, wrong)
    if wrong is not None:
        return wrong
    here = _from_stations(calibration, states.stations, placing, none)
    change = changed(here, campaign, states, away, reading)
    if change is not None or not all(known):
        return change
    return moved_instrument(calibration, states, away, Anew(fitted, at_nominal, placing))


def _far_off(distance: float, wrong: Finding | None) -> InputError:
    where = f"validation: the points are {distance:.3g} m (median) from where the calibration predicts them"
    if wrong is not None and not any(w.startswith(("lengths in ", "angles in ")) for w in wrong.data["words"]):
        return InputError(f"{where}. {wrong.text}", code="slip", value=wrong.data["words"][0])
    named = f" (with {', '.join(wrong.data['words'])} they are near)" if wrong is not None else ""
    return InputError(
        f"{where}, wherever the instrument stands; check that it is this robot, and the units of lengths and angles"
        f"{named}",
        code="points-far", value=distance, parameter="units",
    )  # fmt: skip


def _same_markers(calibration: Calibration, campaign: Campaign) -> Campaign:
    """Markers as the calibration knows them; some may be absent, in any order."""
    own, read = calibration.markers, tuple(campaign.markers)
    if own == read:
        return campaign
    strange = [m for m in read if m not in own]
    if strange:
        raise InputError(
            f"validation: marker{'s' * (len(strange) > 1)} {', '.join(strange)} took no part in the calibration, which "
            f"knows {', '.join(own)}; call the same marker by the same name in both tables",
            code="unknown-marker", value=strange[0], allowed=own,
        )  # fmt: skip
    values: dict[str, Any] = {"markers": own}
    for key in ("position", "deflection", "distance"):
        given = getattr(campaign, key)
        if given is not None:
            wide = np.full((given.shape[0], len(own), *given.shape[2:]), np.nan)
            wide[:, [own.index(m) for m in read]] = given
            values[key] = wide
    return campaign.changed(**values)


def _deflected(calibration: Calibration, states: States) -> tuple[Array, Array, Array, Array]:
    """Read minus predicted deflections (M, markers, 3), half widths of readings and of means, and read minus those of
    the file."""
    assert states.deflection is not None
    warm = states.temperature if "thermal" in calibration.words else None
    predicted = calibration.predict_joints(states.q, states.wrench, load_frame=states.load_frame, warm=warm)
    nominal = tool_of(calibration.uncalibrated, (), states.q, states.wrench, states.load_frame, None)
    loaded, rest = nominal.both(np.zeros(0))
    arms = np.einsum("nij,mj->nmi", loaded.turn - rest.turn, calibration.placing.markers)
    stated = (loaded.origin - rest.origin)[:, None] + arms
    widths = predicted.deflection_half_width_reading, predicted.deflection_half_width
    return states.deflection - predicted.deflection, *widths, states.deflection - stated


def _ranged(calibration: Calibration, states: States) -> tuple[Array, Array, Array, Array]:
    """The same of distances (M, markers, 1), by the calibrated and by the nominal robot."""
    strange = [s for s in states.stations if s not in calibration.stations]
    if calibration.seen.distance is None or strange:
        why = f"of station {strange[0]} " if strange else ""
        raise MissingError(
            f"validation: distances {why}took no part in the calibration, so that the point they count from is not "
            "known; calibrate with some, or validate by positions",
            parameter="distance", value=strange[0] if strange else None, allowed=calibration.stations,
        )  # fmt: skip
    assert states.distance is not None
    distance, width, mean = np.full((3, states.count, len(calibration.markers)), np.nan)
    warm = states.temperature if "thermal" in calibration.words else None
    for number, name in enumerate(states.stations):
        mine = states.station == number
        prediction = calibration.predict_joints(
            states.q[mine], states.wrench[mine], name, states.load_frame, warm=None if warm is None else warm[mine]
        )
        distance[mine], width[mine] = prediction.distance, prediction.distance_half_width_reading
        mean[mine] = prediction.distance_half_width
    cold = np.zeros(states.count) if states.temperature is None else states.temperature
    at = tool_of(calibration.nominal, (), states.q, states.wrench, states.load_frame, cold).states(np.zeros(0))
    places = np.array([calibration.stations.index(s) for s in states.stations])[states.station]
    nominal = np.linalg.norm(placed(calibration.nominal_placing, at.origin, at.turn, places), axis=2)
    off, before = states.distance - distance, states.distance - nominal
    return off[:, :, None], width[:, :, None], mean[:, :, None], before[:, :, None]


def paired_gain(before: Array, after: Array, pose: Ints) -> tuple[float, float]:
    """Mean fall of the error, and half of its 95 % interval over poses."""
    gain, error, poses = mean_by_poses(before - after, pose)
    return gain, quantile_95(max(1, poses - 1)) * error


def _spreads(calibration: Calibration, width: Array, expected: Array) -> tuple[Array, Array]:
    """Standard deviations (M, markers) of predicted places, over all axes, and of one reading, per axis."""
    k = calibration.inflation * quantile_95(calibration.freedom)
    alone = np.maximum(width**2 - expected**2 + (k * calibration.discrepancy) ** 2, 0.0)
    return np.sqrt(np.sum(expected**2, axis=2)) / k, np.sqrt(np.mean(alone, axis=2)) / k


def _compared(calibration: Calibration, states: States, known: Known) -> tuple[Array, Array, Array]:
    """Read minus predicted (M, markers, 3), and half widths of readings and of their means."""
    away, fitted = _away(calibration.robot, calibration.placing, calibration.stations, states, known)
    here = _from_stations(calibration, states.stations, fitted, known)
    widths, means = np.empty_like(away), np.empty_like(away)
    warm = states.temperature if "thermal" in calibration.words else None
    for number, name in enumerate(states.stations):
        mine = states.station == number
        prediction = here.predict_joints(
            states.q[mine], states.wrench[mine], name, states.load_frame, warm=None if warm is None else warm[mine]
        )
        widths[mine], means[mine] = prediction.half_width_reading, prediction.half_width
    return away, widths, means


def _from_stations(calibration: Calibration, stations: tuple[str, ...], fitted: Placing, known: Known) -> Calibration:
    """The calibration as these stations see it; one that was fitted is known as well as the first of the calibration,
    along its own axes: what moves a point by e there moves it by D e here, with the turn D between both."""
    own, old = len(calibration.names), calibration.placing
    first = own + 6 * len(calibration.stations)
    everything = np.eye(len(calibration.covariance))
    rows, centres = [everything[:own]], np.empty((len(stations), 3))
    for s, name in enumerate(stations):
        at = calibration.stations.index(name) if known[s] else 0
        turn = fitted.turn[s] @ old.turn[at].T
        rows.append(np.kron(np.eye(2), turn) @ everything[own + 6 * at : own + 6 * at + 6])
        centres[s] = turn @ (old.centres[at] - old.shift[at]) + fitted.shift[s]
    by_old = np.concatenate([*rows, everything[first:]])
    return replace(
        calibration,
        stations=stations,
        placing=replace(fitted, centres=centres),
        covariance=by_old @ calibration.covariance @ by_old.T,
    )


def _away(
    robot: Robot, placing: Placing, stations: tuple[str, ...], states: States, known: Known
) -> tuple[Array, Placing]:
    """Read minus predicted (M, markers, 3), and the placing that it is predicted by."""
    assert states.position is not None
    at, fitted = _seen(robot, placing, stations, states, known)
    return states.position - placed(fitted, at.origin, at.turn, states.station), fitted


def _seen(
    robot: Robot, placing: Placing, stations: tuple[str, ...], states: States, known: Known
) -> tuple[ToolStates, Placing]:
    """The tool in base axes; stations as they are known, the others fitted to the points; markers as they are."""
    assert states.position is not None
    warm = np.zeros(states.count) if states.temperature is None else states.temperature
    at = tool_of(robot, (), states.q, states.wrench, states.load_frame, warm).states(np.zeros(0))
    local = tool_points(at.origin, at.turn, placing.markers)
    turns, shifts = np.empty((len(known), 3, 3)), np.empty((len(known), 3))
    for s, name in enumerate(states.stations):
        if known[s]:
            old = stations.index(name)
            turns[s], shifts[s] = placing.turn[old], placing.shift[old]
            continue
        mine = (states.station == s)[:, None] & np.isfinite(states.position).all(axis=2)
        pose, _ = rigid_fit(local[mine], states.position[mine])
        turns[s], shifts[s] = pose.rotation, pose.translation
    return at, replace(placing, turn=turns, shift=shifts)


def _orientation(calibration: Calibration, states: States, known: Known) -> tuple[ErrorSummary, ErrorSummary] | None:
    """Angles between orientations read and predicted, of the nominal and of the calibrated robot."""
    if states.orientation is None or states.position is None:
        return None
    out = []
    both = (calibration.nominal, calibration.nominal_placing), (calibration.robot, calibration.placing)
    for robot, placing in both:
        at, fitted = _seen(robot, placing, calibration.stations, states, known)
        predicted = fitted.turn[states.station] @ at.turn @ placing.tool_turn
        read = np.isfinite(states.orientation).all(axis=(1, 2))
        apart = np.einsum("nji,njk->nik", predicted[read], states.orientation[read])
        angles = np.linalg.norm(rotation_vector(np.ascontiguousarray(np.moveaxis(apart, 0, -1))), axis=0)
        out.append(ErrorSummary.of(angles, "rad"))
    return out[0], out[1]


@checked("campaign")
def cross_validate(
    robot: Robot | str | PathLike[str],
    campaign: Campaign,
    folds: int = 6,
    *,
    accept: str | Sequence[str] = (),
    **options: Any,
) -> Validation:
    """Calibrate without every fold of the poses in turn and judge on what was left out; options as of ``calibrate``.

    Folds are taken in canonical order of the poses, so that they do not depend on the order of the rows.  What is
    accepted is put right before, as words may name rows of several folds.
    """
    from elastocal.calibration.run import calibrate

    check_campaign(campaign)
    if not isinstance(robot, Robot):
        robot = read_robot(robot)
    if accept:
        right = put_right(robot, campaign.take(distinct_rows(campaign)), accept)
        robot, campaign = right.robot, right.campaign
    states = gather(robot, campaign)
    if not 2 <= folds <= states.poses:
        raise RangeError(
            f"{folds} folds of {states.poses} poses; give a number from 2 to {states.poses}",
            parameter="folds",
            value=folds,
            allowed=(2, states.poses),
        )
    row_pose = states.pose[states.state_of(campaign.count)]
    parts = []
    for fold in range(folds):
        out = row_pose % folds == fold
        calibration = calibrate(robot, campaign.take(~out), **options)
        part = campaign.take(out)
        parts.append((validate(calibration, part), fold + folds * gather(robot, part).pose))
    after = np.concatenate([v.errors for v, _ in parts])
    counts = np.array([v.after.count for v, _ in parts], dtype=np.float64)
    before = np.concatenate([v.nominal_errors for v, _ in parts])
    gain, half = paired_gain(before, after, np.concatenate([pose for _, pose in parts]))
    return Validation(
        ErrorSummary.of(before), ErrorSummary.of(after),
        float(np.average([v.coverage for v, _ in parts], weights=counts)), gain, half, after, False, before,
        tuple(p for v, _ in parts for p in v.places), parts[0][0].markers,
        np.concatenate([v.expected for v, _ in parts]), np.concatenate([v.reading for v, _ in parts]),
        lost=tuple(p for v, _ in parts for p in v.lost),
        measured_to=float(np.sqrt(np.average([v.measured_to**2 for v, _ in parts], weights=counts))),
        noise_basis=parts[0][0].noise_basis,
    )  # fmt: skip
