"""Figures of a calibration, each for one question: how far off, where, by what, how well known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from elastocal.calibration.certificate import STATED, variance_at_poses
from elastocal.calibration.placing import tool_points
from elastocal.calibration.sight import Sight
from elastocal.calibration.starts import start_placing
from elastocal.calibration.states import gather
from elastocal.model.kinematics import kinematics
from elastocal.quantities import concise, read_in, typeset
from elastocal.report.blocks import Axis, Bars, Figure, Forest, Heatmap, Interval, Lines, Series, floats
from elastocal.report.robot_scene import dots, scene_of_poses
from elastocal.spatial.entries import Array

if TYPE_CHECKING:
    from elastocal.calibration.accuracy import Validation
    from elastocal.calibration.calibration import Calibration
    from elastocal.calibration.campaign import Campaign
    from elastocal.calibration.estimates import Estimate
    from elastocal.model.robot import Robot
    from elastocal.report.blocks import Scene

MOST_ROWS, MOST_RELATED = 12, 16
"""Parameters of one unit in a forest plot, and in the map of correlations: those known best."""
WARN_SD = 2.0
LONG = 7200.0
"""s from which on times are read in hours."""
MOST_PARTS = 6
"""Of a bar, besides the noise: as many as there are colours."""
BY_SIZE = "assumed by size"
NOT_OF_FILE = "The file states no compliance: values assumed by the size of the robot stand in its place."
LARGE_VARIANCE = 1e-8
"""m2 from which on variances are read in mm2."""


def validation_lines(v: Validation, tolerance: float | None = None) -> Lines:
    """Every validation point before and after, on a log axis, with the tolerance."""
    before, after = (1e3 * _farthest(e) for e in (v.nominal_errors, v.errors))
    x = tuple(float(i + 1) for i in range(len(before)))
    series = [
        Series("before (nominal)", x, floats(before), points=True, role="before", words=v.places),
        Series("after (calibrated)", x, floats(after), points=True, role="after", words=v.places),
        _expected_band(x, 1e3 * 2 * _farthest(np.where(np.isfinite(v.errors), v.spread, np.nan))),
        *tolerance_line(x, tolerance),
    ]
    note = ("The farthest marker of every reading, which has its noise; so has the expected band.",)
    title = "Validation: error of every pose"
    return Lines("validation", title, "validation reading", "", "error", "mm", tuple(series), note, log=True)


def _farthest(sizes: Array) -> Array:
    """Largest (M,) of sizes (M, markers), nan where nothing was read."""
    most = np.max(np.where(np.isfinite(sizes), sizes, -1.0), axis=1)
    return np.asarray(np.where(most < 0, np.nan, most))


def _expected_band(x: tuple[float, ...], top: Array) -> Series:
    low = max(float(np.nanmin(top)) / 20, 1e-4)
    return Series("expected of a reading (k = 2)", x, floats(top), role="expected", low=(low,) * len(x))


def tolerance_line(x: tuple[float, ...], tolerance: float | None) -> tuple[Series, ...]:
    if tolerance is None:
        return ()
    return (Series("tolerance", (x[0], x[-1]), (1e3 * tolerance,) * 2, role="tolerance"),)


def error_lines(c: Calibration, tolerance: float | None = None) -> Lines:
    """Leave-one-out error of every pose, nominal and calibrated."""
    series = []
    drawn = (("before (nominal)", c.ladder.nominal, "before"), ("after (calibrated)", c.ladder.chosen, "after"))
    for name, rung, role in drawn if c.words else drawn[:1]:
        worst = _farthest(rung.errors)
        y = floats(1e3 * _farthest(worst[None, rung.pose == p])[0] for p in np.unique(rung.pose))
        x = tuple(float(i + 1) for i in range(len(y)))
        series.append(Series(name, x, y, points=True, role=role))  # type: ignore[arg-type]
    series += tolerance_line(x, tolerance if c.before.unit == "m" else None)
    note = "The farthest point of every pose, predicted without its own readings; poses in order of their joint values."
    return Lines(
        "loo", "Leave-one-out error by pose", "pose", "", "error", c.before.shown, tuple(series), (note,), log=True
    )


def agreement_lines(c: Calibration) -> Lines:
    """Measured against predicted deviation from the nominal robot, every coordinate, leave-one-out; angles where
    nothing else was read."""
    nominal, chosen, unit = c.residuals.nominal, c.residuals.calibrated, c.before.shown
    known = np.isfinite(nominal) & np.isfinite(chosen) & (c.residuals.lengths == (c.before.unit == "m"))
    measured = 1e3 * nominal[known]
    predicted = measured - 1e3 * chosen[known]
    ends = (float(min(measured.min(), predicted.min())), float(max(measured.max(), predicted.max())))
    series = (
        Series("coordinates", floats(predicted), floats(measured), points=True, role="after"),
        Series("equal", ends, ends, role="tolerance"),
    )
    return Lines("agreement", "Measured against predicted", "predicted deviation from the nominal robot", unit,
                 "measured", unit, series, equal=True)  # fmt: skip


def residual_lines(c: Calibration) -> Lines:
    """Deletion residuals of single numbers in standard deviations."""
    pose, y = c.residuals.by_number()
    x = pose + 1.0
    return _scattered("residuals", "Residuals by pose", "pose", "", x, y)


def _scattered(key: str, title: str, x_name: str, x_unit: str, x: Array, y: Array) -> Lines:
    ends = (float(x.min()), float(x.max()))
    ends = ends if ends[1] > ends[0] else (ends[0] - 0.5, ends[0] + 0.5)
    band = Series("+-2 sd", ends, (WARN_SD,) * 2, role="noise", low=(-WARN_SD,) * 2)
    mark = Series("deletion residual", floats(x), floats(y), points=True, role="after")
    return Lines(key, title, x_name, x_unit, "residual", "sd", (band, mark))


def residual_figures(c: Calibration) -> tuple[Lines, ...]:
    """Their histogram, and against reach, load and time, or the order of measuring where no column tells it."""
    states = c.residuals
    pose, y = c.residuals.by_number()
    at = kinematics(c.nominal, states.q)
    reach = np.linalg.norm(at.position[:, :2], axis=1)
    load = np.linalg.norm(states.wrench[:, :3], axis=1)
    order = states.order.astype(np.float64) + 1 if states.time is None else states.time
    long = states.time is not None and np.ptp(order) > LONG
    when = ("time", "Residuals against time", "h" if long else "s", order / (3600 if long else 1), np.mean)
    rows = ("row of the table", "Residuals in order of measuring", "", order, np.min)
    named: tuple[tuple[str, str, str, Array, Callable[[Array], Any]], ...] = (
        ("reach", "Residuals against reach", "m", reach, np.max),
        ("load", "Residuals against load", "N", load, np.max),
        rows if states.time is None else when,
    )
    out = [_histogram(y)]
    for name, title, unit, values, pick in named:
        each = np.array([pick(values[states.pose == p]) for p in range(int(states.pose.max()) + 1)])
        if np.ptp(each) > 0:
            key = "order" if name == rows[0] else name
            out.append(_scattered(f"residuals_{key}", title, name, unit, each[pose.astype(int)], y))
    return tuple(out)


def _histogram(y: Array) -> Lines:
    edges = np.linspace(-5, 5, 41)
    counts = np.histogram(np.clip(y, -4.999, 4.999), edges)[0]
    x = np.repeat(edges, 2)[1:-1]
    tops = np.repeat(counts, 2)
    fine = np.linspace(-5, 5, 101)
    normal = len(y) * (edges[1] - edges[0]) * np.exp(-(fine**2) / 2) / np.sqrt(2 * np.pi)
    series = (
        Series("readings", floats(x), floats(tops), role="after", low=(0.0,) * len(x)),
        Series("normal distribution", floats(fine), floats(normal), role="tolerance"),
    )
    return Lines("residuals_histogram", "Histogram of the residuals", "residual", "sd", "numbers", "", series)


def start_statuses(c: Calibration) -> dict[str, str]:
    """How well values were known before, by parameter; those that the file lacks say so."""
    lacked = {n for w in c.warnings if w.code == "assumed-compliance" for n in w.data.get("parameters", ())}
    known = {p.name: p.status for p in c.uncalibrated.parameters.rows}
    return {n: BY_SIZE if n in lacked else known[n] for n in c.parameters}


def forests(c: Calibration) -> tuple[Forest, ...]:
    """Estimates with their intervals beside the values of the file, one plot for every kind of one unit."""
    by_kind: dict[tuple[str, str], list[Estimate]] = {}
    status = start_statuses(c)
    for e in sorted(c.parameters.rows, key=lambda e: -abs(e.value - e.file_value) / max(e.sd, 1e-300)):
        by_kind.setdefault((STATED if e.stated else e.group.partition(" of ")[0], e.unit), []).append(e)
    units: dict[str, set[str]] = {}
    for kind, unit in by_kind:
        units.setdefault(kind, set()).add(unit)
    out: list[Forest] = []
    for (kind, unit), rows in sorted(by_kind.items(), key=lambda item: -max(e.informed for e in item[1])):
        factor, word = read_in(unit, max(max(abs(e.value), abs(e.file_value), e.sd) for e in rows))
        kept = sorted(rows[:MOST_ROWS], key=lambda e: e.name)
        more = len(rows) - len(kept)
        notes: tuple[str, ...] = (f"{more} more with smaller changes: in the table.",) if more else ()
        notes += (NOT_OF_FILE,) if any(status[e.name] == BY_SIZE for e in kept) else ()
        made = tuple(
            Interval(e.name, factor * e.value, 2 * factor * e.sd, factor * e.file_value,
                     f"{e.name}: {concise(factor * e.value, factor * e.sd)} {word}")
            for e in kept
        )  # fmt: skip
        title = f"{kind[:1].upper()}{kind[1:]}" + f" [{typeset(word)}]" * (len(units[kind]) > 1)
        out.append(Forest(f"forest_{len(out) + 1}", title, word, made, notes))
    return tuple(out)


def correlation_map(c: Calibration) -> Heatmap | None:
    """Of the parameters that the readings tell most of."""
    count = len(c.names)
    if count < 2:
        return None
    known = {e.name: e.informed for e in c.parameters.rows}
    best = sorted(sorted(range(count), key=lambda i: -known.get(c.names[i], 0.0))[:MOST_RELATED])
    part = c.covariance[np.ix_(best, best)]
    sd = np.sqrt(np.diag(part))
    values = part / np.outer(sd, sd)
    axis = Axis("", "", tuple(float(i) for i in range(len(best))), tuple(c.names[i] for i in best))
    note = (f"The {len(best)} of {count} parameters that the readings tell most of.",) if len(best) < count else ()
    return Heatmap("correlation_map", "Correlations of the estimates", axis, axis, "correlation", "",
                   tuple(floats(row) for row in values), note, downwards=True, signed=True)  # fmt: skip


def budget_bars(c: Calibration) -> Bars | None:
    """The variance of the predicted tool at the campaign's poses by what it comes from, the largest first."""
    total, groups, one = variance_at_poses(c)
    if not total > 0:
        return None
    order = sorted(groups, key=lambda g: -groups[g])
    parts, cancelled = [g for g in order if groups[g] > 0], [g for g in order if groups[g] < 0]
    if len(parts) > MOST_PARTS:
        parts, small = parts[: MOST_PARTS - 1], parts[MOST_PARTS - 1 :]
        groups = {**groups, "others": sum(groups[g] for g in small)}
        parts.append("others")
    whole = total + one
    factor, unit = (1e12, "\N{MICRO SIGN}m") if whole < LARGE_VARIANCE else (1e6, "mm")
    sizes = tuple(factor * groups[g] for g in parts)
    notes = (f"Not drawn, for they cancel against others: {', '.join(cancelled)}.",) if cancelled else ()
    return Bars(
        "uncertainty_budget", "", ("predicted place", "one reading"), (*parts, "noise of a reading"),
        ((*sizes, 0.0), (*sizes, factor * one)), "mean variance of a point", f"{unit}\N{SUPERSCRIPT TWO}", notes,
    )  # fmt: skip


