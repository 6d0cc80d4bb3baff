"""Robot: turn it by its joints, load it, see how far it bends, how stiff it is and what its drives must hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

import elastocal as ec
from elastocal import desk
from elastocal.desk.files import number, sha256_of, text_of, within
from elastocal.errors import InputError, MissingError, ShapeError
from elastocal.report.elements import Fragment, as_fragment
from elastocal.studio.page import page, put
from elastocal.studio.work import Cell, Text, shown_again

router = APIRouter()
LOADS = ("fx", "fy", "fz", "mx", "my", "mz")
STATUSES = ("measured", "published", "assumed")
LARGEST = 1e6
"""N or N m that may be typed."""


@router.get("/cell/{name}/robot")
def robot(request: Request, cell: Cell) -> Response:
    return _show(request, cell)


def _show(request: Request, cell: Cell, problem: InputError | None = None, text: str | None = None) -> Response:
    place = within(cell, cell.place("robot"))
    source = text_of(place) if text is None else text
    values: dict[str, Any] = {"parameters": (), "sliders": (), "drawn": None, "readout": {}, "stated": ()}
    try:
        model = ec.read_robot(place)
        numbers = tuple((s.title, as_fragment(s.blocks).html) for s in desk.robot.stated_numbers(place))
        sliders = desk.robot.sliders(model)
        drawn, readout = _drawn(cell, model, [s.start for s in sliders], [0.0] * 6)
        values = {
            "parameters": desk.robot.editable(model), "sliders": sliders, "drawn": drawn, "readout": readout,
            "stated": numbers,
        }  # fmt: skip
    except InputError as error:
        problem = problem or error
    calibrated = cell.path("calibration").is_file()
    return page(
        request, "robot", "robot", cell, problem, source=source, loads=LOADS, statuses=STATUSES,
        file=cell.place("robot").as_posix(), calibrated=calibrated, **values,
    )  # fmt: skip


@lru_cache(maxsize=16)
def _model(place: Path, mark: str, calibration: Path | None, calibration_mark: str) -> ec.Robot:
    robot: ec.Robot = ec.read_robot(place) if calibration is None else ec.read_calibration(calibration).robot
    return robot


@router.get("/cell/{name}/robot/state")
def state(cell: Cell, at: str, load: str = "", calibrated: str = "") -> Response:
    """Picture and numbers at controller values, under a load on the tool."""
    place, calibration = within(cell, cell.place("robot")), within(cell, cell.place("calibration"))
    own = calibration if calibrated and calibration.is_file() else None
    model = _model(place, sha256_of(place), own, "" if own is None else sha256_of(own))
    typed = _numbers(at, model.n, "joint values")
    wrench = _numbers(load, 6, "loads") if load.strip() else [0.0] * 6
    drawn, readout = _drawn(cell, model, typed, wrench)
    return JSONResponse({"scene": drawn.scenes[0], **readout})


def _numbers(text: str, count: int, what: str) -> list[float]:
    words = text.split(",")
    if len(words) != count:
        raise ShapeError(f"{what} {text!r}: give {count} numbers between commas", value=text)
    return [number(word, what, -LARGEST, LARGEST) for word in words]


def _drawn(
    cell: Cell, model: ec.Robot, typed: Sequence[float], wrench: Sequence[float]
) -> tuple[Fragment, dict[str, Any]]:
    """The picture, and what is to be said of it: notes, numbers, where the load is pulled."""
    posed = desk.robot.posed(model, typed, wrench, desk.robot.around(cell))
    readout = {"notes": posed.scene.notes, "numbers": as_fragment(posed.tables).html, "tool": posed.tool,
            "scale": posed.scale}  # fmt: skip
    return as_fragment((replace(posed.scene, notes=()),)), readout


@router.post("/cell/{name}/robot")
def edit(request: Request, cell: Cell, source: Text) -> Response:
    """The robot file as it was edited, if it is one."""
    text = source.replace("\r\n", "\n")
    try:
        if within(cell, cell.place("robot")).suffix.lower() not in (".yaml", ".yml"):
            raise InputError("only robot files in YAML are edited here; make a cell from the other file", code="suffix")
        put(cell, {cell.place("robot"): desk.robot.checked_robot(text, cell.place("robot").name)})
    except InputError as error:
        return _show(request, cell, error, text)
    return RedirectResponse(f"/cell/{cell.root.name}/robot", 303)


@router.post("/cell/{name}/robot/number")
@shown_again(_show)
def change(
    request: Request, cell: Cell, parameter: Text = "", value: Text = "", unit: Text = "", source: Text = "",
    status: Text = "",
) -> Response:  # fmt: skip
    """One number with its source and status, in the text of the robot file."""
    place, new = cell.place("robot"), number(value, parameter)
    if not source.strip() or status not in STATUSES:
        raise MissingError(f"{parameter}: say where the number is from, and its status")
    text, reason = text_of(within(cell, place)), " ".join(source.split())[:500]
    put(cell, {place: desk.robot.with_number(text, parameter, new, unit, reason, status, place.name)})
    return RedirectResponse(f"/cell/{cell.root.name}/robot", 303)
