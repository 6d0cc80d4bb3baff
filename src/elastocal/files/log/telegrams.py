"""Telegrams of KUKA's robot sensor interface (RSI): one of them, their order by the counter, and those of a file.

    <Rob Type="KUKA"><AIPos A1="0.0000" .../><GearTorque A1="12.3" .../><Delay D="0"/><IPOC>4208163634</IPOC></Rob>

Which elements there are is configured on the controller; IPOC, its counter, is always there.  Telegrams come from a
network: whatever is not a plain, small telegram is refused before a parser could be led astray (document types and
entities, other encodings, a second IPOC).

IPOC grows by the same step from telegram to telegram (4 or 12, the cycle in ms).  Between the smallest and the
largest counter of a stretch there should be one telegram per step:

    lost = (largest - smallest) / step + 1 - (different ones that came)

so a late telegram fills its gap, whatever the order.  A jump by more than ``JUMP`` either way starts a new stretch:
the controller paused or was started again; nothing is counted as lost between stretches.

A recorder that was killed, or a disk that was full, leaves the last telegram of a file cut off; joined logs may have
such a piece in the middle.  Every piece is handed on with its line: telegrams, cut ones, telegrams that a recorder has
set aside as malformed (in a comment), and other text.  The file is read in pieces, so a log may be larger than memory.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

from lxml import etree

from elastocal.errors import FormatError, RangeError
from elastocal.files.opened import note_file, unreadable
from elastocal.values import dataclass

LARGEST = 65_507
"""Bytes of the largest UDP telegram."""
MALFORMED = b"<!-- malformed: "
"""How a line of a log begins that holds a datagram which is no telegram."""
_PARSER = etree.XMLParser(
    encoding="utf-8", resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, recover=False
)
_IPOC = re.compile(r"\s*([0-9]{1,19})\s*")
_SENDER = re.compile(r"[A-Za-z0-9_.-]{1,32}")


class TelegramError(FormatError):
    """The bytes are no telegram; the code says why."""

    code = "no-telegram"


@dataclass(frozen=True)
class Telegram:
    """``ipoc`` is the counter, ``digits`` the same as sent; ``delayed`` the controller's count of late answers."""

    ipoc: int
    digits: str
    delayed: int
    elements: Mapping[str, Mapping[str, str]]


def parse_telegram(data: bytes) -> Telegram:
    """The attributes of every element by its tag, as text; numbers are read by whoever needs them."""
    if len(data) > LARGEST:
        message = f"{len(data)} bytes are more than a telegram can have ({LARGEST})"
        raise TelegramError(message, code="too-large", value=len(data))
    if b"<!" in data or b"\0" in data:
        raise TelegramError("declares a document type, or is not plain text", code="not-plain")
    try:
        root = etree.fromstring(data, _PARSER)
    except etree.XMLSyntaxError as error:
        raise TelegramError(f"is not XML ({error.msg})", code="not-xml") from None
    if root.tag != "Rob":
        raise TelegramError(f"is a <{root.tag}>, not a <Rob>", value=root.tag)
    nodes = [element for element in root.iter() if isinstance(element.tag, str)]
    counters = [e for e in nodes if e.tag == "IPOC"]
    digits = _IPOC.fullmatch(counters[0].text or "") if len(counters) == 1 else None
    if digits is None:
        message = "has no IPOC" if not counters else "has more than one IPOC, or one that is no number"
        raise TelegramError(message, code="counter", value=tuple(e.text for e in counters))
    elements = {str(e.tag): {str(k): str(v) for k, v in e.items()} for e in nodes}
    delay = elements.get("Delay", {}).get("D", "")
    delayed = int(delay) if delay.isascii() and delay.isdecimal() and len(delay) < 10 else 0
    return Telegram(int(digits[1]), digits[1], delayed, elements)


def check_sender(name: str) -> None:
    """The Sen Type of the answers is a plain word: nothing else may get into a telegram to a robot."""
    if not _SENDER.fullmatch(name):
        raise RangeError(
            f"{name!r}: must be a word of letters, digits, dot, dash or underscore, as in ImFree",
            value=name,
            parameter="sen_type",
        )


def answer(telegram: Telegram, sender: str) -> bytes:
    """The telegram's own IPOC, and no correction: the robot goes on as it would without us."""
    return f'<Sen Type="{sender}"><IPOC>{telegram.digits}</IPOC></Sen>'.encode("ascii")


JUMP = 60_000
REMEMBERED = 4096
"""Counters kept to tell a doubled telegram from a late one."""
MOST_STEPS = 64
RARE = 10
"""A step this many times rarer than the commonest one is a slip; the smallest of the others is the cycle."""

