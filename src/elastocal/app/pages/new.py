"""What was put into a new cell, and what to do next."""

from __future__ import annotations

from elastocal.app.commands.new import NewResult
from elastocal.report.blocks import Column, Paragraphs, Report, Section, Table

STEPS = ("plan", "simulate", "calibrate", "compensate", "status")


def page(result: NewResult) -> Report:
    columns = (Column("file", "file"),)
    rows = tuple((place.as_posix(),) for place in result.contents)
    steps = [
        c for c in STEPS if c != "compensate" or any(p.parent.name == "programs" and p.suffix for p in result.contents)
    ]
    to_do = Paragraphs(tuple(f"elastocal {command} {result.folder}" for command in steps))
    fill = (
        f"Not known, and 0 in robot/robot.yaml: the compliance of {', '.join(result.to_fill)}. Fill in at least a "
        "guess before 'elastocal simulate', and fit the loads in plan/plan.yaml to it: a rigid robot shows nothing.",
    )
    return Report(
        f"New cell {result.name}",
        (f"{result.folder} is a cell of {result.robot}; README.md in it says what to do next.",),
        (Section("Files", (Table("cell_files", "In the folder", columns, rows),)), Section("To try it", (to_do,))),
        (*result.notes, *(fill if result.to_fill else ())),
    )
