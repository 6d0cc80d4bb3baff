"""The application: the pages of this folder behind the guard, and what all of them share."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module, resources
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from fastapi import Depends, FastAPI
from fastapi.encoders import jsonable_encoder
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from elastocal.errors import InputError, UnknownNameError
from elastocal.report.colours import style_sheet
from elastocal.report.html import plotly_script
from elastocal.studio.folder import Folder
from elastocal.studio.guard import Guard, Key, from_our_form
from elastocal.studio.render import page

PAGES = ("cells", "work", "robot", "plan", "readings", "calibrate", "program", "history")
"""Modules of this folder that have a ``router``; those that are not there yet are left out of the navigation."""


def create_app(folder: Path, key: Key) -> FastAPI:
    """The studio of a folder of cells."""
    silent: dict[str, bool] = dict.fromkeys(("tracing", "metrics", "logs", "auto_configure"), False)
    app = FastAPI(
        title="Elastocal studio", docs_url=None, redoc_url=None, openapi_url=None,
        telemetry=silent,  # type: ignore[arg-type]  # whatever the environment says, nothing leaves the machine
    )  # fmt: skip
    app.state.folder, app.state.key = Folder(folder.resolve()), key
    app.state.pages = tuple(name for name in PAGES if find_spec(f"elastocal.studio.{name}") is not None)
    app.get("/static/{name}")(_static)
    for name in app.state.pages:
        module = import_module(f"elastocal.studio.{name}")
        app.include_router(module.router, dependencies=[Depends(from_our_form)])
    if find_spec("elastocal.studio.rest") is not None:
        app.include_router(import_module("elastocal.studio.rest").router)
    app.add_exception_handler(InputError, _refused)
    app.add_exception_handler(HTTPException, _failed)
    app.add_exception_handler(RequestValidationError, _misread)
    app.add_middleware(Guard, key=key, folder=app.state.folder.root)
    return app


def _said(request: Request, sentence: str, status: int, **data: Any) -> Response:
    """One sentence: as a page to a browser, as JSON with all that is known of it to a script."""
    if "text/html" not in request.headers.get("accept", ""):
        return JSONResponse({"error": sentence, **data}, status)
    answer = page(request, "problem", "", problem=sentence)
    answer.status_code = status
    return answer


def _refused(request: Request, error: Exception) -> Response:
    known = {"code": error.code} if isinstance(error, InputError) else {}
    return _said(request, str(error), 404 if isinstance(error, UnknownNameError) else 422, **known)


def _failed(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    words = {404: "There is no such page in this studio.", 405: "This address takes no such request."}
    return _said(request, words.get(error.status_code, str(error.detail)), error.status_code)


def _misread(request: Request, error: Exception) -> Response:
    """A value of an address or form that is of no use."""
    assert isinstance(error, RequestValidationError)
    wrong = "; ".join(f"{e['loc'][-1]}: {e['msg'][:1].lower()}{e['msg'][1:]}" for e in error.errors())
    return _said(request, f"{wrong}. Correct it and try again.", 422, detail=jsonable_encoder(error.errors()))


def _own(package: str, name: str) -> str:
    return resources.files(package).joinpath(name).read_text(encoding="utf-8")


FILES: dict[str, tuple[str, Callable[[], str]]] = {
    "report.css": ("text/css", lambda: style_sheet() + "\n" + _own("elastocal.report", "page.css")),
    "studio.css": ("text/css", lambda: _own("elastocal.studio", "studio.css")),
    "studio.js": ("text/javascript", lambda: _own("elastocal.studio", "studio.js")),
    "scenes.js": ("text/javascript", lambda: _own("elastocal.studio", "scenes.js")),
    "robot.js": ("text/javascript", lambda: _own("elastocal.studio", "robot.js")),
    "frame.js": ("text/javascript", lambda: _own("elastocal.studio", "frame.js")),
    "report.js": ("text/javascript", lambda: _own("elastocal.report", "page.js")),
    "plotly.js": ("text/javascript", plotly_script),
}


@cache
def _content(name: str) -> tuple[str, bytes]:
    kind, make = FILES[name]
    return kind, make().encode()


def _static(name: str) -> Response:
    """Files of the package, the same for everybody: style sheet, scripts, and Plotly's from its own wheel."""
    if name not in FILES:
        raise HTTPException(404)
    kind, content = _content(name)
    return Response(content, media_type=kind, headers={"Cache-Control": "private, max-age=3600"})
