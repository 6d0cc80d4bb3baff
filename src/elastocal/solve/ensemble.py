"""Draws of nonlinear parameters from any density, by emcee's ensemble of walkers (Foreman-Mackey et al. 2013).

Walkers move by each other's places, so they are not independent chains and R-hat of them means nothing. What is
reported instead is the integrated autocorrelation time tau of the walkers' mean autocorrelation function (Sokal's
window of 5 tau), and

    effective number = walkers steps / tau,   converged only if steps >= 50 tau.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from elastocal.errors import ExtraMissingError, NumberError, RangeError, ShapeError, TooFewError
from elastocal.solve.draws import Draws
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

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
