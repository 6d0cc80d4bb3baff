"""Figures of a calibration, each for one question: how far off, where, by what, how well known."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from elastocal.model.kinematics import kinematics
from elastocal.quantities import concise
from elastocal.report.blocks import Axis, Bars, Figure, Forest, Heatmap, Interval, Lines, Series
from elastocal.report.robot_scene import scene_of_poses
from elastocal.spatial.entries import Array, Bools

if TYPE_CHECKING:
    from elastocal.calibration.accuracy import Validation
    from elastocal.calibration.calibration import Calibration
    from elastocal.calibration.estimates import Estimate
    from elastocal.report.blocks import Scene

UNITS: dict[str, tuple[float, str]] = {
    "m": (1e3, "mm"), "rad": (1e3, "mrad"), "rad/(N m)": (1e6, "urad/(N m)"), "m/N": (1e6, "um/N"),
    "kg m": (1.0, "kg m"), "m/(N m)": (1e6, "um/(N m)"), "rad/N": (1e6, "urad/N"),
}  # fmt: skip
MOST_ROWS, MOST_RELATED = 12, 16
"""Parameters of one unit in a forest plot, and in the map of correlations: those known best."""
WARN_SD = 2.0


def validation_lines(v: Validation, tolerance: float | None = None) -> Lines:
    """Every validation point before and after, on a log axis, with the tolerance."""
    before, after = (1e3 * np.nanmax(e, axis=1) for e in (v.nominal_errors, v.errors))
    x = tuple(float(i + 1) for i in range(len(before)))
    series = [
        Series("before (nominal)", x, _floats(before), points=True, role="before", words=v.places),
        Series("after (calibrated)", x, _floats(after), points=True, role="after", words=v.places),
        _expected_band(x, 1e3 * 2 * np.nanmax(np.where(np.isfinite(v.errors), v.expected, np.nan), axis=1)),
        *tolerance_line(x, tolerance),
    ]
    note = ("The farthest marker of every reading.",)
    title = "Validation: error of every pose"
    return Lines("validation", title, "validation reading", "", "error", "mm", tuple(series), note, log=True)


def _expected_band(x: tuple[float, ...], top: Array) -> Series:
    low = max(float(np.nanmin(top)) / 20, 1e-4)
    return Series("expected accuracy (k = 2)", x, _floats(top), role="expected", low=(low,) * len(x))


def tolerance_line(x: tuple[float, ...], tolerance: float | None) -> tuple[Series, ...]:
    if tolerance is None:
        return ()
    return (Series("tolerance", (x[0], x[-1]), (1e3 * tolerance,) * 2, role="tolerance"),)


def error_lines(c: Calibration, tolerance: float | None = None) -> Lines:
    """Leave-one-out error of every pose, nominal and calibrated."""
    assert c.ladder is not None
    series = []
    for name, rung, role in (
        ("before (nominal)", c.ladder.nominal, "before"),
        ("after (calibrated)", c.ladder.chosen, "after"),
    ):
        pose = rung.fit.task.sight.states.pose
        worst = np.nanmax(np.where(np.isfinite(rung.errors), rung.errors, -1.0), axis=1)
        y = tuple(
            1e3 * float(worst[pose == p].max()) if worst[pose == p].max() >= 0 else np.nan for p in np.unique(pose)
        )
        x = tuple(float(i + 1) for i in range(len(y)))
        series.append(Series(name, x, y, points=True, role=role))  # type: ignore[arg-type]
    series += tolerance_line(x, tolerance)
    note = "The farthest point of every pose, predicted without its own readings; poses in order of their joint values."
    return Lines(
        "loo", "Leave-one-out error by pose", "pose", "", "error", c.before.shown, tuple(series), (note,), log=True
    )


def agreement_lines(c: Calibration) -> Lines:
    """Measured against predicted deviation from the nominal robot, every coordinate, leave-one-out."""
    assert c.ladder is not None
    nominal, chosen = (r.fit.deletion.blocks for r in (c.ladder.nominal, c.ladder.chosen))
    lengths = np.tile(_length_rows(c), nominal.shape[1] // len(_length_rows(c)))
    known = np.isfinite(nominal) & np.isfinite(chosen) & lengths
    measured = 1e3 * nominal[known]
    predicted = measured - 1e3 * chosen[known]
    ends = (float(min(measured.min(), predicted.min())), float(max(measured.max(), predicted.max())))
    series = (
        Series("coordinates", _floats(predicted), _floats(measured), points=True, role="after"),
        Series("equal", ends, ends, role="tolerance"),
    )
    return Lines("agreement", "Measured against predicted", "predicted deviation from the nominal robot", "mm",
                 "measured", "mm", series, equal=True)  # fmt: skip


def residual_lines(c: Calibration) -> Lines:
    """Deletion residuals of single numbers in standard deviations."""
    pose, y = residuals(c)
    x = pose + 1.0
    return _scattered("residuals", "Residuals by pose", "pose", "", x, y)


def residuals(c: Calibration) -> tuple[Array, Array]:
    """Pose and deletion residual in sd of every number read."""
    assert c.ladder is not None
    fit = c.ladder.chosen.fit
    chi = np.sqrt(fit.deletion.number_chi2() / fit.posterior.blocks.power)
    sign = np.sign(np.nan_to_num(fit.deletion.number_residuals()))
    pose, row = np.nonzero(np.isfinite(chi))
    return pose.astype(np.float64), (chi * sign)[pose, row]


def _scattered(key: str, title: str, x_name: str, x_unit: str, x: Array, y: Array) -> Lines:
    ends = (float(x.min()), float(x.max()))
    ends = ends if ends[1] > ends[0] else (ends[0] - 0.5, ends[0] + 0.5)
    band = Series("+-2 sd", ends, (WARN_SD,) * 2, role="noise", low=(-WARN_SD,) * 2)
    mark = Series("deletion residual", _floats(x), _floats(y), points=True, role="after")
    return Lines(key, title, x_name, x_unit, "residual", "sd", (band, mark))


def residual_figures(c: Calibration) -> tuple[Lines, ...]:
    """Their histogram, and against reach, load and the order of measuring, where these vary."""
    assert c.ladder is not None
    states = c.ladder.chosen.fit.task.sight.states
    pose, y = residuals(c)
    at = kinematics(c.nominal, states.q)
    reach = np.linalg.norm(at.position[:, :2], axis=1)
    load = np.linalg.norm(states.wrench[:, :3], axis=1)
    order = np.array([float(m.min()) for m in states.members]) + 1
    named: tuple[tuple[str, str, str, Array, Callable[[Array], Any]], ...] = (
        ("reach", "Residuals against reach", "m", reach, np.max),
        ("load", "Residuals against load", "N", load, np.max),
        ("order", "Residuals in order of measuring", "", order, np.min),
    )
    out = [_histogram(y)]
    for name, title, unit, values, pick in named:
        each = np.array([pick(values[states.pose == p]) for p in range(states.poses)])
        if np.ptp(each) > 0:
            label = "row of the table" if name == "order" else name
            out.append(_scattered(f"residuals_{name}", title, label, unit, each[pose.astype(int)], y))
    return tuple(out)


def _histogram(y: Array) -> Lines:
    edges = np.linspace(-5, 5, 41)
    counts = np.histogram(np.clip(y, -4.999, 4.999), edges)[0]
    x = np.repeat(edges, 2)[1:-1]
    tops = np.repeat(counts, 2)
    fine = np.linspace(-5, 5, 101)
    normal = len(y) * (edges[1] - edges[0]) * np.exp(-(fine**2) / 2) / np.sqrt(2 * np.pi)
    series = (
        Series("readings", _floats(x), _floats(tops), role="after", low=(0.0,) * len(x)),
        Series("normal distribution", _floats(fine), _floats(normal), role="tolerance"),
    )
    return Lines("residuals_histogram", "Histogram of the residuals", "residual", "sd", "numbers", "", series)


def forests(c: Calibration) -> tuple[Forest, ...]:
    """Estimates with their intervals beside the values of the file, one plot for every unit."""
    by_unit: dict[str, list[Estimate]] = {}
    for e in sorted(c.parameters.rows, key=lambda e: -abs(e.value - e.file_value) / max(e.sd, 1e-300)):
        by_unit.setdefault(e.unit, []).append(e)
    out: list[Forest] = []
    for unit, rows in by_unit.items():
        factor, word = UNITS.get(unit, (1.0, unit))
        kept = sorted(rows[:MOST_ROWS], key=lambda e: e.name)
        more = len(rows) - len(kept)
        notes = (f"{more} parameters of this unit with smaller changes are in the table.",) if more else ()
        made = tuple(
            Interval(e.name, factor * e.value, 2 * factor * e.sd, factor * e.file_value,
                     f"{e.name}: {concise(factor * e.value, factor * e.sd)} {word}")
            for e in kept
        )  # fmt: skip
        out.append(Forest(f"forest_{len(out) + 1}", f"Parameters in {word}", word, made, notes))
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
                   tuple(_floats(row) for row in values), note, downwards=True, signed=True)  # fmt: skip


def budget_bars(c: Calibration) -> Bars | None:
    """The variance of the predicted tool at the campaign's poses by what it comes from; shares add up exactly.

    A group's share is the sum over its parameters of J_p (C J^T)_p, which counts correlations half to each side.
    """
    if c.ladder is None:
        return None
    states = c.ladder.chosen.fit.task.sight.states
    slope, noise = c.slopes_and_noise(states.q, states.wrench)
    weighted = np.einsum("nrp,pq->nrq", slope, c.covariance)
    shares = np.mean(np.sum(slope * weighted, axis=1), axis=0)
    groups: dict[str, float] = {}
    for name, share in zip(_column_groups(c), shares, strict=True):
        groups[name] = groups.get(name, 0.0) + float(share) / len(c.markers)
    groups["model discrepancy"] = 3 * c.discrepancy**2
    total = sum(groups.values())
    one = float(np.mean(np.sum(noise, axis=2)))
    if not total > 0:
        return None
    cancelled = [g for g, v in groups.items() if v < 0]
    parts = [g for g, v in groups.items() if v > 0]
    rows = (
        ("predicted place", (*tuple(1000000000000.0 * groups[g] for g in parts), 0.0)),
        ("one reading", (*tuple(1000000000000.0 * groups[g] for g in parts), 1000000000000.0 * one)),
    )
    notes = (f"{', '.join(cancelled)} cancel against others and are not drawn.",) if cancelled else ()
    unit, named, values = "um\N{SUPERSCRIPT TWO}", tuple(r for r, _ in rows), tuple(v for _, v in rows)
    what = "mean variance of a point"
    return Bars("uncertainty_budget", "", named, (*parts, "noise of a reading"), values, what, unit, notes)


def _column_groups(c: Calibration) -> list[str]:
    group = {e.name: e.group for e in c.parameters.rows}
    rest = c.covariance.shape[0] - len(c.names)
    return [group.get(n, "other parameters") for n in c.names] + ["stations and markers"] * rest


def campaign_scene(c: Calibration) -> Scene | None:
    """Robot, poses, loads and tracker of the campaign."""
    if c.ladder is None:
        return None
    states = c.ladder.chosen.fit.task.sight.states
    tracker = None
    if c.placed and c.instrument.tracker is not None:
        tracker = -c.placing.turn[0].T @ c.placing.shift[0]
    return scene_of_poses(
        "scene_campaign", "Robot and campaign", c.robot, states.q, states.wrench, states.load_frame, tracker
    )


def figures_of(c: Calibration, validation: Validation | None, tolerance: float | None) -> tuple[Figure, ...]:
    """The one figure that answers first: errors before and after."""
    if validation is not None:
        return (validation_lines(validation, tolerance),)
    return () if c.ladder is None else (error_lines(c, tolerance),)


def _length_rows(c: Calibration) -> Bools:
    assert c.ladder is not None
    return np.asarray(c.ladder.chosen.fit.task.sight.lengths)


def _floats(values: Any) -> tuple[float, ...]:
    return tuple(float(v) for v in values)
