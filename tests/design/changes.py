"""Criteria of the package asked for every change of one member: each candidate added, each taken out or exchanged."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from elastocal.design.criteria.criterion import Criterion
from elastocal.design.information import Space
from elastocal.design.knowledge import Forms, step
from elastocal.spatial.entries import Array


def gains_of_adding(space: Space, criterion: Criterion, members: Sequence[int]) -> Array:
    """Gain (M,) of the plan with each candidate added."""
    known = space.known(members)
    return np.concatenate([criterion.gains(t) for t in Forms.at(space, known).trials(known)])


def gains_of_removing(space: Space, criterion: Criterion, members: Sequence[int]) -> Array:
    """Gain (m,) of the plan without each of its members."""
    rest = ([*members[:j], *members[j + 1 :]] for j in range(len(members)))
    return np.array([criterion.gain(space.known(r)) for r in rest])


def gains_of_exchanging(space: Space, criterion: Criterion, members: Sequence[int]) -> Array:
    """Gain (m, M) of the plan with each member exchanged for each candidate."""
    kept = Forms.at(space, space.known(members))
    out = np.empty((len(members), space.count))
    for j, c in enumerate(members):
        without = space.known([*members[:j], *members[j + 1 :]])
        left = step(without, space.block(c))
        out[j] = np.concatenate([criterion.gains(t) for t in kept.trials(without, left)])
    return out
