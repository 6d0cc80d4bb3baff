"""For other programs (MES, CAM): results, predictions and corrected programs of released calibrations, as JSON.

``/api/openapi.json`` describes it; programs are generated from that.  Every request brings the token:
``Authorization: Bearer ...``.  Numbers are SI; what is not known is null.
"""

from __future__ import annotations

import os
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

import elastocal as ec
from elastocal import desk
from elastocal.results import as_json
from elastocal.studio.work import ALONE

Point = Annotated[list[float | None], Field(min_length=3, max_length=3, description="x, y, z in m")]
Made = Annotated[dict[str, str], Field(description="versions that the answer was made with")]


class Said(BaseModel):
    """A warning: ``code`` is for programs, ``text`` for people."""

    code: str
    severity: str
    text: str
    data: dict[str, Any]


class Release(BaseModel):
    """The calibration to use: its number ``of``, a name, and the day when it must be renewed."""

    of: int
    name: str
    due: str | None
    baseline: bool


class RobotInShort(BaseModel):
    """Times in UTC; ``alarms`` is what was said with the last entry."""

    robot: str
    entries: int
    calibrated: str | None
    checked: str | None
    released: Release | None
    alarms: list[Said]


class Robots(BaseModel):
    """Every robot of the store."""

    made_by: Made
    robots: list[RobotInShort]


class Chart(BaseModel):
    """Values at entries ``numbers`` with their moving average; outside of +-``band`` is an alarm."""

    chart: str
    unit: str
    numbers: list[int]
    values: list[float | None]
    average: list[float | None]
    band: list[float | None]


class Drift(BaseModel):
    """At most one false alarm in ``run_length`` records."""

    run_length: float
    limit: float
    charts: list[Chart]
    alarms: list[Said]


class Entries(BaseModel):
    """``entries`` as they were recorded (format elastocal-history/1), of ``count`` in all."""

    made_by: Made
    robot: str
    joints: list[str]
    count: int
    entries: list[dict[str, Any]]
    drift: Drift


class Predicted(BaseModel):
    """Lists over poses, of points over ``markers``; half widths of 95 % intervals, deflection by the load alone."""

    made_by: Made
    robot: str
    markers: list[str]
    position: list[list[Point]]
    half_width: list[list[Point]]
    orientation: Annotated[list[list[Point]], Field(description="rotation matrix of the tool, by rows")]
    deflection: list[list[Point]]
    deflection_half_width: list[list[Point]]
    warnings: list[Said]


class Corrected(BaseModel):
    """Corrected ``files`` by name; ``targets`` with line, status, errors before and after."""

    made_by: Made
    robot: str
    files: dict[str, str]
    targets: list[dict[str, Any]]
    verdict: list[Any]
    warnings: list[Any]


class Problem(BaseModel):
    """One sentence: what is wrong and what to do; ``code`` is its word for programs.

    ``detail`` is there where a value of the request is of no use.
    """

    error: str
    code: str | None = None
    detail: list[dict[str, Any]] | None = None


def answered(kind: type[BaseModel] | str) -> dict[int | str, dict[str, Any]]:
    """Answers of a route: its own, and what is said of a wrong request, a missing token and an unknown robot."""
    whole: dict[str, Any] = {"content": {kind: {}}} if isinstance(kind, str) else {"model": kind}
    words = {403: "the token is missing or wrong", 404: "there is no such robot", 422: "the request is of no use"}
    plain: dict[int | str, dict[str, Any]] = {c: {"model": Problem, "description": w} for c, w in words.items()}
    plain[403] = {"description": words[403], "content": {"text/plain": {}}}
    return {200: whole, **plain}


router = APIRouter(prefix="/api", tags=["elastocal"])
STORE = "history.db"
"""In the folder of the studio, where ELASTOCAL_STORE names no other."""
MANY = 100
"""Entries of a history in one answer."""
MOST = 10_000
"""Poses of one request."""
Six = Annotated[list[float], Field(min_length=6, max_length=6)]
Number = Annotated[int | None, Field(ge=1, description="of the calibration; without it the released one")]


def opened(app: FastAPI) -> desk.History:
    """The store of a studio, opened once."""
    if getattr(app.state, "histories", None) is None:
        place = os.environ.get("ELASTOCAL_STORE") or str(app.state.folder.root / STORE)
        app.state.histories = ec.history(place)
    histories: desk.History = app.state.histories
    return histories


def _store(request: Request) -> desk.History:
    return opened(request.app)


Store = Annotated[desk.History, Depends(_store)]


