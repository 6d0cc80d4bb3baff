"""What readings say of a compensator's spring, sampled without linearising it.

The joint's equivalent compliance kappa = 1 / (1/k + a L eta(q, s_0) / k_c) (000 eq. 5, 6) is far from linear in
(k, k_c, s_0) where they are known badly; everything else is nearly linear.  With c the change of a reading by kappa,
taken from the fit's own matrix as (column of k) / (d kappa / d k), the model sampled is

    y = A beta + c (kappa(k, k_c, s_0) - kappa_hat) + e.

The chain moves in (1/k, 1/k_c, s_0/k_c), in which the stiffness is linear, and the prior is flat in these three > 0.  A
prior flat in (k, k_c, s_0) has k^2 k_c^3 times the weight there: it grows without end towards a spring that is not
there, k_c = inf, which readings that know k_c to 20 % do not exclude strongly enough, and then nothing is sampled but
the prior.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from elastocal.identify.fit import Fit
from elastocal.model.loads.gravity_compensator import GravityCompensator
from elastocal.solve.metropolis import NonlinearPart, NonlinearPosterior, gibbs_metropolis
from elastocal.spatial.entries import Array


def equivalent_compliance(spring: GravityCompensator, q: Array, psi: Array) -> Array:
    """kappa (..., N) at joint angles q (N,) for psi (..., 3) = (k, k_c, s_0)."""
    k, k_c, s_0 = (psi[..., i, None] for i in range(3))
    x, s = spring.phi0 - q, spring.length(q)
    al = spring.a * spring.L
    eta = s_0 / s * (al / s**2 * np.sin(x) ** 2 + np.cos(x)) - np.cos(x)
    return np.asarray(1 / (1 / k + al * eta / k_c))


def to_stiffness(psi: Array) -> Array:
    """(k, k_c, s_0) -> (1/k, 1/k_c, s_0/k_c)."""
    return np.stack([1 / psi[..., 0], 1 / psi[..., 1], psi[..., 2] / psi[..., 1]], axis=-1)


def from_stiffness(stiff: Array) -> Array:
    return np.stack([1 / stiff[..., 0], 1 / stiff[..., 1], stiff[..., 2] / stiff[..., 1]], axis=-1)


def _slope(psi: Array) -> Array:
    """Derivative of ``to_stiffness``, (3, 3)."""
    k, k_c, s_0 = psi
    return np.array([[-1 / k**2, 0, 0], [0, -1 / k_c**2, 0], [0, -s_0 / k_c**2, 1 / k_c]])


def sample_spring(
    fit: Fit, spring: GravityCompensator, *, rng: np.random.Generator, draws: int = 5000
) -> NonlinearPosterior:
    """Draws of all estimates of a fit that holds the spring's pair and its joint's compliance."""
    own = [f"{spring.joint}.{s}" for s in ("k", "k_c", "s_0")]
    mine = [fit.names.index(n) for n in own]
    others = [i for i in range(len(fit.names)) if i not in mine]
    n, r = fit.problem.shape
    priors = len(fit.problem.misfit) - n * r
    used = np.concatenate([fit.problem.used.reshape(-1), np.ones(priors, dtype=bool)])
    q = np.concatenate([np.repeat(_angles(fit, spring), r), np.zeros(priors)])
    here = fit.values[mine]
    kappa = equivalent_compliance(spring, q, here)
    reach = fit.problem.matrix[:, mine[0]] / (kappa / here[0]) ** 2

    def curve(stiff: Array) -> Array:
        return np.asarray((reach * (equivalent_compliance(spring, q, from_stiffness(stiff)) - kappa))[:, used])

    def log_prior(stiff: Array) -> Array:
        allowed = np.all(stiff > 0, axis=1)
        psi = from_stiffness(np.where(allowed[:, None], stiff, to_stiffness(here)))
        allowed &= np.all(equivalent_compliance(spring, q, psi) > 0, axis=1)
        return np.where(allowed, 0.0, -np.inf)

    slope = _slope(here)
    block = NonlinearPart(
        tuple(own), to_stiffness(here), slope @ fit.covariance[np.ix_(mine, mine)] @ slope.T, curve, log_prior
    )
    known = np.arange(len(fit.problem.misfit)) >= n * r
    found = gibbs_metropolis(
        [fit.names[i] for i in others],
        fit.problem.matrix[used][:, others],
        fit.problem.misfit[used],
        known[used],
        block,
        rng=rng,
        draws=draws,
    )
    return _in_order(fit, found, others)


def _angles(fit: Fit, spring: GravityCompensator) -> Array:
    """Angle of the spring's joint at every reading."""
    return fit.campaign.measurement.setup.q[:, fit.model.joints.index(spring.joint)]


def _in_order(fit: Fit, found: NonlinearPosterior, others: list[int]) -> NonlinearPosterior:
    """Columns as the fit names them; linear ones are drawn as changes from its values."""
    draws = found.draws.copy()
    draws[:, :, : len(others)] += fit.values[others]
    draws[:, :, len(others) :] = from_stiffness(draws[:, :, len(others) :])
    order = [found.names.index(n) for n in fit.names]
    return replace(
        found, names=fit.names, draws=draws[:, :, order], rhat=found.rhat[order], effective=found.effective[order]
    )
