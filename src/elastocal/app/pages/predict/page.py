"""Predicted deflections as a report."""

from __future__ import annotations

import math

from elastocal.app.commands.predict import PredictResult, ReadingsResult
from elastocal.app.pages.deflect import row_names
from elastocal.app.pages.predict import readings
from elastocal.app.pages.result_columns import loaded_columns, loaded_rows, numbers_or_reason
from elastocal.quantities import length
from elastocal.report.blocks import Cell, Column, Report, Rows, Scene, Section, Table
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

_LOST = "no determined state there, with or without the load"


def page(result: PredictResult | ReadingsResult) -> Report:
    if isinstance(result, ReadingsResult):
        return readings.page(result)
    title = f"Predicted deflection of {result.inputs.robot}"
    sections = Section("Predictions", (table(result),)), Section("Robot under load", scenes(result))
    return Report(title, verdict(result), sections, result.notes, result.inputs.facts())


def verdict(result: PredictResult) -> tuple[str, ...]:
    import numpy as np

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
    elif math.isfinite(result.discrepancy):
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
        return readings.table(result)
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
    import numpy as np

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
    import numpy as np

    from elastocal.model.kinematics import kinematics
    from elastocal.model.skeleton import skeleton

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
