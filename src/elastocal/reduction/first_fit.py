"""A first fit of everything that is sought: where it starts, what the readings resolve, what does not belong.

start      values that the search starts with; what is not fitted keeps the model's value all the same.
resolved   a parameter of which even a thousand times what matters would stay below the noise is fixed: what only
           differences far below the noise tell apart would spoil all the others.
together   parameters that mean nothing one without the other are all fitted or all fixed.
screened   outliers are found before anything is judged by the scatter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace

import numpy as np

from elastocal.errors import ImplausibleError, InputError
from elastocal.measure.measured import Measured
from elastocal.model.robot import Robot
from elastocal.reduction.diagnostics import Outlier, find_outliers
from elastocal.reduction.fit import Fit, check_equations, groups_of, linear_fit
from elastocal.reduction.problem import ABSURD, Problem, Weights, linearise, weigh, with_nuisances
from elastocal.solve.identifiability import ABOVE, BELOW, Groups, resolved_columns
from elastocal.solve.summary import Loss
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

ROUNDS, MOST, FEW = 3, 0.05, 3
HOPELESS = 10.0
"""Standard deviations, by the scatter of the others, of what is left out of a campaign that does not fit without it."""
OFF = 0.3
"""Share of a deflection that it is off by as well."""


@dataclass(frozen=True)
class StartValues:
    """``values``: what the search starts with, by name; what is not fitted keeps the model's value all the same.

    ``together``: names of parameters that are fitted or fixed only together.
    """

    values: Mapping[str, float] = field(default_factory=dict)
    together: tuple[tuple[str, ...], ...] = ()

    def model(self, model: Robot, names: Sequence[str]) -> Robot:
        """The model with the start values of ``names``."""
        values = {n: v for n, v in self.values.items() if n in set(names)}
        return model.with_estimates(values) if values else model

    def units(self, names: Sequence[str]) -> list[list[int]]:
        """Places of ``names`` that stay together, in order of the first of each."""
        at = {n: i for i, n in enumerate(names)}
        joined = [[at[n] for n in unit] for unit in self.together if all(n in at for n in unit)]
        taken = {i for unit in joined for i in unit}
        return sorted([*joined, *([i] for i in range(len(names)) if i not in taken)])

    def unpaired(self, sought: Sequence[str], kept: Sequence[str]) -> dict[str, str]:
        """Those of ``kept`` that were sought with another, which is not kept; and that other."""
        out: dict[str, str] = {}
        for unit in self.together:
            lost = [n for n in unit if n in set(sought) and n not in set(kept)]
            out |= {n: lost[0] for n in unit if lost and n in set(kept)}
        return out


NO_START = StartValues()


@dataclass(frozen=True)
class ReductionRules:
    """How to reduce: thresholds of the parameter-to-noise ratio, whether M3 runs, the loss of the final fit, whether
    outliers are left out before anything is judged by their scatter, and where the search starts."""

    thresholds: tuple[float, float] = (ABOVE, BELOW)
    statistical: bool = True
    loss: Loss = "linear"
    leave_out: bool = True
    start: StartValues = NO_START

    def __post_init__(self) -> None:
        above, below = self.thresholds
        if not above > below > 0:
            raise InputError(
                f"thresholds {above:g} and {below:g}: upper above lower, both positive",
                code="thresholds",
                value=(above, below),
            )


USUAL = ReductionRules()


@dataclass(frozen=True, eq=False)
class Trial:
    """``hidden`` are the parameters that the readings do not resolve, with the effect of an absurd change; ``unpaired``
    those that are fixed because another one is, without which they mean nothing."""

    groups: Groups
    hidden: dict[str, float]
    fit: Fit
    unpaired: dict[str, str] = field(default_factory=dict)


def first_fit(
    campaign: Measured, model: Robot, names: Sequence[str], weights: Weights, start: StartValues = NO_START
) -> Trial:
    """Groups at the values that the search starts with, and one linear step in the kept basis."""
    there = start.model(model, names)
    problem = with_nuisances(campaign, there, names, weights)
    check_equations(problem)
    structure = campaign.measurement.structure(there, names)
    plain = problem
    if structure is not campaign.measurement:
        plain = with_nuisances(replace(campaign, measurement=structure), there, names, weights)
    groups = groups_of(plain, model.joint_parameters)
    joints = set(model.joint_parameters)
    count = len(names)
    order = sorted(range(len(groups.names)), key=lambda i: (i < count, groups.names[i] not in joints, i))
    seen, hidden = resolved_columns(plain.reduced.triangle, _sizes(problem), groups.kept, order)
    kept = [groups.names[i] for i in seen]
    unpaired = start.unpaired(names, kept)
    kept = [n for n in kept if n not in unpaired]
    if any(n in start.values for n in set(names) - set(kept)):
        there = start.model(model, kept)
        problem = linearise(campaign, there, kept, weights)
    fit = _linearised_again(linear_fit(there, campaign, problem, kept))
    return Trial(groups, {groups.names[i]: size for i, size in hidden.items()}, fit, unpaired)


def _sizes(problem: Problem) -> Array:
    """A change of every parameter beyond all that is plausible; nuisances are always seen."""
    lengths = np.linalg.norm(problem.matrix[:, problem.parameters :], axis=0)
    return np.concatenate([ABSURD * problem.scales[: problem.parameters], 1e6 / np.where(lengths > 0, lengths, 1.0)])


def _linearised_again(first: Fit) -> Fit:
    """Linearised again at the first estimate where readings are not affine; the first where that has no states."""
    campaign = first.campaign
    if campaign.measurement.affine:
        return first
    p = first.problem.parameters
    u = dict(zip(first.problem.nuisance, (float(v) for v in first.values[p:]), strict=True))
    problem = linearise(campaign, first.model, first.names, first.problem.weights, u)
    try:
        again = linear_fit(first.model, campaign, problem, first.names)
    except InputError:  # so far out that the columns depend on each other
        return first
    return first if np.any(first.problem.used & ~problem.used) or not again.scatter < first.scatter else again


def without_outliers(
    campaign: Measured, model: Robot, names: Sequence[str], at: Robot, start: StartValues = NO_START
) -> tuple[Measured, tuple[Outlier, ...]]:
    """The campaign without outliers, found round by round, of at most one reading in twenty (or three).

    The weights are taken at the model ``at`` and, where they depend on the parameters, once more at the first fit:
    with those of a far too stiff start an uncertain load would look like outliers.  Where the others do not fit either,
    the model is wrong before readings are: only what is ``HOPELESS`` is left out then.  More than that many are no
    outliers: all stay, and the misfit is told.  More than that many beside a good fit are refused.
    """
    whole, excluded = campaign, list[Outlier]()
    for _ in range(ROUNDS):
        trial = first_fit(campaign, model, names, weigh(campaign, at), start)
        if any(s.bends for s in campaign.scattering):
            again = weigh(campaign, trial.fit.model)
            if not np.any(trial.fit.problem.weights.live & ~again.live):  # a step too far has no states, no weights
                trial = first_fit(campaign, model, names, again, start)
        outliers = find_outliers(trial.fit)
        rest = campaign.leaving_out((s.reading, s.row) for s in outliers)
        unfit = bool(outliers) and first_fit(rest, model, names, trial.fit.problem.weights, start).fit.excess > 0
        outliers = _hopeless(campaign, outliers) if unfit else outliers
        if not outliers:
            break
        excluded += outliers
        if len({s.reading for s in excluded}) > max(FEW, MOST * len(campaign.readings)):
            if unfit:
                return whole, ()
            raise _too_many(excluded)
        campaign = campaign.leaving_out((s.reading, s.row) for s in outliers)
    return campaign, tuple(excluded)


def _hopeless(campaign: Measured, outliers: tuple[Outlier, ...]) -> tuple[Outlier, ...]:
    """Those that no lack of the model explains: far off by the scatter of the others and, of a deflection, by more than
    the share of it that a compliance may be off."""
    size = np.nanmax(np.abs(campaign.readings), axis=1, initial=0.0)
    least = OFF * size if campaign.measurement.states == 2 else np.zeros(len(size))
    far = {s.reading for s in outliers if s.sigmas > HOPELESS and abs(s.value - s.predicted) > least[s.reading]}
    return tuple(s for s in outliers if s.reading in far)


def _too_many(excluded: Sequence[Outlier]) -> InputError:
    worst = "; ".join(s.place for s in sorted(excluded, key=lambda s: -s.sigmas)[:8])
    more = " ..." if len(excluded) > 8 else ""
    return ImplausibleError(
        f"{len(excluded)} outliers ({worst}{more}) are too many to leave out; correct them, look "
        "for a wrong unit, model or noise, or keep all with 'outliers: keep' and 'loss: cauchy'",
        value=len(excluded),
    )
