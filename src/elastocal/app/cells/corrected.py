"""Programs that an earlier run has corrected: a second correction would be off by as much as the first one took away.

Such a program has the bytes that the record of a ``compensate`` in the cell says it wrote, wherever it lies.  Outside
of cells nothing tells; a folder ``corrected`` beside a program of the same name is a hint.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from elastocal.app.cells.freshness import records
from elastocal.app.cells.trace import current
from elastocal.errors import ConflictError
from elastocal.files.cell import CellFolder, is_cell, read_cell
from elastocal.files.opened import sha256_of, watching
from elastocal.files.programs import program_files
from elastocal.results import Finding

FOLDER = "corrected"


def corrected_before(program: Path, calibration: Path | None, again: bool) -> tuple[Finding, ...]:
    """Refuse a program that a run in a cell has written, or say that it was corrected ``again``."""
    wrote = _writer(program, calibration)
    if not wrote:
        return _by_its_place(program)
    if not again:
        message = (
            f"{program.as_posix()}: was corrected before, by 'elastocal {wrote}'; correct the program that it was made "
            "from, or say --again"
        )
        raise ConflictError(message, code="corrected-before", file=program.as_posix(), value=wrote)
    message = (
        f"{program.as_posix()} was corrected before, by 'elastocal {wrote}', and is CORRECTED AGAIN, as was asked for."
    )
    return (Finding("corrected-again", "warning", message, {"file": program.as_posix()}),)


def _writer(program: Path, calibration: Path | None) -> str:
    """Words of the run that wrote one of the files; "" where none did."""
    with watching():
        marks = [sha256_of(path) for path in program_files(program)]
    for cell in _cells(program, calibration):
        for record in records(cell).values():
            written = set(record.outputs.values()).difference(record.inputs.values())
            if record.command[0] == "compensate" and written.intersection(marks):
                return " ".join(record.command)
    return ""


def _cells(program: Path, calibration: Path | None) -> Iterator[CellFolder]:
    """Of the run, and those that the files lie in."""
    here = current().cell
    if here is not None:
        yield here
    for path in (program, calibration):
        folders = () if path is None else path.absolute().parents
        cell = next((folder for folder in folders if is_cell(folder)), None)
        if cell is not None and (here is None or not cell.samefile(here.root)):
            with watching():  # no input of the result
                found = read_cell(cell)
            yield found


def _by_its_place(program: Path) -> tuple[Finding, ...]:
    place = program.absolute()
    if place.parent.name.lower() != FOLDER or not (place.parent.parent / place.name).is_file():
        return ()
    message = f"{program.as_posix()} LIES IN A FOLDER {FOLDER}, beside a program of its name: is it corrected already?"
    return (Finding("corrected-already", "warning", message, {"file": program.as_posix()}),)
