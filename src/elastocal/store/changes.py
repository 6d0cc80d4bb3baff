"""What has changed from calibration to calibration of a robot: curves and tables."""

from __future__ import annotations

from itertools import pairwise
from math import isfinite

from elastocal.calibration.comparison import Change
from elastocal.calibration.tables import change_table
from elastocal.quantities import concise, read_in
from elastocal.report.blocks import Block, Cell, Column, Lines, Series, Table
from elastocal.store.entry import Entry, Parameters
from elastocal.store.robot_history import Shown

CURVES = 4
"""Parameters that are drawn: those with the most significant changes."""
CHANGES = 20
"""Calibrations whose changes are listed, the last ones."""


Pairs = list[tuple[Entry, Entry, tuple[Change, ...]]]


def changes(before: Parameters, after: Parameters) -> tuple[Change, ...]:
    """Of parameters that both have, the most significant first."""
    known = {n: (v, s) for n, v, s in zip(before.names, before.values, before.sd, strict=True)}
    rows = zip(after.names, after.units, after.values, after.sd, strict=True)
    made = [Change(n, u, known[n][0], v, known[n][1], s) for n, u, v, s in rows if n in known]
    return tuple(sorted(made, key=lambda c: -abs(c.ratio)))


def pairs(shown: Shown) -> Pairs:
    """The last calibrations, each with the one before it and what has changed between them."""
    some = shown.calibrations[-CHANGES - 1 :]
    return [
        (a, b, changes(a.calibration.parameters, b.calibration.parameters))
        for a, b in pairwise(some) if a.calibration is not None and b.calibration is not None
    ]  # fmt: skip


def parameter_lines(shown: Shown, pairs: Pairs) -> Lines:
    """Parameters that have changed most, with their intervals, all on one scale."""
    worst: dict[str, float] = {}
    for _, _, made in pairs:
        for c in made:
            worst[c.name] = max(worst.get(c.name, 0.0), abs(c.ratio) if isfinite(c.ratio) else 0.0)
    first = shown.of.reference
    assert first.calibration is not None
    own = first.calibration.parameters
    start = {n: (v, s) for n, v, s in zip(own.names, own.values, own.sd, strict=True) if s > 0}
    names = [n for n in sorted(worst, key=lambda n: -worst[n]) if n in start][:CURVES]
    series = tuple(_parameter_series(shown, n, *start[n]) for n in names)
    note = (
        f"Change against calibration {first.number}, in standard deviations that it has there; bars: k = 2. "
        f"{len(names)} of {len(start)} parameters, those with the most significant changes."
    )
    return Lines("parameters_in_time", "Parameters in time", shown.since, "d", "change / sd", "", series, (note,))


def _parameter_series(shown: Shown, name: str, start: float, sd: float) -> Series:
    rows = []
    for e in shown.calibrations:
        own = e.calibration.parameters if e.calibration is not None else None
        if own is not None and name in own.names:
            i = own.names.index(name)
            rows.append((e, own.values[i], own.sd[i]))
    return Series(
        name, shown.days(tuple(e for e, _, _ in rows)), tuple((v - start) / sd for _, v, _ in rows), points=True,
        spread=tuple(2 * s / sd for _, _, s in rows),
        words=tuple(f"number {e.number}, {e.time[:10]}: {concise(v, s) if s > 0 else v}" for e, v, s in rows),
    )  # fmt: skip


def every_change(pairs: Pairs) -> Table:
    """What each calibration has changed against the one before it: how many parameters, and which one most."""
    columns = (
        Column("number", "calibration"), Column("time", "day"), Column("against", "against"),
        Column("significant", "significant changes"), Column("parameter", "most significant"),
        Column("before", "before"), Column("after", "after"), Column("unit", "unit"),
        Column("ratio", "change / sd", "", 1),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    for a, b, made in reversed(pairs):
        count, most = sum(c.significant for c in made), made[0] if made else None
        if most is None:
            rows.append((b.number, b.time[:10], a.number, 0, "none in common", "", "", "", None))
            continue
        factor, unit = read_in(most.unit, abs(most.after))
        shown = [concise(factor * v, factor * sd) if sd > 0 else f"{factor * v:.4g} (fixed)"
                 for v, sd in ((most.before, most.before_sd), (most.after, most.after_sd))]  # fmt: skip
        rows.append((b.number, b.time[:10], a.number, count, most.name, *shown, unit, most.ratio))
    note = "Significant: from five standard deviations of the difference on. Compare any two for all parameters."
    return Table("every_change", "Changes from calibration to calibration", columns, tuple(rows), (note,))


def parameter_blocks(shown: Shown) -> tuple[Block, ...]:
    """All of it, of calibrations that have one before them."""
    changed = pairs(shown)
    if not changed:
        return ()
    first, second, made = changed[-1]
    last = change_table(made, "changes", f"Calibration {second.number} against {first.number}")
    return parameter_lines(shown, changed), every_change(changed), last
