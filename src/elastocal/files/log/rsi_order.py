"""Telegrams by their counter: what is lost, doubled, out of order, and where the stream starts anew.

IPOC grows by the same step from telegram to telegram (4 or 12, the cycle in ms).  Between the smallest and the
largest counter of a stretch there should be one telegram per step:

    lost = (largest - smallest) / step + 1 - (different ones that came)

so a late telegram fills its gap, whatever the order.  A jump by more than ``JUMP`` either way starts a new stretch:
the controller paused or was started again; nothing is counted as lost between stretches.
"""

from __future__ import annotations

from collections import Counter, deque
from typing import Literal

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
