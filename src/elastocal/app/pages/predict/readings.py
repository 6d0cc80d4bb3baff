"""Predicted readings as a report: positions where the instrument would see them, and what a load moves them by."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING

from elastocal.app.commands.predict import ReadingsResult
from elastocal.app.pages.result_columns import loaded_columns, loaded_rows, numbers_or_reason
from elastocal.quantities import length
from elastocal.report.blocks import Cell, Column, Fact, Report, Rows, Section, Table

if TYPE_CHECKING:
    from elastocal.spatial.entries import Array

_LOST = "no determined state there, with or without the load"


_DISTANCES = (
    Column("distance_mm", "distance", "mm", 4),
    Column("distance_95_um", "95 % +- mean distance", "um", 1, "mean interval"),
    Column("distance_reading_95_um", "95 % +- read distance", "um", 1, "reading interval"),
)


def page(result: ReadingsResult) -> Report:
    title = f"Predicted readings of {result.inputs.robot}"
    facts = (*result.inputs.facts(), Fact("station", "station", result.station, result.station))
    return Report(title, verdict(result), (Section("Predictions", (table(result),)),), result.notes, facts)


def verdict(result: ReadingsResult) -> tuple[str, ...]:
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


def table(result: ReadingsResult) -> Table:
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
    rows = Rows(len(at) * len(result.markers), lambda part: _rows(result, part))
    return Table("predictions", "", columns, rows, tuple(notes))


def _rows(result: ReadingsResult, part: slice) -> list[tuple[Cell, ...]]:
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
    import numpy as np

    values = [factor * array[poses][:, markers] for factor, array in parts]
    rows = values[0].shape[0] * len(markers)
    return numbers_or_reason(np.hstack([v.reshape(rows, -1) for v in values]), _LOST) if known else [(None,) * 9] * rows


def _widths(key: str, what: str, shown: bool) -> tuple[Column, ...]:
    return tuple(
        Column(f"{key}{c}_95_um", f"{f'95 % +- {what} ' * (c == 'x')}{c}", "um", 1, f"{what} interval", shown=shown)
        for c in "xyz"
    )
