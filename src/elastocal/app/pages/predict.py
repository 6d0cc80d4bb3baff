"""Predictions as a report: of deflections by a load; of readings, positions where the instrument would see them and
what a load moves them by.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from elastocal.app.commands.predict import PredictResult, ReadingsResult
from elastocal.app.pages.deflect import row_names
from elastocal.app.pages.result_columns import loaded_columns, loaded_rows, numbers_or_reason
from elastocal.model.kinematics import kinematics
from elastocal.model.statics.loaded_arm import skeleton
from elastocal.quantities import length
from elastocal.report.blocks import Cell, Column, Fact, Report, Rows, Scene, Section, Table
from elastocal.report.parts import Part
from elastocal.report.robot_scene import (
    MOST_ARMS,
    UNIT,
    arrows,
    drawn_words,
    ellipsoids,
    enlargement,
    floor_part,
    force_scale,
    load_forces,
    loaded_arm,
    spread_out,
    times,
)

if TYPE_CHECKING:
    from elastocal.spatial.entries import Array


_LOST = "no determined state there, with or without the load"


def page(result: PredictResult | ReadingsResult) -> Report:
    if isinstance(result, ReadingsResult):
        return readings_page(result)
    title = f"Predicted deflection of {result.model.name}"
    sections = Section("Predictions", (table(result),)), Section("Robot under load", scenes(result))
    return Report(title, verdict(result), sections, result.notes, result.facts)


def verdict(result: PredictResult) -> tuple[str, ...]:
    size = result.prediction.distance
    spread = result.prediction.ellipsoid()[0][:, 0]
    doubts = (*_beyond(result), *result.record.warned)
    if not np.any(np.isfinite(size)):
        return (*doubts, "No configuration has a determined state with and without the load.")
    i = int(np.nanargmax(size))
    message = (
        f"The largest deflection of {result.prediction.frame} is {1e3 * size[i]:.4g} mm (configuration {i + 1}), known "
        f"to {length(float(spread[i]))} (one standard deviation along the worst direction)."
    )
    if result.discrepancy == 0:
        model = "Residuals showed no model discrepancy; none is included."
    elif isfinite(result.discrepancy):
        model = f"The model's own discrepancy, {length(result.discrepancy)} per axis, is included."
    else:
        model = "The model's discrepancy is not known and not included: the true accuracy is worse."
    return (*doubts, message, model)


def _beyond(result: PredictResult) -> tuple[str, ...]:
    if not result.beyond:
        return ()
    return (
        f"BEYOND REASON: by its compliances the arm would bend by {result.bend:.3g} m, more than a tenth of its size "
        f"({result.size:.3g} m). No arm survives that, and nothing below means anything: check the unit of the load "
        "(forces in N, moments in N m).",
    )


def table(result: PredictResult | ReadingsResult) -> Table:
    if isinstance(result, ReadingsResult):
        return readings_table(result)
    columns = (
        *loaded_columns(result.at),
        *(Column(f"d{c}_mm", f"d{c}", "mm", 4) for c in "xyz"),
        *(Column(f"d{c}_95_um", f"{'95 % +- ' * (c == 'x')}d{c}", "um", 1, "interval") for c in "xyz"),
        *(Column(f"r{c}_mrad", f"r{c}", "mrad", 3, "rotation") for c in "xyz"),
        *(Column(f"ellipsoid_{n}_um", f"{'semi-axes ' * (n == 1)}{n}", "um", 1, "ellipsoid") for n in (1, 2, 3)),
        *(Column(f"cov_{pair}_m2", "", shown=False) for pair in _PAIRS),
    )
    notes = (
        "Loaded minus unloaded, base axes. Half widths of 95 % intervals; semi-axes of the one-sigma error ellipsoid "
        "of the translation, the longest first.",
    )
    return Table("predictions", "", columns, Rows(len(result.at), lambda part: _rows(result, part)), notes)


_PAIRS = ("xx", "xy", "xz", "yy", "yz", "zz")


def _rows(result: PredictResult, part: slice) -> list[tuple[Cell, ...]]:
    p = result.prediction.picked(np.arange(part.start, part.stop))
    pairs = [p.covariance[:, "xyz".index(pair[0]), "xyz".index(pair[1])] for pair in _PAIRS]
    numbers = np.hstack([
        1e3 * p.twist[:, :3], 1e6 * p.half_width[:, :3], 1e3 * p.twist[:, 3:], 1e6 * p.ellipsoid()[0],
        np.stack(pairs, axis=1),
    ])  # fmt: skip
    places = loaded_rows(result.at, result.load, part)
    return [(*place, *cells) for place, cells in zip(places, numbers_or_reason(numbers, _LOST), strict=True)]


def scenes(result: PredictResult) -> tuple[Scene, ...]:
    """One view per pose: the arm, its load, how far the frame moves and where it is expected; none beyond reason."""
    p, q, names = result.prediction, result.at.q, row_names(result.at)
    known = np.asarray(np.isfinite(p.twist).all(axis=1))
    if result.beyond or not known.any() or result.load.applied is None:
        return ()
    arms = skeleton(result.model, q)
    position = kinematics(result.model, q, p.frame).position
    rows = spread_out(np.where(known[:, None], position, np.nan), MOST_ARMS)
    moved = enlargement(arms.extent, float(np.nanmax(p.distance)))
    unsure = enlargement(arms.extent, 2 * float(np.nanmax(p.ellipsoid()[0])))
    starts, forces = load_forces(result.model, q, result.load.applied)
    scale, scale_note = force_scale(forces, arms.extent)
    ends = position + moved * p.twist[:, :3]
    parts: list[Part] = [*floor_part(result.model, arms.line)]
    for i in rows:
        one, view = np.array([i]), names[i]
        parts += [
            *loaded_arm(result.model, q[i], None, starts[one], forces[one], scale, view),
            arrows(f"deflection, {times(moved)}", position[one], p.twist[one, :3], moved, (), view, "after"),
            ellipsoids(f"one-sigma ellipsoid, {times(unsure)}", ends[one], p.picked(one), unsure, view),
        ]
    notes = (
        f"Deflections are drawn {times(moved)}, error ellipsoids (one standard deviation) {times(unsure)}.",
        scale_note,
        *drawn_words(len(rows), len(q)),
    )
    return (Scene("scene", "Predicted deflections and their uncertainty", UNIT, tuple(parts), notes),)


_DISTANCES = (
    Column("distance_mm", "distance", "mm", 4),
    Column("distance_95_um", "95 % +- mean distance", "um", 1, "mean interval"),
    Column("distance_reading_95_um", "95 % +- read distance", "um", 1, "reading interval"),
)


def readings_page(result: ReadingsResult) -> Report:
    title = f"Predicted readings of {result.calibration.robot.name}"
    facts = (*result.facts, Fact("station", "station", result.station))
    sections = (Section("Predictions", (readings_table(result),)),)
    return Report(title, readings_verdict(result), sections, result.notes, facts)


def readings_verdict(result: ReadingsResult) -> tuple[str, ...]:
    p, out = result.prediction, []
    warned = (*result.calibration.doubts, *(w for w in p.warnings if w.severity == "warning"))
    out += [f"WARNING {w.code.upper()}: {w.text}." for w in warned]
    mean, reading = p.known_to(result.markers)
    if p.ranged:
        near, read = p.known_to(result.markers, ranges=True)
        out.append(f"Distances are known to {length(near)} or better (95 %, mean), a new reading to {length(read)}.")
    if p.located and isfinite(mean):
        out.append(
            f"Positions are known to {length(mean)} or better (95 %, mean), a new reading to {length(reading)}, in "
            f"{_where(result)}."
        )
    most = p.largest_deflection(result.markers)
    if most is not None:
        out.append(
            f"The largest deflection by the load is {1e3 * most.size:.4g} mm (configuration {most.pose + 1}, "
            f"{most.marker}), known to {length(most.half_width)} (95 %)."
        )
    elif p.loaded:
        out.append("Nothing in this calibration is compliant, so a load moves nothing: calibrate under load.")
    return tuple(out) or ("No configuration has a determined state.",)


def _where(result: ReadingsResult) -> str:
    if result.station == "base":
        return "base axes, as the instrument was registered to them"
    return f"the frame of the readings of station {result.station}"


def readings_table(result: ReadingsResult) -> Table:
    at, p = result.at, result.prediction
    columns = (
        *loaded_columns(at),
        Column("marker", "marker"),
        *(Column(f"{c}_mm", c, "mm", 4, shown=p.located) for c in "xyz"),
        *_widths("", "mean", p.located),
        *_widths("reading_", "reading", p.located),
        *(Column(f"d{c}_mm", f"d{c}", "mm", 4, shown=p.loaded) for c in "xyz"),
        *_widths("d", "deflection", p.loaded),
        *_widths("d_reading_", "read deflection", p.loaded),
        *(_DISTANCES if p.ranged else ()),
    )
    notes = []
    if not p.placed:
        notes.append("The calibration is of deflections alone: positions are not calibrated.")
    elif p.located:
        notes.append(f"x, y, z in the frame of the readings, station {result.station}.")
    if p.ranged:
        notes.append("Distances are from the fixed point of the readings.")
    if p.loaded:
        notes.append("dx, dy, dz: loaded minus unloaded, base axes.")
    notes.append("Half widths of 95 % intervals: of the mean, and of one new reading about it.")
    rows = Rows(len(at) * len(result.markers), lambda part: _reading_rows(result, part))
    return Table("predictions", "", columns, rows, tuple(notes))


def _reading_rows(result: ReadingsResult, part: slice) -> list[tuple[Cell, ...]]:
    """One for every pose and marker; those of whole poses are made, and cut."""
    p, own, m = result.prediction, list(result.markers), len(result.markers)
    poses = slice(part.start // m, -(-part.stop // m))
    place = [(1e3, p.position), (1e6, p.half_width), (1e6, p.half_width_reading)]
    moved = [(1e3, p.deflection), (1e6, p.deflection_half_width), (1e6, p.deflection_half_width_reading)]
    far = [(1e3, p.distance), (1e6, p.distance_half_width), (1e6, p.distance_half_width_reading)]
    placed, bent = _cells(place, poses, own, p.located), _cells(moved, poses, own, p.loaded)
    ranged = _cells(far, poses, own, True) if p.ranged else [()] * len(placed)
    names = [p.markers[j] for j in own]
    made = [
        (*where, name, *placed[i], *bent[i], *ranged[i])
        for k, where in enumerate(loaded_rows(result.at, result.load, poses))
        for i, name in enumerate(names, start=k * m)
    ]
    return made[part.start - poses.start * m :][: part.stop - part.start]


def _cells(parts: list[tuple[float, Array]], poses: slice, markers: list[int], known: bool) -> Sequence[Sequence[Cell]]:
    """Numbers, or nothing where they make no sense: deflections without a load, positions of no calibration."""
    values = [factor * array[poses][:, markers] for factor, array in parts]
    rows = values[0].shape[0] * len(markers)
    if not known:
        return [(None,) * 9] * rows
    return numbers_or_reason(np.hstack([v.reshape(rows, -1) for v in values]), _LOST)


def _widths(key: str, what: str, shown: bool) -> tuple[Column, ...]:
    return tuple(
        Column(f"{key}{c}_95_um", f"{f'95 % +- {what} ' * (c == 'x')}{c}", "um", 1, f"{what} interval", shown=shown)
        for c in "xyz"
    )
