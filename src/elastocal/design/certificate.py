"""How far a plan can be from the best one: an upper bound from the convex relaxation.

Let candidates have weights w_c instead of whole numbers:

    max gain(P + sum_c w_c A_c^T A_c),    w_c >= 0 (w_c <= 1 without repeats),  the sum of every group its quota

G = exp(gain) is concave in w, so for any weights and every plan v that obeys the rules, with slopes
g_c = d gain / d w_c,

    gain(v) <= gain(w) + log(1 + max_v sum_c g_c v_c - sum_c g_c w_c).

For D with repeats and without a prior this is the equivalence theorem, gain(v) <= gain(w) + log(m max_c tr(M^-1 A_c^T
A_c) / p).  The bound holds for any w, and at the best weights it is their own gain.

The multiplicative algorithm climbs to them.  At the best weights the slopes of one group are equal wherever
0 < w_c < 1, larger at the limit 1 and smaller at 0.  So weights are multiplied by powers of their slopes,

    w_c <- t w_c (g_c / mean g)^a,    t (and the limit) such that the sums hold,

with a larger a while the gain grows and a smaller one where it does not.  For D and a = 1 every step climbs, because
det M is a polynomial in w with positive coefficients; elsewhere short ones do.  Few candidates carry weight, so it runs
on those; candidates whose slopes are too large for a weight of zero join from time to time.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from elastocal.design.criteria.criterion import Criterion
from elastocal.design.exchange import Selection, check
from elastocal.design.information import CandidateRows, Space, space_of
from elastocal.design.knowledge import Knowledge, known
from elastocal.design.rules import Rules
from elastocal.errors import UnsupportedError
from elastocal.spatial.entries import Array, Ints
from elastocal.values import dataclass

ROUNDS = 30

ACTIVE = 400
"""Candidates that carry weight at first."""
STEPS, SPELL = 100, 10
"""Of one round, and after how many of them candidates without weight are dropped."""
SHORTEST = 0.01
"""Where no step of this power climbs, rounding is all that is left."""
LEAST = 1e-7
"""Weights below this part of the largest are dropped; the largest factor of one step is its inverse."""


@dataclass(frozen=True, eq=False)
class Relaxation:
    """Weights (M,) of the candidates in place of a plan."""

    space: Space
    criterion: Criterion
    rules: Rules

    @cached_property
    def places(self) -> tuple[tuple[Ints, int], ...]:
        """Candidates of every group that may carry weight, and the sum of their weights."""
        return self.rules.places(self.space.count)

    @property
    def limit(self) -> float:
        return np.inf if self.rules.repeats else 1.0

    def start(self) -> Array:
        """Equal weights on the candidates that tell most at equal weights of all."""
        weights = np.zeros(self.space.count)
        for at, total in self.places:
            weights[at] = total / len(at)
        slopes = self.slopes(self.known(weights))
        for at, total in self.places:
            least = np.sort(slopes[at])[::-1][: max(ACTIVE, 2 * total)][-1]
            weights[at] = np.where(slopes[at] >= least, 1.0, 0.0)
        return self._held(weights)

    def known(self, weights: Array) -> Knowledge:
        at = np.flatnonzero(weights > 0)
        weighted = (self.space.rows(at) * np.sqrt(weights[at])).reshape(len(self.space.prior), -1)
        return known(self.space.prior + weighted @ weighted.T, self.space.coordinates)

    def slopes(self, state: Knowledge) -> Array:
        """Of all candidates (M,)."""
        return np.concatenate([self.criterion.slopes(state, chunk) for chunk in self.space.chunks])

    def improved(self, weights: Array) -> Array:
        """Some steps on the candidates that carry weight; those whose weight vanishes are dropped on the way."""
        out, length = weights, 1.0
        for _ in range(STEPS // SPELL):
            at = np.flatnonzero(out > 0)
            few, length = self._among(at)._climbed(out[at], length)
            out = np.zeros(len(weights))
            out[at] = few
            out = self._held(np.where(out < LEAST * out.max(initial=0.0), 0.0, out))
            if length < SHORTEST:
                break
        return out

    def _among(self, at: Ints) -> Relaxation:
        """Of some candidates alone, numbers ascending."""
        rules = self.rules if self.rules.group is None else replace(self.rules, group=self.rules.group[at])
        return Relaxation(replace(self.space, chunks=(self.space.rows(at),)), self.criterion, rules)

    def _climbed(self, weights: Array, length: float) -> tuple[Array, float]:
        """Steps on all candidates, the first of power ``length``, and the power of the next."""
        state = self.known(weights)
        gain = self.criterion.gain(state)
        for _ in range(SPELL):
            trial = self._held(weights * self._factors(weights, self.slopes(state), length))
            then = self.known(trial)
            new = self.criterion.gain(then)
            if new > gain:
                weights, state, gain, length = trial, then, new, 1.5 * length
            elif length < SHORTEST:
                break
            else:
                length /= 4
        return weights, length

    def widened(self, weights: Array, slopes: Array) -> Array:
        """With a little weight on candidates that had none, but whose slopes are above the mean of those that have."""
        out = weights.copy()
        for at, total in self.places:
            idle = at[(weights[at] == 0) & (slopes[at] > self._level(weights[at], slopes[at]))]
            new = idle[np.argsort(-slopes[idle], kind="stable")[: ACTIVE // 4]]
            out[new] = 0.01 * total / max(len(new), 1)
        return self._held(out)

    def _level(self, weights: Array, slopes: Array) -> float:
        """Mean slope of a group where the weights are between their limits; any scale where none are."""
        inner = np.where(weights < self.limit, weights, 0.0)
        level = float(inner @ slopes / inner.sum()) if inner.any() else float(slopes.max())
        return level if level > 0 else 1.0

    def _factors(self, weights: Array, slopes: Array, power: float) -> Array:
        out = np.zeros(len(weights))
        for at, _ in self.places:
            ratio = slopes[at] / self._level(weights[at], slopes[at])
            log = power * np.log(np.clip(ratio, LEAST, 1 / LEAST))
            out[at] = np.exp(np.clip(log, np.log(LEAST), -np.log(LEAST)))
        return out

    def _held(self, weights: Array) -> Array:
        out = np.zeros(len(weights))
        for at, total in self.places:
            out[at] = capped_weights(weights[at], total, self.limit)
        return out


def capped_weights(weights: Array, total: int, limit: float) -> Array:
    """min(limit, t w) with t such that the sum is ``total``: the largest j reach the limit, the others share the rest;
    where there are too few, all do."""
    out = np.asarray(weights * (total / weights.sum()))
    if not np.any(out > limit):
        return out
    falling = np.sort(weights)[::-1]
    rest, others = total - limit * np.arange(len(falling)), np.cumsum(falling[::-1])[::-1]
    fits = falling * rest <= limit * others
    j = int(np.argmax(fits))
    if not (fits[j] and falling[j] > 0):
        return np.where(weights > 0, limit, 0.0)
    return np.asarray(np.minimum(limit, weights * (rest[j] / others[j])))


@dataclass(frozen=True, eq=False)
class Certificate:
    """No plan that obeys the rules has a gain above ``bound``; ``relaxed`` is that of the ``weights`` (M,) found."""

    gain: float
    bound: float
    relaxed: float
    weights: Array

    @property
    def efficiency(self) -> float:
        """The plan is at least this efficient: for D, the root of order s of the ratio of determinants.

        Without a prior, the best plan would need at least this part of the readings for the same gain.
        """
        return float(np.exp(min(0.0, self.gain - self.bound)))


def certify(
    candidates: CandidateRows,
    criterion: Criterion,
    rules: Rules,
    plan: Selection,
    *,
    tolerance: float = 1e-4,
    space: Space | None = None,
) -> Certificate:
    """Bound the gain of every plan under ``rules``; ends where the gap is below ``tolerance``."""
    check(candidates, criterion, rules)
    if not criterion.certifiable:
        raise UnsupportedError(
            f"there is no certificate for the criterion {criterion.kind!r}; d, a and test_pose (mean) have one",
            value=criterion.kind,
        )
    relaxation = Relaxation(space_of(candidates) if space is None else space, criterion, rules)
    bound, relaxed = np.inf, -np.inf
    weights = best = relaxation.start()
    for _ in range(ROUNDS):
        weights = relaxation.improved(weights)
        known = relaxation.known(weights)
        gain, slopes = criterion.gain(known), relaxation.slopes(known)
        room = max(0.0, rules.most(slopes) - float(weights @ slopes))
        bound = min(bound, gain + float(np.log1p(room)))
        if gain > relaxed:
            relaxed, best = gain, weights
        if bound - relaxed < tolerance:
            break
        weights = relaxation.widened(weights, slopes)
    return Certificate(plan.gain, bound, relaxed, best)
