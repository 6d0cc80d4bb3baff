"""A cell at a desk: made, judged, and worked on by the commands."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import elastocal as ec
from elastocal.app.commands.compare import CompareResult
from elastocal.app.commands.new import new
from elastocal.app.commands.status import StatusResult, status, unstated
from elastocal.app.inputs import versions
from elastocal.report.blocks import Report

__all__ = ["StatusResult", "compared", "new", "programs", "run", "status", "unstated", "versions"]


def run(words: list[str], progress: Callable[..., None]) -> int:
    """A command of the package as it is typed, its exit code; ``progress`` hears how far it is."""
    from elastocal.app.cli.main import run_words
    from elastocal.app.cli.progress import told_to

    with told_to(progress):
        return run_words(words)


def programs(folder: Path) -> tuple[str, ...]:
    """Names of the programs of a cell."""
    from elastocal.files.programs import programs_in

    return tuple(p.name for p in programs_in(folder)) if folder.is_dir() else ()


def compared(histories: ec.History, robot: str, first: int, second: int) -> Report:
    """Two recorded calibrations, as ``compare`` reports them."""
    from elastocal.app.pages.compare import page

    model = histories.calibration(robot, first).robot
    return page(CompareResult((), model, histories.compare(robot, first, second)))
