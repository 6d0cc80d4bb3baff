"""Plan: which poses to measure, what to expect of them, and what happens without one or with another."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from elastocal import desk
from elastocal.desk.files import text_of, within
from elastocal.desk.plan import Tried
from elastocal.errors import InputError, NumberError
from elastocal.studio import jobs
from elastocal.studio.page import idle, page
from elastocal.studio.work import Cell, Text, Texts, begin, shown_again

router = APIRouter()


@router.get("/cell/{name}/plan")
def plan(request: Request, cell: Cell) -> Response:
    return _show(request, cell)


def _show(
    request: Request, cell: Cell, problem: InputError | None = None, tried: Tried | None = None,
    out: tuple[str, ...] = (), added: str = "", text: str | None = None,
) -> Response:  # fmt: skip
    planned = desk.plan.planned(cell) if cell.path("planned").exists() else None
    folder = cell.place("planned").parent
    source = text_of(within(cell, cell.place("plan"))) if text is None else text
    files = sorted(p.name for p in within(cell, folder).iterdir() if p.is_file() and not p.name.startswith("."))
    return page(
        request, "plan", "plan", cell, problem, planned=planned, tried=tried, added=added, source=source,
        edited=text is not None, changed=_is_changed(cell), stale=desk.cell.stale(cell, "plan") if planned else "",
        out=out,
        reported=(cell.path("reports") / "plan.html").is_file() and planned is not None,
        files=[(folder / f).as_posix() for f in files if f != cell.place("plan").name],
    )  # fmt: skip


@router.post("/cell/{name}/plan")
@shown_again(_show)
def start(request: Request, cell: Cell, poses: Text = "", curve: Text = "") -> Response:
    words: tuple[str, ...] = ("plan", ".")
    if poses.strip():
        if not (poses.strip().isdecimal() and 1 <= int(poses) <= 1000):
            raise NumberError(f"poses {poses!r}: give a whole number", value=poses)
        words += ("--poses", str(int(poses)))
    return begin(request, cell, (*words, "--curve") if curve else words, "Planning", "plan")


@router.post("/cell/{name}/plan/try")
def attempt(
    request: Request, cell: Cell, out: Texts = None, added: Text = "", like: Text = "", keep: Text = ""
) -> Response:
    """What the plan tells without poses, and with another; kept where that is asked for."""
    left = tuple(out or ())
    try:
        tried = desk.plan.try_plan(idle(cell), left, added, like)
        if keep:  # table, campaign file, program and report anew, so that all say the same
            return begin(request, cell, ("plan", ".", "--given", tried.campaign.as_posix()), "Changed plan", "plan")
    except InputError as error:
        return _show(request, cell, error, None, left, added)
    return _show(request, cell, None, tried, left, added)


@router.post("/cell/{name}/plan/file")
def edit(request: Request, cell: Cell, source: Text) -> Response:
    """The plan file as it was edited, if it is one."""
    text = source.replace("\r\n", "\n")
    try:
        desk.plan.save_plan(idle(cell), text)
    except InputError as error:
        return _show(request, cell, error, text=text)
    return RedirectResponse(f"/cell/{cell.root.name}/plan", 303)


def _is_changed(cell: Cell) -> bool:
    """Whether the last plan took poses that were given."""
    last = next((j for j in jobs.every(cell.root) if j.words[0] == "plan" and j.phase == "done"), None)
    return last is not None and "--given" in last.words
