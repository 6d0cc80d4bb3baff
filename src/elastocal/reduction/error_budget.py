"""Where the uncertainty of each parameter comes from, and what a plan would tell before anything is measured.

Budget.  The estimate is linear in the readings, dpi = G e with G = (A^T A)^-1 A^T, so a source with covariance S_n of
reading n contributes sum_n G_n S_n G_n^T, and a prior what its own row contributes.  What the residuals show beyond all
stated sources is a line of its own.

Expectation (003 section 4.1).  A plan is taken as measured without any error; groups, accuracy and budget do not depend
on the readings, only on where they are taken and on the errors stated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from elastocal.errors import InputError
from elastocal.measure.campaign import Campaign
from elastocal.model.parameters import Parameter
from elastocal.model.robot import Robot
from elastocal.reduction.fit import Fit, groups_of, linear_fit
from elastocal.reduction.problem import linearise, unknowns, weigh
from elastocal.solve.groups import ABOVE, BELOW, Expectation, Groups, expectations
from elastocal.spatial.entries import Array

UNEXPLAINED = "not explained by any stated source"
PRIOR = "priors of the parameters"
UNSTATED = "scatter of the residuals (no noise was stated)"


@dataclass(frozen=True, eq=False)
class Budget:
    """``share`` (sources, p): part of each estimate's variance; columns add up to one."""

    names: tuple[str, ...]
    sources: tuple[str, ...]
    share: Array

    def dominant(self, name: str) -> tuple[str, float]:
        """The largest source of one estimate and its share."""
        column = self.share[:, self.names.index(name)]
        i = int(np.argmax(column))
        return self.sources[i], float(column[i])

    def overall(self) -> tuple[tuple[str, float], ...]:
        """Mean share of every source, the largest first."""
        mean = self.share.mean(axis=1) if self.share.size else np.zeros(len(self.sources))
        return tuple(sorted(((s, float(m)) for s, m in zip(self.sources, mean, strict=True)), key=lambda x: -x[1]))


def budget(fit: Fit) -> Budget:
    """Shares for the parameters of the model (nuisance unknowns enter as sources)."""
    problem, campaign = fit.problem, fit.campaign
    n, r = problem.shape
    p = problem.parameters
    names = problem.names[:p]
    if not fit.stated:
        return Budget(names, (UNSTATED,), np.ones((1, p)))
    gain = fit.unit_covariance[:p] @ problem.matrix.T
    per_reading = gain[:, : n * r].reshape(p, n, r)
    lines: dict[str, Array] = {}
    for source in campaign.scattering:
        spread = np.nan_to_num(source.covariance(campaign.measurement, fit.model))
        inner = problem.weights.inverse @ spread @ problem.weights.inverse.swapaxes(1, 2)
        _add(lines, source.label, np.einsum("pnr,nrs,pns->p", per_reading, inner, per_reading))
    sd = {u.name: u.sd for u in unknowns(campaign, fit.model)}
    known = [name for name in problem.nuisance if np.isfinite(sd[name])]  # in the order of the prior rows
    owner = {u.name: s.label for s in campaign.common for u in s.unknowns(campaign.measurement, fit.model)}
    believed = [b.name for b in campaign.beliefs if b.name in names]
    for row, name in enumerate([*known, *believed], n * r):
        _add(lines, owner.get(name, PRIOR), gain[:, row] ** 2)
    if fit.inflation > 1:
        lines[UNEXPLAINED] = (fit.inflation**2 - 1) * np.diag(fit.unit_covariance)[:p]
    table = np.array(list(lines.values())).reshape(len(lines), p)
    return Budget(names, tuple(lines), table / table.sum(axis=0))


def _add(lines: dict[str, Array], label: str, part: Array) -> None:
    lines[label] = lines[label] + part if label in lines else part


@dataclass(frozen=True, eq=False)
class Expected:
    """``parameters`` are those sought, then the nuisance unknowns (kind ``nuisance``), as ``groups`` names them."""

    parameters: tuple[Parameter, ...]
    groups: Groups
    expectations: tuple[Expectation, ...]
    budget: Budget
    equations: int
    lost: int
    """Readings of the plan without a determined loaded state."""


def expected(
    model: Robot,
    campaign: Campaign,
    names: Sequence[str],
    thresholds: tuple[float, float] = (ABOVE, BELOW),
) -> Expected:
    """Accuracy to expect of the parameters named, at the model's values."""
    kind = campaign.measurement.structure(model, names)
    exact = replace(campaign, measurement=kind, readings=kind.predict(model))
    lost = int(np.sum(np.isnan(campaign.measurement.predict(model)).any(axis=1)))
    if not np.any(exact.measured) or lost == campaign.measurement.count:
        raise InputError("no configuration of the plan has a determined loaded state; lower the load")
    extra = unknowns(exact, model)
    problem = linearise(exact, model, [*names, *(u.name for u in extra)], weigh(exact, model))
    groups = groups_of(problem, model.joint_parameters)
    values = np.array([*(model.parameters.values[model.parameters.index(n)] for n in names), *(0.0 for _ in extra)])
    found = expectations(groups, problem.reduced.triangle, values, *thresholds)
    fit = linear_fit(model, exact, problem, [groups.names[i] for i in groups.kept])
    rows = [model.parameters.rows[model.parameters.index(n)] for n in names]
    nuisances = [Parameter(u.name, u.unit, 0.0, 1e-3, "nuisance", "") for u in extra]
    return Expected((*rows, *nuisances), groups, found, budget(fit), problem.equations, lost)
