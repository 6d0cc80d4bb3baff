"""The folder of the studio: its cells, and files of them that may be shown; nothing outside of it exists."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elastocal.errors import ConflictError, InputError, UnknownNameError
from elastocal.files.cell_yaml import CellFolder, is_cell, read_cell
from elastocal.files.located import read_yaml
from elastocal.files.opened import read_bytes
from elastocal.files.plain_data import parse_json

_NAME = re.compile(r"[^\W_][\w .+-]{0,79}")
_RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?")


@dataclass(frozen=True)
class Folder:
    """``root`` holds cells, or is one itself; it is resolved."""

    root: Path

    @property
    def single(self) -> bool:
        return is_cell(self.root)

    def cells(self) -> Mapping[str, Path]:
        """Folders by their names; links that lead out of the folder are none of its cells."""
        if self.single:
            return {self.root.name: self.root}
        inside = (p for p in sorted(self.root.iterdir()) if is_cell(p) and p.resolve().is_relative_to(self.root))
        return {p.name: p for p in inside}

    def cell(self, name: str) -> CellFolder:
        known = self.cells()
        if name not in known:
            raise UnknownNameError("cell", name, known)
        return read_cell(known[name])

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


def text_of(path: Path) -> str:
    """Of a file of the folder; bytes that are no text are shown as such."""
    return read_bytes(path).decode("utf-8-sig", errors="replace")


def data_of(path: Path) -> dict[str, Any]:
    """What a YAML or JSON file of the folder holds; nothing where there is none."""
    if not path.is_file():
        return {}
    data = parse_json(text_of(path), path.name) if path.suffix == ".json" else read_yaml(path, "").data
    return data if isinstance(data, dict) else {}


def within(cell: CellFolder, place: Path) -> Path:
    """A place of the cell as it really is; refused where a link leads out of it."""
    path = (cell.root / place).resolve()
    if not path.is_relative_to(cell.root):
        raise InputError(f"{place.as_posix()} leads out of the cell and is not shown", code="outside", file=str(place))
    return path
