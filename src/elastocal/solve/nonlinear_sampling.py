"""Draws of parameters that enter nonlinearly: a few of them beside many that do not, and any density.

Gibbs sampling with a Metropolis step.

    y = A beta + g(psi) + e,    e ~ N(0, s^2) on readings, N(0, 1) on prior rows

psi | s         one Metropolis step with beta integrated out: what counts is the sum of squares that no beta explains;
                in turn a walk (normal, covariance (2.38^2 / k) C, C from the linearised fit), which gets everywhere,
                and a leap to a place that does not depend on the last (Student's t of the same centre and C, 5 degrees
                of freedom, so that its tails are wider than the posterior's), which forgets at once
beta | psi, s   normal, by the QR triangle of A; so psi and beta are drawn together
s^2 | beta, psi inverse gamma (prior 1/s^2)

Any density: by emcee's ensemble of walkers (Foreman-Mackey et al. 2013).  Walkers move by each other's places, so they
are not independent chains and R-hat of them means nothing. What is reported instead is the integrated autocorrelation
time tau of the walkers' mean autocorrelation function (Sokal's window of 5 tau), and

    effective number = walkers steps / tau,   converged only if steps >= 50 tau.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from elastocal.errors import ExtraMissingError, MissingError, NumberError, RangeError, ShapeError, TooFewError
from elastocal.solve.draws import ENOUGH, MIXED, Draws, effective_number, split_rhat
from elastocal.solve.linear import unit_qr
from elastocal.spatial.entries import Array, Bools
from elastocal.values import dataclass

Curve = Callable[[Array], Array]
"""g: psi (chains, k) -> (chains, m)."""
TAILS = 5.0


@dataclass(frozen=True, eq=False)
class NonlinearPosterior(Draws):
    """``draws`` (chains, draws, p) in the order of ``names``; ``scales`` (chains, draws, 1) of the one s that all
    readings share; ``accepted`` a share."""

    scales: Array
    rhat: Array
    effective: Array
    accepted: float

    @property
    def converged(self) -> bool:
        return bool(np.all(self.rhat < MIXED) and np.all(self.effective > ENOUGH))


@dataclass(frozen=True, eq=False)
class NonlinearPart:
    """The nonlinear part: names, start and covariance (k, k) of psi, its curve, and its log prior, -inf if impossible.

    Choose psi so that the curve bends little: the proposal is a normal one.
    """

    names: tuple[str, ...]
    start: Array
    covariance: Array
    curve: Curve
    log_prior: Callable[[Array], Array]


def gibbs_metropolis(
    names: Sequence[str],
    matrix: Array,
    readings: Array,
    known: Bools,
    block: NonlinearPart,
    *,
    rng: np.random.Generator,
    chains: int = 4,
    draws: int = 5000,
    warm_up: int = 1000,
) -> NonlinearPosterior:
    """``names`` of beta, whitened A (m, p) and y (m,), ``known`` (m,) the rows whose scale is one for sure (priors)."""
    m = len(readings)
    if matrix.shape != (m, len(names)) or len(known) != m:
        raise ShapeError(f"matrix {matrix.shape} and {m} readings do not fit {len(names)} parameters")
    if not np.any(~known):
        raise MissingError("no reading to sample from; priors alone say nothing")
    run = _Chains(matrix, readings, known, block, rng, chains)
    psi, z = np.empty((chains, draws, len(block.names))), np.empty((chains, draws, len(names)))
    scales = np.empty((chains, draws))
    accepted = 0.0
    for i in range(-warm_up, draws):
        share = run.step(rng)
        if i >= 0:
            psi[:, i], z[:, i], scales[:, i] = run.psi, run.z, np.sqrt(run.square)
            accepted += share / draws
    both = np.concatenate([run.parameters(z), psi], axis=2)
    return NonlinearPosterior(
        (*names, *block.names), both, scales[:, :, None], split_rhat(both), effective_number(both), accepted
    )


class _Chains:
    """State of all chains: psi (c, k), z (c, p) = R beta with A = Q R, square (c,) = s^2, the curve at psi (c, m)."""

    def __init__(
        self, matrix: Array, readings: Array, known: Bools, block: NonlinearPart, rng: np.random.Generator, chains: int
    ) -> None:
        """Overdispersed starts: twice the spread of the linearised fit, a decade in s^2."""
        self.qr = unit_qr(matrix)
        self.q = self.qr.q
        self.readings, self.known, self.block = readings, known, block
        self.free_gram, self.known_gram = (self.q[rows].T @ self.q[rows] for rows in (~known, known))
        self.lower = np.linalg.cholesky(block.covariance)
        self.leaps = False
        spread = block.start + 2 * rng.standard_normal((chains, len(block.names))) @ self.lower.T
        self.z: Array = np.empty((chains, 0))
        self.psi = np.where(np.isfinite(block.log_prior(spread))[:, None], spread, block.start)
        self.curve = block.curve(self.psi)
        self.square: Array = 10.0 ** rng.uniform(-0.5, 0.5, chains)

    def parameters(self, z: Array) -> Array:
        return np.asarray(np.linalg.solve(self.qr.r, z[..., None])[..., 0] / self.qr.lengths)

    def step(self, rng: np.random.Generator) -> float:
        """One round of all blocks; the share of chains whose proposal was accepted."""
        share = self._draw_psi(rng)
        self._draw_z(rng)
        rest = (self.readings - self.curve - self.z @ self.q.T)[:, ~self.known]
        self.square = np.sum(rest**2, axis=1) / rng.chisquare(rest.shape[1], len(rest))
        return share

    def _normal(self, curve: Array) -> tuple[Array, Array, Array]:
        """Cholesky factor (c, p, p) of z's precision, the right side (c, p), and the squares (c,) before any z."""
        target = self.readings - curve
        w = np.where(self.known, 1.0, 1 / self.square[:, None])
        precision = self.free_gram / self.square[:, None, None] + self.known_gram
        lower = np.asarray(np.linalg.cholesky(precision), dtype=np.float64)
        return lower, (target * w) @ self.q, np.sum(target**2 * w, axis=1)

    def _draw_z(self, rng: np.random.Generator) -> None:
        lower, right, _ = self._normal(self.curve)
        along = np.linalg.solve(lower, right[:, :, None])[:, :, 0] + rng.standard_normal(right.shape)
        self.z = np.asarray(np.linalg.solve(lower.swapaxes(1, 2), along[:, :, None])[:, :, 0])

    def _walk(self, rng: np.random.Generator) -> tuple[Array, Array]:
        """Proposals (c, k) near the last place, and the log ratio of going back to going there."""
        step = 2.38 / np.sqrt(len(self.lower)) * rng.standard_normal(self.psi.shape) @ self.lower.T
        return self.psi + step, np.zeros(len(step))

    def _leap(self, rng: np.random.Generator) -> tuple[Array, Array]:
        normal = rng.standard_normal(self.psi.shape) @ self.lower.T
        there = self.block.start + normal / np.sqrt(rng.chisquare(TAILS, (len(normal), 1)) / TAILS)
        return there, self._student(self.psi) - self._student(there)

    def _student(self, psi: Array) -> Array:
        """Log density (c,) of a leap, but for a constant."""
        off = np.linalg.solve(self.lower, (psi - self.block.start).T)
        return np.asarray(-(TAILS + len(off)) / 2 * np.log1p(np.sum(off**2, axis=0) / TAILS))

    def _draw_psi(self, rng: np.random.Generator) -> float:
        proposal, back = self._leap(rng) if self.leaps else self._walk(rng)
        self.leaps = not self.leaps
        prior = self.block.log_prior(proposal)
        possible = np.isfinite(prior)
        tried = np.where(possible[:, None], proposal, self.psi)
        curve = self.block.curve(tried)
        gain = 0.5 * (self._left(self.curve) - self._left(curve)) + prior - self.block.log_prior(self.psi) + back
        accept = possible & (np.log(rng.random(len(gain))) < gain)
        self.psi = np.where(accept[:, None], tried, self.psi)
        self.curve = np.where(accept[:, None], curve, self.curve)
        return float(np.mean(accept))

    def _left(self, curve: Array) -> Array:
        """Sum of squares (c,) of what no z explains, at the chains' own s."""
        lower, right, squares = self._normal(curve)
        along = np.linalg.solve(lower, right[:, :, None])[:, :, 0]
        return np.asarray(squares - np.sum(along**2, axis=1))


