"""Files of the package, the same for everybody: style sheet, scripts, and Plotly's from its own wheel."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import resources

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.responses import Response

from elastocal.report.colours import style_sheet
from elastocal.report.html import plotly_script

router = APIRouter()


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


@router.get("/static/{name}")
def static(name: str) -> Response:
    if name not in FILES:
        raise HTTPException(404)
    kind, content = _content(name)
    return Response(content, media_type=kind, headers={"Cache-Control": "private, max-age=3600"})
