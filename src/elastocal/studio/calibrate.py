"""Calibrate: start it, look at the result, decide on readings with a reason, switch model words on and off."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from elastocal import desk
from elastocal.errors import InputError, MissingError, NumberError
from elastocal.studio import jobs
from elastocal.studio.page import idle, page
from elastocal.studio.work import Cell, Text, Texts, begin, shown_again

router = APIRouter()


@router.get("/cell/{name}/calibrate")
def calibrate(request: Request, cell: Cell) -> Response:
    return _show(request, cell)


def _show(request: Request, cell: Cell, problem: InputError | None = None) -> Response:
    report = desk.calibration.reported(cell)
    return page(
        request, "calibrate", "calibrate", cell, problem, report=report or None,
        words=desk.calibration.effects(report), unit=desk.calibration.error_unit(report),
        readings=desk.calibration.to_decide(cell, report), kept=desk.calibration.model_was_kept(report),
        measured=cell.path("campaign").exists(), stale=desk.cell.stale(cell, "calibrate") if report else "",
        tried=[j for j in jobs.every(cell.root) if j.words[0] == "calibrate" and j.data.get("errors")],
    )  # fmt: skip


@router.post("/cell/{name}/calibrate")
@shown_again(_show)
def start(request: Request, cell: Cell, word: Texts = None, automatic: Text = "", folds: Text = "") -> Response:
    """Begin with the words that are ticked, or with those that the readings choose."""
    words: tuple[str, ...] = ("calibrate", ".")
    chosen = [e.name for e in desk.calibration.effects({}) if e.name in (word or ())]
    if not automatic:
        if not chosen:
            raise MissingError("tick at least one effect of the model, or let the readings choose")
        words += ("--model", ",".join(chosen))
    if folds.strip():
        if not (folds.strip().isdecimal() and 2 <= int(folds) <= 50):
            raise NumberError(f"folds {folds!r}: give a whole number from 2 to 50, or nothing")
        words += ("--check", f"kfold={int(folds)}")
    return begin(request, cell, words, "Calibration", "calibrate")


@router.post("/cell/{name}/calibrate/decide")
@shown_again(_show)
def decide(request: Request, cell: Cell, reading: Text, what: Text, reason: Text = "") -> Response:
    """Exclude a reading, keep it, or leave it to the test again: in the campaign file; then refit the same model."""
    desk.calibration.decide(idle(cell), reading, what, reason)
    words: tuple[str, ...] = ("calibrate", ".")
    if desk.calibration.reported(cell).get("models"):
        words += ("--start", cell.place("calibration").as_posix())
    return begin(request, cell, words, "Calibration", "calibrate")
