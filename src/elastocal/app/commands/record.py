"""Records what a controller sends until it is stopped."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from elastocal.app.cells.roles import Uses
from elastocal.app.cli import options as o
from elastocal.app.cli.command import command
from elastocal.app.pages.result_columns import or_reason
from elastocal.errors import ConflictError, FormatError, RangeError, UnknownNameError
from elastocal.report.blocks import Cell, Column, Fact, Report, Section, Table, Unknown
from elastocal.values import dataclass

if TYPE_CHECKING:
    from types import FrameType

    from elastocal.record.network import Address
    from elastocal.record.statistics import TelegramSummary

PROTOCOLS = ("rsi",)


@dataclass(frozen=True)
class RecordResult:
    """``given`` is the address of the only controller that is answered, ``learned`` are those that sent in step.

    ``failed`` says why the recording is not what was asked for; empty where it is.
    """

    out: Path
    sender: str
    rehearsed: bool
    address: str
    summary: TelegramSummary
    ended: str
    stamped: bool
    given: str = ""
    learned: tuple[str, ...] = ()
    failed: str = ""


Shown = Callable[[Callable[[], str]], AbstractContextManager[None]]


@command("procedures", 2, Uses({"out": "log"}, alone=False), report=False)
def record(
    protocol: Annotated[str, o.argument("PROTOCOL", "rsi: KUKA's robot sensor interface.")],
    listen: Annotated[str, o.option("ADDRESS:PORT", "Address of this machine that the controller sends to.")],
    out: Annotated[Path, o.option("LOG.xml", "The log to write; it must not exist."), o.WRITTEN],
    duration: Annotated[float | None, o.option("S", "End after so many seconds.")] = None,
    most: Annotated[int | None, o.option("N", "End after so many telegrams.", "--max")] = None,
    controller: Annotated[
        str | None, o.option("ADDRESS", "Log this controller only (default: whoever sends five telegrams in step).")
    ] = None,
    sen_type: Annotated[
        str, o.option("WORD", "Sen Type of the answers, as in the controller's configuration.")
    ] = "ImFree",
    rehearse: Annotated[int | None, o.option("MS", "No robot: a simulated controller sends every 4 or 12 ms.")] = None,
    limit: Annotated[
        float, o.option("MB", "End where the log has this size; 2000 MB are some 5 hours at 4 ms.")
    ] = 2000.0,
    live: Shown | None = None,
) -> RecordResult:
    """Record what a controller sends, without moving it.

    Every telegram is answered with its own IPOC and no correction, then logged. Ctrl-C, SIGTERM, --duration, --max
    or --limit end the recording; a recorder that is killed loses nothing that it has logged.

    \b
    Example:
      elastocal record rsi --listen 192.168.1.10:49152 --out sweep.xml --duration 60
    """
    from elastocal.files.write import AppendedLog
    from elastocal.record.network import bound
    from elastocal.record.network import listen as listening
    from elastocal.record.rsi import FIRST_LINE, Peer
    from elastocal.record.rsi import record as listen_and_log
    from elastocal.record.simulated import rehearsal
    from elastocal.record.statistics import TelegramTally

    only = _check(protocol, duration, most, controller, sen_type, rehearse, limit)
    tally, peer = TelegramTally(), Peer(only)
    failed, stamped = "", False
    with listening(_address(listen, rehearse)) as sock, AppendedLog(out, FIRST_LINE) as log, _stoppable() as asked:
        address = bound(sock)
        rehearsed = nullcontext() if rehearse is None else rehearsal(address, rehearse)
        ends = time.monotonic() + (duration or float("inf"))

        def why(asked: _Stop = asked) -> str:
            if asked.by is None and most is not None and tally.telegrams >= most:
                return f"{most} telegrams"
            if asked.by is None and log.size >= 1e6 * limit:
                return f"the size of the log ({limit:g} MB)"
            return asked.by or (f"{duration:g} s" if time.monotonic() >= ends else "")

        with rehearsed, (live or _hidden)(lambda: status_line(tally.summary(), str(address), only)):
            try:
                stamped = listen_and_log(sock, log, tally, sen_type, lambda: bool(why()), peer)
            except OSError as error:
                failed = f"{out}: could not be written on ({error.strerror or error}); what it holds is whole"
        ended = why() or "an error"
    if not failed and not tally.telegrams:
        failed = f"no telegram came to {address}; check the address in the controller's configuration, and firewalls"
    return RecordResult(
        out, sen_type, rehearse is not None, str(address), tally.summary(), ended, stamped, only or "",
        tuple(peer.learned), failed,
    )  # fmt: skip


class _Stop:
    """``by`` names the signal once one has come."""

    by: str | None = None


@contextmanager
def _stoppable() -> Iterator[_Stop]:
    """Ctrl-C and SIGTERM only ask for an end within."""
    request = _Stop()

    def note(number: int, frame: FrameType | None) -> None:
        request.by = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM"}[signal.Signals(number)]

    before = {s: signal.signal(s, note) for s in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield request
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def status_line(summary: TelegramSummary, address: str, controller: str | None = None) -> str:
    """``250.0/s, 1234 telegrams: late 0, lost 0, ...``, what matters most first."""
    s = summary
    if not s.telegrams:
        who = f" of {controller}" if controller else "; the controller is who sends five in step, or give --controller"
        return f"{address}: waiting for telegrams{who}" + (f", malformed {s.malformed}" if s.malformed else "")
    rate = f"{s.rate:.1f}/s, " if isfinite(s.rate) else ""
    late = "?" if s.late is None else s.late
    return (
        f"{rate}{s.telegrams} telegrams: late {late}, lost {s.lost}, malformed {s.malformed}, reordered "
        f"{s.reordered}, doubled {s.doubled}, foreign {s.foreign}; slowest answer {1e3 * s.turnaround[3]:.2f} ms"
    )


def _hidden(line: Callable[[], str]) -> AbstractContextManager[None]:
    return nullcontext()


def _check(
    protocol: str, duration: float | None, most: int | None, controller: str | None, sender: str, rehearse: int | None,
    limit: float,
) -> str | None:  # fmt: skip
    """The address that alone is answered, as the system writes it."""
    from ipaddress import ip_address

    from elastocal.files.log.telegrams import check_sender
    from elastocal.record.statistics import CYCLES

    if protocol not in PROTOCOLS:
        raise UnknownNameError("protocol", protocol, PROTOCOLS)
    check_sender(sender)
    if duration is not None and not (isfinite(duration) and duration > 0):
        raise RangeError.of("duration", duration, "must be a positive number of seconds")
    if not (isfinite(limit) and limit > 0):
        raise RangeError.of("limit", limit, "must be a positive number of MB")
    if most is not None and most < 1:
        raise RangeError.of("most", most, "must be a positive number of telegrams")
    if rehearse is not None and rehearse not in CYCLES:
        raise RangeError.of("rehearse", rehearse, "a controller sends every 4 or every 12 ms; give one of them")
    try:
        return None if controller is None else str(ip_address(controller))
    except ValueError:
        raise FormatError.of("controller", controller, "is no address in numbers; give it as in 192.168.1.20") from None


def _address(text: str, rehearse: int | None) -> Address:
    from elastocal.record.network import read_address

    address = read_address(text)
    if rehearse is not None and not address.ip.is_loopback:
        raise ConflictError(f"--rehearse: stays on this machine; listen on 127.0.0.1:0 instead of {address}")
    return address


_STAMPED = "Turnaround is counted from the arrival at this machine, as the system stamped it, to the answer's leaving."
_NOT_STAMPED = (
    "Turnaround is counted from when the program read a telegram: this system does not tell when it arrived, so waits "
    "before that are not seen."
)


def page(result: RecordResult) -> Report:
    sections = (Section("Telegrams", (_counts(result.summary),)), Section("Answers", (_turnaround(result.summary),)))
    return Report("Recording of RSI telegrams", _verdict(result), sections, _notes(result), _facts(result))


def _verdict(result: RecordResult) -> tuple[str, ...]:
    s = result.summary
    if result.failed:
        return (f"Failed: {result.failed}.",)
    rate = f" at {s.rate:.2f} per second" if s.telegrams > 1 else ""
    gone = f"{s.lost} lost" if s.lost else "none lost"
    return (
        f"{s.telegrams} telegrams in {s.length:.2f} s{rate}, {gone}; ended by {result.ended}.",
        f"{s.answered} answered with their own IPOC and no correction, " + _in_time(s),
    )


def _in_time(s: TelegramSummary) -> str:
    if s.overdue is None:
        return f"whether within their cycle is not known ({_no_cycle(s)})."
    return "each within its cycle." if not s.overdue else f"{s.overdue} of them after their cycle was over."


def _no_cycle(s: TelegramSummary) -> str:
    return "too few telegrams to tell the cycle" if s.step is None else f"IPOC counts in steps of {s.step}, not 4 or 12"


def _counts(s: TelegramSummary) -> Table:
    rows: tuple[tuple[str, Cell, str], ...] = (
        ("telegrams", s.telegrams, "with a readable IPOC; all are in the log"),
        ("late", _known(s, s.late), "more than half a cycle behind the one before, by their IPOC"),
        ("lost", s.lost, "never came, by the gaps of IPOC"),
        ("reordered", s.reordered, "came after a later one"),
        ("doubled", s.doubled, "came a second time"),
        ("malformed", s.malformed, "no telegrams; not answered, in the log as comments up to 1 MiB"),
        ("foreign", s.foreign, "from another address than the controller's; not logged"),
        ("restarts", s.restarts, "IPOC jumped by more than a minute"),
        ("unanswered", s.unanswered, "the answer could not be sent"),
        ("overdue", _known(s, s.overdue), "answered after a whole cycle"),
        ("delayed", s.delayed, "most late answers that the controller reported (Delay D)"),
    )
    columns = (Column("kind", "telegrams"), Column("count", "count"), Column("meaning", "meaning"))
    return Table("telegrams", "", columns, rows)


def _known(s: TelegramSummary, count: int | None) -> Cell:
    return Unknown(_no_cycle(s)) if count is None else count


def _turnaround(s: TelegramSummary) -> Table:
    names = ("half of them", "99 %", "99.9 %", "all")
    rows = tuple((n, or_reason(1e3 * t, "nothing was answered")) for n, t in zip(names, s.turnaround, strict=True))
    return Table("turnaround", "", (Column("answers", "answers"), Column("within_ms", "within", "ms", 3)), rows)


def _notes(result: RecordResult) -> tuple[str, ...]:
    s = result.summary
    out = [_STAMPED if result.stamped else _NOT_STAMPED]
    if len(result.learned) > 1:
        out.append(
            f"CONTROLLER CHANGED: {' then '.join(result.learned)} sent in step; give --controller to keep to one."
        )
    if s.overdue or s.delayed or s.unanswered:
        out.append("Answers that come too late make a controller stop: use a cable of its own and a machine at rest.")
    if result.rehearsed:
        out.append("A rehearsal: the telegrams came from a simulated controller on this machine.")
    return tuple(out)


def _facts(result: RecordResult) -> tuple[Fact, ...]:
    s, log = result.summary, result.out.as_posix()
    cycle = "unknown" if s.step is None else f"{s.step} counts of IPOC"
    return (
        Fact("listened", "listened on", result.address),
        Fact("controller", "controller", tuple(result.learned), _controller(result)),
        Fact("log", "log", *((log, log) if s.telegrams or s.malformed else (None, "none: nothing came"))),
        Fact("cycle", "cycle", s.step, cycle),
        Fact("sen_type", "answers as", result.sender),
        Fact("ended_by", "ended by", result.ended),
        Fact("length_s", "", s.length if s.telegrams else None),
        Fact("rate_per_s", "", s.rate if s.telegrams > 1 else None),
    )


def _controller(result: RecordResult) -> str:
    from elastocal.record.rsi import CONSISTENT

    if result.given:
        return f"{result.given}, as given"
    if not result.learned:
        return f"not known: nobody sent {CONSISTENT} telegrams in step"
    return f"{', then '.join(result.learned)}: learned from {CONSISTENT} telegrams in step"
