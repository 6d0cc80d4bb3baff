"""The history of a robot, what has changed from calibration to calibration, and all robots of a store, as reports."""

from __future__ import annotations

from datetime import date
from itertools import pairwise
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from elastocal.calibration.comparison import Change
from elastocal.calibration.tables import change_table
from elastocal.quantities import DASH, concise, read_in
from elastocal.report.blocks import Block, Cell, Column, Fact, Lines, Paragraphs, Report, Section, Series, Table, Tile
from elastocal.report.colours import Role
from elastocal.results import Finding
from elastocal.spatial.entries import Array
from elastocal.store.drift import Chart
from elastocal.store.entry import Entry, Parameters, Released
from elastocal.store.robot_history import RobotHistory, Shown

if TYPE_CHECKING:
    from elastocal.store.reader import RobotLine


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


ROUNDING = 1e-9
"""m: a smaller change of the tool is none."""
CHARTS = 6
"""Charts in the figure: those that come nearest to their limits."""


def history_page(shown: Shown, today: date) -> Report:
    """Curves and entries of those shown; what is released, drifts and is due is that of all."""
    h = shown.of
    findings = h.findings(today)
    sections = (
        Section("Accuracy in time", accuracy_blocks(shown)),
        Section("Drift", drift_blocks(shown)),
        Section("Parameters", parameter_blocks(shown)),
        Section("Entries", (entry_table(shown),)),
    )
    return Report(
        f"History of {h.robot}",
        (_standing(h), *(f"WARNING {f.code.upper()}: {f.text}." for f in findings if f.severity == "warning")),
        sections,
        tuple(f.text + "." for f in findings if f.severity == "note"),
        (Fact("robot", "robot", h.robot), Fact("entries", "entries", len(h.entries))),
        data={"findings": [vars(f) | {"data": dict(f.data)} for f in findings]},
        tiles=_tiles(h, findings),
    )


def _standing(h: RobotHistory) -> str:
    entry, own = h.released, h.release
    if entry is None or own is None:
        return f"Nothing is released for {h.robot}; {_counted(len(h.calibrations), 'calibration')} recorded."
    due = f", due on {own.due}" if own.due else ", without a day when it is due"
    return f"Released is calibration {own.of} as {own.name!r} ({entry.reason}; {entry.who}, {entry.time[:10]}{due})."


def _tiles(h: RobotHistory, findings: tuple[Finding, ...]) -> tuple[Tile, ...]:
    codes = {f.code for f in findings}
    own, checks, calibrations = h.release, h.checks, h.calibrations
    drifts = [f for f in h.alarms if f.code == "drift"]
    rate = f"one false alarm in {h.run_length:g} records at most"
    last = calibrations[-1].calibration if calibrations else None
    read = checks[-1].check if checks else None
    return (
        Tile("released", own.name if own else DASH, "", f"calibration {own.of}" if own else "nothing",
             state="good" if own else "open"),
        Tile("due", (own.due if own else None) or DASH, "", "" if own and own.due else "not stated",
             state="bad" if "overdue" in codes else "open" if "due-soon" in codes else ""),
        Tile("drift", "ALARM" if drifts else "none", "", rate, state="bad" if drifts else "good"),
        Tile("leave-one-out", f"{1e3 * last.leave_one_out.mean:.3f}" if last else DASH, "mm",
             "mean, last calibration", "after"),
        Tile("check poses", f"{1e3 * read.after.mean:.3f}", "mm", "mean, last check", "after")
        if read
        else Tile("check poses", DASH, "", "none read", "after"),
    )  # fmt: skip


def accuracy_blocks(shown: Shown) -> tuple[Block, ...]:
    """One calibration alone is in the tiles; a curve needs another point."""
    if len(shown.calibrations) + len(shown.checks) < 2:
        return ()
    return (error_lines(shown), *((tool_lines(shown),) if shown.calibrations else ()))


