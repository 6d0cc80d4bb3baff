"""A fit: estimates of parameters and nuisances with the problem that they solve.

One QR where readings are affine in the parameters, damped Gauss-Newton on the same matrices where not.

Where residuals are more than noise, and the robot bends, compliances are no constants: gears stiffen, have backlash,
hysteresis.  The share s by which they all differ from state to state is what explains the excess,

    s^2 sum_j |a_j k_j|^2 = (g^2 - g0^2) f,                                                                 (share)

a_j the whitened column of compliance k_j, g the scatter of the residuals with f degrees of freedom, g0 that of repeats,
else 1.  No number of readings makes it smaller: every compliance is uncertain by s k_j beside its covariance.  Noise
that is merely larger than stated is told apart by the residuals of a reading, which go with its own deflection where a
compliance differs:

    T = sum_bj (c_bj . r_b)^2 / (g^2 sum_bj |c_bj|^2),   c_bj = a_bj k_j,                                 (together)

is about one of noise; beyond ``TOGETHER`` there is a share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from math import inf, nan

import numpy as np

from elastocal.errors import InputError, UnknownNameError, UnobservableError
from elastocal.measure.measured import Measured
from elastocal.model.robot import Robot
from elastocal.reduction.problem import Problem, Weights, linearise, residuals, weigh
from elastocal.solve.identifiability import Groups, classify, covariance
from elastocal.solve.linear import unit_qr
from elastocal.solve.nested import ENOUGH, LEVEL, LackOfFit, f_test, split_residuals
from elastocal.solve.summary import LOSSES, TUNING, Loss, robust_scale, scatter
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

TOGETHER = 2.0


@dataclass(frozen=True, eq=False)
class Fit:
    """An estimate and the problem it solves, linearised there.

    ``covariance`` holds for the stated noise (nan where none was stated), ``scatter`` is the size of the residuals in
    units of it; ``scatter**2 * unit_covariance`` is the covariance from the noise that the residuals show.
    """

    model: Robot
    campaign: Measured
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

    @cached_property
    def repeats(self) -> LackOfFit:
        """The noise without any model, by readings of the same state, and whether the model is all there is."""
        state, total = self.campaign.measurement.state, float(np.sum(self.problem.misfit**2))
        return split_residuals(self.whitened, self.problem.used, state, total, self.freedom)

    @property
    def stated_chance(self) -> float:
        """Probability of so large a scatter by the stated noise; nan where none is stated."""
        if not self.stated or not np.isfinite(self.scatter):
            return nan
        return f_test(self.freedom * self.scatter**2, self.freedom, inf).probability

    @cached_property
    def misfit(self) -> tuple[float, float]:
        """Probability of so much where the model is right, and the sum of squares of the residuals beyond noise.

        By repeats where there are enough, else by the noise that is stated; nan where nothing tells it.
        """
        again = self.repeats
        if again.pure_freedom >= ENOUGH and np.isfinite(again.probability):
            return again.probability, (again.lack_of_fit**2 - again.pure_error**2) * again.lack_freedom
        return self.stated_chance, (self.scatter**2 - 1) * self.freedom

    @property
    def excess(self) -> float:
        """Sum of squares of the residuals beyond noise; zero where it may be chance."""
        chance, excess = self.misfit
        return max(excess, 0.0) if chance < LEVEL else 0.0

    @cached_property
    def share(self) -> float:
        """By which compliances differ from state to state, where residuals are more than noise (``share``)."""
        n, r = self.problem.shape
        bent = (self.problem.matrix * self.bending)[: n * r].reshape(n, r, -1)
        square = float(np.sum(bent**2))
        if not self.whitened.any() or not self.excess or not square > 0:  # at first: a plan that nobody has measured
            return 0.0
        live = float(np.sum(self.whitened**2)) / int(np.count_nonzero(self.whitened))
        along = np.einsum("nrp,nr->np", bent, self.whitened)
        together = float(np.sum(along**2)) / (live * square)
        return float(np.sqrt(self.excess / square)) if together > TOGETHER else 0.0

    @cached_property
    def bending(self) -> Array:
        """Values (p,) of compliances, zero of other parameters."""
        kinds = {p.name: p.kind for p in self.model.parameters}
        return np.asarray(self.values * np.array(["compliance" in kinds.get(n, "") for n in self.names]))

    @property
    def covariance(self) -> Array:
        """The covariance that is used: stated noise, enlarged where the residuals scatter more, and the share."""
        return self.noise_covariance + np.diag((self.share * self.bending) ** 2)

    @property
    def noise_covariance(self) -> Array:
        """The same by noise alone, which decides what readings tell."""
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
        return np.asarray(np.abs(self.values) / np.sqrt(np.diag(self.noise_covariance)))


def groups_of(problem: Problem, first: Sequence[str]) -> Groups:
    """Which of the problem's parameters and nuisances the rows can tell apart."""
    return classify(problem.names, problem.reduced.triangle, problem.scales, first)


