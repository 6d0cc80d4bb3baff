"""Program: drop one, correct it, see errors before and after by target and line, keep the corrected files."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, File, UploadFile
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from elastocal import desk
from elastocal.errors import InputError, MissingError
from elastocal.studio.page import page, put, received
from elastocal.studio.work import Cell, Text, begin, shown_again
from elastocal.values import dataclass

router = APIRouter()
KINDS = (".src", ".dat", ".mod", ".prg", ".ls", ".script", ".jbi", ".apt", ".nc", ".gcode", ".ngc", ".tap", ".csv")
ASKED = ("force", "moment", "tool", "base", "payload", "near", "orientation", "rated_kg")
"""Options of ``compensate`` that the page asks for."""


@dataclass(frozen=True)
class Shown:
    """A program of the cell; ``result`` is the result of its last correction, ``files`` what that wrote."""

    name: str
    result: dict[str, Any] | None
    files: tuple[str, ...]
    changed: tuple[desk.program.Line, ...]
    report: str


@router.get("/cell/{name}/program")
def program(request: Request, cell: Cell, of: str = "") -> Response:
    return _show(request, cell, of)


def _show(request: Request, cell: Cell, of: str = "", problem: InputError | None = None) -> Response:
    names = desk.program.programs(cell)
    chosen = of if of in names else next(iter(names), "")
    options = dict(cell.options.get("compensate", {}))
    return page(
        request, "program", "program", cell, problem, names=names, kinds=",".join(KINDS),
        shown=_shown(cell, chosen) if chosen else None, calibrated=cell.path("calibration").exists(),
        stale=desk.cell.stale(cell, f"compensate-{chosen}") if chosen else "",
        options={k: _option(options.get(k)) for k in ASKED},
    )  # fmt: skip


def _option(value: Any) -> str:
    return "" if value is None else "; ".join(map(str, value)) if isinstance(value, list) else str(value)


def _shown(cell: Cell, name: str) -> Shown:
    data = desk.files.data_of(cell.path("reports") / f"compensate-{name}.json")
    files = desk.program.corrected(cell, name) if data else ()
    changed = desk.program.changed_lines(cell, name) if data else ()
    return Shown(name, data or None, files, changed, f"compensate-{name}.html")


@router.post("/cell/{name}/program")
@shown_again(_show)
def take(request: Request, cell: Cell, file: Annotated[list[UploadFile] | None, File()] = None) -> Response:
    """Programs to correct, with the data files that belong to them."""
    given = [received(f, KINDS, "a robot program") for f in file or () if f.filename]
    if not given:
        raise MissingError("choose a program first; KRL needs its .dat file, too")
    put(cell, {cell.place("programs") / name: content for name, content in given})
    return RedirectResponse(f"/cell/{cell.root.name}/program?of={given[0][0]}", 303)


@router.post("/cell/{name}/program/correct")
@shown_again(_show, "of")
def correct(
    request: Request, cell: Cell, of: Text, force: Text = "", moment: Text = "", tool: Text = "", base: Text = "",
    payload: Text = "", near: Text = "", orientation: Text = "", rated_kg: Text = "",
) -> Response:  # fmt: skip
    typed = dict(zip(ASKED, (force, moment, tool, base, payload, near, orientation, rated_kg), strict=True))
    if of not in desk.program.programs(cell):
        raise InputError(f"there is no program {of!r} in this cell; drop it first", code="no-file", file=of)
    words = ["compensate", (cell.place("programs") / of).as_posix(), "--calibration", "."]
    for key, text in typed.items():
        many = text.split(";") if key in ("tool", "base") else [text]
        words += [f"--{key.replace('_', '-')}={one.strip()}" for one in many if one.strip()]
    return begin(request, cell, tuple(words), f"Correction of {of}", f"program?of={of}")