def error_lines(shown: Shown) -> Lines:
    series = []
    kinds: tuple[tuple[str, Role, tuple[Entry, ...]], ...] = (
        ("calibration, leave-one-out", "expected", shown.calibrations), ("check poses", "after", shown.checks),
    )  # fmt: skip
    for name, role, some in kinds:
        if some:
            y = tuple(1e3 * e.error.mean for e in some if e.error is not None)
            words = tuple(f"number {e.number}, {e.time[:10]}, {_degrees(e)}" for e in some)
            series.append(Series(name, shown.days(some), y, points=True, role=role, words=words))
    return Lines("errors_in_time", "Mean error of predicted points", shown.since, "d", "error", "mm", tuple(series))


def tool_lines(shown: Shown) -> Block:
    h, some = shown.of, shown.calibrations
    changes = shown.tool_changes
    if max(change for change, _ in changes.values()) < ROUNDING:
        return Paragraphs((f"The unloaded tool is at the same places at all {len(h.poses)} fixed poses.",))
    y = tuple(1e3 * changes[e.number][0] for e in some)
    spread = tuple(2e3 * changes[e.number][1] for e in some)
    against = f"calibration {h.release.of}" if h.release else "the first calibration"
    own = Series("calibrated tool", shown.days(some), y, points=True, role="after", spread=spread,
                 words=tuple(f"number {e.number}, {e.time[:10]}" for e in some))  # fmt: skip
    note = f"RMS over {len(h.poses)} fixed poses against {against}, without shifts and turns of the whole; bars: k = 2."
    return Lines(
        "tool_in_time", "Change of the tool at the check poses", shown.since, "d", "change", "mm", (own,), (note,)
    )


def _nearest(h: RobotHistory) -> list[Chart]:
    """Charts that have begun, those nearest to their limits first."""
    begun = [c for c in h.drift.charts if np.isfinite(c.average).any()]
    return sorted(begun, key=lambda c: -float(np.nanmax(np.abs(c.share))))


def drift_blocks(shown: Shown) -> tuple[Block, ...]:
    nearest = _nearest(shown.of)
    return (drift_lines(shown, nearest[:CHARTS]), drift_table(shown.of, nearest)) if nearest else ()


def drift_lines(shown: Shown, nearest: list[Chart]) -> Lines:
    h, series = shown.of, []
    for c in nearest:
        some = [(float(n), float(s)) for n, s in zip(c.numbers, c.share, strict=True) if n in shown.numbers]
        series.append(Series(c.name, tuple(n for n, _ in some), tuple(s for _, s in some)))
    ends = (float(shown.numbers[0]), float(shown.numbers[-1]))
    limits = tuple(Series("limit", ends, (s, s), role="tolerance") for s in (1.0, -1.0))
    message = (
        f"Exponentially weighted averages over their limits of {h.drift.limit:.2f} standard deviations: at most one "
        f"false alarm in {h.run_length:g} records of this robot."
    )
    return Lines(
        "drift", "Averages over their limits", "number of the entry", "", "average", "", (*series, *limits), (message,)
    )


def drift_table(h: RobotHistory, nearest: list[Chart]) -> Table:
    def known(c: Chart) -> Array:
        return np.asarray(c.share[np.isfinite(c.share)])

    waiting = len(h.drift.charts) - len(nearest)
    more = (f"{waiting} charts have too few values yet.",) if waiting else ()
    return Table.of("charts", nearest, {
        Column("chart", "chart"): lambda c: c.name,
        Column("last", "last", "", 2): lambda c: known(c)[-1],
        Column("largest", "largest", "", 2): lambda c: known(c)[np.argmax(np.abs(known(c)))],
        Column("values", "values"): lambda c: len(c.numbers),
        Column("outside", "outside at number"):
            lambda c: ", ".join(map(str, c.outside[:5])) + (" ..." if len(c.outside) > 5 else ""),
    }, "Averages as shares of their limits; 1 and more is outside.", *more, title="Charts")  # fmt: skip