def check_equations(problem: Problem) -> None:
    """Refuse what cannot have an answer."""
    if problem.readings == 0:
        raise InputError(
            "no reading can be used: nothing was read, or no loaded state is determined", code="no-readings"
        )
    if not np.any(problem.matrix[: problem.shape[0] * problem.shape[1], : problem.parameters]):
        raise UnobservableError(
            "no reading depends on any parameter sought; the load is zero or nothing compliant is loaded"
        )


def check_determined(problem: Problem) -> None:
    """Refuse what no reading and no prior can tell."""
    unseen = [name for name, seen in zip(problem.names, np.any(problem.matrix, axis=0), strict=True) if not seen]
    if unseen:
        raise UnobservableError(
            f"no reading depends on {unseen[0]}; leave it out or load the robot in another direction", value=unseen[0]
        )


def linear_fit(model: Robot, campaign: Measured, problem: Problem, names: Sequence[str]) -> Fit:
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
    moved = model.with_estimates({name: float(v) for name, v in zip(names[:parameters], values, strict=False)})
    return Fit(
        moved, campaign, solved, values, covariance(triangle, range(len(at))), np.where(problem.used, raw, np.nan),
        scatter(solved.misfit, solved.used, "linear", 1.0, freedom), freedom, "linear", 1, True,
    )  # fmt: skip


def one_step(problem: Problem, triangle: Array) -> Array:
    """Values (p,) by QR of the small problem's triangle, or of some of its columns, with unit columns."""
    small = unit_qr(triangle)
    if small.least < 1e-9:
        raise InputError(
            "the parameters are not separately identifiable by these readings; seek fewer or let groups choose",
            code="rank",
        )
    return small.solve(problem.reduced.readings)


STEPS, ROUNDS = 100, 4
LOST = 1e6


def estimate(model: Robot, campaign: Measured, names: Sequence[str], loss: Loss = "linear") -> Fit:
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


def _solve(model: Robot, campaign: Measured, names: Sequence[str], loss: Loss, weights: Weights) -> Fit:
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
    campaign: Measured
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
        model = self.model.with_estimates({n: named[n] for n in self.origin.names[:p]})
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

    solution = least_squares(
        search.misfit, x, search.matrix, loss=loss, f_scale=TUNING.get(loss, 1.0) * scale,
        xtol=1e-9, ftol=1e-11, gtol=1e-9, max_nfev=STEPS,
    )  # fmt: skip
    return np.asarray(solution.x), int(solution.nfev), bool(solution.status > 0)


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
    model = fit.model.with_estimates({n: float(v) for n, v in zip(fit.names[:p], values[:p], strict=True)})
    u = {n: float(v) for n, v in zip(problem.nuisance, values[p:], strict=True)}
    raw = residuals(fit.campaign, model, u)
    if np.any(problem.used & ~np.isfinite(raw)):
        return np.full(len(problem.misfit), np.inf)
    whitened = problem.weights.whiten(np.where(problem.used, raw, 0.0)).reshape(-1)
    prior = problem.misfit[problem.priors()] - problem.matrix[problem.priors()] @ (values - fit.values)
    return np.concatenate([whitened, prior])
