"""Records what a controller sends until it is stopped."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

from elastocal.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from elastocal.record.network import Address
    from elastocal.record.statistics import TelegramSummary

PROTOCOLS = ("rsi",)
CYCLES = (4, 12)


@dataclass(frozen=True)
class RecordRequest:
    protocol: str
    listen: str
    out: Path
    duration: float | None = None
    most: int | None = None
    controller: str | None = None
    sender: str = "ImFree"
    rehearse: int | None = None


@dataclass(frozen=True)
class RecordResult:
    """``failed`` says why the recording is not what was asked for; empty where it is."""

    request: RecordRequest
    address: str
    summary: TelegramSummary
    ended: str
    stamped: bool
    failed: str = ""


Shown = Callable[[Callable[[], str]], AbstractContextManager[None]]


def run(request: RecordRequest, shown: Shown | None = None) -> RecordResult:
    """``shown`` gets a function whose text says how the recording stands."""
    from elastocal.app.workers import Request, stoppable
    from elastocal.files.write import AppendedLog
    from elastocal.record.network import bound, listen
    from elastocal.record.rsi import FIRST_LINE, record
    from elastocal.record.simulated import rehearsal
    from elastocal.record.statistics import TelegramTally

    controller = _check(request)
    tally = TelegramTally()
    failed, stamped = "", False
    with listen(_address(request)) as sock, AppendedLog(request.out, FIRST_LINE) as log, stoppable() as asked:
        address = bound(sock)
        rehearsed = nullcontext() if request.rehearse is None else rehearsal(address, request.rehearse)
        ends = time.monotonic() + (request.duration or float("inf"))

        def why(asked: Request = asked) -> str:
            if asked.by is None and request.most is not None and tally.telegrams >= request.most:
                return f"{request.most} telegrams"
            return asked.by or (f"{request.duration:g} s" if time.monotonic() >= ends else "")

        with rehearsed, (shown or _hidden)(lambda: status_line(tally.summary(), str(address))):
            try:
                stamped = record(sock, log, tally, request.sender, lambda: bool(why()), controller)
            except OSError as error:
                failed = f"{request.out}: could not be written on ({error.strerror or error}); what it holds is whole"
        ended = why() or "an error"
    if not failed and not tally.telegrams:
        failed = f"no telegram came to {address}; check the address in the controller's configuration, and firewalls"
    return RecordResult(request, str(address), tally.summary(), ended, stamped, failed)


def status_line(summary: TelegramSummary, address: str) -> str:
    """``250.0/s, 1234 telegrams: late 0, lost 0, ...``, what matters most first."""
    s = summary
    if not s.telegrams:
        return f"{address}: waiting for telegrams" + (f", malformed {s.malformed}" if s.malformed else "")
    rate = f"{s.rate:.1f}/s, " if isfinite(s.rate) else ""
    return (
        f"{rate}{s.telegrams} telegrams: late {s.late}, lost {s.lost}, malformed {s.malformed}, reordered "
        f"{s.reordered}, doubled {s.doubled}, foreign {s.foreign}; slowest answer {1e3 * s.turnaround[3]:.2f} ms"
    )


def _hidden(line: Callable[[], str]) -> AbstractContextManager[None]:
    return nullcontext()


def _check(request: RecordRequest) -> str | None:
    """The address that alone is answered, as the system writes it."""
    from ipaddress import ip_address

    from elastocal.files.log.telegrams import check_sender

    if request.protocol not in PROTOCOLS:
        raise UnknownNameError("protocol", request.protocol, PROTOCOLS)
    check_sender(request.sender)
    if request.duration is not None and not (isfinite(request.duration) and request.duration > 0):
        raise InputError(f"--duration {request.duration:g}: must be a positive number of seconds")
    if request.most is not None and request.most < 1:
        raise InputError(f"--max {request.most}: must be a positive number of telegrams")
    if request.rehearse is not None and request.rehearse not in CYCLES:
        raise InputError(f"--rehearse {request.rehearse}: a controller sends every 4 or every 12 ms; give one of them")
    try:
        return None if request.controller is None else str(ip_address(request.controller))
    except ValueError:
        raise InputError(
            f"--controller {request.controller!r}: is no address in numbers; give it as in 192.168.1.20"
        ) from None


def _address(request: RecordRequest) -> Address:
    from elastocal.record.network import read_address

    address = read_address(request.listen)
    if request.rehearse is not None and not address.ip.is_loopback:
        raise InputError(f"--rehearse: stays on this machine; listen on 127.0.0.1:0 instead of {address}")
    return address
