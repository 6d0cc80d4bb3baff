"""Pages from templates: everything that is filled in is escaped, and stripped of what would steer a screen."""

from __future__ import annotations

from functools import cache
from typing import Any

import jinja2
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from elastocal import __version__, desk
from elastocal.errors import InputError
from elastocal.report.blocks import loud
from elastocal.report.html import plainly, sentence
from elastocal.studio import jobs

PAGES = (
    ("robot", "Robot"),
    ("plan", "Plan"),
    ("readings", "Readings"),
    ("calibrate", "Calibrate"),
    ("program", "Program"),
    ("history", "History"),
)
"""Of a cell, in the order of the work."""


@cache
def _environment() -> jinja2.Environment:
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("elastocal.studio"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=lambda value: plainly(value),
    )
    made.tests["loud"] = loud
    made.filters["sentence"] = sentence
    return made


def page(
    request: Request,
    template: str,
    here: str,
    cell: desk.cell.CellFolder | None = None,
    problem: InputError | str | None = None,
    **values: Any,
) -> Response:
    """A page of the studio; ``here`` is its entry of the navigation, ``problem`` why the last request was refused."""
    state = request.app.state
    text = (
        _environment()
        .get_template(f"{template}.html.jinja")
        .render(
            here=here,
            histories="history" in state.pages,
            pages=[p for p in PAGES if p[0] in state.pages],
            studio_folder=state.folder,
            cell=cell,
            address="" if cell is None else f"/cell/{cell.root.name}",
            job=None if cell is None else jobs.latest(cell.root),
            form_mark=state.key.form_mark,
            problem="" if problem is None else str(problem),
            version=__version__,
            **values,
        )
    )
    return HTMLResponse(text, 200 if problem is None else 422)
