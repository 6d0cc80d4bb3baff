"""Program: drop one, correct it, see errors before and after by target and line, keep the corrected files."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, File, Form, UploadFile
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from elastocal.app.desk.cell import programs
from elastocal.errors import ElastocalError, InputError, MissingError
from elastocal.studio.folder import data_of, text_of, within
from elastocal.studio.render import page
from elastocal.studio.uploads import put, received
from elastocal.studio.work import Cell, begin, stale

router = APIRouter()
KINDS = (".src", ".dat", ".mod", ".prg", ".ls", ".script", ".jbi", ".apt", ".nc", ".gcode", ".ngc", ".tap", ".csv")
ASKED = ("force", "moment", "tool", "base", "payload", "near", "orientation", "rated_kg")
"""Options of ``compensate`` that the page asks for."""
MOST = 4000
"""Lines of a difference that are shown."""


@dataclass(frozen=True)
class Line:
    """One line of a difference: its number in the old or new file, and which of them it is of."""

    number: int
    text: str
    of: str


@dataclass(frozen=True)
class Shown:
    """A program of the cell; ``said`` is the result of its last correction, ``files`` what that wrote."""

    name: str
    said: dict[str, Any] | None
    files: tuple[str, ...]
    changed: tuple[Line, ...]
    report: str


@router.get("/cell/{name}/program")
def program(request: Request, cell: Cell, of: str = "") -> Response:
    return _show(request, cell, of)


def _show(request: Request, cell: Cell, of: str = "", problem: ElastocalError | None = None) -> Response:
    names = programs(within(cell, cell.place("programs")))
    chosen = of if of in names else next(iter(names), "")
    options = dict(cell.options.get("compensate", {}))
    return page(
        request, "program", "program", cell, problem, names=names, kinds=",".join(KINDS),
        shown=_shown(cell, chosen) if chosen else None, calibrated=cell.path("calibration").exists(),
        stale=stale(cell, f"compensate-{chosen}") if chosen else "",
        options={k: _option(options.get(k)) for k in ASKED},
    )  # fmt: skip


def _option(value: Any) -> str:
    return "" if value is None else "; ".join(map(str, value)) if isinstance(value, list) else str(value)


def _shown(cell: Cell, name: str) -> Shown:
    said = data_of(cell.path("reports") / f"compensate-{name}.json") or None
    folder = cell.place("corrected")
    stem = Path(name).stem
    new = [
        p for p in (sorted(within(cell, folder).iterdir()) if (cell.root / folder).is_dir() else ()) if p.stem == stem
    ]
    files = tuple((folder / p.name).as_posix() for p in new) if said is not None else ()
    changed = _changes(cell, name) if said is not None else ()
    return Shown(name, said, files, changed, f"compensate-{name}.html")


def _changes(cell: Cell, name: str) -> tuple[Line, ...]:
    """Lines of the program that the correction has changed, old above new; of its data file where it has one."""
    out: list[Line] = []
    old_folder, new_folder = cell.place("programs"), cell.place("corrected")
    for file in sorted((cell.root / old_folder).glob(f"{Path(name).stem}.*")):
        new = cell.root / new_folder / file.name
        if file.is_file() and new.is_file():
            out += _difference(
                _lines(within(cell, old_folder / file.name)), _lines(within(cell, new_folder / file.name))
            )
    return tuple(out[:MOST])


def _lines(path: Path) -> list[str]:
    return text_of(path).splitlines()


def _difference(old: list[str], new: list[str]) -> list[Line]:
    if len(old) == len(new):  # only numbers change: line by line, without a search
        pairs = [(i, a, b) for i, (a, b) in enumerate(zip(old, new, strict=True), 1) if a != b]
        return [line for i, a, b in pairs for line in (Line(i, a, "old"), Line(i, b, "new"))]
    out: list[Line] = []
    for word, a0, a1, b0, b1 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if word != "equal":
            out += [Line(i + 1, old[i], "old") for i in range(a0, a1)]
            out += [Line(i + 1, new[i], "new") for i in range(b0, b1)]
    return out


@router.post("/cell/{name}/program")
def take(request: Request, cell: Cell, file: Annotated[list[UploadFile] | None, File()] = None) -> Response:
    """Programs to correct, with the data files that belong to them."""
    try:
        given = [received(f, KINDS, "a robot program") for f in file or () if f.filename]
        if not given:
            raise MissingError("choose a program first; KRL needs its .dat file, too")
        put(cell, {cell.place("programs") / name: content for name, content in given})
    except ElastocalError as error:
        return _show(request, cell, "", error)
    return RedirectResponse(f"/cell/{cell.root.name}/program?of={given[0][0]}", 303)


@router.post("/cell/{name}/program/correct")
def correct(
    request: Request,
    cell: Cell,
    of: Annotated[str, Form()],
    force: Annotated[str, Form()] = "",
    moment: Annotated[str, Form()] = "",
    tool: Annotated[str, Form()] = "",
    base: Annotated[str, Form()] = "",
    payload: Annotated[str, Form()] = "",
    near: Annotated[str, Form()] = "",
    orientation: Annotated[str, Form()] = "",
    rated_kg: Annotated[str, Form()] = "",
) -> Response:
    typed = dict(zip(ASKED, (force, moment, tool, base, payload, near, orientation, rated_kg), strict=True))
    try:
        if of not in programs(within(cell, cell.place("programs"))):
            raise InputError(f"there is no program {of!r} in this cell; drop it first", code="no-file", file=of)
        words = ["compensate", (cell.place("programs") / of).as_posix(), "--calibration", "."]
        for key, text in typed.items():
            many = text.split(";") if key in ("tool", "base") else [text]
            words += [w for one in many if one.strip() for w in (f"--{key.replace('_', '-')}={one.strip()}",)]
        return begin(request, cell, tuple(words), f"Correction of {of}", f"program?of={of}")
    except ElastocalError as error:
        return _show(request, cell, of, error)
