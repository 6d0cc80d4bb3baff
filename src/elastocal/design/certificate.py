"""How far a plan can be from the best one: an upper bound from the convex relaxation.

Let candidates have weights w_c instead of whole numbers.  G = exp(gain) is concave in w, so for any weights and every
plan v that obeys the rules, with slopes g_c = d gain / d w_c,

    gain(v) <= gain(w) + log(1 + max_v sum_c g_c v_c - sum_c g_c w_c).

For D with repeats and without a prior this is the equivalence theorem, gain(v) <= gain(w) + log(m max_c tr(M^-1 A_c^T
A_c) / p).  The bound holds for any w, and at the best weights it is their own gain.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.design.candidates import Candidates
from elastocal.design.criteria.criterion import Criterion
from elastocal.design.relaxation import Relaxation
from elastocal.design.rules import Rules
from elastocal.design.search import Plan, check
from elastocal.design.space import Space, space_of
from elastocal.errors import InputError
from elastocal.spatial.entries import Array

ROUNDS = 30


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

    @property
    def gap(self) -> float:
        """What ending the algorithm costs the bound; the rest is between weights and whole numbers."""
        return self.bound - self.relaxed


def certify(
    candidates: Candidates,
    criterion: Criterion,
    rules: Rules,
    plan: Plan,
    *,
    tolerance: float = 1e-4,
    space: Space | None = None,
) -> Certificate:
    """Bound the gain of every plan under ``rules``; ends where the gap is below ``tolerance``."""
    check(candidates, criterion, rules)
    if not criterion.certifiable:
        raise InputError(
            f"there is no certificate for the criterion {criterion.kind!r}; d, a and test_pose (mean) have one"
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
