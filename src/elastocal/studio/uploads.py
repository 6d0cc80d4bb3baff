"""Files that a browser sends: kept in the cell, under a name that leads nowhere, while nobody else works there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from fastapi import UploadFile

from elastocal import desk
from elastocal.desk.cell import CellFolder
from elastocal.errors import InputError, MissingError
from elastocal.studio import jobs
from elastocal.studio.folder import file_name


def received(file: UploadFile | None, kinds: tuple[str, ...], what: str) -> tuple[str, bytes]:
    """Name and content of a file of one of the kinds."""
    if file is None or not file.filename:
        raise MissingError(f"choose a file first: {what}")
    name = file_name(file.filename)
    if Path(name).suffix.lower() not in kinds:
        said = f"{name}: is none of the files that are taken here ({', '.join(kinds)}); give {what}"
        raise InputError(said, code="suffix", file=name, allowed=kinds)
    return name, file.file.read()


def idle(cell: CellFolder) -> CellFolder:
    """The cell, if no work runs there."""
    busy = jobs.running(cell.root)
    if busy is not None:
        raise InputError(f"'{busy.title}' is running in this cell; wait until it is done, or cancel it", code="busy")
    return cell


def put(cell: CellFolder, contents: Mapping[Path, str | bytes]) -> None:
    """Write files of the cell, all or none; places are seen from its folder."""
    desk.files.write(idle(cell), contents)