LogDensity = Callable[[Array], Array]
LONG = 50.0


@dataclass(frozen=True, eq=False)
class Ensemble(Draws):
    """``draws`` (walkers, steps, p); ``time`` (p,) is tau in steps; ``accepted`` is the share of accepted moves."""

    time: Array
    effective: Array
    accepted: float

    @property
    def converged(self) -> bool:
        """Long enough for tau itself to be known; then the effective number is too."""
        return bool(np.all(self.draws.shape[1] >= LONG * self.time))


def ensemble(
    names: Sequence[str],
    log_density: LogDensity,
    start: Array,
    spread: Array,
    *,
    rng: np.random.Generator,
    walkers: int | None = None,
    steps: int = 5000,
    warm_up: int = 1000,
) -> Ensemble:
    """Sample exp(log_density(x)), which takes places (k, p) and gives (k,), -inf where a place is impossible.

    The walkers start around ``start`` with standard deviations ``spread``, both (p,). 4 p walkers (16 at least) if
    their number is not given.
    """
    emcee = _emcee()
    centre, size = np.asarray(start, dtype=np.float64), np.asarray(spread, dtype=np.float64)
    many = max(16, 4 * len(names)) if walkers is None else walkers
    _check(len(names), centre, size, many, steps, warm_up)
    # In units of the spread: the moves do not care, but emcee refuses starts that differ too little in relative terms.
    density = _checked(log_density, centre, size)
    first = rng.standard_normal((many, len(names)))
    if not np.all(np.isfinite(density(first))):
        raise RangeError(
            "ensemble: the density is zero where a walker starts; move the start or reduce the spread",
            code="zero-density",
        )
    sampler = emcee.EnsembleSampler(many, len(names), density, vectorize=True)
    sampler.random_state = np.random.MT19937(int(rng.integers(2**32))).state
    sampler.run_mcmc(first, warm_up + steps)
    chain = sampler.get_chain(discard=warm_up)
    with np.errstate(divide="ignore", invalid="ignore"):
        time = np.asarray(emcee.autocorr.integrated_time(chain, tol=0))
    places = centre + size * np.swapaxes(chain, 0, 1)
    return Ensemble(tuple(names), places, time, many * steps / time, float(np.mean(sampler.acceptance_fraction)))


