"""The folder of a cell: made, read, asked what in it is up to date; what is stated for its certificate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from elastocal.desk import files
from elastocal.files import cell as cell_file
from elastocal.files.cell import NAME, UNITS, CellFolder, Stated, is_cell
from elastocal.untrusted import finite_number

if TYPE_CHECKING:
    from elastocal.app.commands.new import NewResult
    from elastocal.app.commands.status import StatusResult as StatusResult

__all__ = [
    "DAYS", "NUMBERS", "STATED", "CellFolder", "certify", "is_cell", "new", "read_cell", "stale", "stated", "status",
    "unstated",
]  # fmt: skip
STATED = tuple(f.name + UNITS.get(f.name, "") for f in fields(Stated))
"""Keys of what people state for a certificate."""
DAYS = ("date", "issued", "robot_mastered", "instrument_due")
NUMBERS = ("tolerance_mm", "payload_kg", "temperature_C")
"""Those that are dates, and numbers."""


def new(
    folder: str | Path, robot: str | Path, rated_kg: float | None = None, language: str | None = None,
    unloaded: bool = False,
) -> NewResult:  # fmt: skip
    """Make the folder of a cell for a shipped robot, by its name, or for the file of one; says what is assumed."""
    from elastocal.app.commands import new as making

    return making.new(Path(folder), str(robot), rated_kg, language, unloaded)


def read_cell(folder: str | Path) -> CellFolder:
    """The cell of a folder: its name, and where its robot, plan, readings, calibration and programs are."""
    return cell_file.read_cell(Path(folder))


def status(folder: str | Path) -> StatusResult:
    """What in a cell is up to date, what is stale and why, and what to do next."""
    from elastocal.app.commands import status as judging

    return judging.status(Path(folder))


def stale(cell: CellFolder, step: str) -> str:
    """Why the result of a step is not that of what the cell has now; "" where it is."""
    lines = (line for line in status(cell.root).lines if line.step == step and line.state == "stale")
    return next(("; ".join(line.reasons) for line in lines), "")


def unstated(cell: CellFolder) -> tuple[tuple[str, str], ...]:
    """Names and keys of what a certificate lacks."""
    from elastocal.app.commands import status as judging

    return judging.unstated(cell)


def stated(cell: CellFolder) -> dict[str, str]:
    """What cell.yaml states for a certificate, as text; "" for what it does not."""
    entry = cell.located.data.get("certificate") or {}
    return {key: str(entry.get(key, "")) for key in STATED}


def certify(cell: CellFolder, words: Mapping[str, str]) -> None:
    """State words by their keys in cell.yaml in place of all that it states; "" leaves a key out."""
    values: dict[str, object] = {}
    for key in (k for k in STATED if words.get(k, "").strip()):
        word = words[key].strip()
        number = finite_number(word.replace(",", ".")) if key in NUMBERS else None
        values[key] = word if number is None else number
    text = files.with_block(files.text_of(cell.root / NAME), "certificate", values)
    files.edit(cell, Path(NAME), text, lambda path: cell_file.read_cell(cell.root, path.name))
