"""What is active (base, tool, displacement) behind calls, branches and loops.

A file is read in the order of its lines, and runs in another one.  A routine is gone through once for what it leaves
active: it begins with everything ``start(name)``, and what still is so at its end is what was active at the call.

    behind a call      what the routine leaves active
    in a routine       what is active where it is called, if that is the same everywhere
    in a loop          what was active before it, unless the loop changes it: the second time it is another
    behind a branch    what was active before it, unless the branch changes it
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

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


def check_known(active: Mapping[str, str]) -> None:
    for which, name in active.items():
        if isinstance(name, Unknown):
            raise Missing(f"its {which} is not known: {name}")


class Routines:
    """The routines of a file with the ``places`` where they begin; ``public`` ones are called from elsewhere too.

    ``follow`` goes through the routine or loop that begins in a place, from a name on that stands for all that is
    active, and gives what is active wherever it ends.  ``begin`` is what is active in a routine that nobody calls.
    """

    def __init__(
        self, places: Mapping[str, int], public: Collection[str], follow: Callable[[int, str], Sequence[Active]],
        begin: Callable[[str], Active],
    ) -> None:  # fmt: skip
        self.places, self._public, self._follow, self._begin = places, public, follow, begin
        self._exits: dict[str, Active] = {}
        self._within: list[str] = []
        self._calls: dict[str, list[tuple[str, Active]]] = {}
        self._entries: dict[str, Active] = {}

    def called(self, name: str, active: Active) -> Active:
        """What is active behind a call of a routine."""
        if self._within and self._within[-1] in self.places:
            self._calls.setdefault(name, []).append((self._within[-1], dict(active)))
        return _filled(self._exit(name, self.places[name]), start(name), active)

    def looped(self, place: int, active: Active) -> Active:
        """What is active in a loop, at its first line."""
        name = f"the loop that begins in line {place}"
        end = self._exit(name, place)
        return {k: v if end[k] == start(name) else Unknown(f"it changes in {name}") for k, v in active.items()}

    def entry(self, name: str) -> Active:
        """What is active at the first line of a routine."""
        if name not in self._entries:
            self._entries[name] = self._begin(name)  # of a routine that calls itself
            for other in self.places:
                self._exit(other, self.places[other])
            calls = [] if name in self._public else self._calls.get(name, [])
            at = [_filled(active, start(caller), self.entry(caller)) for caller, active in calls]
            if at:
                self._entries[name] = joined(at, f"it is another one at different calls of {name}")
        return self._entries[name]

    def _exit(self, name: str, place: int) -> Active:
        if name in self._within:
            return dict.fromkeys(self._begin(name), Unknown(f"{name} calls itself"))
        if name not in self._exits and len(self._within) == DEEPEST:
            deep = Unknown(f"calls and loops are nested deeper than {DEEPEST}")
            self._exits[name] = dict.fromkeys(self._begin(name), deep)
        if name not in self._exits:
            self._within.append(name)
            self._exits[name] = joined(self._follow(place, start(name)), f"{name} ends in more than one place")
            self._within.pop()
        return self._exits[name]


def joined(ways: Sequence[Active], why: str) -> Active:
    """What is active where several ways meet."""
    return {k: v if all(w[k] == v for w in ways) else Unknown(why) for k, v in ways[0].items()}


def _filled(active: Active, placeholder: str, by: Active) -> Active:
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