Place = Literal["first", "next", "late", "double", "restart"]


class TelegramOrder:
    """Fed with one counter after the other."""

    def __init__(self) -> None:
        self.restarts = self.doubled = self.reordered = 0
        self._stretches: list[list[int]] = []  # smallest, largest, different ones
        self._seen: set[int] = set()
        self._recent: deque[int] = deque()
        self._steps: Counter[int] = Counter()
        self._usual = 0

    def add(self, ipoc: int) -> Place:
        """Where the telegram stands among those before."""
        if not self._stretches:
            return self._begin(ipoc, "first")
        stretch = self._stretches[-1]
        if abs(ipoc - stretch[1]) > JUMP:
            self.restarts += 1
            return self._begin(ipoc, "restart")
        if ipoc in self._seen:
            self.doubled += 1
            return "double"
        self._remember(ipoc)
        stretch[2] += 1
        if ipoc < stretch[1]:
            self.reordered += 1
            stretch[0] = min(stretch[0], ipoc)
            return "late"
        self._count_step(ipoc - stretch[1])
        stretch[1] = ipoc
        return "next"

    @property
    def step(self) -> int | None:
        """The cycle: the smallest difference of neighbours that is not rare, since losses only make it larger."""
        return self._usual or None

    @property
    def lost(self) -> int:
        if not self._usual:
            return 0
        return sum(max(0, round((b - a) / self._usual) + 1 - n) for a, b, n in list(self._stretches))

    def _begin(self, ipoc: int, place: Place) -> Place:
        self._stretches.append([ipoc, ipoc, 1])
        self._seen.clear()
        self._recent.clear()
        self._remember(ipoc)
        return place

    def _remember(self, ipoc: int) -> None:
        self._seen.add(ipoc)
        self._recent.append(ipoc)
        if len(self._recent) > REMEMBERED:
            self._seen.discard(self._recent.popleft())

    def _count_step(self, step: int) -> None:
        if step in self._steps or len(self._steps) < MOST_STEPS:
            self._steps[step] += 1
            often = max(self._steps.values())
            self._usual = min(s for s, count in self._steps.items() if RARE * count >= often)


PIECE = 1 << 20
_OPEN = re.compile(rb"<Rob[\s>/]|<!--")
_AGAIN = re.compile(rb"<Rob[\s>/]")
_PLAIN = re.compile(rb"(?:\s|<\?[^>]*\?>|</?[A-Za-z][^<>]*>|\xef\xbb\xbf)*")
"""White space, declarations and the tags of an enclosing element."""

Kind = Literal["telegram", "cut", "comment", "text"]


@dataclass(frozen=True)
class Piece:
    line: int
    kind: Kind
    data: bytes


def scan(path: Path) -> Iterator[Piece]:
    try:
        note_file(path)
        with path.open("rb") as file:
            yield from _scan(iter(lambda: file.read(PIECE), b""))
    except OSError as error:
        raise unreadable(path, error) from None


def _scan(pieces: Iterator[bytes]) -> Iterator[Piece]:
    held, at, line, more = b"", 0, 1, True
    while at < len(held) or more:
        first = _first(held, at, more)
        if first is None:
            piece = next(pieces, b"")
            held, at, more = held[at:] + piece, 0, bool(piece)
            continue
        kind, start, end = first
        between = held[at:start]
        if not _PLAIN.fullmatch(between):
            blank = between[: len(between) - len(between.lstrip())]
            yield Piece(line + blank.count(b"\n"), "text", between.strip())
        line += between.count(b"\n")
        if end > start:
            yield Piece(line, kind, held[start:end])
        line += held.count(b"\n", start, end)
        at = end


def _first(held: bytes, at: int, more: bool) -> tuple[Kind, int, int] | None:
    """Kind, start and end of what comes first; None where more of the file is needed to tell."""
    opened = _OPEN.search(held, at)
    if opened is None:
        return None if more else ("text", len(held), len(held))
    start = opened.start()
    if opened[0] == b"<!--":
        end = held.find(b"-->", start)
        return ("comment", start, end + 3) if end >= 0 else None if more else ("cut", start, len(held))
    end = held.find(b"</Rob>", start)
    again = _AGAIN.search(held, start + 4, len(held) if end < 0 else end)
    if again is not None:
        return "cut", start, again.start()
    if end >= 0:
        return "telegram", start, end + len(b"</Rob>")
    if more and len(held) - start <= LARGEST:
        return None
    return "cut", start, len(held)
