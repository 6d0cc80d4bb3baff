"""What a conversion wrote, as a report."""

from __future__ import annotations

from elastocal.app.commands.convert import ConvertResult
from elastocal.report.blocks import Column, Report, Section, Table


def page(result: ConvertResult) -> Report:
    size = f"{result.joints} joints, {result.frames} frames, {result.elements} elements"
    verdict = [f"{result.target} is written: {size}. Read again it gives the same robot."]
    if result.to_fill:
        verdict.append(
            f"A URDF holds no compliance: k is 0 (rigid) for {', '.join(result.to_fill)}; "
            "write measured values there, with their source."
        )
    notes = Table(
        "left_open", "What the source left open", (Column("note", "note"),), tuple((n,) for n in result.notes)
    )
    return Report("Robot file", tuple(verdict), (Section("", (notes,)),) if result.notes else ())
