"""The folder of the studio and its cells, and files that a browser sends; nothing outside of it exists."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from fastapi import UploadFile

from elastocal import desk
from elastocal.desk.cell import CellFolder
from elastocal.errors import ConflictError, InputError, MissingError, UnknownNameError
from elastocal.studio import jobs
from elastocal.values import dataclass

_NAME = re.compile(r"[^\W_][\w .+-]{0,79}")
_RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?")


@dataclass(frozen=True)
class Folder:
    """``root`` holds cells, or is one itself; it is resolved."""

    root: Path

    @property
    def single(self) -> bool:
        return desk.cell.is_cell(self.root)

    def cells(self) -> Mapping[str, Path]:
        """Folders by their names; links that lead out of the folder are none of its cells."""
        if self.single:
            return {self.root.name: self.root}
        cells = (p for p in sorted(self.root.iterdir()) if desk.cell.is_cell(p))
        return {p.name: p for p in cells if p.resolve().is_relative_to(self.root)}

    def cell(self, name: str) -> CellFolder:
        known = self.cells()
        if name not in known:
            raise UnknownNameError("cell", name, known)
        return desk.read_cell(known[name])

    def place_for(self, name: str) -> Path:
        """Where a new cell of this name goes."""
        if self.single:
            raise ConflictError(
                f"{self.root.name} is itself a cell; start 'elastocal studio' on the folder above it to make others"
            )
        return self.root / file_name(name)


def file_name(name: str) -> str:
    """A name that somebody typed or uploaded, as the name of a file or folder on every system; else an error."""
    plain = re.split(r"[/\\]", name.strip())[-1].strip()
    if plain != name.strip() or not _NAME.fullmatch(plain) or _RESERVED.fullmatch(plain) or plain.endswith((".", " ")):
        raise InputError(
            f"{name!r} cannot be the name of a file or folder; use letters, digits, dots, dashes, blanks, at most 80",
            code="name",
            value=name,
        )
    return plain


def received(file: UploadFile | None, kinds: tuple[str, ...], what: str) -> tuple[str, bytes]:
    """Name and content of a file of one of the kinds."""
    if file is None or not file.filename:
        raise MissingError(f"choose a file first: {what}")
    name = file_name(file.filename)
    if Path(name).suffix.lower() not in kinds:
        message = f"{name}: is none of the files that are taken here ({', '.join(kinds)}); give {what}"
        raise InputError(message, code="suffix", file=name, allowed=kinds)
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
