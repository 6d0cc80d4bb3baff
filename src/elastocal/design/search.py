"""The best plan of several climbs (``exchange``), judged by QR of its own rows."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from elastocal.design.candidates import Candidates
from elastocal.design.criteria.criterion import Criterion
from elastocal.design.exchange import Climb, Search, climbed, grown
from elastocal.design.knowledge import Knowledge
from elastocal.design.parallel import in_parallel
from elastocal.design.rules import Rules
from elastocal.design.space import Space, known_by_rows, space_of
from elastocal.errors import InputError

SAME = 1e-7
"""Climbs whose gains differ by less ended at the same value."""


@dataclass(frozen=True, eq=False)
class Plan:
    """``chosen`` ascending, a candidate as often as it is to be measured; ``value`` in the unit of the criterion.

    ``climbs`` are the restarts in order, the first from the greedy plan.
    """

    chosen: tuple[int, ...]
    gain: float
    value: float
    known: Knowledge
    climbs: tuple[Climb, ...]

    @cached_property
    def agreed(self) -> tuple[bool, ...]:
        """For every climb, whether it ended at the value of the best."""
        return tuple(not c.open and abs(c.gain - self.gain) < SAME for c in self.climbs)


def search(
    candidates: Candidates,
    criterion: Criterion,
    rules: Rules,
    *,
    rng: np.random.Generator,
    restarts: int = 10,
    executor: Executor | None = None,
    space: Space | None = None,
) -> Plan:
    """The best plan found; ``space`` may be given where the same candidates were searched before."""
    if restarts < 1:
        raise InputError(f"{restarts} restarts: give at least 1; 10 is usual")
    check(candidates, criterion, rules)
    at = space_of(candidates) if space is None else space
    task = partial(_climb, Search(at, criterion, rules))
    return best_climb(candidates, criterion, in_parallel(task, restarts, rng, executor), at)


def check(candidates: Candidates, criterion: Criterion, rules: Rules) -> None:
    m, k, p = candidates.blocks.shape
    criterion.check(p)
    rules.check(m)
    equations = rules.count * k + len(candidates.prior_rows)
    if equations < p:
        raise InputError(
            f"{rules.count} measurements of {k} rows give {equations} equations for {p} parameters, priors included; "
            "plan more or seek fewer"
        )


def best_climb(candidates: Candidates, criterion: Criterion, climbs: tuple[Climb, ...], space: Space) -> Plan:
    """The best of some climbs, the first of equals."""
    able = [c for c in climbs if not c.open] or climbs
    top = max(c.gain for c in able)
    best = next(c for c in able if c.gain > top - SAME)
    chosen = tuple(sorted(best.members))
    known = known_by_rows(candidates, chosen, space.coordinates)
    return Plan(chosen, criterion.gain(known), criterion.value(known), known, climbs)


def _climb(search: Search, number: int, rng: np.random.Generator) -> Climb:
    """The first climb starts from the greedy plan, the others from a few members drawn and then greedily."""
    rules, members = search.rules, list[int]()
    if number:
        for _ in range(int(rng.integers(1, rules.count + 1))):
            members.append(int(rng.choice(np.flatnonzero(rules.allowed(members, search.space.count)))))
    return climbed(search, grown(search, members, rules.count))
