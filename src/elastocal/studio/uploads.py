"""Files that a browser sends: kept in the cell, under a name that leads nowhere, while nobody else works there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from fastapi import UploadFile

from elastocal.errors import InputError, MissingError
from elastocal.files.cell_yaml import CellFolder
from elastocal.files.confined import confined
from elastocal.files.interrupted import finish
from elastocal.files.lock import locked
from elastocal.files.write import make_folder, write_files
from elastocal.studio import jobs
from elastocal.studio.folder import file_name

if TYPE_CHECKING:
    from collections.abc import Iterator


def received(file: UploadFile | None, kinds: tuple[str, ...], what: str) -> tuple[str, bytes]:
    """Name and content of a file of one of the kinds."""
    if file is None or not file.filename:
        raise MissingError(f"choose a file first: {what}")
    name = file_name(file.filename)
    if Path(name).suffix.lower() not in kinds:
        said = f"{name}: is none of the files that are taken here ({', '.join(kinds)}); give {what}"
        raise InputError(said, code="suffix", file=name, allowed=kinds)
    return name, file.file.read()


@contextmanager
def alone(cell: CellFolder) -> Iterator[None]:
    """Nobody else writes in the cell within; refused while work runs there."""
    busy = jobs.running(cell.root)
    if busy is not None:
        raise InputError(f"'{busy.title}' is running in this cell; wait until it is done, or cancel it", code="busy")
    with locked(cell.root, "studio", lambda said: None), confined(cell.root):
        finish(cell.root)
        yield


def with_block(text: str, key: str, value: Any) -> str:
    """The text of a YAML file with one key of its top level replaced or removed; all else stays, comments too."""
    text = text if text.endswith("\n") or not text else text + "\n"
    text = re.sub(rf"(?m)^{re.escape(key)}:.*\n(?:[ \t-].*\n)*", "", text)
    return text + yaml.safe_dump({key: value}, sort_keys=False, allow_unicode=True, width=1000) if value else text


def put(cell: CellFolder, contents: Mapping[Path, str | bytes]) -> None:
    """Write files of the cell, all or none; places are seen from its folder."""
    with alone(cell):
        for place in contents:
            make_folder((cell.root / place).parent)
        write_files({cell.root / place: content for place, content in contents.items()})