def entry_table(shown: Shown) -> Table:
    """The last first."""
    h, changes = shown.of, shown.tool_changes
    current = () if h.released is None or h.release is None else (h.released.number, h.release.of)

    def state(e: Entry) -> str:
        later = h.superseded_by(e.number)
        state = f"superseded by {later.number}" if later else "released" if e.number in current else ""
        alarms = "; ".join(sorted({f.code for f in e.alarms}))
        return "; ".join(filter(None, (state, alarms and f"alarm: {alarms}")))

    return Table.of("entries", shown.entries[::-1], {
        Column("number", "number"): lambda e: e.number,
        Column("kind", "entry"): lambda e: e.kind,
        Column("time", "time (UTC)"): lambda e: e.time.replace("T", " ")[:16],
        Column("what", "what"): _what,
        Column("error_mm", "mean error", "mm", 3): lambda e: 1e3 * e.error.mean if e.error else None,
        Column("tool_mm", "tool", "mm", 3):
            lambda e: round(1e3 * changes[e.number][0], 6) if changes.get(e.number) else None,
        Column("temperature_C", "temperature", "°C", 1): lambda e: e.temperature,
        Column("who", "who"): lambda e: e.who or "not stated",
        Column("reason", "why"): lambda e: e.reason or "",
        Column("state", "state"): state,
    }, title=f"Numbers {shown.numbers[0]} to {shown.numbers[-1]}")  # fmt: skip


def _what(e: Entry) -> str:
    if e.calibration is not None:
        return " + ".join(e.calibration.words) or "nominal"
    if e.check is not None:
        return f"calibration {e.check.of}, {len(e.check.errors)} poses"
    if e.release is not None:
        return f"{e.release.name}: calibration {e.release.of}" + (f", due {e.release.due}" if e.release.due else "")
    return f"number {e.supersedes}"


def _counted(number: int, word: str) -> str:
    return f"{number} {word}{'s' * (number != 1)}"


def _degrees(e: Entry) -> str:
    return "temperature not read" if e.temperature is None else f"{e.temperature:.1f} °C"


def robots_table(lines: tuple[RobotLine, ...], today: date) -> Table:
    def release(line: RobotLine) -> Released | None:
        return None if line.released is None else line.released.release

    def error(e: Entry | None) -> float | None:
        return 1e3 * e.error.mean if e and e.error else None

    return Table.of("robots", lines, {
        Column("robot", "robot"): lambda n: n.robot,
        Column("calibrated", "last calibration"): lambda n: n.calibrated.time[:10] if n.calibrated else None,
        Column("error_mm", "leave-one-out", "mm", 3): lambda n: error(n.calibrated),
        Column("checked", "last check"): lambda n: n.checked.time[:10] if n.checked else None,
        Column("check_mm", "check poses", "mm", 3): lambda n: error(n.checked),
        Column("released", "released"): lambda n: r.name if (r := release(n)) else None,
        Column("due", "due"): lambda n: r.due if (r := release(n)) else None,
        Column("state", "state"): lambda n: ", ".join(sorted({f.code for f in n.findings(today)})),
        Column("entries", "entries"): lambda n: n.entries,
    })  # fmt: skip


def robots_page(lines: tuple[RobotLine, ...], today: date, label: str) -> Report:
    """All robots of a store."""
    findings = [(line.robot, f) for line in lines for f in line.findings(today)]
    notes = tuple(f"WARNING {f.code.upper()}: {name}: {f.text}." for name, f in findings if f.severity == "warning")
    need = len({n for n, f in findings if f.severity == "warning"})
    count = f"{_counted(len(lines), 'robot')}; {need or 'none'} in need of attention."
    soon = tuple(f"{name}: {f.text}." for name, f in findings if f.severity == "note")
    return Report("Histories of robots", (count, *notes), (Section("Robots", (robots_table(lines, today),)),), soon,
                  (Fact("store", "store", label),),
                  data={"findings": [vars(f) | {"data": dict(f.data), "robot": n} for n, f in findings]})  # fmt: skip
