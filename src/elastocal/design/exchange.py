"""One climb to a good plan: greedy start, then every member in turn moves to its best place (Fedorov, Cook-Nachtsheim).

    grow:      add the candidate with the largest gain until the plan is full
    exchange:  take a member out, put the best candidate in if the gain grows; until no member can do better

The end is a plan that no exchange of one member improves.  Every candidate is tried at once by rank-k updates
(``trials``, ``bank``); a change is taken only after its gain has been computed anew from the members.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from elastocal.design.bank import Bank, step
from elastocal.design.criteria.criterion import Criterion
from elastocal.design.criteria.d import Determinant
from elastocal.design.rules import Rules
from elastocal.design.space import Space
from elastocal.design.trials import Trials
from elastocal.spatial.entries import Array, Bools

ENOUGH = 1e-9
"""Gains that differ by less are equal."""
SWEEPS = 100
BATCH = 64
"""Candidates whose gain is computed together where a bound ranks them."""


@dataclass(frozen=True, eq=False)
class Search:
    """What a climb needs to know, here or on a worker."""

    space: Space
    criterion: Criterion
    rules: Rules


@dataclass(frozen=True)
class Climb:
    """``members`` in no order; ``drift`` is the largest error of the updated matrices."""

    members: tuple[int, ...]
    gain: float
    open: bool
    sweeps: float
    exchanges: int
    drift: float
    renewed: int


def grown(search: Search, members: Sequence[int], count: int) -> list[int]:
    """Members with the best candidates added one by one, up to ``count``.

    While a combination of parameters is open, candidates are chosen by their determinant: other criteria see no
    difference between two plans that both leave it open.
    """
    space, out = search.space, list(members)
    if len(out) >= count:
        return out
    known = space.known(out)
    bank = Bank.at(space, known)
    while len(out) < count:
        criterion = Determinant() if known.open else search.criterion
        allowed = search.rules.allowed(out, space.count)
        c, _ = best(criterion, bank.trials(known), allowed)
        joined = step(known, space.block(c))
        out.append(c)
        known = space.known(out)
        bank.move(known, joined)
    return out


def climbed(search: Search, members: Sequence[int]) -> Climb:
    """Exchanges until no member can do better; ``members`` is a full plan.

    A plan that leaves a combination open first climbs by its determinant, as in ``grown``.
    """
    space, criterion, out = search.space, search.criterion, list(members)
    if space.known(out).open and not isinstance(criterion, Determinant):
        out = list(climbed(replace(search, criterion=Determinant()), out).members)
    known = space.known(out)
    gain = criterion.gain(known)
    bank = Bank.at(space, known)
    idle = tried = exchanges = 0
    while idle < len(out) and tried < SWEEPS * len(out):
        j = tried % len(out)
        tried, idle = tried + 1, idle + 1
        others = out[:j] + out[j + 1 :]
        without = space.known(others)
        left = step(without, space.block(out[j]))
        allowed = search.rules.allowed(others, space.count)
        c, found = best(criterion, bank.trials(without, left), allowed, gain, closed=without.open and not known.open)
        if found < gain + ENOUGH:
            continue
        trial = [*out[:j], c, *out[j + 1 :]]
        changed = space.known(trial)
        new = criterion.gain(changed)
        if new < gain + ENOUGH or (changed.open and not known.open):
            continue
        bank.move(changed, step(without, space.block(c)), left)
        out, known, gain = trial, changed, new
        idle, exchanges = 0, exchanges + 1
    return Climb(tuple(out), gain, known.open, tried / len(out), exchanges, bank.drift, bank.renewed)


def best(
    criterion: Criterion, chunks: Iterable[Trials], allowed: Bools, floor: float = -np.inf, closed: bool = False
) -> tuple[int, float]:
    """The candidate with the largest gain, the first of equals; gains up to ``floor`` are of no interest.

    ``closed`` asks for plans that determine every combination.
    """
    top, where, start = -np.inf, int(np.argmax(allowed)), 0
    for trials in chunks:
        n = trials.rows.shape[2]
        may = allowed[start : start + n]
        may = may & trials.closed if closed else may
        gains = _gains(criterion, trials, may, max(top, floor))
        i = int(np.argmax(gains))
        if gains[i] > top:
            top, where = float(gains[i]), start + i
        start += n
    return where, top


def _gains(criterion: Criterion, trials: Trials, may: Bools, floor: float) -> Array:
    """Gains (n,) where they can matter, -inf elsewhere."""
    bounds = criterion.ceilings(trials)
    if bounds is None:
        return np.where(may, criterion.gains(trials), -np.inf)
    bounds = np.where(may, bounds, -np.inf)
    out = np.full(len(bounds), -np.inf)
    order = np.argsort(-bounds, kind="stable")
    for i in range(0, len(order), BATCH):
        index = order[i : i + BATCH]
        if bounds[index[0]] <= floor:
            break
        index = np.sort(index[bounds[index] > floor])
        out[index] = criterion.gains(trials.picked(index))
        floor = max(floor, float(out[index].max()))
    return out
