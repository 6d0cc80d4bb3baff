"""What is known of all parameters sought when those that are not estimated are known only to within their size.

A fit after M3 treats what it holds as exact, which makes its covariance too small and blind to loads that were never
applied.  Here everything sought is unknown again, and what is not estimated has the prior sd max(|held|, size that
matters) about the value it is held at:

    C = (A^T A + diag(1 / s^2))^-1,    s = inf for what is estimated.

Where the residuals r of the reduced fit ask for something else than what is held, the values used are off by what that
fit would move, d = C A^T r; so the mean square about the values used is C + d d^T.  A parameter of four standard
deviations that M3 dropped is in there with its four, not with one.

Silent, absorbed and neglected parameters are treated alike; predictions and compensation use this covariance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.identify.problem import linearise
from elastocal.identify.reduction import Identification
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


def wide_covariance(found: Identification) -> Wide:
    """At the final fit, with its noise."""
    both = wide_with_nuisances(found)
    known = set(found.sought.parameters.names)
    count = sum(n in known for n in both.names)
    return Wide(both.names[:count], both.covariance[:count, :count])


def wide_with_nuisances(found: Identification) -> Wide:
    """The same with the nuisance unknowns that were fitted, behind the parameters."""
    fit, model = found.fit, found.sought
    known = set(model.parameters.names)
    names = [n for n in found.groups.names if n in known]
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
