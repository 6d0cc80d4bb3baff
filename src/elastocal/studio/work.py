"""The work of a cell: how its jobs stand, cancelling and repeating them, reports and files to look at and to keep."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, File, Form, UploadFile
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, RedirectResponse, Response

from elastocal import desk
from elastocal.desk.cell import CellFolder
from elastocal.errors import InputError
from elastocal.report.html import bundle_name
from elastocal.studio import jobs
from elastocal.studio.page import Folder, file_name

router = APIRouter()
ALONE = (
    "sandbox allow-scripts allow-downloads; default-src 'none'; style-src 'unsafe-inline'; "
    "script-src 'self' 'unsafe-inline' 'unsafe-eval'; img-src data: blob:; frame-ancestors 'self'"
)
"""A report is a file that somebody may have sent: its scripts run without any right in the studio."""
KEPT = ("plan", "campaign", "calibration", "programs", "reports", "robot", "tables")
"""Folders of a cell whose files may be downloaded."""


def chosen(request: Request, name: str) -> CellFolder:
    """The cell of an address."""
    folder: Folder = request.app.state.folder
    return folder.cell(name)


Cell = Annotated[CellFolder, Depends(chosen)]
Text = Annotated[str, Form()]
Texts = Annotated[list[str] | None, Form()]
"""What a form holds under a name several times."""
Dropped = Annotated[UploadFile | None, File()]
Handler = Callable[..., Response]


def begin(request: Request, cell: CellFolder, words: tuple[str, ...], title: str, page: str) -> Response:
    """Start a command on the cell, and show its page."""
    folder: Folder = request.app.state.folder
    jobs.start(cell.root, folder.root, words, title, page)
    return RedirectResponse(f"/cell/{cell.root.name}/{page}", 303)


def shown_again(show: Callable[..., Response], *kept: str) -> Callable[[Handler], Handler]:
    """For what takes a form: where it is refused, the page again with why, and with what was ``kept`` of the form."""

    def decorate(handler: Handler) -> Handler:
        @wraps(handler)
        def run(request: Request, cell: CellFolder, **form: Any) -> Response:
            try:
                return handler(request, cell, **form)
            except InputError as error:
                return show(request, cell, problem=error, **{name: form[name] for name in kept})

        return run

    return decorate


@router.get("/cell/{name}/jobs/{job}")
def state(cell: Cell, job: str) -> Response:
    known = jobs.find(cell.root, job)
    return JSONResponse({**asdict(known), "sentence": known.sentence, "active": known.active})


@router.post("/cell/{name}/jobs/{job}/cancel")
def cancel(cell: Cell, job: str) -> Response:
    stopped = jobs.cancel(cell.root, job)
    return RedirectResponse(f"/cell/{cell.root.name}/{stopped.page}", 303)


@router.post("/cell/{name}/jobs/{job}/again")
def again(request: Request, cell: Cell, job: str) -> Response:
    old = jobs.find(cell.root, job)
    return begin(request, cell, old.words, old.title, old.page)


@router.post("/cell/{name}/run")
def run(request: Request, cell: Cell, step: Text) -> Response:
    """A step of the chain as the cell describes it."""
    if step not in STEPS:
        raise InputError(f"there is no step {step!r}; valid: {', '.join(STEPS)}", code="unknown-step", value=step)
    title, shown = STEPS[step]
    return begin(request, cell, (step, "."), title, shown)


STEPS = {
    "plan": ("Planning", "plan"),
    "simulate": ("Simulated readings", "readings"),
    "calibrate": ("Calibration", "calibrate"),
    "compensate": ("Correction of programs", "program"),
}
"""Commands by name: how a person calls the work, and the page that shows it."""


@router.get("/cell/{name}/report/{file}")
def report(cell: Cell, file: str) -> Response:
    """A report that stands in the cell; it loads its script from the package."""
    place = cell.place("reports") / file_name(file)
    path = desk.files.within(cell, place)
    if path.suffix != ".html" or not path.is_file():
        raise InputError(f"there is no report {file}; run the step first", code="no-file", file=file)
    text = desk.files.text_of(path)
    text = text.replace(f'<script src="{bundle_name()}">', '<script src="/static/plotly.js">')
    text = text.replace("</body>", '<script src="/static/frame.js"></script></body>')
    return HTMLResponse(text, headers={"Content-Security-Policy": ALONE})


@router.get("/cell/{name}/file/{place:path}")
def download(cell: Cell, place: str) -> Response:
    """A file of the cell, to be kept; never shown as a page."""
    parts = Path(place).parts
    path = desk.files.within(cell, Path(place))
    if (
        ".." in parts
        or not parts
        or parts[0] not in KEPT
        or any(p.startswith(".") for p in parts)
        or not path.is_file()
    ):
        raise InputError(f"there is no file {place} in this cell", code="no-file", file=place)
    return FileResponse(path, filename=path.name, media_type="application/octet-stream")
