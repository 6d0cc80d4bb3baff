"""The loop of the recorder: wait for a telegram, answer it, then log it.

The answer is the telegram's own IPOC and nothing else (``files.log.rsi_telegram.answer``): a recorder must never
move a robot.  It leaves before anything is written.  The line is with the operating system before the next telegram
is waited for, so whatever has been answered is in the log, also when the program is killed; only the telegram in
hand at that moment may be answered and not logged, and the first few until their sender is known.

Anybody on a network can send one telegram.  Without an address given, the controller is whoever sends ``CONSISTENT``
telegrams in step: counters that grow, by about the same step each time.  Until then all who send telegrams are
answered, each with its own counter, so that nobody can starve the robot; two who both send in step are for the user to
tell apart.  A controller that falls silent for ``SILENCE`` is learned anew.
"""

from __future__ import annotations

import errno
import socket
import time
from base64 import b64encode
from collections.abc import Callable
from dataclasses import field
from math import nan
from typing import Literal

from elastocal.errors import InputError
from elastocal.files.log.telegrams import LARGEST, MALFORMED, Telegram, TelegramError, answer, parse_telegram
from elastocal.files.write import AppendedLog
from elastocal.record.network import Datagram, receiver
from elastocal.record.statistics import TelegramTally
from elastocal.values import dataclass

CONSISTENT = 5
"""Telegrams in step."""
LOOSE = 10
"""Times that one step may exceed another: so many telegrams may be lost in a row."""
SILENCE = 2_000_000_000
"""In ns: controllers stop by themselves sooner without answers."""
MOST_SENDERS = 16
"""That are followed at once; one that comes later waits until others have fallen silent."""
Standing = Literal["controller", "candidate", "foreign"]
FIRST_LINE = b"<!-- KUKA RSI telegrams as they came, one per line; what was malformed is in comments, in base 64 -->"
PASSING = (errno.ECONNRESET, errno.ENETRESET, errno.EMSGSIZE)
"""What Windows says of a wait: an earlier answer found nobody or was lost, a datagram was larger than any can be."""
MOST_GARBAGE = 1 << 20
"""Bytes of lines that hold malformed datagrams; more are counted and dropped."""
MOST_WAITING = CONSISTENT * MOST_SENDERS
_BLANK = bytes.maketrans(b"\r\n", b"  ")


@dataclass
class _Sender:
    counters: list[int] = field(default_factory=list)
    latest: int = 0

    def add(self, counter: int, arrived: int) -> None:
        if self.counters and counter <= self.counters[-1]:
            self.counters.clear()
        self.counters.append(counter)
        self.latest = arrived
        steps = [b - a for a, b in zip(self.counters, self.counters[1:], strict=False)]
        if steps and max(steps) > LOOSE * min(steps):
            del self.counters[:-1]

    @property
    def consistent(self) -> bool:
        return len(self.counters) >= CONSISTENT


class Peer:
    """``address`` is that of the controller, None until it is known; ``learned`` are all that it was learned to be."""

    def __init__(self, given: str | None) -> None:
        self.address, self.given = given, given is not None
        self.learned: list[str] = []
        self._senders: dict[str, _Sender] = {}
        self._latest = 0

    def hears(self, sender: str, arrived: int) -> Standing:
        """Whom a datagram comes from, at a moment in ns."""
        if not self.given and sender != self.address and arrived - self._latest > SILENCE:
            self.address = None
        if self.address is not None:
            return "controller" if sender == self.address else "foreign"
        silent = [s for s, state in self._senders.items() if arrived - state.latest > SILENCE]
        for other in silent:
            del self._senders[other]
        return "candidate" if sender in self._senders or len(self._senders) < MOST_SENDERS else "foreign"

    def add(self, sender: str, counter: int, arrived: int) -> bool:
        """A telegram of the controller or a candidate; True where this one makes it the controller."""
        self._latest = arrived
        if self.address is not None:
            return False
        state = self._senders.setdefault(sender, _Sender())
        state.add(counter, arrived)
        if not state.consistent:
            return False
        others = [s for s, other in self._senders.items() if s != sender and len(other.counters) > 1]
        if others:
            message = f"{sender} and {others[0]} both send telegrams; give the address of the controller"
            raise InputError(
                message, code="two-senders", value=sender, allowed=(sender, *others), parameter="controller"
            )
        self.address = sender
        self.learned.append(sender)
        self._senders.clear()
        return True


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
