"""Parameters that are not estimated: at which stage they fell, why, and what they are fixed at; and M3 itself.

M3, one at a time: the parameter with the smallest ratio of value to standard deviation is fixed, all others fitted
again, until every one is significant (003 section 4.3).  Dropping all at once loses good ones.

A parameter falls only where the readings tell it neither from zero nor from what it would be fixed at: the ratio is
max(|x|, |x - fixed|) / sd, the paper's where it is fixed at zero.  Parameters that stay together fall together, by

    max(min_i |x_i| / sd_i,  sqrt((x - fixed)^T C^-1 (x - fixed))).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from elastocal.errors import InputError
from elastocal.measure.measured import Measured
from elastocal.model.descriptions import Description
from elastocal.model.robot import Robot
from elastocal.reduction.first_fit import NO_START, StartValues, Trial
from elastocal.reduction.fit import Fit, estimate
from elastocal.reduction.problem import ABSURD
from elastocal.solve.identifiability import Group
from elastocal.solve.summary import Loss
from elastocal.spatial.entries import Array
from elastocal.values import dataclass


@dataclass(frozen=True)
class Dropped:
    """A parameter that is not estimated: where it fell, why, with which numbers, and what it is fixed at."""

    name: str
    stage: str
    reason: str
    value: float
    sd: float
    ratio: float
    fixed_at: float


def by_description(description: Description, name: str) -> Dropped:
    """Taken away on physical grounds (M1, M2)."""
    return Dropped(name, description.title, description.reason(name), np.nan, np.nan, np.nan, np.nan)


def by_readings(model: Robot, trial: Trial) -> list[Dropped]:
    """What the readings cannot see alone or do not resolve, and what means nothing without another that is fixed."""
    table, groups = model.parameters, trial.groups
    kept = {groups.names[i] for i in groups.kept}
    absorbed = {n: c.kept for s in groups.subgroups for c in s.combinations for n, _ in c.absorbed}
    why = list[tuple[str, str, str]]()
    for name, group in zip(groups.names, groups.group, strict=True):
        if group is Group.UNOBSERVABLE:
            why.append((name, "algebraic", f"{group.value}: unobservable, no reading depends on it"))
        elif name not in kept:
            message = f"{group.value}: not separately identifiable from {absorbed[name]}"
            why.append((name, "algebraic", message))
    for name, size in trial.hidden.items():
        most = f"{ABSURD * table[name].scale:g} {table[name].unit}"
        message = f"even {most} would show by only {size:.2g} of the noise beyond what others explain"
        why.append((name, "resolved", message))
    for name, other in trial.unpaired.items():
        message = f"{other} is not determined, and neither means anything beside a guess of the other"
        why.append((name, "resolved", message))
    held = {name: table[name].value if name in table else 0.0 for name, _, _ in why}
    return [Dropped(name, stage, message, np.nan, np.nan, np.nan, held[name]) for name, stage, message in why]


def by_ratio(
    names: Sequence[str], values: Array, sd: Array, held: Array, distance: float, threshold: float
) -> list[Dropped]:
    """What is not significant (M3): one parameter, or those that are fixed only together.

    ``distance`` is how far the estimates are from the values held, in standard deviations.
    """
    ratios = np.abs(values) / sd
    away = f"{distance:.2g} standard deviations"
    if len(names) == 1:
        also = f", and it is only {away} from the value of the robot file" if held[0] else ""
        why = f"value over standard deviation {ratios[0]:.2g} is below {threshold:g}{also}"
    else:
        weak = int(np.argmin(ratios))
        why = (
            f"value over standard deviation of {names[weak]}, {ratios[weak]:.2g}, is below {threshold:g}, and "
            f"{' and '.join(names)} are only {away} from what they are fixed at; none means anything beside a guess "
            "of the other, so they are fixed together"
        )
    rows = zip(names, values, sd, ratios, held, strict=True)
    return [Dropped(n, "M3", why, float(x), float(s), float(r), float(h)) for n, x, s, r, h in rows]


def neglected(
    model: Robot, campaign: Measured, whole: Fit, threshold: float, loss: Loss, start: StartValues = NO_START
) -> tuple[Fit, tuple[Dropped, ...]]:
    """The final fit and what fell: first on the linear problem, then, where that is not exact, fit by fit.

    Held is what the model says; what the search began with is forgotten.
    """
    fit, fallen, done = whole, list[Dropped](), False
    while not done:
        kept, gone, done = _conditioned(model, fit, threshold, start)
        fallen += gone
        fit = estimate(start.model(model, kept), campaign, kept, loss)
    while (weak := _weakest(_State.of(model, fit), threshold, start)) is not None:
        fallen += weak.dropped
        kept = [n for n in fit.names if n not in weak.names]
        fit = estimate(start.model(model, kept), campaign, kept, loss)
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
        return cls(fit.names, p, fit.values, fit.noise_covariance, held)

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


def _weakest(state: _State, threshold: float, start: StartValues) -> _Weak | None:
    """The unit with the smallest ratio, if that is below the threshold."""
    sd = np.sqrt(np.diag(state.covariance)[: state.count])
    worst: tuple[float, float, list[int]] | None = None
    for unit in start.units(state.names[: state.count]):
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
        raise InputError(
            f"no parameter is significant: value over standard deviation is below {threshold:g} (the last was "
            f"{names[-1]} with {fallen[-1].ratio:.2g}); raise the load, measure more poses, or lower the threshold",
            code="nothing-significant", value=names[-1],
        )  # fmt: skip
    return _Weak(tuple(unit), names, fallen)


def _conditioned(
    model: Robot, whole: Fit, threshold: float, start: StartValues
) -> tuple[list[str], list[Dropped], bool]:
    """What falls on the linear problem, where conditioning is the refit; False where it should be solved again.

    That is after several fell together, which may be held far from where the problem was linearised.
    """
    state, out = _State.of(model, whole), list[Dropped]()
    if not state.count:
        raise InputError(
            "the readings tell nothing of what is sought beside the nuisances; load the arm, or seek others",
            code="rank",
        )
    while (weak := _weakest(state, threshold, start)) is not None:
        out += weak.dropped
        state = state.without(weak.places)
        if len(weak.places) > 1:
            return list(state.names), out, False
    return list(state.names), out, True
