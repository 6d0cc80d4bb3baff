"""The loop of the recorder: wait for a telegram, answer it, then log it.

The answer is the telegram's own IPOC and nothing else (``files.log.rsi_telegram.answer``): a recorder must never
move a robot.  It leaves before anything is written.  The line is with the operating system before the next telegram
is waited for, so whatever has been answered is in the log, also when the program is killed; only the telegram in
hand at that moment may be answered and not logged, and the first few until their sender is known (``record.peer``).
"""

from __future__ import annotations

import errno
import socket
import time
from base64 import b64encode
from collections.abc import Callable
from math import nan

from elastocal.files.log.telegrams import LARGEST, MALFORMED, Telegram, TelegramError, answer, parse_telegram
from elastocal.files.write import AppendedLog
from elastocal.record.network import Datagram, receiver
from elastocal.record.peer import CONSISTENT, MOST_SENDERS, Peer
from elastocal.record.statistics import TelegramTally
from elastocal.values import dataclass

FIRST_LINE = b"<!-- KUKA RSI telegrams as they came, one per line; what was malformed is in comments, in base 64 -->"
PASSING = (errno.ECONNRESET, errno.ENETRESET, errno.EMSGSIZE)
"""What Windows says of a wait: an earlier answer found nobody or was lost, a datagram was larger than any can be."""
MOST_GARBAGE = 1 << 20
"""Bytes of lines that hold malformed datagrams; more are counted and dropped."""
MOST_WAITING = CONSISTENT * MOST_SENDERS
_BLANK = bytes.maketrans(b"\r\n", b"  ")


@dataclass(frozen=True)
class _Heard:
    """A telegram that was answered after so many seconds, nan where it could not be."""

    datagram: Datagram
    telegram: Telegram
    seconds: float


def record(
    sock: socket.socket, log: AppendedLog, tally: TelegramTally, sender: str, done: Callable[[], bool], peer: Peer
) -> bool:
    """Until ``done``; only the controller is answered and logged, candidates are answered until it is known.

    True where the system itself stamped the arrivals.
    """
    receive, stamped = receiver(sock, LARGEST + 1)
    waiting: list[_Heard] = []
    garbage = 0
    while not done():
        try:
            datagram = receive()
        except OSError as error:
            if isinstance(error, TimeoutError) or error.errno in PASSING:
                continue
            raise
        standing = peer.hears(datagram.peer[0], datagram.arrived)
        if standing == "foreign":
            tally.foreign += 1
            continue
        try:
            telegram = parse_telegram(datagram.data.strip(b"\0 \r\n\t"))
        except TelegramError as error:
            tally.malformed += 1
            line = _aside(datagram.data, str(error))
            garbage += len(line)
            if garbage <= MOST_GARBAGE:
                log.add(line)
            continue
        waiting.append(_Heard(datagram, telegram, _answer(sock, datagram, telegram, sender)))
        learned = peer.add(datagram.peer[0], telegram.ipoc, datagram.arrived)
        if standing == "controller" or learned:
            _log(waiting, log, tally, peer.address)
            waiting.clear()
        elif len(waiting) > MOST_WAITING:
            tally.foreign += 1
            waiting.pop(0)
    if len({heard.datagram.peer[0] for heard in waiting}) == 1:  # too few to tell, and nobody else
        _log(waiting, log, tally, waiting[0].datagram.peer[0])
    return stamped


def _log(heard: list[_Heard], log: AppendedLog, tally: TelegramTally, address: str | None) -> None:
    for one in heard:
        if one.datagram.peer[0] != address:
            tally.foreign += 1
            continue
        tally.add(one.telegram, one.datagram.arrived)
        tally.answered(one.seconds)
        log.add(one.datagram.data.strip(b"\0 \r\n\t").translate(_BLANK))


def _answer(sock: socket.socket, datagram: Datagram, telegram: Telegram, sender: str) -> float:
    try:
        sock.sendto(answer(telegram, sender), datagram.peer)
    except OSError:
        return nan
    return 1e-9 * (time.monotonic_ns() - datagram.arrived)


def _aside(data: bytes, why: str) -> bytes:
    plain = "".join(c if c.isalnum() or c in " .,()<>" else "?" for c in why.replace("--", "- "))
    return b"%b%b: %b -->" % (MALFORMED, plain.encode(), b64encode(data))
