"""Which of those who send is the controller.

Anybody on a network can send one telegram.  Without an address given, the controller is whoever sends ``CONSISTENT``
telegrams in step: counters that grow, by about the same step each time.  Until then all who send telegrams are
answered, each with its own counter, so that nobody can starve the robot; two who both send in step are for the user to
tell apart.  A controller that falls silent for ``SILENCE`` is learned anew.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from elastocal.errors import InputError

CONSISTENT = 5
"""Telegrams in step."""
LOOSE = 10
"""Times that one step may exceed another: so many telegrams may be lost in a row."""
SILENCE = 2_000_000_000
"""In ns: controllers stop by themselves sooner without answers."""
MOST_SENDERS = 16
"""That are followed at once; one that comes later waits until others have fallen silent."""
Standing = Literal["controller", "candidate", "foreign"]


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
        if self.given:
            return "controller" if sender == self.address else "foreign"
        if self.address is not None and sender != self.address and arrived - self._latest > SILENCE:
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
