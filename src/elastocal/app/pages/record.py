"""A recording that has ended, as a report."""

from __future__ import annotations

from elastocal.app.commands.record import RecordResult
from elastocal.app.pages.result_columns import or_reason
from elastocal.record.peer import CONSISTENT
from elastocal.record.statistics import TelegramSummary
from elastocal.report.blocks import Cell, Column, Fact, Report, Section, Table, Unknown

_STAMPED = "Turnaround is counted from the arrival at this machine, as the system stamped it, to the answer's leaving."
_NOT_STAMPED = (
    "Turnaround is counted from when the program read a telegram: this system does not tell when it arrived, so waits "
    "before that are not seen."
)


def page(result: RecordResult) -> Report:
    sections = (
        Section("Telegrams", (_counts(result.summary),)),
        Section("Answers", (_turnaround(result.summary),)),
    )
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
    rows: tuple[tuple[Cell, ...], ...] = (
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
        Fact("listened", "listened on", result.address, result.address),
        Fact("controller", "controller", tuple(result.learned), _controller(result)),
        Fact("log", "log", *((log, log) if s.telegrams or s.malformed else (None, "none: nothing came"))),
        Fact("cycle", "cycle", s.step, cycle),
        Fact("sen_type", "answers as", result.sender, result.sender),
        Fact("ended_by", "ended by", result.ended, result.ended),
        Fact("length_s", "", s.length if s.telegrams else None),
        Fact("rate_per_s", "", s.rate if s.telegrams > 1 else None),
    )


def _controller(result: RecordResult) -> str:
    if result.given:
        return f"{result.given}, as given"
    if not result.learned:
        return f"not known: nobody sent {CONSISTENT} telegrams in step"
    return f"{', then '.join(result.learned)}: learned from {CONSISTENT} telegrams in step"
