"""Parameters from readings: one QR where they are affine, damped Gauss-Newton on the same matrices where not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from elastocal.errors import UnknownNameError
from elastocal.measure.campaign import Campaign
from elastocal.model.robot import Robot
from elastocal.reduction.fit import Fit, check_determined, check_equations, one_step
from elastocal.reduction.problem import Problem, Weights, linearise, residuals, weigh
from elastocal.solve.groups import covariance
from elastocal.solve.loss import LOSSES, TUNING, Loss, robust_scale, scatter
from elastocal.spatial.entries import Array

STEPS, ROUNDS = 100, 4
LOST = 1e6


def estimate(model: Robot, campaign: Campaign, names: Sequence[str], loss: Loss = "linear") -> Fit:
    """Fit parameters and nuisance unknowns that can be told apart; all others keep their values.

    The weights are taken at the model given and once more at the estimate, because what an uncertain load does depends
    on the compliance.
    """
    if loss not in LOSSES:
        raise UnknownNameError("loss", loss, LOSSES)
    first = _solve(model, campaign, names, loss, weigh(campaign, model))
    if not any(s.bends for s in campaign.scattering):
        return first
    return _solve(model, campaign, names, loss, weigh(campaign, first.model))


def _solve(model: Robot, campaign: Campaign, names: Sequence[str], loss: Loss, weights: Weights) -> Fit:
    search = _Search(model, campaign, linearise(campaign, model, names, weights))
    check_equations(search.origin)
    check_determined(search.origin)
    if loss == "linear" and search.affine:
        origin = search.origin
        return _finish(search, origin.start + one_step(origin, origin.reduced.triangle), loss, 1.0, 1, True)
    scale, x = 1.0, _first(search)
    for _ in range(1 if loss == "linear" else ROUNDS):
        x, steps, converged = _iterate(search, x, loss, scale)
        scale = robust_scale(search.at(x).misfit, len(names)) if loss != "linear" else 1.0
    return _finish(search, x * search.size, loss, scale, steps, converged)


def _first(search: _Search) -> Array:
    """A plain Gauss-Newton step where it helps: the search then starts with a trust region of the right size."""
    origin = search.origin
    here = origin.start / search.size
    ahead = (origin.start + one_step(origin, origin.reduced.triangle)) / search.size
    better = np.sum(search.misfit(ahead) ** 2) < np.sum(search.misfit(here) ** 2)
    return np.asarray(ahead if better else here)


@dataclass(frozen=True, eq=False)
class _Search:
    """Misfit and matrix at any values; affine problems are evaluated once."""

    model: Robot
    campaign: Campaign
    origin: Problem

    @property
    def affine(self) -> bool:
        """Also with nuisance unknowns, where what these do does not depend on the parameters."""
        bent = any(s.bends for s in self.campaign.common) if self.origin.nuisance else False
        return self.campaign.measurement.affine and not bent

    @cached_property
    def size(self) -> Array:
        """What a step of one means for each parameter: a change that moves the readings by their noise."""
        return np.asarray(1 / np.linalg.norm(self.origin.matrix, axis=0))

    @cached_property
    def _memory(self) -> dict[bytes, Problem]:
        return {}

    def moved(self, values: Array) -> tuple[Robot, dict[str, float]]:
        p = self.origin.parameters
        named = dict(zip(self.origin.names, (float(v) for v in values), strict=True))
        model = self.model.with_parameters({n: named[n] for n in self.origin.names[:p]})
        return model, {n: named[n] for n in self.origin.nuisance}

    def at(self, x: Array) -> Problem:
        values = x * self.size
        if self.affine:
            step = values - self.origin.start
            return replace(self.origin, start=values, misfit=self.origin.misfit - self.origin.matrix @ step)
        key = x.tobytes()
        if key not in self._memory:
            model, u = self.moved(values)
            self._memory.clear()
            self._memory[key] = linearise(self.campaign, model, self.origin.names, self.origin.weights, u)
        return self._memory[key]

    def misfit(self, x: Array) -> Array:
        now = self.at(x)
        lost = self.origin.used & ~now.used
        if not lost.any():
            return now.misfit
        out = now.misfit.copy()
        out[: lost.size][lost.reshape(-1)] = LOST  # a step into states that do not exist must not look like a gain
        return out

    def matrix(self, x: Array) -> Array:
        return -self.at(x).matrix * self.size


def _iterate(search: _Search, x: Array, loss: Loss, scale: float) -> tuple[Array, int, bool]:
    from scipy.optimize import least_squares

    found = least_squares(
        search.misfit, x, search.matrix, loss=loss, f_scale=TUNING.get(loss, 1.0) * scale,
        xtol=1e-9, ftol=1e-11, gtol=1e-9, max_nfev=STEPS,
    )  # fmt: skip
    return np.asarray(found.x), int(found.nfev), bool(found.status > 0)


def _finish(search: _Search, values: Array, loss: Loss, scale: float, steps: int, converged: bool) -> Fit:
    problem = search.at(values / search.size)
    model, u = search.moved(values)
    freedom = problem.equations - len(problem.names)
    return Fit(
        model, search.campaign, problem, values, covariance(problem.reduced.triangle, range(len(problem.names))),
        residuals(search.campaign, model, u),
        scatter(problem.misfit, problem.used, loss, scale, freedom), freedom, loss, steps, converged,
    )  # fmt: skip


def misfit_at(fit: Fit, values: Array) -> Array:
    """Whitened misfit, priors included, of the full model at other values (p,); inf where a state is lost."""
    problem, p = fit.problem, fit.problem.parameters
    model = fit.model.with_parameters({n: float(v) for n, v in zip(fit.names[:p], values[:p], strict=True)})
    u = {n: float(v) for n, v in zip(problem.nuisance, values[p:], strict=True)}
    raw = residuals(fit.campaign, model, u)
    if np.any(problem.used & ~np.isfinite(raw)):
        return np.full(len(problem.misfit), np.inf)
    whitened = problem.weights.whiten(np.where(problem.used, raw, 0.0)).reshape(-1)
    prior = problem.misfit[problem.priors()] - problem.matrix[problem.priors()] @ (values - fit.values)
    return np.concatenate([whitened, prior])
