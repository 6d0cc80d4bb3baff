"""History: every calibration in time, what drifts and what is due; record, check, release, compare."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from secrets import token_hex
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, UploadFile
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from elastocal import desk
from elastocal.errors import InputError, MissingError, NumberError, UnknownNameError
from elastocal.report.elements import as_fragment
from elastocal.report.html import as_html
from elastocal.studio.page import page, put, received
from elastocal.studio.readings import KINDS
from elastocal.studio.rest import opened
from elastocal.studio.work import ALONE, Cell, Dropped, Text

router = APIRouter()
PLACE = Path(".studio") / "dropped"
MANY = 50
"""Entries of a history on one page: more points with their bars are not told apart in a figure."""


@router.get("/history")
def robots(request: Request) -> Response:
    """All robots of the store."""
    shown = opened(request.app).page(date.today())
    cells = {request.app.state.folder.cell(n).name: n for n in request.app.state.folder.cells()}
    return page(request, "robots", "robots", shown=shown, table=shown.sections[0].blocks[0], cells=cells)


@router.get("/cell/{name}/history")
def history(request: Request, cell: Cell, until: int | None = None) -> Response:
    return _shown(request, cell, until=until)


def _shown(request: Request, cell: Cell, problem: InputError | None = None, until: int | None = None) -> Response:
    """The last entries, or those up to number ``until``."""
    history, stated = _known(request, cell), cell.certificate
    shown = None if history is None else history.shown(until, MANY)
    report = None if history is None else history.page(date.today(), until, MANY)
    sections = [] if report is None else [(s.title, as_fragment(s.blocks).html) for s in report.sections]
    return page(request, "history", "history", cell, problem, history=history, shown=shown, report=report,
                sections=sections, calibrated=cell.path("calibration").exists(), operator=stated.operator or "",
                many=MANY, missing=desk.cell.unstated(cell), kinds=",".join(KINDS),
                recorded=_recorded(cell, history))  # fmt: skip


def _recorded(cell: Cell, history: Any) -> int:
    """Number of the calibration that the cell has now; 0 where it is not recorded."""
    if history is None or not cell.path("calibration").is_file():
        return 0
    mark = desk.files.sha256_of(cell.path("calibration"))
    return next((e.number for e in history.entries if e.calibration and e.calibration.file == mark), 0)


def _known(request: Request, cell: Cell) -> Any:
    """None of a robot that nothing is recorded of yet."""
    try:
        return opened(request.app)[cell.name]
    except UnknownNameError:
        return None


@router.get("/cell/{name}/history/compare")
def compare(request: Request, cell: Cell, first: int, second: int) -> Response:
    text = as_html(desk.work.compared(opened(request.app), cell.name, first, second), standalone=True)
    return HTMLResponse(text, headers={"Content-Security-Policy": ALONE})


@router.get("/cell/{name}/history/certificate/{number}/{kind}")
def certificate(request: Request, cell: Cell, number: int, kind: str) -> Response:
    """As it was issued with that release: HTML to look at, all others to keep."""
    content = opened(request.app).certificate(cell.name, number, f".{kind}")
    if kind == "html":
        return HTMLResponse(content, headers={"Content-Security-Policy": ALONE})
    kept = f'attachment; filename="certificate-{number}.{kind}"'
    return Response(content, media_type="application/octet-stream", headers={"Content-Disposition": kept})


@router.post("/cell/{name}/history/check")
def check(
    request: Request, cell: Cell, file: Dropped = None, reason: Text = "", who: Text = "", refit: Text = ""
) -> Response:
    """Readings at check poses, against the released calibration."""

    def run(store: desk.History) -> None:
        with _table(cell, file) as path:
            if path is None:
                raise MissingError("choose the table of readings at the check poses first")
            store.check(cell.name, path, who=who or None, reason=reason or None, refit=bool(refit))

    return _done(request, cell, run)


@contextmanager
def _table(cell: Cell, file: UploadFile | None) -> Iterator[Path | None]:
    """A table that was dropped, as long as it is read; None where there is none."""
    if file is None or not file.filename:
        yield None
        return
    name, content = received(file, KINDS, "a table of readings")
    own = PLACE / token_hex(6)  # two browsers may drop files of one name at once
    put(cell, {own / name: content})
    try:
        yield cell.root / own / name
    finally:
        shutil.rmtree(cell.root / own, ignore_errors=True)


@router.post("/cell/{name}/history/record")
def record(request: Request, cell: Cell, reason: Text = "", who: Text = "") -> Response:
    """The calibration of the cell as it is now."""
    return _done(request, cell, lambda s: s.import_cell(cell.root, who=who or None, reason=reason or None))


@router.post("/cell/{name}/history/release")
def release(
    request: Request, cell: Cell, number: Text = "", title: Text = "", reason: Text = "", who: Text = "",
    due: Text = "", baseline: Text = "", seen: Text = "", certified: Text = "", file: Dropped = None,
) -> Response:  # fmt: skip
    """``seen`` is the last entry that was shown: what came since is not released over unseen."""

    def run(store: desk.History) -> None:
        entry: dict[str, Any] = {"name": title, "reason": reason, "who": who, "due": due or None}
        entry |= {"baseline": bool(baseline), "seen": _number(seen), "stated": cell.root if certified else None}
        with _table(cell, file) as readings:
            if readings is not None and not certified:
                raise MissingError("readings for a certificate were given without asking for one; tick it")
            store.release(cell.name, _number(number), validation=readings, **entry)

    return _done(request, cell, run)


@router.post("/cell/{name}/history/withdraw")
def withdraw(request: Request, cell: Cell, number: Text = "", reason: Text = "", who: Text = "") -> Response:
    return _done(request, cell, lambda s: s.withdraw(cell.name, _number(number), reason=reason, who=who))


def _done(request: Request, cell: Cell, change: Callable[[desk.History], object]) -> Response:
    """The page again, with one sentence where the change was refused."""
    try:
        change(opened(request.app))
    except InputError as error:
        return _shown(request, cell, error)
    return RedirectResponse(f"/cell/{quote(cell.root.name)}/history", 303)


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise NumberError(f"{text!r} is no number of an entry", value=text)
    return int(text)