class Poses(BaseModel):
    """Controller values, one row for every pose, in the units that are named."""

    q: Annotated[list[list[float]], Field(min_length=1, max_length=MOST)]
    angle: Literal["deg", "rad"]
    length: Literal["mm", "m"]
    wrench: Annotated[Six | list[Six] | None, Field(description="N and N m on the robot, base axes")] = None
    axes: Literal["base", "instrument"] = "base"
    number: Number = None


class ProgramText(BaseModel):
    """The files of a robot program by their names, and the load while it runs."""

    files: Annotated[dict[str, str], Field(min_length=1, max_length=50)]
    language: str = ""
    wrench: Six | None = None
    near: Annotated[list[float] | None, Field(description="controller values in rad and m before its start")] = None
    number: Number = None


@router.get("/openapi.json", include_in_schema=False)
def schema() -> Response:
    """With the token as generators of clients know it."""
    openapi = get_openapi(title="Elastocal", version=ec.__version__, description=__doc__, routes=router.routes)
    openapi["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    return JSONResponse({**openapi, "security": [{"token": []}]})


@router.get("/robots", responses=answered(Robots))
def robots(store: Store) -> Response:
    """Every robot: last calibration and check, release, day due, alarms."""
    return _answer({"robots": [
        {
            "robot": r.robot, "entries": r.entries,
            "calibrated": r.calibrated and r.calibrated.time, "checked": r.checked and r.checked.time,
            "released": r.released and r.released.release, "alarms": r.alarms,
        }
        for r in store.robots()
    ]})  # fmt: skip


@router.get("/robots/{robot}", responses=answered(Entries))
def entries(
    store: Store, robot: str, until: Number = None, count: Annotated[int, Field(ge=1, le=MANY)] = MANY
) -> Response:
    """The history of a robot: ``count`` entries as they were recorded, up to number ``until``; all charts at them."""
    history = store[robot]
    shown = history.shown(until, count)
    charts = [{"chart": c.name, "unit": c.unit, **_at(c, shown.numbers)} for c in history.drift.charts]
    drift = {"run_length": history.run_length, "limit": history.drift.limit, "charts": charts, "alarms": history.alarms}
    return _answer({
        "robot": robot, "joints": history.joints, "count": len(history.entries), "entries": shown.entries,
        "drift": drift,
    })  # fmt: skip


def _at(chart: Any, numbers: range) -> dict[str, list[Any]]:
    """What is charted at entries of these numbers."""
    known = zip(chart.numbers, chart.values, chart.average, chart.band, strict=True)
    rows = [row for row in known if row[0] in numbers]
    return {key: [row[i] for row in rows] for i, key in enumerate(("numbers", "values", "average", "band"))}


@router.get("/robots/{robot}/calibration", responses=answered("application/json"))
def calibration(store: Store, robot: str, number: Number = None) -> Response:
    """The calibration file of a number, or the released one, byte by byte."""
    return Response(store.calibration_file(robot, number), media_type="application/json")


@router.get("/robots/{robot}/certificate", responses=answered("application/pdf"))
def certificate(
    store: Store, robot: str, kind: Literal["pdf", "html", "json"] = "pdf", number: Number = None
) -> Response:
    """The certificate that was issued with the release that holds, or with release ``number``."""
    media = {"pdf": "application/pdf", "html": "text/html", "json": "application/json"}[kind]
    return Response(
        store.certificate(robot, number, f".{kind}"), media_type=media, headers={"Content-Security-Policy": ALONE}
    )


@router.post("/robots/{robot}/predict", responses=answered(Predicted))
def predict(store: Store, robot: str, poses: Poses) -> Response:
    """Where the tool and its markers are at poses, under a load, with 95 % half widths; m, in the axes asked for."""
    prediction = store.calibration(robot, poses.number).predict(
        poses.q, poses.wrench, angle=poses.angle, length=poses.length, axes=poses.axes
    )
    known = ("position", "half_width", "orientation", "deflection", "deflection_half_width", "markers", "warnings")
    return _answer({"robot": robot, **{k: getattr(prediction, k) for k in known}})


@router.post("/robots/{robot}/correct", responses=answered(Corrected))
def correct(store: Store, robot: str, program: ProgramText) -> Response:
    """The program with corrected targets, and what was done to each of them, in SI."""
    read = ec.read_program(dict(program.files), program.language)
    done = ec.compensate(store.calibration(robot, program.number), read, program.wrench, near=program.near)
    files = {name: content.decode("utf-8", "surrogateescape") for name, content in done.files.items()}
    return _answer({
        "robot": robot, "files": files, "targets": done.rows(), "verdict": done.verdict, "warnings": done.warnings,
    })  # fmt: skip


def _answer(data: dict[str, Any]) -> Response:
    """Plain data; what is not known is null."""
    return Response(as_json({"made_by": desk.work.versions(), **data}), media_type="application/json")
