"""Starts the studio: a socket, its address with the token, a browser, and the server until Ctrl-C."""

from __future__ import annotations

import gc
import http.client
import ipaddress
import socket
import threading
import webbrowser
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from elastocal import desk
from elastocal.errors import FileError
from elastocal.studio import jobs
from elastocal.studio.guard import Key
from elastocal.values import dataclass

if TYPE_CHECKING:
    import uvicorn
    from fastapi import FastAPI

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
    called |= {HERE, "localhost"} if _own(host) or _any(host) else set()
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


def _own(host: str) -> bool:
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
    from elastocal.studio.app import create_app

    app = create_app(folder, bound.key)
    server = server_of(app)
    gc.freeze()  # what is loaded stays: collections need not look at it
    if spare:
        jobs.keep_spare(app.state.folder.cells().values())
    threading.Thread(target=_warm, args=(bound, browser), daemon=True).start()
    server.run(sockets=[bound.listening])
