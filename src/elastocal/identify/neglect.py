"""M3, one at a time: the parameter with the smallest ratio of value to standard deviation is held, all others fitted
again, until every one stands out (003 section 4.3).  Dropping all at once loses good ones.

A parameter falls only where the readings tell it neither from zero nor from what it would be held at: the ratio is
max(|x|, |x - held|) / sd, the paper's where it is held at zero.  Parameters that stay together fall together, by

    max(min_i |x_i| / sd_i,  sqrt((x - held)^T C^-1 (x - held))).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elastocal.errors import InputError
from elastocal.identify.begin import PLAIN, Begin
from elastocal.identify.dropped import Dropped, by_ratio
from elastocal.identify.estimate import estimate
from elastocal.identify.fit import Fit
from elastocal.measure.campaign import Campaign
from elastocal.model.robot import Robot
from elastocal.solve.loss import Loss
from elastocal.spatial.entries import Array


def neglected(
    model: Robot, campaign: Campaign, whole: Fit, threshold: float, loss: Loss, begin: Begin = PLAIN
) -> tuple[Fit, tuple[Dropped, ...]]:
    """The final fit and what fell: first on the linear problem, then, where that is not exact, fit by fit.

    Held is what the model says; what the search began with is forgotten.
    """
    fit, fallen, done = whole, list[Dropped](), False
    while not done:
        kept, gone, done = _conditioned(model, fit, threshold, begin)
        fallen += gone
        fit = estimate(begin.model(model, kept), campaign, kept, loss)
    while (weak := _weakest(_State.of(model, fit), threshold, begin)) is not None:
        fallen += weak.dropped
        kept = [n for n in fit.names if n not in weak.names]
        fit = estimate(begin.model(model, kept), campaign, kept, loss)
    return fit, tuple(fallen)


@dataclass(frozen=True, eq=False)
class _State:
    """Estimates with their covariance (parameters first, ``count`` of them) and what they would be held at."""

    names: tuple[str, ...]
    count: int
    values: Array
    covariance: Array
    held: Array

    @classmethod
    def of(cls, model: Robot, fit: Fit) -> _State:
        p = fit.problem.parameters
        held = model.parameters.values[[model.parameters.index(n) for n in fit.names[:p]]]
        return cls(fit.names, p, fit.values, fit.covariance, held)

    def without(self, places: Sequence[int]) -> _State:
        """What a refit of the linear problem gives with some held: x - C_j C_jj^-1 (x_j - held)."""
        x, c, j = self.values, self.covariance, list(places)
        gain = np.linalg.solve(c[np.ix_(j, j)], c[j]).T
        rest = [i for i in range(len(x)) if i not in set(j)]
        x, c = x - gain @ (x[j] - self.held[j]), c - gain @ c[j]
        left = [i for i in rest if i < self.count]
        return _State(
            tuple(self.names[i] for i in rest), len(left), x[rest], c[np.ix_(rest, rest)], self.held[left]
        )  # fmt: skip


@dataclass(frozen=True)
class _Weak:
    """Parameters that fall next."""

    places: tuple[int, ...]
    names: tuple[str, ...]
    dropped: list[Dropped]


def _weakest(state: _State, threshold: float, begin: Begin) -> _Weak | None:
    """The unit with the smallest ratio, if that is below the threshold."""
    sd = np.sqrt(np.diag(state.covariance)[: state.count])
    worst: tuple[float, float, list[int]] | None = None
    for unit in begin.units(state.names[: state.count]):
        off = state.values[unit] - state.held[unit]
        distance = float(np.sqrt(off @ np.linalg.solve(state.covariance[np.ix_(unit, unit)], off)))
        ratio = max(float(np.min(np.abs(state.values[unit]) / sd[unit])), distance)
        if worst is None or ratio < worst[0]:
            worst = ratio, distance, unit
    if worst is None or not worst[0] < threshold:
        return None
    _, distance, unit = worst
    names = tuple(state.names[i] for i in unit)
    fallen = by_ratio(names, state.values[unit], sd[unit], state.held[unit], distance, threshold)
    if len(unit) == state.count:
        raise InputError(_NOTHING.format(threshold=threshold, name=names[-1], ratio=fallen[-1].ratio))
    return _Weak(tuple(unit), names, fallen)


def _conditioned(model: Robot, whole: Fit, threshold: float, begin: Begin) -> tuple[list[str], list[Dropped], bool]:
    """What falls on the linear problem, where conditioning is the refit; False where it should be solved again.

    That is after several fell together, which may be held far from where the problem was linearised.
    """
    state, out = _State.of(model, whole), list[Dropped]()
    if not state.count:
        raise InputError(
            "the readings tell nothing of what is sought beside the nuisances; load the arm, or seek others"
        )
    while (weak := _weakest(state, threshold, begin)) is not None:
        out += weak.dropped
        state = state.without(weak.places)
        if len(weak.places) > 1:
            return list(state.names), out, False
    return list(state.names), out, True


_NOTHING = (
    "no parameter stands out of the noise by a factor of {threshold:g} (the last was {name} with {ratio:.2g}); "
    "raise the load, measure more poses, or lower the threshold"
)