def campaign_scene(c: Calibration) -> Scene:
    """Robot, poses, loads and tracker of the campaign."""
    states = c.residuals
    tracker = None
    if c.placed and c.instrument.tracker is not None:
        tracker = -c.placing.turn[0].T @ c.placing.shift[0]
    return scene_of_poses(
        "scene_campaign", "Robot and campaign", c.robot, states.q, states.wrench, c.load_frame, tracker
    )


def readings_scene(robot: Robot, campaign: Campaign) -> Scene:
    """Points that were read beside those of the nominal robot, before anything is fitted but where instrument and
    markers are; of deflections the poses and loads."""
    sight = Sight(gather(robot, campaign))
    states = sight.states
    plain = scene_of_poses("readings", "Readings", robot, states.q, states.wrench, states.load_frame)
    if states.position is None:
        return plain
    placing = start_placing(robot, sight)
    at = kinematics(robot.nominal, states.q)
    turn, shift = placing.turn[states.station], placing.shift[states.station]
    read = np.einsum("nji,nmj->nmi", turn, states.position - shift[:, None])
    expected = tool_points(at.position, at.rotation, placing.markers)
    apart = np.linalg.norm(read - expected, axis=2)
    known = np.isfinite(apart)
    words = [
        f"{campaign.line(int(states.members[i].min()))}: {1e3 * apart[i, j]:.3g} mm" for i, j in np.argwhere(known)
    ]
    parts = (dots("nominal robot", expected[known], look="before"), dots("read", read[known], words, look="after"))
    note = (
        "Read against the nominal robot, instrument and markers placed roughly: median "
        f"{1e3 * np.median(apart[known]):.3g} mm, largest {1e3 * apart[known].max():.3g} mm."
    )
    return replace(plain, parts=(*plain.parts, *parts), notes=(*plain.notes, note))


def figures_of(c: Calibration, validation: Validation | None, tolerance: float | None) -> tuple[Figure, ...]:
    """The one figure that answers first: errors before and after."""
    if validation is not None:
        return (validation_lines(validation, tolerance),)
    return (error_lines(c, tolerance),)
