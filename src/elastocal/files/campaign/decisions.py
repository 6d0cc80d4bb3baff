"""Readings that a person excludes, or keeps against the outlier test, each with a reason.

exclude:
  - {reading: readings.csv line 14, reason: "SMR was touched"}
keep:
  - {reading: readings.csv line 20, reason: "measured twice, the same"}
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from elastocal.errors import DuplicateError, MissingError
from elastocal.files.located import Located
from elastocal.values import dataclass

_PLACE = re.compile(r"(.*? line \d+(?: less (?:.*? )?line \d+)?)(?: \(|$)")


@dataclass(frozen=True)
class Decision:
    """``reading`` as places of readings are named, without the name of its pose."""

    reading: str
    reason: str


def place_of(word: str) -> str:
    """``readings.csv line 4`` of ``readings.csv line 4 (P2)``; names of files may have brackets too."""
    match = _PLACE.match(word.strip())
    return match[1] if match else word.partition(" (")[0].strip()


def read_decisions(located: Located, key: str, entries: Sequence[Any]) -> tuple[Decision, ...]:
    out = []
    for i, entry in enumerate(entries):
        given = entry if isinstance(entry, dict) else {}
        words = {k: str(given.get(k) or "").strip() for k in ("reading", "reason")}
        if set(given) != set(words) or not all(words.values()):
            raise located.error(
                (key, i), "needs a reading and a reason: {reading: readings.csv line 14, reason: ...}", MissingError
            )
        out.append(Decision(place_of(words["reading"]), words["reason"]))
    return tuple(out)


def decided_rows(located: Located, key: str, decisions: Sequence[Decision], places: Sequence[str]) -> tuple[int, ...]:
    """Rows of the campaign that decisions are of; a reading that is not there is refused."""
    if not decisions:
        return ()
    keys = [place_of(p) for p in places]
    known = {k: i for i, k in enumerate(keys)}
    for i, decision in enumerate(decisions):
        if decision.reading not in known:
            near = next(iter(known), "")
            problem = f"there is no reading {decision.reading!r}; write it as {near!r} is written"
            raise located.error((key, i), problem, code="unknown-reading", value=decision.reading, allowed=known)
        if keys.count(decision.reading) > 1:
            raise located.error(
                (key, i), f"{decision.reading!r} names several readings; give each table its own name", DuplicateError
            )
    return tuple(known[d.reading] for d in decisions)
