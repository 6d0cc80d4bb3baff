"""One telegram of KUKA's robot sensor interface (RSI), and the answer that the controller waits for.

    <Rob Type="KUKA"><AIPos A1="0.0000" .../><GearTorque A1="12.3" .../><Delay D="0"/><IPOC>4208163634</IPOC></Rob>

Which elements there are is configured on the controller; IPOC, its counter, is always there.  Telegrams come from a
network: whatever is not a plain, small telegram is refused before a parser could be led astray (document types and
entities, other encodings, a second IPOC).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from lxml import etree

from elastocal.errors import InputError

LARGEST = 65_507
"""Bytes of the largest UDP telegram."""
MALFORMED = b"<!-- malformed: "
"""How a line of a log begins that holds a datagram which is no telegram."""
_PARSER = etree.XMLParser(
    encoding="utf-8", resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, recover=False
)
_IPOC = re.compile(r"\s*([0-9]{1,19})\s*")
_SENDER = re.compile(r"[A-Za-z0-9_.-]{1,32}")


class TelegramError(InputError):
    """The bytes are no telegram; the sentence says why."""


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
        raise TelegramError(f"{len(data)} bytes are more than a telegram can have ({LARGEST})")
    if b"<!" in data or b"\0" in data:
        raise TelegramError("declares a document type, or is not plain text")
    try:
        root = etree.fromstring(data, _PARSER)
    except etree.XMLSyntaxError as error:
        raise TelegramError(f"is not XML ({error.msg})") from None
    if root.tag != "Rob":
        raise TelegramError(f"is a <{root.tag}>, not a <Rob>")
    found = [element for element in root.iter() if isinstance(element.tag, str)]
    counters = [e for e in found if e.tag == "IPOC"]
    digits = _IPOC.fullmatch(counters[0].text or "") if len(counters) == 1 else None
    if digits is None:
        raise TelegramError("has no IPOC" if not counters else "has more than one IPOC, or one that is no number")
    elements = {str(e.tag): {str(k): str(v) for k, v in e.items()} for e in found}
    delay = elements.get("Delay", {}).get("D", "")
    delayed = int(delay) if delay.isascii() and delay.isdecimal() and len(delay) < 10 else 0
    return Telegram(int(digits[1]), digits[1], delayed, elements)


def check_sender(name: str) -> None:
    """The Sen Type of the answers is a plain word: nothing else may get into a telegram to a robot."""
    if not _SENDER.fullmatch(name):
        raise InputError(
            f"{name!r}: must be a word of letters, digits, dot, dash or underscore, as in ImFree",
            value=name,
            parameter="sen_type",
        )


def answer(telegram: Telegram, sender: str) -> bytes:
    """The telegram's own IPOC, and no correction: the robot goes on as it would without us."""
    return f'<Sen Type="{sender}"><IPOC>{telegram.digits}</IPOC></Sen>'.encode("ascii")
