"""The estimates as springs: matrices that physics allows, and elements derived from those that were estimated.

A possible matrix comes from a constrained fit of the symmetric model before any algebraic reduction: afterwards the
kept elements stand for combinations and need not be definite.  What the readings do not determine stays near the
model's own value by a weak prior of three times its size (or of the size that matters, where it is zero).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from elastocal.model.compliant.joint_compliance import JointCompliance
from elastocal.model.compliant.link_compliance import LinkCompliance
from elastocal.model.descriptions import SYMBOLS, Derivation, derive, in_form
from elastocal.model.robot import Robot
from elastocal.reduction.fit import Fit
from elastocal.reduction.identify import Identification, sought_names
from elastocal.reduction.problem import with_nuisances
from elastocal.solve.definite import DefiniteFit, fit_definite
from elastocal.solve.identifiability import Group
from elastocal.spatial.entries import Array, Ints
from elastocal.values import dataclass

PRIOR = 3.0
GAP = 1e-6
"""How far the constrained sum of squares may be above its minimum: a thousandth of a standard deviation."""


@dataclass(frozen=True, eq=False)
class Spring:
    """A 6x6 spring (or a joint, 1x1): its possible matrix and the smallest scaled eigenvalue before and after."""

    place: str
    matrix: Array
    smallest_free: float
    smallest: float
    constrained: bool


@dataclass(frozen=True, eq=False)
class PossibleSprings:
    springs: tuple[Spring, ...]
    cost: float
    """What the constraints add to the sum of squares, in units of the noise squared."""
    converged: bool


def possible_springs(
    fit: Fit, model: Robot, seek: Sequence[str] | None, hold: Sequence[str] = ()
) -> PossibleSprings | None:
    """Constrained fit of the symmetric model with everything sought, linearised at ``fit``; None without a spring.

    ``model`` is the robot before identification, whose values are the prior.
    """
    campaign = fit.campaign
    nominal = in_form(model, "symmetric")
    names = list(sought_names(campaign.measurement, nominal, seek, hold))
    blocks = _blocks(nominal, names)
    if not any(b.shape == (6, 6) for _, b in blocks):
        return None
    here = in_form(model, "symmetric").with_estimates(_carried(fit, nominal))
    problem = with_nuisances(campaign, here, names, fit.problem.weights)
    extra = problem.nuisance
    table = nominal.parameters
    x0 = np.array([*(table[n].value for n in names), *(0.0 for _ in extra)])
    sd = np.array([*(PRIOR * max(abs(table[n].value), table[n].scale) for n in names), *(1.0 for _ in extra)])
    target = problem.misfit + problem.matrix @ problem.start
    possible = fit_definite(problem.matrix, target, x0, sd, [b for _, b in blocks], GAP)
    return PossibleSprings(_springs(blocks, possible), possible.cost, possible.converged)


def _carried(fit: Fit, nominal: Robot) -> dict[str, float]:
    """The fit's values under the names that the symmetric model has too."""
    known = set(nominal.parameters.names)
    pairs = zip(fit.names[: fit.problem.parameters], fit.values, strict=False)
    return {n: float(v) for n, v in pairs if n in known}


def _blocks(model: Robot, names: Sequence[str]) -> list[tuple[str, Ints]]:
    """Places of every spring's elements among the names sought; springs that are sought only in part are left out."""
    at = {n: i for i, n in enumerate(names)}
    out: list[tuple[str, Ints]] = []
    for element in model.elements:
        if isinstance(element, JointCompliance) and f"{element.place}.k" in at:
            out.append((element.place, np.array([[at[f"{element.place}.k"]]])))
        if isinstance(element, LinkCompliance) and element.form == "symmetric":
            keys = [[f"{element.place}.k{min(i, j)}{max(i, j)}" for j in range(1, 7)] for i in range(1, 7)]
            if all(k in at for row in keys for k in row):
                out.append((element.place, np.array([[at[k] for k in row] for row in keys])))
    return out


def _springs(blocks: Sequence[tuple[str, Ints]], fit: DefiniteFit) -> tuple[Spring, ...]:
    return tuple(
        Spring(place, fit.values[index], float(fit.before[i]), float(fit.after[i]), fit.active[i])
        for i, (place, index) in enumerate(blocks)
    )


def derived_springs(identification: Identification) -> dict[str, Derivation]:
    """Elements of beam-like springs that were not estimated, and checks between those that were, by the spring's place.

    From the elements that are separately identifiable (G1): an estimate that is a combination is no element.
    """
    fit, model, groups = identification.fit, identification.sought, identification.groups
    alone = {n for n, g in zip(groups.names, groups.group, strict=True) if g is Group.IDENTIFIABLE}
    estimated = {n: (float(v), float(s)) for n, v, s in zip(fit.names, fit.values, fit.sd, strict=True) if n in alone}
    out: dict[str, Derivation] = {}
    for element in model.elements:
        if isinstance(element, LinkCompliance) and element.form == "beam" and np.any(element.compliance()):
            pairs = np.array([estimated.get(f"{element.place}.{s}", (np.nan, np.nan)) for s in SYMBOLS])
            if np.any(np.isfinite(pairs)):
                out[element.place] = derive(element.compliance(), pairs[:, 0], pairs[:, 1])
    return out
