"""The best plan by exchange (Fedorov, Cook and Nachtsheim): every member in turn moves to its best place.

    grow:      add the candidate with the largest gain until the plan is full
    exchange:  take a member out, put the best candidate in if the gain grows; until no member can do better

The end of a climb is a plan that no exchange of one member improves.  Every candidate is tried at once by rank-k
updates (``updates``); a change is taken only after its gain has been computed anew from the members.  Where exp(gain)
is concave in the weights of candidates (the criteria that have a certificate), its slopes s at the plan bound what an
exchange of j for c may gain,

    exp(gain(plan - j + c) - gain(plan)) <= 1 + s_c - s_j

so that only candidates with a slope above that of the member are tried, those with the largest bound first, mostly
few.  The best of several climbs, from different starts, is judged by QR of its own rows.  Every climb has a random
stream of its own, a child of the caller's, so that the result does not depend on which worker does what.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from functools import cached_property, partial
from typing import TYPE_CHECKING, TypedDict, TypeVar

import numpy as np

from elastocal.design.criteria.alphabetic import Determinant
from elastocal.design.criteria.criterion import Criterion
from elastocal.design.information import CandidateRows, Space, known_by_rows, space_of
from elastocal.design.knowledge import Forms, Knowledge, Trials, every, step
from elastocal.design.rules import Rules
from elastocal.errors import RangeError, TooFewError
from elastocal.spatial.entries import Array, Bools
from elastocal.values import dataclass

if TYPE_CHECKING:
    from concurrent.futures import Executor

ENOUGH = 1e-9
"""Gains that differ by less are equal."""
SWEEPS = 100
BATCH, MOST = 16, 64
"""Candidates whose gain is computed together where a bound ranks them: at first, then twice as many up to a limit."""
SAME = 1e-7
"""Climbs whose gains differ by less ended at the same value."""

Result = TypeVar("Result")
Place = TypeVar("Place")


def in_parallel(
    task: Callable[[int, np.random.Generator], Result],
    count: int,
    rng: np.random.Generator,
    executor: Executor | None = None,
) -> tuple[Result, ...]:
    """task(0, stream), task(1, stream), ...; it must be picklable where the executor runs other processes."""
    streams = rng.spawn(count)
    if executor is None:
        return tuple(map(task, range(count), streams))
    return tuple(executor.map(task, range(count), streams))


@dataclass(frozen=True, eq=False)
class Search:
    """What a climb needs to know, here or on a worker.

    Climbs often meet the same plans: ``settled`` are plans, members ascending, with a member that has no better place.
    """

    space: Space
    criterion: Criterion
    rules: Rules
    settled: set[tuple[tuple[int, ...], int]] = field(default_factory=set)


@dataclass(frozen=True)
class Climb:
    """``members`` in no order."""

    members: tuple[int, ...]
    gain: float
    open: bool
    sweeps: float
    exchanges: int


def exchange(
    members: Sequence[Place], better: Callable[[Sequence[Place], int], Place | None], sweeps: int
) -> tuple[list[Place], int, int]:
    """Every member in turn moves to a ``better`` place, until none of them has one, or at most ``sweeps`` times.

    A place is a number of a candidate, or a point of a range.  Also how many members were tried, and how many moved.
    """
    out = list(members)
    idle = tried = moved = 0
    while idle < len(out) and tried < sweeps * len(out):
        j = tried % len(out)
        tried, idle = tried + 1, idle + 1
        place = better(out, j)
        if place is not None:
            out[j] = place
            idle, moved = 0, moved + 1
    return out, tried, moved


def grown(search: Search, members: Sequence[int], count: int) -> list[int]:
    """Members with the best candidates added one by one, up to ``count``.

    While a combination of parameters is open, candidates are chosen by their determinant: other criteria see no
    difference between two plans that both leave it open.
    """
    space, out = search.space, list(members)
    if len(out) >= count:
        return out
    known = space.known(out)
    slopes = _slopes(search, known)
    kept = Forms.at(space, known) if slopes is None else None
    while len(out) < count:
        criterion = Determinant() if known.open else search.criterion
        bounds = None if slopes is None else criterion.gain(known) + np.log1p(slopes)
        trials = every(space, known) if kept is None else kept.trials(known)
        c, _ = best(criterion, trials, search.rules.allowed(out, space.count), bounds)
        before, known = known, space.known([*out, c])
        out.append(c)
        slopes = _slopes(search, known)
        if slopes is not None:
            kept = None
        elif kept is not None:
            kept.move(known, step(before, space.block(c)))
    return out


def climbed(search: Search, members: Sequence[int]) -> Climb:
    """Exchanges until no member can do better; ``members`` is a full plan.

    A plan that leaves a combination open first climbs by its determinant, as in ``grown``.
    """
    space, criterion, out = search.space, search.criterion, list(members)
    if space.known(out).open and not isinstance(criterion, Determinant):
        out = list(climbed(Search(space, Determinant(), search.rules), out).members)
    known = space.known(out)
    gain, slopes = criterion.gain(known), _slopes(search, known)
    kept = Forms.at(space, known) if slopes is None else None

    def better(plan: Sequence[int], j: int) -> int | None:
        key = (tuple(sorted(plan)), plan[j])
        place = None if key in search.settled else moved(plan, j)
        if place is None:
            search.settled.add(key)
        return place

    def moved(plan: Sequence[int], j: int) -> int | None:
        nonlocal known, gain, slopes, kept
        others = [*plan[:j], *plan[j + 1 :]]
        allowed = search.rules.allowed(others, space.count)
        bounds = None if slopes is None else gain + np.log1p(np.maximum(slopes - slopes[plan[j]], 0.0))
        if bounds is not None and not np.any(bounds[allowed] > gain + ENOUGH / 2):
            return None
        without = space.known(others)
        left = None if kept is None else step(without, space.block(plan[j]))
        tried = every(space, without) if kept is None else kept.trials(without, left)
        c, new_gain = best(criterion, tried, allowed, bounds, gain, closed=without.open and not known.open)
        if new_gain < gain + ENOUGH:
            return None
        changed = space.known([*plan[:j], c, *plan[j + 1 :]])
        new = criterion.gain(changed)
        if new < gain + ENOUGH or (changed.open and not known.open):
            return None
        known, gain, slopes = changed, new, _slopes(search, changed)
        if slopes is not None:
            kept = None
        elif kept is not None:
            kept.move(changed, step(without, space.block(c)), left)
        return c

    out, tried, exchanges = exchange(out, better, SWEEPS)
    return Climb(tuple(out), gain, known.open, tried / len(out), exchanges)


def _slopes(search: Search, known: Knowledge) -> Array | None:
    """Of all candidates (M,); None where they bound nothing."""
    if known.open or not search.criterion.certifiable:
        return None
    return np.concatenate([search.criterion.slopes(known, rows) for rows in search.space.chunks])


def best(
    criterion: Criterion,
    chunks: Iterable[Trials],
    allowed: Bools,
    bounds: Array | None = None,
    floor: float = -np.inf,
    closed: bool = False,
) -> tuple[int, float]:
    """The candidate with the largest gain, the first of equals; gains up to ``floor`` are of no interest.

    ``bounds`` (M,) are upper bounds of the gains where they are known.  ``closed`` asks for plans that determine every
    combination.
    """
    top, where = -np.inf, int(np.argmax(allowed))
    for trials in chunks:
        may = allowed[trials.numbers] & trials.closed if closed else allowed[trials.numbers]
        most = criterion.ceilings(trials) if bounds is None else bounds[trials.numbers]
        gains = _gains(criterion, trials, may, most, max(top, floor))
        i = int(np.argmax(gains))
        if gains[i] > top:
            top, where = float(gains[i]), int(trials.numbers[i])
    return where, top


def _gains(criterion: Criterion, trials: Trials, may: Bools, bounds: Array | None, floor: float) -> Array:
    """Gains (n,) where they can matter, -inf elsewhere."""
    if bounds is None:
        return np.where(may, criterion.gains(trials), -np.inf)
    out = np.full(len(bounds), -np.inf)
    able = np.flatnonzero(may & (bounds > floor))
    order = able[np.argsort(-bounds[able], kind="stable")]
    first, size = 0, BATCH
    while first < len(order):
        index = order[first : first + size]
        index = np.sort(index[bounds[index] > floor])
        if not len(index):
            break
        out[index] = criterion.gains(trials.picked(index))
        floor = max(floor, float(out[index].max()))
        first, size = first + size, min(2 * size, MOST)
    return out


@dataclass(frozen=True, eq=False)
class Selection:
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


class SearchOptions(TypedDict, total=False):
    """What may be said to every search."""

    restarts: int
    executor: Executor | None
    space: Space | None


def search(
    candidates: CandidateRows,
    criterion: Criterion,
    rules: Rules,
    *,
    rng: np.random.Generator,
    restarts: int = 10,
    executor: Executor | None = None,
    space: Space | None = None,
) -> Selection:
    """The best plan found; ``space`` may be given where the same candidates were searched before."""
    if restarts < 1:
        raise RangeError(f"{restarts} restarts: give at least 1; 10 is usual", value=restarts)
    check(candidates, criterion, rules)
    at = space_of(candidates) if space is None else space
    task = partial(_climb, Search(at, criterion, rules))
    return best_climb(candidates, criterion, in_parallel(task, restarts, rng, executor), at)


def check(candidates: CandidateRows, criterion: Criterion, rules: Rules) -> None:
    m, k, p = candidates.blocks.shape
    criterion.check(p)
    rules.check(m)
    equations = rules.count * k + len(candidates.prior_rows)
    if equations < p:
        raise TooFewError(
            f"{rules.count} measurements of {k} rows give {equations} equations for {p} parameters, priors included; "
            "plan more or seek fewer",
            value=(rules.count, k, equations),
        )


def best_climb(candidates: CandidateRows, criterion: Criterion, climbs: tuple[Climb, ...], space: Space) -> Selection:
    """The best of some climbs, the first of equals."""
    able = [c for c in climbs if not c.open] or climbs
    top = max(c.gain for c in able)
    best = next(c for c in able if c.gain > top - SAME)
    chosen = tuple(sorted(best.members))
    known = known_by_rows(candidates, chosen, space.coordinates)
    return Selection(chosen, criterion.gain(known), criterion.value(known), known, climbs)


def _climb(search: Search, number: int, rng: np.random.Generator) -> Climb:
    """The first climb starts from the greedy plan, the others from a few members drawn and then greedily."""
    rules, members = search.rules, list[int]()
    if number:
        for _ in range(int(rng.integers(1, rules.count + 1))):
            members.append(int(rng.choice(np.flatnonzero(rules.allowed(members, search.space.count)))))
    return climbed(search, grown(search, members, rules.count))
