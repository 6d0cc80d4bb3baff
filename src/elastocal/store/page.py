"""The history of a robot, and of all robots, as reports."""

from __future__ import annotations

from datetime import date, datetime
from itertools import pairwise

import numpy as np

from elastocal.calibration.compare import Change
from elastocal.calibration.page import change_table
from elastocal.findings import Finding
from elastocal.quantities import DASH, concise, read_in
from elastocal.report.blocks import Block, Cell, Column, Fact, Lines, Report, Section, Series, Table, Tile
from elastocal.report.colours import Role
from elastocal.store.drift import Chart
from elastocal.store.entry import Entry, Parameters
from elastocal.store.history import RobotLine
from elastocal.store.robot_history import RobotHistory

CHARTS = 6
"""Charts in the figure: those that come nearest to their limits."""
CHANGES = 20
"""Calibrations whose changes are listed, the last ones."""


def history_page(h: RobotHistory, today: date) -> Report:
    findings = h.findings(today)
    sections = (
        Section("Accuracy in time", (error_lines(h), tool_lines(h))),
        Section("Drift", (drift_lines(h), drift_table(h)) if _nearest(h) else ()),
        Section(
            "Parameters", (parameter_lines(h), every_change(h), last_changes(h)) if len(h.calibrations) > 1 else ()
        ),
        Section("Entries", (entry_table(h),)),
    )
    return Report(
        f"History of {h.robot}",
        (_standing(h), *(f.text + "." for f in findings if f.severity == "warning")),
        tuple(s for s in sections if s.blocks),
        tuple(f.text + "." for f in findings if f.severity == "note"),
        (Fact("robot", "robot", h.robot, h.robot), Fact("entries", "entries", len(h.entries), str(len(h.entries)))),
        data={"findings": [vars(f) | {"data": dict(f.data)} for f in findings]},
        tiles=_tiles(h, findings),
    )


def _has_parameters(h: RobotHistory) -> bool:
    """Whether there are two calibrations to compare, and something in them."""
    return len(h.calibrations) > 1 and any(
        e.calibration and e.calibration.parameters.names for e in h.calibrations[-2:]
    )


def _standing(h: RobotHistory) -> str:
    release = h.released
    if release is None or release.release is None:
        return f"Nothing is released of {h.robot}; {_counted(len(h.calibrations), 'calibration')} recorded."
    due = f", due on {release.release.due}" if release.release.due else ", without a day when it is due"
    return (
        f"Released is calibration {release.release.of} as {release.release.name!r} ({release.reason}; {release.who}, "
        f"{release.time[:10]}{due})."
    )


def _tiles(h: RobotHistory, findings: tuple[Finding, ...]) -> tuple[Tile, ...]:
    codes = {f.code for f in findings}
    release, checks, calibrations = h.released, h.checks, h.calibrations
    own = release.release if release else None
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


def _days(h: RobotHistory, entries: tuple[Entry, ...]) -> tuple[float, ...]:
    first = datetime.fromisoformat(h.active[0].time)
    return tuple((datetime.fromisoformat(e.time) - first).total_seconds() / 86400 for e in entries)


def error_lines(h: RobotHistory) -> Lines:
    series = []
    kinds: tuple[tuple[str, Role, tuple[Entry, ...]], ...] = (
        ("calibration, leave-one-out", "expected", h.calibrations), ("check poses", "after", h.checks),
    )  # fmt: skip
    for name, role, some in kinds:
        if some:
            y = tuple(1e3 * e.error.mean for e in some if e.error is not None)
            words = tuple(f"number {e.number}, {e.time[:10]}, {_degrees(e)}" for e in some)
            series.append(Series(name, _days(h, some), y, points=True, role=role, words=words))
    return Lines("errors_in_time", "Mean error of predicted points", _since(h), "d", "error", "mm", tuple(series))


def tool_lines(h: RobotHistory) -> Lines:
    changes = h.tool_changes
    some = h.calibrations
    y = tuple(1e3 * changes[e.number][0] for e in some)
    spread = tuple(2e3 * changes[e.number][1] for e in some)
    release = h.released
    against = f"calibration {release.release.of}" if release and release.release else "the first calibration"
    own = Series("calibrated tool", _days(h, some), y, points=True, role="after", spread=spread,
                 words=tuple(f"number {e.number}, {e.time[:10]}" for e in some))  # fmt: skip
    note = f"RMS over {len(h.poses)} fixed poses against {against}, without shifts and turns of the whole; bars: k = 2."
    return Lines(
        "tool_in_time", "Change of the tool at the check poses", _since(h), "d", "change", "mm", (own,), (note,)
    )


