"""What happens before the browser opens."""

from __future__ import annotations

import socket
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from elastocal.studio import serve
from elastocal.studio.guard import Key


def test_the_first_page_is_asked_for_before_the_browser_opens(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            done.append(f"{self.path} {self.headers['Authorization']}")
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.handle_request, daemon=True).start()
    address = f"127.0.0.1:{server.server_port}"
    bound = serve.Bound(server.socket, Key(frozenset([address])), f"http://{address}")
    monkeypatch.setattr("webbrowser.open", lambda url: done.append(url))
    monkeypatch.setattr(serve.desk.work, "PAGES", ("elastocal.no_such_module",))
    serve._warm(bound, True)
    server.server_close()
    assert done == [f"/ Bearer {bound.key.token}", bound.opened]


def test_a_server_that_does_not_answer_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        opened: list[str] = []
        monkeypatch.setattr("webbrowser.open", opened.append)
        monkeypatch.setattr(serve.desk.work, "PAGES", ())
        serve._warm(serve.Bound(taken, Key(frozenset([address])), f"http://{address}"), False)
    assert opened == []
