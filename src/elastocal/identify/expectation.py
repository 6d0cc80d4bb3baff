"""What a plan would tell, before anything is measured: groups, accuracy, error budget (003 section 4.1).

The plan is taken as measured without any error; the accuracy does not depend on the readings, only on where they are
taken and on the errors stated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from elastocal.errors import InputError
from elastocal.identify.budget import Budget, budget
from elastocal.identify.fit import groups_of, linear_fit
from elastocal.identify.problem import linearise, unknowns, weigh
from elastocal.measure.campaign import Campaign
from elastocal.model.parameters import Parameter
from elastocal.model.robot import Robot
from elastocal.solve.groups import ABOVE, BELOW, Expectation, Groups, expectations


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
