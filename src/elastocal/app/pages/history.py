"""What an action on histories has read or recorded, as a report."""

from __future__ import annotations

import json
from dataclasses import replace

from elastocal.app.commands import compare
from elastocal.app.commands.history import HistoryResult
from elastocal.report.blocks import Column, Fact, Report, Section, Table
from elastocal.store.entry import Entry, document
from elastocal.store.page import entry_table, robots_page, robots_table

LAST = 12
"""Entries that a terminal shows."""


def page(result: HistoryResult) -> Report:
    if result.action in ("list", "due"):
        return robots_page(result.robots, result.today, result.store)
    if result.compared is not None:
        return compare.page(result.compared)
    if result.action == "verify":
        return _verified(result)
    if result.robot is None or result.entries:
        return _recorded(result)
    shown = result.robot.page(result.today)
    return replace(shown, inputs=(*shown.inputs, Fact("store", "store", result.store)))


def screen(result: HistoryResult, report: Report) -> Report:
    """In a terminal the last entries come first: what happened, when and by whom."""
    if result.action != "show" or result.robot is None or result.entries:
        return report
    last = Section("Entries", (entry_table(result.robot.shown(count=LAST)),))
    return replace(report, sections=(last, *(s for s in report.sections if s.title != last.title)))


def table(result: HistoryResult) -> Table:
    """What --csv writes: entries, robots, or changes."""
    if result.compared is not None:
        return compare.table(result.compared)
    if result.robot is not None:
        return entry_table(result.robot.shown())
    return robots_table(result.robots, result.today)


def _verified(result: HistoryResult) -> Report:
    notes = tuple(f"DAMAGED {f.text}." for f in result.findings)
    good = ("Every entry is as it was recorded, in its order, and every file is whole.",)
    return Report("Verification of the store", notes or good, (), (), (Fact("store", "store", result.store),))


def _recorded(result: HistoryResult) -> Report:
    """Entries one by one."""
    sentences = tuple(_sentence(e, result.action) for e in result.entries) or ("Nothing was added.",)
    alarms = tuple(f"WARNING {f.code.upper()}: {e.robot}: {f.text}." for e in result.entries for f in e.alarms)
    sections = tuple(Section(f"{e.robot} {e.number}", (_facts(e, i),)) for i, e in enumerate(result.entries, 1))
    notes = (*result.notes, *(f"{e.robot} {e.number}: {n}" for e in result.entries for n in e.notes))
    data = {"entries": [json.loads(document(e)) for e in result.entries]}
    return Report(f"History: {result.action}", (*sentences, *alarms), sections, notes,
                  (Fact("store", "store", result.store),), data)  # fmt: skip


def _sentence(e: Entry, action: str) -> str:
    if action == "show":
        return f"Number {e.number} of {e.robot} is a {e.kind} of {e.time[:10]}."
    if e.release is not None:
        return f"Calibration {e.release.of} of {e.robot} is released as {e.release.name!r}."
    if e.check is not None:
        return (
            f"Check of calibration {e.check.of} of {e.robot}: mean error {1e3 * e.check.after.mean:.3f} mm, largest "
            f"{1e3 * e.check.after.max:.3f} mm on {e.check.after.count} points; recorded as number {e.number}."
        )
    if e.kind == "withdrawal":
        return f"Number {e.supersedes} of {e.robot} is withdrawn."
    return f"Recorded as number {e.number} of {e.robot}."


def _facts(e: Entry, number: int) -> Table:
    rows: list[tuple[str, str]] = [
        ("time (UTC)", e.time), ("recorded (UTC)", e.recorded), ("who", e.who or "not stated"),
        ("why", e.reason or "not stated"),
        ("temperature", "not known" if e.temperature is None else f"{e.temperature:.1f} °C"),
    ]  # fmt: skip
    if e.calibration is not None:
        rows += [
            ("model", " + ".join(e.calibration.words) or "nominal"),
            ("leave-one-out", e.calibration.leave_one_out.text()),
        ]
    if e.check is not None:
        rows += [("errors", e.check.after.text()), ("stations", "fitted" if e.check.refitted else "as calibrated")]
    if e.supersedes is not None:
        rows.append(("supersedes", f"number {e.supersedes}"))
    rows += [(f"file {name}", mark) for name, mark in sorted(e.inputs.items())]
    return Table(f"entry_{number}", "", (Column("what", "what"), Column("value", "value")), tuple(rows))
