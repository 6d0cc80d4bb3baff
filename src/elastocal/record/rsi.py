"""The loop of the recorder: wait for a telegram, answer it, then log it.

The answer is the telegram's own IPOC and nothing else (``files.log.rsi_telegram.answer``): a recorder must never
move a robot.  It leaves before anything is written.  The line is with the operating system before the next telegram
is waited for, so whatever has been answered is in the log, also when the program is killed; only the telegram in
hand at that moment may be answered and not logged.
"""

from __future__ import annotations

import errno
import socket
import time
from base64 import b64encode
from collections.abc import Callable

from elastocal.files.appended import AppendedLog
from elastocal.files.log.telegrams import LARGEST, MALFORMED, Telegram, TelegramError, answer, parse_telegram
from elastocal.record.network import Datagram, receiver
from elastocal.record.statistics import TelegramTally

FIRST_LINE = b"<!-- KUKA RSI telegrams as they came, one per line; what was malformed is in comments, in base 64 -->"
PASSING = (errno.ECONNRESET, errno.ENETRESET, errno.EMSGSIZE)
"""What Windows says of a wait: an earlier answer found nobody or was lost, a datagram was larger than any can be."""
_BLANK = bytes.maketrans(b"\r\n", b"  ")


def record(
    sock: socket.socket,
    log: AppendedLog,
    tally: TelegramTally,
    sender: str,
    done: Callable[[], bool],
    controller: str | None,
) -> bool:
    """Until ``done``; only ``controller`` is answered (default: whoever sends the first telegram).

    True where the system itself stamped the arrivals.
    """
    receive, stamped = receiver(sock, LARGEST + 1)
    while not done():
        try:
            datagram = receive()
        except OSError as error:
            if isinstance(error, TimeoutError) or error.errno in PASSING:
                continue
            raise
        if controller is not None and datagram.peer[0] != controller:
            tally.foreign += 1
            continue
        try:
            telegram = parse_telegram(datagram.data.strip(b"\0 \r\n\t"))
        except TelegramError as error:
            tally.malformed += 1
            log.add(_aside(datagram.data, str(error)))
            continue
        controller = datagram.peer[0]
        _answer(sock, datagram, telegram, sender, tally)
        log.add(datagram.data.strip(b"\0 \r\n\t").translate(_BLANK))
    return stamped


def _answer(sock: socket.socket, datagram: Datagram, telegram: Telegram, sender: str, tally: TelegramTally) -> None:
    try:
        sock.sendto(answer(telegram, sender), datagram.peer)
    except OSError:
        tally.unanswered += 1
        tally.add(telegram, datagram.arrived)
        return
    left = time.monotonic_ns()
    tally.add(telegram, datagram.arrived)
    tally.answered(1e-9 * (left - datagram.arrived))


def _aside(data: bytes, why: str) -> bytes:
    plain = "".join(c if c.isalnum() or c in " .,()<>" else "?" for c in why.replace("--", "- "))
    return b"%b%b: %b -->" % (MALFORMED, plain.encode(), b64encode(data))
