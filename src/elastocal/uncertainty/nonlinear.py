"""The posterior of a fit without linearising it: emcee on the full model, the noise scaled as the fit uses it."""

from __future__ import annotations

import numpy as np

from elastocal.identify.estimate import misfit_at
from elastocal.identify.fit import Fit
from elastocal.solve.ensemble import Ensemble, ensemble
from elastocal.spatial.entries import Array


def sample_nonlinear(fit: Fit, steps: int, rng: np.random.Generator) -> Ensemble:
    """Every place of a walker is a solution of the full model: minutes for a large arm, seconds for a small one."""

    def log_density(places: Array) -> Array:
        squares = np.array([np.sum(misfit_at(fit, x) ** 2) for x in places])
        return np.asarray(-0.5 * squares / fit.inflation**2)

    return ensemble(fit.names, log_density, fit.values, fit.sd, rng=rng, steps=steps, warm_up=steps // 5)