def _since(h: RobotHistory) -> str:
    return f"days since {h.active[0].time[:10]}"


def _nearest(h: RobotHistory) -> list[Chart]:
    """Charts that have begun, those nearest to their limits first."""
    begun = [c for c in h.drift.charts if np.isfinite(c.average).any()]
    return sorted(begun, key=lambda c: -float(np.nanmax(np.abs(c.average / c.band))))


def drift_lines(h: RobotHistory) -> Lines:
    charts = _nearest(h)[:CHARTS]
    numbers = [float(n) for c in charts for n in c.numbers]
    ends = (min(numbers), max(numbers)) if numbers else (0.0, 1.0)
    series = tuple(Series(c.name, tuple(map(float, c.numbers)), tuple(map(float, c.average / c.band))) for c in charts)
    limits = tuple(Series("limit", ends, (s, s), role="tolerance") for s in (1.0, -1.0))
    said = (
        f"Exponentially weighted averages over their limits of {h.drift.limit:.2f} standard deviations: at most one "
        f"false alarm in {h.run_length:g} records of this robot."
    )
    return Lines(
        "drift", "Averages over their limits", "number of the entry", "", "average", "", (*series, *limits), (said,)
    )


def drift_table(h: RobotHistory) -> Table:
    columns = (
        Column("chart", "chart"), Column("last", "last", "", 2), Column("largest", "largest", "", 2),
        Column("values", "values"), Column("outside", "outside at number"),
    )  # fmt: skip
    rows = []
    for c in _nearest(h):
        share = c.average / c.band
        shown = ", ".join(map(str, c.outside[:5])) + (" ..." if len(c.outside) > 5 else "")
        known = share[np.isfinite(share)]
        rows.append((c.name, float(known[-1]), float(known[np.argmax(np.abs(known))]), len(c.numbers), shown))
    note = "Averages as shares of their limits; 1 and more is outside."
    waiting = len(h.drift.charts) - len(rows)
    notes = (note, f"{waiting} charts have too few values yet.") if waiting else (note,)
    return Table("charts", "Charts", columns, tuple(rows), notes)


def changes(before: Parameters, after: Parameters) -> tuple[Change, ...]:
    """Of parameters that both have, the most significant first."""
    known = {n: (v, s) for n, v, s in zip(before.names, before.values, before.sd, strict=True)}
    rows = zip(after.names, after.units, after.values, after.sd, strict=True)
    made = [Change(n, u, known[n][0], v, known[n][1], s) for n, u, v, s in rows if n in known]
    return tuple(sorted(made, key=lambda c: -abs(c.ratio)))


def _pairs(h: RobotHistory) -> list[tuple[Entry, Entry, tuple[Change, ...]]]:
    """The last calibrations, each with the one before it and what has changed between them."""
    some = h.calibrations[-CHANGES - 1 :]
    return [
        (a, b, changes(a.calibration.parameters, b.calibration.parameters))
        for a, b in pairwise(some) if a.calibration is not None and b.calibration is not None
    ]  # fmt: skip


def parameter_lines(h: RobotHistory) -> Lines:
    """Parameters that have changed most, with their intervals, all on one scale."""
    worst: dict[str, float] = {}
    for _, _, made in _pairs(h):
        for c in made:
            worst[c.name] = max(worst.get(c.name, 0.0), abs(c.ratio) if np.isfinite(c.ratio) else 0.0)
    release = h.released
    first = h.entry(release.release.of) if release and release.release else h.calibrations[0]
    assert first.calibration is not None
    own = first.calibration.parameters
    start = {n: (v, s) for n, v, s in zip(own.names, own.values, own.sd, strict=True) if s > 0}
    names = [n for n in sorted(worst, key=lambda n: -worst[n]) if n in start][:CHARTS]
    series = tuple(_parameter_series(h, n, *start[n]) for n in names)
    note = (
        f"Change against calibration {first.number}, in standard deviations that it has there; bars: k = 2. "
        f"{len(names)} of {len(start)} parameters, those with the most significant changes."
    )
    return Lines("parameters_in_time", "Parameters in time", _since(h), "d", "change / sd", "", series, (note,))


