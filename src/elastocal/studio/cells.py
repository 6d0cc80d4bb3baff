"""Cells: what is fresh, stale and next in each; a new one from a shipped robot or from a file."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from fastapi import APIRouter, UploadFile
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

import elastocal as ec
from elastocal import desk
from elastocal.errors import InputError, MissingError
from elastocal.studio import jobs
from elastocal.studio.page import Folder, file_name, idle, page
from elastocal.studio.work import STEPS, Cell, Dropped, Text
from elastocal.values import dataclass

router = APIRouter()
KINDS = (".urdf", ".yaml", ".yml", ".csv")
"""Of robot files that are taken; xacro runs programs, so it is expanded where it is trusted."""


@dataclass(frozen=True)
class Listed:
    """A cell in the list; ``status`` is None where its files do not say one, and ``problem`` why."""

    name: str
    status: desk.cell.StatusResult | None
    problem: str
    job: jobs.Job | None
    todo: tuple[str, str] | None = None


@router.get("/")
def cells(request: Request) -> Response:
    return _list(request)


def _list(request: Request, problem: InputError | None = None, typed: str = "") -> Response:
    folder: Folder = request.app.state.folder
    listed = [_listed(name, path) for name, path in folder.cells().items()]
    return page(request, "cells", "cells", problem=problem, listed=listed, robots=ec.shipped_robots(), typed=typed)


def _listed(name: str, path: Path) -> Listed:
    job = jobs.latest(path)
    try:
        status = desk.status(path)
        return Listed(name, status, "", job, next_page(status))
    except InputError as error:
        return Listed(name, None, str(error), job)


@router.post("/cells")
def make(request: Request, name: Text = "", robot: Text = "", rated_kg: Text = "", file: Dropped = None) -> Response:
    folder: Folder = request.app.state.folder
    try:
        place = folder.place_for(name)
        given = desk.files.number(rated_kg, "rated payload", 0, 1e4, "kg") if rated_kg.strip() else None
        if file is not None and file.filename:
            _from_file(place, file, given)
        elif robot in ec.shipped_robots():
            desk.new(place, robot, given)
        else:
            raise MissingError("choose a robot from the list, or drop the file of one")
    except InputError as error:
        return _list(request, error, name)
    return RedirectResponse(f"/cell/{place.name}/", 303)


def _from_file(place: Path, file: UploadFile, rated_kg: float | None) -> None:
    """The file is read from a folder of its own: what it names beside itself is not there."""
    name = file_name(file.filename or "")
    if Path(name).suffix.lower() not in KINDS:
        raise InputError(
            f"{name}: is no robot file; give a URDF (expand xacro first), a robot.yaml or a DH table as CSV",
            code="suffix",
            file=name,
        )
    with TemporaryDirectory(prefix="elastocal-") as made, desk.files.reading_within(Path(made)):
        path = Path(made) / name
        path.write_bytes(file.file.read())
        try:
            desk.new(place, path, rated_kg)
        except InputError as error:
            raise error.reworded(str(error).replace(f"{made}/", "").replace(made, "")) from None


NEXT = {
    "plan": ("Plan which poses to measure", "plan"),
    "simulate": ("Give the readings, or simulate some", "readings"),
    "calibrate": ("Calibrate", "calibrate"),
    "compensate": ("Correct the programs", "program"),
}
"""By the first step that is open: what to do, and where."""
NEEDS = {"plan": "plan", "simulate": "planned", "calibrate": "campaign", "compensate": "calibration"}
"""What must be there before a step is run."""


def next_page(status: desk.cell.StatusResult) -> tuple[str, str] | None:
    """What is stale first, in the order of the chain, then what has not been run."""
    for state in ("stale", "not run yet"):
        steps = [line.step.partition("-")[0] for line in status.lines if line.state == state]
        for step, (words, shown) in NEXT.items():
            if step in steps:
                return (f"{words} again: an input has changed" if state == "stale" else words), shown
    return None


@router.get("/cell/{name}/")
def overview(request: Request, cell: Cell) -> Response:
    return _overview(request, cell)


def _overview(request: Request, cell: Cell, problem: InputError | None = None) -> Response:
    status = desk.status(cell.root)
    return page(
        request, "overview", "overview", cell, problem, status=status, steps=STEPS, jobs=jobs.every(cell.root),
        todo=next_page(status), stated=desk.cell.stated(cell), days=desk.cell.DAYS,
        missing=desk.cell.unstated(cell), ready=[step for step, role in NEEDS.items() if cell.path(role).exists()],
    )  # fmt: skip


@router.post("/cell/{name}/certificate")
async def certify(request: Request, cell: Cell) -> Response:
    """What is stated for the certificate, into cell.yaml; what does not fit is refused with its key."""
    form = await request.form()
    words = {key: str(form.get(key, "")) for key in desk.cell.STATED}
    return await run_in_threadpool(_certified, request, cell, words)


def _certified(request: Request, cell: Cell, words: dict[str, str]) -> Response:
    try:
        desk.cell.certify(idle(cell), words)
    except InputError as error:
        return _overview(request, cell, error)
    return RedirectResponse(f"/cell/{cell.root.name}/", 303)
