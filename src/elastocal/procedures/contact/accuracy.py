"""Expected accuracy of contacts as a sum over contacts, so that plans made of the same contacts are compared at once.

    information G = sum_i A_i^T A_i + priors,    A_i the rows of contact i in units of their noise

Nothing is measured yet: G does not depend on readings.  At nominal values a backlash is zero, so that a parameter is
judged by its size, the larger of its value and of what matters in practice (``Parameter.scale``): it is resolved where
its standard deviation is at most size / threshold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elastocal.measure.campaign import Campaign
from elastocal.model.robot import Robot
from elastocal.reduction.problem import linearise, unknowns, weigh
from elastocal.solve.groups import Group, Groups, classify, covariance
from elastocal.spatial.entries import Array, Bools

ABSURD = 1e3
"""Times its size: a change of a parameter that is out of the question keeps sums finite where nothing is told."""


@dataclass(frozen=True, eq=False)
class Blocks:
    """Whitened rows ``each`` (N, R, p) of the contacts and ``prior`` rows, columns times ``size``; parameters first."""

    names: tuple[str, ...]
    units: tuple[str, ...]
    size: Array
    parameters: int
    each: Array
    prior: Array

    @property
    def information(self) -> Array:
        """(N, p, p)"""
        return np.asarray(np.einsum("nri,nrj->nij", self.each, self.each))

    @property
    def known(self) -> Array:
        """What is known before any contact (p, p)."""
        return np.asarray(self.prior.T @ self.prior + np.eye(len(self.names)) / ABSURD**2)


@dataclass(frozen=True, eq=False)
class Accuracy:
    """Of the parameters, without nuisances: ``sd`` in their units, inf where the contacts cannot separate them."""

    names: tuple[str, ...]
    units: tuple[str, ...]
    size: Array
    sd: Array
    groups: Groups

    def resolved(self, threshold: float) -> Bools:
        return np.asarray(self.sd <= self.size / threshold)


def contact_blocks(model: Robot, campaign: Campaign, names: Sequence[str]) -> Blocks:
    """The rows of every contact at a model; contacts without a determined state have none."""
    kind = campaign.measurement
    exact = Campaign(kind, kind.predict(model), campaign.sources, beliefs=campaign.beliefs)
    extra = unknowns(exact, model)
    problem = linearise(exact, model, [*names, *(u.name for u in extra)], weigh(exact, model))
    values = np.abs(problem.start[: problem.parameters])
    own = np.maximum(values, problem.scales[: problem.parameters])
    size = np.concatenate([own, [u.sd if np.isfinite(u.sd) else 1e-3 for u in extra]])
    n, r = problem.shape
    rows = problem.matrix * size
    return Blocks(
        problem.names, problem.units, size, problem.parameters, rows[: n * r].reshape(n, r, -1), rows[n * r :]
    )


def accuracy(found: Blocks, model: Robot) -> Accuracy:
    """From the rows of all contacts."""
    scaled = np.concatenate([found.each.reshape(-1, len(found.names)), found.prior])
    rows = np.linalg.qr(scaled, mode="r") / found.size
    groups = classify(found.names, rows, found.size, model.joint_parameters)
    sd = np.full(len(found.names), np.inf)
    kept = list(groups.kept)
    if kept:
        sd[kept] = np.sqrt(np.diag(covariance(rows, kept)))
    sd[[g is not Group.IDENTIFIABLE for g in groups.group]] = np.inf
    p = found.parameters
    return Accuracy(found.names[:p], found.units[:p], found.size[:p], sd[:p], groups)
