"""How well a recording goes: rate, late, lost, reordered, doubled and malformed telegrams, and how fast we answer.

A telegram is late where the time since the one before exceeds what their counters say (in ms) by more than half a
cycle.  The turnaround is the time from the telegram's arrival to its answer's leaving; its percentiles come from a
histogram with 40 steps per decade, so they are upper bounds within 6 %, in constant memory for any length.
"""

from __future__ import annotations

from math import isnan, log10, nan

from elastocal.files.log.telegrams import Telegram, TelegramOrder
from elastocal.values import dataclass

CYCLES = (4, 12)
"""Cycles of controllers in ms, the unit of their counters."""
PER_DECADE = 40
SHORTEST = 1e-6
DECADES = 8
EARLY = 100
"""Answers that are kept until the cycle is known."""


@dataclass(frozen=True)
class TelegramSummary:
    """Counts of telegrams; ``lost`` never came, by their counters.  Times in s, nan where unknown.

    ``foreign`` came from another address than the controller's; they are not logged.  ``overdue`` were answered after a
    whole cycle; it and ``late`` are None where the cycle is not known to be one of ``CYCLES``.  ``delayed`` is the
    largest count of late answers that the controller itself reported.
    """

    telegrams: int = 0
    answered: int = 0
    unanswered: int = 0
    overdue: int | None = 0
    delayed: int = 0
    late: int | None = 0
    lost: int = 0
    reordered: int = 0
    doubled: int = 0
    malformed: int = 0
    foreign: int = 0
    restarts: int = 0
    step: int | None = None
    length: float = nan
    rate: float = nan
    turnaround: tuple[float, float, float, float] = (nan, nan, nan, nan)
    """Half, 99 % and 99.9 % of the answers took no longer; the longest."""


class Turnaround:
    """A histogram of durations in s."""

    def __init__(self) -> None:
        self._counts = [0] * (PER_DECADE * DECADES + 1)
        self._longest = nan

    def add(self, seconds: float) -> None:
        place = (
            0 if seconds <= SHORTEST else min(int(PER_DECADE * log10(seconds / SHORTEST)) + 1, len(self._counts) - 1)
        )
        self._counts[place] += 1
        if not seconds <= self._longest:
            self._longest = seconds

    @property
    def longest(self) -> float:
        return self._longest

    def within(self, share: float) -> float:
        """The time in which this share of all was done."""
        counts = list(self._counts)
        aim, so_far = share * sum(counts), 0
        for place, count in enumerate(counts):
            so_far += count
            if count and so_far >= aim:
                return min(self._longest, SHORTEST * 10 ** (place / PER_DECADE))
        return nan


class TelegramTally:
    """Counts telegrams as they come."""

    def __init__(self) -> None:
        self.telegrams = self.malformed = self.foreign = self.unanswered = self.delayed = 0
        self._answered = self._overdue = self._late = 0
        self._order = TelegramOrder()
        self._turnaround = Turnaround()
        self._began = self._latest = 0
        self._before: tuple[int, int] | None = None
        self._early: list[float] = []
        """Answers from before the cycle was known, in s: it takes two telegrams."""

    def add(self, telegram: Telegram, arrived: int) -> None:
        """A telegram that arrived at a moment in ns."""
        self.telegrams += 1
        self._began = self._began or arrived
        self._latest = max(self._latest, arrived)
        self.delayed = max(self.delayed, telegram.delayed)
        place = self._order.add(telegram.ipoc)
        if place == "next" and self._before is not None:
            excess = 1e-6 * (arrived - self._before[1]) - (telegram.ipoc - self._before[0])
            self._late += excess > 0.5 * (self._order.step or 0)
        if place in ("first", "next", "restart"):
            self._before = telegram.ipoc, arrived

    def answered(self, seconds: float) -> None:
        """The last one was answered after this time; nan where the answer could not be sent."""
        if isnan(seconds):
            self.unanswered += 1
            return
        self._answered += 1
        if self._order.step is not None:
            self._overdue += 1e3 * seconds > self._order.step
        elif len(self._early) < EARLY:
            self._early.append(seconds)
        self._turnaround.add(seconds)

    def summary(self) -> TelegramSummary:
        length = 1e-9 * (self._latest - self._began) if self.telegrams else nan
        spent = self._turnaround
        known = self._order.step in CYCLES
        before = sum(1e3 * seconds > (self._order.step or 0) for seconds in self._early)
        overdue, late = (self._overdue + before, self._late) if known or not self.telegrams else (None, None)
        return TelegramSummary(
            self.telegrams, self._answered, self.unanswered, overdue, self.delayed, late,
            self._order.lost, self._order.reordered, self._order.doubled, self.malformed, self.foreign,
            self._order.restarts, self._order.step, length,
            (self.telegrams - 1) / length if self.telegrams > 1 and length > 0 else nan,
            (spent.within(0.5), spent.within(0.99), spent.within(0.999), spent.longest),
        )  # fmt: skip
