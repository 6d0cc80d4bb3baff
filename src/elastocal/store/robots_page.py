"""All robots of a store as a report."""

from __future__ import annotations

from datetime import date

from elastocal.report.blocks import Block, Column, Fact, Report, Section, Table
from elastocal.store.reader import RobotLine


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
    told = tuple(f"WARNING {f.code.upper()}: {name}: {f.text}." for name, f in findings if f.severity == "warning")
    need = len({n for n, f in findings if f.severity == "warning"})
    count = f"{len(lines)} robot{'s' * (len(lines) != 1)}; {need or 'none'} in need of attention."
    blocks: tuple[Block, ...] = (robots_table(lines, today),)
    soon = tuple(f"{name}: {f.text}." for name, f in findings if f.severity == "note")
    return Report("Histories of robots", (count, *told), (Section("Robots", blocks),), soon,
                  (Fact("store", "store", label, label),),
                  data={"findings": [vars(f) | {"data": dict(f.data), "robot": n} for n, f in findings]})  # fmt: skip
