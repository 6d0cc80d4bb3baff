"""What is active (base, tool, displacement) behind calls, branches and loops.

A file is read in the order of its lines, and runs in another one.  A routine is gone through once for what it leaves
active: it begins with everything ``start(name)``, and what still is so at its end is what was active at the call.

    behind a call      what the routine leaves active
    in a routine       what is active where it is called, if that is the same everywhere
    in a loop          what was active before it, unless the loop changes it: the second time it is another
    behind a branch    what was active before it, unless the branch changes it
    at a label         what was active before it, unless it changes in lines that GOTO connects

That holds for calls that are statements of their own.  What a routine sets that runs otherwise too (within an
expression, under a condition of one line, by an interrupt or trap) is known nowhere in the file, nor is what is active
in that routine.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from weakref import WeakMethod

from elastocal.compensation.posts.collect import Missing

Active = dict[str, str]
"""Names of what is active, by what they are: ``{"base": "2", "tool": "at the start of part"}``."""
DEEPEST = 20
"""Calls and loops within each other that are followed."""


class Unknown(str):
    """Stands for a name; says why there is not one, so that nobody can state its pose."""

    __slots__ = ()


def start(name: str) -> str:
    return f"at the start of {name}"


class Routines:
    """The routines of a file with the ``places`` where they begin; ``public`` ones are called from elsewhere too.

    ``follow`` goes through the routine or loop that begins in a place, from a name on that stands for all that is
    active, and gives what is active wherever it ends; through a routine with jumps (``flat``) line by line up to its
    end.  ``begin`` is what is active in a routine that nobody calls.  ``otherwise``: why a routine runs otherwise than
    by statements of its own.  ``jumps``: places of GOTO and labels.
    """

    def __init__(
        self, places: Mapping[str, int], public: Collection[str], follow: Callable[[int, str, bool], Sequence[Active]],
        begin: Callable[[str], Active], otherwise: Mapping[str, str], jumps: Sequence[int] = (),
    ) -> None:  # fmt: skip
        self.places, self._public, self._begin = places, public, begin
        self._follow = WeakMethod(follow)  # of who holds the routines: text of a long program goes with its reader
        self._otherwise, self._jumps = otherwise, jumps
        self._exits: dict[str, Active] = {}
        self._within: list[str] = []
        self._calls: dict[str, list[tuple[str, Active]]] = {}
        self._entries: dict[str, Active] = {}
        self._computed: dict[str, set[str]] = {}

    def called(self, name: str, active: Active) -> Active:
        """What is active behind a call of a routine."""
        if self._within and self._within[-1] in self.places:
            self._calls.setdefault(name, []).append((self._within[-1], dict(active)))
        return filled(self._exit(name, self.places[name]), start(name), active)

    def looped(self, place: int, line: int, active: Active) -> Active:
        """What is active in a loop, at its first line."""
        name = f"the loop that begins in line {line}"
        return self._kept(active, name, place, False, f"it changes in {name}")

    def labelled(self, place: int, active: Active) -> Active:
        """What is active at a label; jumps are between the first GOTO or label of a routine and its end."""
        heads = sorted(self.places.values())
        head = heads[bisect_right(heads, place) - 1] if heads else 0
        first = next(iter(self._jumps[bisect_left(self._jumps, head) :]), place + 1)
        why = "it changes in lines that GOTO connects"
        return self._kept(active, f"the jumps from {first} on", first - 1, True, why) if first <= place else active

    def computed(self, frame: str, routine: str) -> None:
        """A frame has this name, whose value is no literal, and is set in a routine."""
        self._computed.setdefault(frame, set()).add(routine)

    def check(self, active: Mapping[str, str]) -> None:
        """Raise Missing where what is active is not known."""
        for which, name in active.items():
            name = self._unsettled.get(which, name)
            again = [r for r in self._computed.get(name, ()) if self._again(r, ())]
            if again:
                name = Unknown(f"it is no literal, and {again[0]} runs more than once")
            if isinstance(name, Unknown):
                raise Missing(f"its {which} is not known: {name}")

    def entry(self, name: str) -> Active:
        """What is active at the first line of a routine."""
        if name not in self._entries:
            self._entries[name] = dict.fromkeys(self._begin(name), Unknown(f"{name} calls itself"))
            calls = [] if name in self._public else self._found.get(name, [])
            at = [filled(active, start(caller), self.entry(caller)) for caller, active in calls]
            entry = joined(at, f"it is another one at different calls of {name}") if at else self._begin(name)
            why = self._otherwise.get(name)
            self._entries[name] = dict.fromkeys(entry, Unknown(why)) if why else entry
        return self._entries[name]

    @cached_property
    def _found(self) -> dict[str, list[tuple[str, Active]]]:
        """The calls of every routine, with what is active there."""
        for name, place in self.places.items():
            self._exit(name, place)
        return self._calls

    @cached_property
    def _unsettled(self) -> Active:
        """What is known nowhere."""
        return {
            k: Unknown(why)
            for name, why in self._otherwise.items()
            for k, v in self._exit(name, self.places[name]).items()
            if v != start(name)
        }

    def _again(self, name: str, callers: tuple[str, ...]) -> bool:
        """Whether a routine runs more than once."""
        calls = self._found.get(name, ())
        within = (*callers, name)
        return name in callers or len(calls) > 1 or any(self._again(caller, within) for caller, _ in calls)

    def _kept(self, active: Active, name: str, place: int, flat: bool, why: str) -> Active:
        end = self._exit(name, place, flat)
        return {k: v if end[k] == start(name) else Unknown(why) for k, v in active.items()}

    def _exit(self, name: str, place: int, flat: bool = False) -> Active:
        if name in self._within:
            return dict.fromkeys(self._begin(name), Unknown(f"{name} calls itself"))
        if name not in self._exits:
            if len(self._within) == DEEPEST:
                deep = Unknown(f"calls and loops are nested deeper than {DEEPEST}")
                return dict.fromkeys(self._begin(name), deep)
            self._within.append(name)
            follow = self._follow()
            assert follow is not None
            ends = follow(place, start(name), flat)
            self._within.pop()
            self._exits[name] = joined(ends, f"{name} ends in more than one place")
        return self._exits[name]


def joined(ways: Sequence[Active], why: str) -> Active:
    """What is active where several ways meet."""
    return {k: v if all(w[k] == v for w in ways) else Unknown(why) for k, v in ways[0].items()}


def filled(active: Active, placeholder: str, by: Active) -> Active:
    """``active`` with what stood where the placeholder stands."""
    return {k: by[k] if v == placeholder else v for k, v in active.items()}


class Branches:
    """Branches and loops that are open: what was active before each, and what changed in it."""

    def __init__(self) -> None:
        self._open: list[tuple[Active, set[str]]] = []

    def __len__(self) -> int:
        return len(self._open)

    def opened(self, active: Active) -> None:
        self._open.append((active, set()))

    def again(self, active: Active) -> Active:
        """At ELSE or CASE: as before the branch."""
        before, changed = self._open[-1]
        changed |= {k for k, v in active.items() if v != before[k]}
        return before

    def closed(self, active: Active, line: int) -> Active:
        before = self.again(active)
        _, changed = self._open.pop()
        return {
            k: f"set in the branch or loop that ends in line {line}" if k in changed else v for k, v in before.items()
        }
