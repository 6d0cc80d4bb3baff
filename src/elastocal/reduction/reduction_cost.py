"""What a reduction costs: the covariance with everything unknown again, and how far predictions move.

A fit after M3 treats what it fixes as exact, which makes its covariance too small and blind to loads that were never
applied.  Here everything sought is unknown again, and what is not estimated has the prior sd max(|fixed|, size that
matters) about the value it is fixed at:

    C = (A^T A + diag(1 / s^2))^-1,    s = inf for what is estimated.

Where the residuals r of the reduced fit ask for something else than what is fixed, the values used are off by what that
fit would move, d = C A^T r; so the mean square about the values used is C + d d^T.  A parameter of four standard
deviations that M3 dropped is in there with its four, not with one.  Unobservable, absorbed and neglected parameters are
treated alike; predictions and compensation use this covariance.

The difference between the predictions of the reduced model and of the model before it is weighed against how well the
larger model itself knows its predictions: where that is worse, what was dropped was noise (003 section 4.3).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.measure.kind import MarkerMeasurement
from elastocal.model.limits import spread_configurations
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.statics.linear_observation import linear_names
from elastocal.reduction.fit import Fit
from elastocal.reduction.identify import Identification
from elastocal.reduction.prediction import IdentifiedModel, Prediction, predict, same_size_loads
from elastocal.reduction.problem import linearise
from elastocal.solve.groups import covariance
from elastocal.spatial.entries import Array


@dataclass(frozen=True, eq=False)
class Wide:
    """Names of all parameters sought and the mean squares (with products) of their errors."""

    names: tuple[str, ...]
    covariance: Array

    def sd(self, name: str) -> float:
        i = self.names.index(name)
        return float(np.sqrt(self.covariance[i, i]))


def wide_covariance(identification: Identification) -> Wide:
    """At the final fit, with its noise."""
    both = wide_with_nuisances(identification)
    known = set(identification.sought.parameters.names)
    count = sum(n in known for n in both.names)
    return Wide(both.names[:count], both.covariance[:count, :count])


def wide_with_nuisances(identification: Identification) -> Wide:
    """The same with the nuisance unknowns that were fitted, behind the parameters."""
    fit, model = identification.fit, identification.sought
    known = set(model.parameters.names)
    names = [n for n in identification.groups.names if n in known]
    nuisances = [n for n in fit.names if n not in known]
    u = {n: float(fit.values[fit.names.index(n)]) for n in nuisances}
    problem = linearise(fit.campaign, fit.model, [*names, *nuisances], fit.problem.weights, u)
    table = {p.name: p for p in model.parameters}
    estimated = set(fit.names)
    held = [i for i, n in enumerate(names) if n not in estimated]
    prior = np.zeros((len(held), len(problem.names)))
    for row, i in enumerate(held):
        p = table[names[i]]
        prior[row, i] = fit.inflation / max(abs(p.value), p.scale)  # the factor is taken out again below
    rows = np.concatenate([problem.reduced.triangle, prior])
    spread = covariance(rows, range(len(problem.names)))
    moved = spread @ (problem.reduced.triangle.T @ problem.reduced.readings)
    return Wide(problem.names, spread * fit.inflation**2 + (np.outer(moved, moved) if held else 0.0))


@dataclass(frozen=True)
class Cost:
    """Root mean squares over workspace and load, in m: of the deflection, of the difference between the two models, of
    either model's own standard deviation; ``worst`` is the largest difference."""

    loads: str
    deflection: float
    difference: float
    worst: float
    sd_before: float
    sd_after: float


def reduction_cost(before: Fit, after: Fit, count: int = 200) -> tuple[Cost, ...]:
    """Under the campaign's own loads, and under forces of that size along every base axis; nothing where no markers are
    watched or no load is applied."""
    if not isinstance(before.campaign.measurement, MarkerMeasurement):
        return ()
    at = before.campaign.measurement.where
    if not np.any(at.wrenches):
        return ()
    q = spread_configurations(before.model, count)
    loads = {
        "loads of the campaign": np.unique(at.wrenches[np.any(at.wrenches != 0, axis=1)], axis=0),
        "forces of that size along every base axis": same_size_loads(at.wrenches),
    }
    return tuple(_cost(name, before, after, q, wrenches) for name, wrenches in loads.items())


def _cost(name: str, before: Fit, after: Fit, q: Array, wrenches: Array) -> Cost:
    frame = before.campaign.measurement.setup.load
    each = AppliedWrenches(frame.frame, wrenches[np.arange(len(q)) % len(wrenches)], frame.follows)
    old, new = (_predicted(fit, q, each) for fit in (before, after))
    known = np.isfinite(old.twist).all(axis=1) & np.isfinite(new.twist).all(axis=1)
    gap = np.linalg.norm((old.twist - new.twist)[known, :3], axis=1)
    size = np.linalg.norm(new.twist[known, :3], axis=1)
    spreads = [np.sqrt(np.einsum("nii->n", p.covariance[known, :3, :3])) for p in (old, new)]
    rms = [float(np.sqrt(np.mean(v**2))) if len(v) else float("nan") for v in (size, gap, *spreads)]
    return Cost(name, rms[0], rms[1], float(gap.max(initial=0.0)), rms[2], rms[3])


def _predicted(fit: Fit, q: Array, load: AppliedWrenches) -> Prediction:
    """With the linear model: the difference does not need more, and it has a state everywhere."""
    p = fit.problem.parameters
    linear = set(linear_names(fit.model))
    mine = [i for i, n in enumerate(fit.names[:p]) if n in linear]
    names = tuple(fit.names[i] for i in mine)
    return predict(IdentifiedModel(fit.model, names, fit.covariance[np.ix_(mine, mine)], 0.0, "linear"), q, load)
