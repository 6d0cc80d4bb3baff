"""Where the uncertainty of each parameter comes from, and what a plan would tell before anything is measured.

Budget.  The estimate is linear in the readings, dpi = G e with G = (A^T A)^-1 A^T, so a source with covariance S_n of
reading n contributes sum_n G_n S_n G_n^T, and a prior what its own row contributes.  What the residuals show beyond all
stated sources is a line of its own.

Expectation (003 section 4.1).  A plan is taken as measured without any error; groups, accuracy and budget do not depend
on the readings, only on where they are taken and on the errors stated.

What a reduction costs: the covariance with everything unknown again, and how far predictions move.

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

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from elastocal.errors import InputError
from elastocal.measure.measured import Measured
from elastocal.model.limits import spread_configurations
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.parameters import Parameter
from elastocal.model.robot import Robot
from elastocal.model.statics.observation import linear_names
from elastocal.reduction.fit import Fit, groups_of, linear_fit
from elastocal.reduction.identify import Identification
from elastocal.reduction.prediction import IdentifiedModel, Prediction, predict, same_size_loads
from elastocal.reduction.problem import linearise, unknowns, with_nuisances
from elastocal.solve.identifiability import ABOVE, BELOW, Expectation, Groups, covariance, expectations
from elastocal.solve.summary import rms
from elastocal.spatial.entries import Array
from elastocal.values import dataclass


@dataclass(frozen=True, eq=False)
class Wide:
    """Names of all parameters sought and the mean squares (with products) of their errors."""

    names: tuple[str, ...]
    covariance: Array

    def sd(self, name: str) -> float:
        i = self.names.index(name)
        return float(np.sqrt(self.covariance[i, i]))


def wide_covariance(identification: Identification) -> Wide:
    """At the final fit, with its noise; nuisance unknowns that were fitted stand behind the parameters and drop out."""
    fit, model = identification.fit, identification.sought
    known = set(model.parameters.names)
    names = [n for n in identification.groups.names if n in known]
    nuisances = [n for n in fit.names if n not in known]
    u = {n: float(fit.values[fit.names.index(n)]) for n in nuisances}
    problem = linearise(fit.campaign, fit.model, [*names, *nuisances], fit.problem.weights, u)
    table = model.parameters
    estimated = set(fit.names)
    held = [i for i, n in enumerate(names) if n not in estimated]
    prior = np.zeros((len(held), len(problem.names)))
    for row, i in enumerate(held):
        p = table[names[i]]
        prior[row, i] = fit.inflation / max(abs(p.value), p.scale)  # the factor is taken out again below
    rows = np.concatenate([problem.reduced.triangle, prior])
    spread = covariance(rows, range(len(problem.names)))
    moved = spread @ (problem.reduced.triangle.T @ problem.reduced.readings)
    bent = dict(zip(fit.names, fit.share * fit.bending, strict=True))
    share = np.diag([bent.get(n, 0.0) ** 2 for n in problem.names])
    whole = spread * fit.inflation**2 + share + (np.outer(moved, moved) if held else 0.0)
    return Wide(tuple(names), whole[: len(names), : len(names)])


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
    at = before.campaign.measurement.watched
    if at is None or not np.any(at.wrenches):
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
    both = np.isfinite(old.twist).all(axis=1) & np.isfinite(new.twist).all(axis=1)
    gap = np.linalg.norm((old.twist - new.twist)[both, :3], axis=1)
    size = np.linalg.norm(new.twist[both, :3], axis=1)
    spreads = [np.sqrt(np.einsum("nii->n", p.covariance[both, :3, :3])) for p in (old, new)]
    moved, apart, *known = (rms(v) for v in (size, gap, *spreads))
    return Cost(name, moved, apart, float(gap.max(initial=0.0)), *known)


def _predicted(fit: Fit, q: Array, load: AppliedWrenches) -> Prediction:
    """With the linear model: the difference does not need more, and it has a state everywhere."""
    p = fit.problem.parameters
    linear = set(linear_names(fit.model))
    mine = [i for i, n in enumerate(fit.names[:p]) if n in linear]
    names = tuple(fit.names[i] for i in mine)
    return predict(IdentifiedModel(fit.model, names, fit.covariance[np.ix_(mine, mine)], 0.0, "linear"), q, load)


BEYOND = "residuals beyond all stated sources"
PRIOR = "priors of the parameters"
VARIES = "compliance that differs from state to state"
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
    known_before = [b.name for b in campaign.priors if b.name in names]
    for row, name in enumerate([*known, *known_before], n * r):
        _add(lines, owner.get(name, PRIOR), gain[:, row] ** 2)
    if fit.inflation > 1:
        lines[BEYOND] = (fit.inflation**2 - 1) * np.diag(fit.unit_covariance)[:p]
    if fit.share:
        lines[VARIES] = (fit.share * fit.bending[:p]) ** 2
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
    model: Robot, campaign: Measured, names: Sequence[str], thresholds: tuple[float, float] = (ABOVE, BELOW)
) -> Expected:
    """Accuracy to expect of the parameters named, at the model's values."""
    kind = campaign.measurement.structure(model, names)
    exact = replace(campaign, measurement=kind, readings=kind.predict(model))
    lost = int(np.sum(np.isnan(campaign.measurement.predict(model)).any(axis=1)))
    if not np.any(exact.measured) or lost == campaign.measurement.count:
        raise InputError("no configuration of the plan has a determined loaded state; lower the load", code="no-state")
    problem, extra = with_nuisances(exact, model, names), unknowns(exact, model)
    groups = groups_of(problem, model.joint_parameters)
    values = np.array([*(model.parameters[n].value for n in names), *(0.0 for _ in extra)])
    expectation = expectations(groups, problem.reduced.triangle, values, *thresholds)
    fit = linear_fit(model, exact, problem, [groups.names[i] for i in groups.kept])
    rows = [model.parameters[n] for n in names]
    nuisances = [Parameter(u.name, u.unit, 0.0, 1e-3, "nuisance", "") for u in extra]
    return Expected((*rows, *nuisances), groups, expectation, budget(fit), problem.equations, lost)
