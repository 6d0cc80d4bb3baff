"""Commands, run as they are typed; what they need, loaded before it is waited for."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from elastocal.app.cells.trace import versions
from elastocal.files.cell import is_cell, read_cell
from elastocal.files.opened import reading_within

if TYPE_CHECKING:
    from elastocal.report.blocks import Report
    from elastocal.store.history import History

__all__ = ["compared", "load_pages", "practise", "run", "versions"]
COMMANDS = ("elastocal.app.cli.main", "elastocal.app.cells.run", "elastocal.app.commands.calibrate",
            "elastocal.app.pages.calibrate", "elastocal.files.campaign.observed", "rich.console")  # fmt: skip
"""Modules that a command on a cell needs beside the calibration itself."""
SMALL = 20 << 20
"""Bytes of a cell that is practised on."""
PAGES = ("elastocal.app.commands.show", "elastocal.model.statics.loaded_arm", "elastocal.report.loaded_robot",
         "elastocal.calibration.store", "elastocal.calibration.figures", "elastocal.store.database",
         "alembic.command")  # fmt: skip
"""Those that a look at a cell needs."""


def run(words: Sequence[str], progress: Callable[..., None] | None = None) -> int:
    """A command of the package as it is typed, its exit code; ``progress`` hears how far it is."""
    from elastocal.app.cli.main import run_words
    from elastocal.app.cli.progress import told_to

    if progress is None:
        return run_words(list(words))
    with told_to(progress):
        return run_words(list(words))


def load_pages() -> None:
    """All that looks at cells need, so that nobody waits for it later."""
    for name in PAGES:
        with suppress(ImportError):  # an extra that is not installed is said where it is needed
            import_module(name)


def practise(go_on: Callable[[], None], cell: Path | None = None) -> None:
    """Do what is done most, for nothing: what is loaded or made for a robot when it is first used is there then.

    Refit a copy of ``cell``, or calibrate something small; ``go_on`` is called again and again, and may end it.
    """
    for name in COMMANDS:
        import_module(name)
        go_on()
    with TemporaryDirectory(prefix="elastocal-") as made:
        copy = Path(made) / "cell"
        if cell is not None and _small(cell):
            shutil.copytree(cell, copy, symlinks=True, ignore=shutil.ignore_patterns(".*"))
            start = str(read_cell(copy).path("calibration"))
            with reading_within(Path(made)):
                run(["calibrate", str(copy), "--start", start], lambda *_, **__: go_on())
        else:
            _calibrate_something(go_on, Path(made) / "report.html")


def _small(cell: Path) -> bool:
    """Whether a cell has a calibration, and is copied in no time."""
    files = [p for p in sorted(cell.rglob("*")) if p.is_file() and not p.is_symlink()] if is_cell(cell) else []
    return sum(p.stat().st_size for p in files) < SMALL and read_cell(cell).path("calibration").is_file()


def _calibrate_something(go_on: Callable[[], None], report: Path) -> None:
    import numpy as np

    import elastocal as ec

    robot, k = ec.read_robot("cylindrical"), np.arange(9)
    q = np.column_stack([0.1 + 0.08 * k, np.cos(k), 0.4 + 0.05 * (k % 5)])
    force = np.zeros((9, 6))
    force[k, k % 3] = 900.0
    moved = robot.deflection(q, force).translation + 1e-5 * np.cos(7.0 * np.arange(27)).reshape(9, 3)
    data = ec.Campaign(q=q, deflection=moved, wrench=force, length="m", angle="rad", noise=1e-5)
    cal = ec.calibrate(robot, data, ["compliance"], progress=lambda step: go_on())
    go_on()
    cal.report(report)


def compared(histories: History, robot: str, first: int, second: int) -> Report:
    """Two recorded calibrations, as ``compare`` reports them."""
    from elastocal.app.commands.compare import CompareResult, page

    model = histories.calibration(robot, first).robot
    return page(CompareResult((), model, histories.compare(robot, first, second)))
