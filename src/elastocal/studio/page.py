"""What every page needs: the folder of the studio and its cells, files that a browser sends, and the page itself.

Nothing outside of the folder exists.  Everything that is filled into a template is escaped, and stripped of what would
steer a screen.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from fastapi import UploadFile
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from elastocal import __version__, desk
from elastocal.desk.cell import CellFolder
from elastocal.errors import ConflictError, InputError, MissingError, UnknownNameError
from elastocal.report.blocks import loud
from elastocal.report.elements import plainly, sentence
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


PAGES = (
    ("robot", "Robot"), ("plan", "Plan"), ("readings", "Readings"), ("calibrate", "Calibrate"), ("program", "Program"),
    ("history", "History"),
)  # fmt: skip
"""Of a cell, in the order of the work."""


@cache
def _environment() -> jinja2.Environment:
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("elastocal.studio"), autoescape=True, trim_blocks=True, lstrip_blocks=True,
        undefined=jinja2.StrictUndefined, finalize=plainly,
    )  # fmt: skip
    made.tests["loud"] = loud
    made.filters["sentence"] = sentence
    return made


def page(
    request: Request,
    template: str,
    here: str,
    cell: CellFolder | None = None,
    problem: InputError | str | None = None,
    **values: Any,
) -> Response:
    """A page of the studio; ``here`` is its entry of the navigation, ``problem`` why the last request was refused."""
    state = request.app.state
    text = (
        _environment()
        .get_template(f"{template}.html.jinja")
        .render(
            here=here,
            pages=PAGES,
            studio_folder=state.folder,
            cell=cell,
            address="" if cell is None else f"/cell/{cell.root.name}",
            job=None if cell is None else jobs.latest(cell.root),
            form_mark=state.key.form_mark,
            problem="" if problem is None else str(problem),
            version=__version__,
            **values,
        )
    )
    return HTMLResponse(text, 200 if problem is None else 422)