def _emcee() -> Any:
    try:
        import emcee
    except ImportError:
        raise ExtraMissingError.needed("the ensemble sampler needs emcee", "mcmc") from None
    return emcee


def _check(p: int, centre: Array, size: Array, walkers: int, steps: int, warm_up: int) -> None:
    if centre.shape != (p,) or size.shape != (p,):
        raise ShapeError(f"ensemble: give a start and a spread for each of the {p} parameters", value=p)
    if not np.all(np.isfinite(centre)) or not np.all((size > 0) & np.isfinite(size)):
        raise NumberError(
            "ensemble: the start must be finite numbers and the spread positive; take both from a fit", code="start"
        )
    if walkers < 2 * p or walkers < 2:
        raise TooFewError(
            f"ensemble: {walkers} walkers cannot move in {p} parameters; give at least {2 * p}",
            value=(walkers, p, 2 * p),
        )
    if steps < 2 or warm_up < 0:
        raise RangeError(
            "ensemble: needs 2 steps or more and no negative warm-up; 5000 and 1000 are usual", code="few-steps"
        )


def _checked(log_density: LogDensity, centre: Array, size: Array) -> LogDensity:
    def density(u: Array) -> Array:
        value = np.asarray(log_density(centre + size * u), dtype=np.float64)
        if value.shape != u.shape[:1] or np.any(np.isnan(value)) or np.any(value == np.inf):
            raise NumberError(
                f"ensemble: the log density of {len(u)} places must be as many numbers, and -inf where impossible",
                value=len(u),
            )
        return value

    return density