def _parameter_series(h: RobotHistory, name: str, start: float, sd: float) -> Series:
    rows = []
    for e in h.calibrations:
        own = e.calibration.parameters if e.calibration is not None else None
        if own is not None and name in own.names:
            i = own.names.index(name)
            rows.append((e, own.values[i], own.sd[i]))
    return Series(
        name, _days(h, tuple(e for e, _, _ in rows)), tuple((v - start) / sd for _, v, _ in rows), points=True,
        spread=tuple(2 * s / sd for _, _, s in rows),
        words=tuple(f"number {e.number}, {e.time[:10]}: {concise(v, s) if s > 0 else v}" for e, v, s in rows),
    )  # fmt: skip


def every_change(h: RobotHistory) -> Table:
    """What each calibration has changed against the one before it: how many parameters, and which one most."""
    columns = (
        Column("number", "calibration"), Column("time", "day"), Column("against", "against"),
        Column("significant", "significant changes"), Column("parameter", "most significant"),
        Column("before", "before"), Column("after", "after"), Column("unit", "unit"),
        Column("ratio", "change / sd", "", 1),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    for a, b, made in reversed(_pairs(h)):
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


def last_changes(h: RobotHistory) -> Table:
    """The last calibration against the one before it."""
    before, after = (e.calibration.parameters for e in h.calibrations[-2:] if e.calibration is not None)
    first, second = (e.number for e in h.calibrations[-2:])
    return change_table(changes(before, after), "changes", f"Calibration {second} against {first}")


def entry_table(h: RobotHistory) -> Table:
    """All entries, the last first."""
    columns = (
        Column("number", "number"), Column("kind", "entry"), Column("time", "time (UTC)"), Column("what", "what"),
        Column("error_mm", "mean error", "mm", 3), Column("tool_mm", "tool", "mm", 3),
        Column("temperature_C", "temperature", "°C", 1), Column("who", "who"), Column("reason", "why"),
        Column("state", "state"),
    )  # fmt: skip
    return Table("entries", "", columns, tuple(_line(e, h) for e in reversed(h.entries)))


def _line(e: Entry, h: RobotHistory) -> tuple[str | int | float | None, ...]:
    change = h.tool_changes.get(e.number)
    later, release = h.superseded_by(e.number), h.released
    held = release is not None and release.release is not None and e.number in (release.number, release.release.of)
    state = f"superseded by {later.number}" if later else "released" if held else ""
    alarms = "; ".join(sorted({f.code for f in e.alarms}))
    return (
        e.number, e.kind, e.time.replace("T", " ")[:16], _what(e), 1e3 * e.error.mean if e.error else None,
        1e3 * change[0] if change else None, e.temperature, e.who or "not stated", e.reason or "",
        "; ".join(filter(None, (state, alarms and f"alarm: {alarms}"))),
    )  # fmt: skip


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
    columns = (
        Column("robot", "robot"), Column("calibrated", "last calibration"),
        Column("error_mm", "leave-one-out", "mm", 3), Column("checked", "last check"),
        Column("check_mm", "check poses", "mm", 3), Column("released", "released"), Column("due", "due"),
        Column("state", "state"), Column("entries", "entries"),
    )  # fmt: skip
    rows = []
    for line in lines:
        c, k, r = line.calibrated, line.checked, line.released
        codes = sorted({f.code for f in line.findings(today)})
        rows.append((
            line.robot, c.time[:10] if c else None, 1e3 * c.error.mean if c and c.error else None,
            k.time[:10] if k else None, 1e3 * k.error.mean if k and k.error else None,
            r.release.name if r and r.release else None, r.release.due if r and r.release else None,
            ", ".join(codes), line.entries,
        ))  # fmt: skip
    return Table("robots", "", columns, tuple(rows))


def robots_page(lines: tuple[RobotLine, ...], today: date, label: str) -> Report:
    """All robots of a store."""
    findings = [(line.robot, f) for line in lines for f in line.findings(today)]
    told = tuple(f"{name}: {f.text}." for name, f in findings if f.severity == "warning")
    need = len({n for n, f in findings if f.severity == "warning"})
    count = f"{_counted(len(lines), 'robot')}; {need or 'none'} in need of attention."
    blocks: tuple[Block, ...] = (robots_table(lines, today),)
    soon = tuple(f"{name}: {f.text}." for name, f in findings if f.severity == "note")
    return Report("Histories of robots", (count, *told), (Section("Robots", blocks),), soon,
                  (Fact("store", "store", label, label),),
                  data={"findings": [vars(f) | {"data": dict(f.data), "robot": n} for n, f in findings]})  # fmt: skip
