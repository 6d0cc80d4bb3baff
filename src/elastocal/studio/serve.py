"""The application, and the server that runs it.

The pages of this folder stand behind the guard.  A socket, its address with the token, a browser, and the server
until Ctrl-C.
"""

from __future__ import annotations

import gc
import http.client
import ipaddress
import socket
import threading
import webbrowser
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from importlib import import_module, resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastapi import Depends, FastAPI
from fastapi.encoders import jsonable_encoder
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from elastocal import desk
from elastocal.errors import FileError, InputError, UnknownNameError
from elastocal.report.colours import style_sheet
from elastocal.report.html import plotly_script
from elastocal.studio import jobs
from elastocal.studio.guard import Guard, Key, from_our_form
from elastocal.studio.page import Folder, page
from elastocal.values import dataclass

if TYPE_CHECKING:
    import uvicorn
    from fastapi import FastAPI


PAGES = ("cells", "work", "robot", "plan", "readings", "calibrate", "program", "history")
"""Modules of this folder that have a ``router``."""


def create_app(folder: Path, key: Key) -> FastAPI:
    """The studio of a folder of cells."""
    silent: dict[str, bool] = dict.fromkeys(("tracing", "metrics", "logs", "auto_configure"), False)
    app = FastAPI(
        title="Elastocal studio", docs_url=None, redoc_url=None, openapi_url=None,
        telemetry=silent,  # type: ignore[arg-type]  # whatever the environment says, nothing leaves the machine
    )  # fmt: skip
    app.state.folder, app.state.key = Folder(folder.resolve()), key
    app.get("/static/{name}")(_static)
    for name in PAGES:
        module = import_module(f"elastocal.studio.{name}")
        app.include_router(module.router, dependencies=[Depends(from_our_form)])
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


def _packaged(package: str, name: str) -> str:
    return resources.files(package).joinpath(name).read_text(encoding="utf-8")


FILES: dict[str, tuple[str, Callable[[], str]]] = {
    "report.css": ("text/css", lambda: style_sheet() + "\n" + _packaged("elastocal.report", "page.css")),
    "studio.css": ("text/css", lambda: _packaged("elastocal.studio", "studio.css")),
    "studio.js": ("text/javascript", lambda: _packaged("elastocal.studio", "studio.js")),
    "scenes.js": ("text/javascript", lambda: _packaged("elastocal.studio", "scenes.js")),
    "robot.js": ("text/javascript", lambda: _packaged("elastocal.studio", "robot.js")),
    "frame.js": ("text/javascript", lambda: _packaged("elastocal.studio", "frame.js")),
    "report.js": ("text/javascript", lambda: _packaged("elastocal.report", "page.js")),
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


HERE = "127.0.0.1"
PORT = 8137


@dataclass(frozen=True)
class Bound:
    """A socket that listens, its key, and the address to open."""

    listening: socket.socket
    key: Key
    address: str

    @property
    def opened(self) -> str:
        return f"{self.address}/?token={self.key.token}"


def bind(host: str, port: int | None, names: Iterable[str] = ()) -> Bound:
    """``names`` are those that a proxy or colleagues call this server by; a port of None is the usual or a free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = _listening(family, host, PORT if port is None else port, port is None)
    number = listening.getsockname()[1]
    called = {host, *names} if not _any(host) else set(names)
    called |= {HERE, "localhost"} if _loopback(host) or _any(host) else set()
    bare = {f"[{c}]" if ":" in c and not c.startswith("[") and c.count(":") > 1 else c for c in called}
    hosts = frozenset(h.lower() for c in bare for h in (c, f"{c}:{number}"))
    shown = HERE if _any(host) else f"[{host}]" if family == socket.AF_INET6 else host
    return Bound(listening, Key(hosts, cookie=f"elastocal-studio-{number}"), f"http://{shown}:{number}")


def _listening(family: int, host: str, port: int, or_free: bool) -> socket.socket:
    made = socket.socket(family, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((host, port))
        made.listen(64)
    except OSError as error:
        made.close()
        if or_free and port != 0:
            return _listening(family, host, 0, False)
        raise FileError(
            f"{host}:{port} cannot be listened on ({error.strerror or error}); choose another port", parameter="port"
        ) from None
    return made


def _loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _any(host: str) -> bool:
    return host in ("0.0.0.0", "::")


def _warm(bound: Bound, browser: bool) -> None:
    """The first page is asked for here, so that nobody waits for what it loads; then the browser, and the other pages.

    A server that does not answer says so itself.
    """
    connection = http.client.HTTPConnection(bound.address.removeprefix("http://"), timeout=60)
    with suppress(OSError, http.client.HTTPException):
        connection.request("GET", "/", headers={"Authorization": f"Bearer {bound.key.token}", "Accept": "text/html"})
        connection.getresponse().read()
    connection.close()
    if browser:
        webbrowser.open(bound.opened)
    desk.work.load_pages()


def server_of(app: FastAPI) -> uvicorn.Server:
    import uvicorn

    config = uvicorn.Config(
        app, log_level="warning", access_log=False, server_header=False, proxy_headers=False,
        timeout_graceful_shutdown=2,
    )  # fmt: skip
    return uvicorn.Server(config)


def serve(folder: Path, bound: Bound, browser: bool, spare: bool = True) -> None:
    """Until it is stopped by Ctrl-C; work that runs then goes on.  With ``spare`` a process is ready for the first."""
    app = create_app(folder, bound.key)
    server = server_of(app)
    gc.freeze()  # what is loaded stays: collections need not look at it
    if spare:
        jobs.keep_spare(app.state.folder.cells().values())
    threading.Thread(target=_warm, args=(bound, browser), daemon=True).start()
    server.run(sockets=[bound.listening])
