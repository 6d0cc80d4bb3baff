"""A fit: estimates of parameters and nuisances with the problem that they solve, and the linear step to one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from elastocal.errors import InputError
from elastocal.measure.campaign import Campaign
from elastocal.model.robot import Robot
from elastocal.reduction.problem import Problem
from elastocal.solve.groups import Groups, classify, covariance
from elastocal.solve.loss import Loss, scatter
from elastocal.spatial.entries import Array


@dataclass(frozen=True, eq=False)
class Fit:
    """An estimate and the problem it solves, linearised there.

    ``covariance`` holds for the stated noise (nan where none was stated), ``scatter`` is the size of the residuals in
    units of it; ``scatter**2 * unit_covariance`` is the covariance from the noise that the residuals show.
    """

    model: Robot
    campaign: Campaign
    problem: Problem
    values: Array
    unit_covariance: Array
    residuals: Array
    scatter: float
    freedom: int
    loss: Loss
    steps: int
    converged: bool

    @property
    def names(self) -> tuple[str, ...]:
        return self.problem.names

    @property
    def stated(self) -> bool:
        return self.problem.weights.stated

    @property
    def covariance_stated(self) -> Array:
        return self.unit_covariance if self.stated else np.full_like(self.unit_covariance, np.nan)

    @property
    def covariance_estimated(self) -> Array:
        return self.unit_covariance * self.scatter**2

    @cached_property
    def inflation(self) -> float:
        """Factor on the standard deviations that are used: the residuals' scatter where they show more than stated."""
        if not self.stated:
            return self.scatter
        return max(1.0, self.scatter) if np.isfinite(self.scatter) else 1.0

    @property
    def covariance(self) -> Array:
        """The covariance that is used: stated noise, enlarged where the residuals scatter more."""
        return self.unit_covariance * self.inflation**2

    @property
    def sd(self) -> Array:
        return np.asarray(np.sqrt(np.diag(self.covariance)))

    @cached_property
    def whitened(self) -> Array:
        """Residuals (N, R) in units of the stated noise, made independent."""
        n, r = self.problem.shape
        return self.problem.misfit[: n * r].reshape(n, r)

    @property
    def ratios(self) -> Array:
        """Parameter-to-noise ratios (003 eq. 20)."""
        return np.asarray(np.abs(self.values) / self.sd)


def groups_of(problem: Problem, first: Sequence[str]) -> Groups:
    """Which of the problem's parameters and nuisances the rows can tell apart."""
    return classify(problem.names, problem.reduced.triangle, problem.scales, first)


def check_equations(problem: Problem) -> None:
    """Refuse what cannot have an answer."""
    if problem.readings == 0:
        raise InputError("no reading can be used: nothing was read, or no loaded state is determined")
    if not np.any(problem.matrix[: problem.shape[0] * problem.shape[1], : problem.parameters]):
        raise InputError(
            "no reading depends on any parameter sought; the load is zero or nothing that yields is loaded"
        )


def check_determined(problem: Problem) -> None:
    """Refuse what no reading and no prior can tell."""
    silent = [name for name, seen in zip(problem.names, np.any(problem.matrix, axis=0), strict=True) if not seen]
    if silent:
        raise InputError(f"no reading depends on {silent[0]}; leave it out or load the robot in another direction")


def linear_fit(model: Robot, campaign: Campaign, problem: Problem, names: Sequence[str]) -> Fit:
    """One step from a linearised problem, for some of its columns; the model is not solved again."""
    at = problem.index(names)
    parameters = sum(i < problem.parameters for i in at)
    rows = problem.priors()
    empty = ~np.any(problem.matrix[rows][:, at], axis=1)
    keep = np.ones(len(problem.misfit), dtype=bool)
    keep[rows] = ~empty
    part = replace(
        problem, names=tuple(names), units=tuple(problem.units[i] for i in at), scales=problem.scales[at],
        parameters=parameters, start=problem.start[at], matrix=problem.matrix[keep][:, at],
        misfit=problem.misfit[keep],
    )  # fmt: skip
    triangle = problem.reduced.triangle[:, at]
    values = part.start + one_step(problem, triangle)
    solved = replace(part, start=values, misfit=part.misfit - part.matrix @ (values - part.start))
    n, r = problem.shape
    raw = problem.weights.unwhiten(solved.misfit[: n * r].reshape(n, r))
    freedom = solved.equations - len(at)
    moved = model.with_parameters({name: float(v) for name, v in zip(names[:parameters], values, strict=False)})
    return Fit(
        moved, campaign, solved, values, covariance(triangle, range(len(at))), np.where(problem.used, raw, np.nan),
        scatter(solved.misfit, solved.used, "linear", 1.0, freedom), freedom, "linear", 1, True,
    )  # fmt: skip


def one_step(problem: Problem, triangle: Array) -> Array:
    """Values (p,) by QR of the small problem's triangle, or of some of its columns, with unit columns."""
    lengths = np.linalg.norm(triangle, axis=0)
    q, r = np.linalg.qr(triangle / np.where(lengths > 0, lengths, 1.0))
    if np.min(np.abs(np.diag(r)), initial=np.inf) < 1e-9:
        raise InputError(
            "the parameters are not separately identifiable by these readings; seek fewer or let groups choose"
        )
    return np.asarray(np.linalg.solve(r, q.T @ problem.reduced.readings) / lengths)
