"""Who may talk to the studio, and what it may be sent: all of it is decided here, before any page is reached.

A page of another site can make a browser send requests to 127.0.0.1, and a name of another site can be made to lead
there.  So every request must name this server as its host, must bring the token (the opened address has it once, a
cookie that no other site can have sent from then on, or a bearer token of a program), and what changes something must
come from a page of the studio: by its origin and by a mark in its form.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import field
from pathlib import Path
from secrets import compare_digest, token_urlsafe
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request, cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from elastocal.desk.files import reading_within
from elastocal.values import dataclass

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

LARGEST = 64 << 20
"""Bytes of a request."""
SAFE = ("GET", "HEAD")
OPEN = "/static/"
"""Files of the package, the same for everybody: a report, which runs without rights, loads its script from there."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "connect-src 'self'; frame-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
FORM_FIELD, FORM_HEADER = "form_mark", "X-Form-Mark"
LOST = (
    "The studio needs its token. Open the address that 'elastocal studio' printed when it was started; it ends in "
    "?token=... and is needed once per browser."
)


@dataclass(frozen=True)
class Key:
    """``hosts`` are the names, with port, that this server may be called by."""

    hosts: frozenset[str]
    token: str = field(default_factory=lambda: token_urlsafe(32), repr=False)
    cookie: str = "elastocal-studio"
    largest: int = LARGEST

    @property
    def form_mark(self) -> str:
        """In every form of ours; a page of somebody else cannot read it."""
        return hmac.new(self.token.encode(), b"form", hashlib.sha256).hexdigest()

    def opens(self, word: str) -> bool:
        return compare_digest(word.encode(), self.token.encode())


class Guard:
    """Answers itself what must not reach ``app``, which reads no file outside of ``folder``."""

    def __init__(self, app: Application, key: Key, folder: Path) -> None:
        self.app, self.key, self.folder = app, key, folder

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            refused = self._refused(scope)
            if refused is not None:
                await refused(scope, receive, _with_headers(send))
            else:
                with reading_within(self.folder):
                    await self.app(scope, _bounded(receive, self.key.largest), _with_headers(send))

    def _refused(self, scope: Scope) -> Response | None:
        headers, key = Headers(scope=scope), self.key
        host = headers.get("host", "").lower()
        if host not in key.hosts:
            return PlainTextResponse(f"This server is not called {host[:100]!r}.", 421)
        if scope["path"].startswith(OPEN) and scope["method"] in SAFE:
            return None
        typed = dict(parse_qsl(scope["query_string"].decode("latin-1"))).get("token")
        if typed is not None and scope["method"] in SAFE:
            return self._entered(scope, typed)
        bearer = headers.get("authorization", "").removeprefix("Bearer ")
        if key.opens(bearer):
            return self._too_large(headers)  # a program: no browser adds this by itself
        if not key.opens(cookie_parser(headers.get("cookie", "")).get(key.cookie, "")):
            return PlainTextResponse(LOST, 403)
        if scope["method"] not in SAFE and not _from_here(headers, host):
            return PlainTextResponse("This request comes from another site and was not carried out.", 403)
        return self._too_large(headers)

    def _entered(self, scope: Scope, typed: str) -> Response:
        """The token leaves the address line and its history: from here on the cookie has it."""
        if not self.key.opens(typed):
            return PlainTextResponse(LOST, 403)
        left = [(k, v) for k, v in parse_qsl(scope["query_string"].decode("latin-1")) if k != "token"]
        path = "/" + scope["path"].lstrip("/\\")
        answer = RedirectResponse(path + (f"?{urlencode(left)}" if left else ""), 303)
        answer.set_cookie(self.key.cookie, self.key.token, httponly=True, samesite="strict", path="/")
        return answer

    def _too_large(self, headers: Headers) -> Response | None:
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > self.key.largest:
            return PlainTextResponse(TOO_LARGE.format(self.key.largest >> 20), 413)
        return None


def _from_here(headers: Headers, host: str) -> bool:
    """Whether a browser says that one of our pages sent it; every browser of today says where a POST is from."""
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    return origin is not None and urlsplit(origin).netloc.lower() == host and site in (None, "same-origin")


async def from_our_form(request: Request) -> None:
    """A dependency of every route that changes something; programs with a bearer token have no forms."""
    key: Key = request.app.state.key
    if request.method in SAFE or key.opens(request.headers.get("authorization", "").removeprefix("Bearer ")):
        return
    mark = request.headers.get(FORM_HEADER) or (await request.form()).get(FORM_FIELD)
    if not (isinstance(mark, str) and compare_digest(mark.encode(), key.form_mark.encode())):
        raise HTTPException(403, "This form is not one of this studio, or of an earlier start of it; reload the page.")


TOO_LARGE = "The file is larger than {} MB; split it, or use the commands."


def _bounded(receive: Receive, largest: int) -> Receive:
    """The body, counted: its length may be unsaid or wrong."""
    count = [0]

    async def counted() -> MutableMapping[str, Any]:
        message = await receive()
        count[0] += len(message.get("body", b""))
        if count[0] > largest:
            raise HTTPException(413, TOO_LARGE.format(largest >> 20))
        return message

    return counted


def _with_headers(send: Send) -> Send:
    """Every answer has the rules that browsers keep for us; a page may bring a stricter policy of its own."""

    async def sent(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            have = {name.lower() for name, _ in message["headers"]}
            wanted = {**HEADERS, "Content-Security-Policy": POLICY}
            more = [(k.lower().encode(), v.encode()) for k, v in wanted.items() if k.lower().encode() not in have]
            message["headers"] = [*message["headers"], *more]
        await send(message)

    return sent
