"""The spring of a gravity compensator: where to start the search for it, and its posterior without linearising it.

Start (000 eq. 5, 6).  The stiffness of its joint is linear in three numbers,

    K(q) = K_2 + K_c a L (-cos x) + (K_c s_0) a L (sin^2 x a L/s^2 + cos x) / s,    x = phi0 - q,

and the deflection is linear in the compliance 1/K(q) of every angle q that was measured.  So two linear fits, one after
the other, give K_2, K_c = 1/k_c and s_0, without anybody's guess.

Posterior.  The joint's equivalent compliance kappa = 1 / (1/k + a L eta(q, s_0) / k_c) is far from linear in
(k, k_c, s_0) where they are known badly; everything else is nearly linear.  With c the change of a reading by kappa,
taken from the fit's own matrix as (column of k) / (d kappa / d k), the model sampled is

    y = A beta + c (kappa(k, k_c, s_0) - kappa_hat) + e.

The chain moves in (1/k, 1/k_c, s_0/k_c), in which the stiffness is linear, and the prior is flat in these three > 0.  A
prior flat in (k, k_c, s_0) has k^2 k_c^3 times the weight there: it grows without end towards a spring that is not
there, k_c = inf, which readings that know k_c to 20 % do not exclude strongly enough, and then nothing is sampled but
the prior.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from elastocal.errors import InputError
from elastocal.measure.kind import Measurement
from elastocal.measure.measured import Measured
from elastocal.model.loads.gravity_compensator import GravityCompensator
from elastocal.model.robot import Robot
from elastocal.reduction.fit import Fit
from elastocal.reduction.problem import weigh
from elastocal.solve.identifiability import classify, covariance
from elastocal.solve.linear import solve_linear
from elastocal.solve.nonlinear_sampling import NonlinearPart, NonlinearPosterior, gibbs_metropolis
from elastocal.spatial.entries import Array, Ints
from elastocal.values import dataclass

SAME_ANGLE = 1e-4
CLEAR = 3.0
"""An angle counts where its compliance is more than this many standard deviations, so that its inverse is tame."""


@dataclass(frozen=True, eq=False)
class Start:
    """Values by parameter name, and the equivalent compliance at every angle measured, nan where the load does not
    turn the joint.
    """

    values: dict[str, float]
    angles: Array
    equivalent: Array


def compensator_of(model: Robot, names: Sequence[str]) -> GravityCompensator | None:
    """The compensator whose k_c and s_0 are sought together with its joint's compliance."""
    for element in model.elements:
        if isinstance(element, GravityCompensator):
            wanted = {f"{element.joint}.{s}" for s in ("k", "k_c", "s_0")}
            if wanted <= set(names):
                return element
    return None


def spring_pairs(model: Robot) -> tuple[tuple[str, ...], ...]:
    """k_c and s_0 of every compensator: the joint feels s_0 / k_c and 1 / k_c, so that each means nothing beside a
    guess of the other."""
    return tuple(
        (f"{e.joint}.k_c", f"{e.joint}.s_0") for e in model.elements if isinstance(e, GravityCompensator)
    )  # fmt: skip


def start_values(model: Robot, campaign: Measured, names: Sequence[str], spring: GravityCompensator) -> Start:
    """Start values of ``names``: the spring's pair, its joint's compliance and all other compliances sought."""
    kind = campaign.measurement
    linear = kind.linear()
    if linear is None:
        raise InputError(
            "start values of a compensator need deflections; give k_c and s_0 in the robot file instead",
            code="kind",
            value=kind.kind,
        )
    own = f"{spring.joint}.k"
    others = [n for n in linear.names(model, None) if n in set(names) and n != own]
    angles, place = _angles(model, kind, spring)
    if len(angles) < 3:
        raise InputError(
            f"{len(angles)} different angles of {spring.joint} cannot give stiffness, spring and preload; measure at "
            "three or more",
            code="few-readings",
            value=len(angles),
        )
    weights = weigh(campaign, model)
    used = np.isfinite(campaign.readings) & weights.live
    plain = linear.predict(model.with_estimates(dict.fromkeys((own, *others), 0.0)))
    target = weights.whiten(np.where(used, campaign.readings - plain, 0.0)).reshape(-1)
    columns = np.concatenate([linear.derivative(model, others), _by_angle(linear, model, own, place)], axis=2)
    matrix = weights.whiten(np.where(used[:, :, None], columns, 0.0)).reshape(len(target), -1)
    values, spread = _solved([*others, *(f"angle {i}" for i in range(len(angles)))], matrix, target)
    m = len(others)
    starts = {n: float(v) for n, v in zip(others, values[:m], strict=True)}
    starts |= _spring(spring, angles, values[m:], spread[m:, m:])
    return Start(starts, angles, values[m:])


def _angles(model: Robot, kind: Measurement, spring: GravityCompensator) -> tuple[Array, Ints]:
    """Different angles of the joint, and the number of that of every reading."""
    q = kind.setup.q[:, model.joints.index(spring.joint)]
    rough, place = np.unique(np.round(q / SAME_ANGLE).astype(np.int64), return_inverse=True)
    return np.asarray(rough * SAME_ANGLE, dtype=np.float64), place.reshape(-1)


def _by_angle(linear: Measurement, model: Robot, own: str, place: Ints) -> Array:
    """The column of the joint's compliance, one for every angle."""
    column = linear.derivative(model, [own])
    return np.asarray(column * (place[:, None, None] == np.arange(place.max() + 1)))


def _solved(names: Sequence[str], matrix: Array, target: Array) -> tuple[Array, Array]:
    """Least squares with zero for what cannot be told apart, and nan for angles at which the joint is not seen."""
    triangle = np.asarray(np.linalg.qr(np.column_stack([matrix, target]), mode="r"))
    r, d = triangle[:, :-1], triangle[:, -1]
    angles = [n for n in names if n.startswith("angle ")]
    kept = list(classify(names, r, np.full(len(names), 1e-7), angles).kept)
    lost = [n for i, n in enumerate(names) if i not in kept and n in angles]
    if len(angles) - len(lost) < 3:
        raise InputError(
            "the readings do not tell the compensator's joint from the others; load it at other angles", code="rank"
        )
    values, spread = np.zeros(len(names)), np.zeros((len(names), len(names)))
    values[kept] = solve_linear(r[:, kept], d).values
    spread[np.ix_(kept, kept)] = covariance(r, kept)
    unseen = [i for i, n in enumerate(names) if n in lost]
    values[unseen], spread[unseen, unseen] = np.nan, np.nan
    return values, spread


def _spring(spring: GravityCompensator, angles: Array, compliance: Array, spread: Array) -> dict[str, float]:
    """Weighted fit of K(q) = 1/compliance by its three linear coefficients, at the angles where it is clear."""
    sd = np.sqrt(np.diag(spread))
    negative, clear = compliance < -CLEAR * sd, np.flatnonzero(compliance > CLEAR * sd)
    if np.any(negative) or len(clear) < 3:
        message = (
            f"a negative compliance at {np.sum(negative)}" if np.any(negative) else f"a clear one at {len(clear)} only"
        )
        raise InputError(
            f"the joint {spring.joint} shows {message} of {len(angles)} angles: too much noise for the spring; measure "
            "more or give k_c and s_0 in the robot file",
            code="noise",
            value=spring.joint,
        )
    angles, compliance, spread = angles[clear], compliance[clear], spread[np.ix_(clear, clear)]
    x, s, al = spring.phi0 - angles, spring.length(angles), spring.a * spring.L
    bend = (al / s**2 * np.sin(x) ** 2 + np.cos(x)) / s
    design = np.column_stack([np.ones_like(x), -al * np.cos(x), al * bend])
    slope = np.diag(-1 / compliance**2)
    lower = np.linalg.cholesky(slope @ spread @ slope)
    k2, kc, kc_s0 = solve_linear(np.linalg.solve(lower, design), np.linalg.solve(lower, 1 / compliance)).values
    if not (k2 > 0 and kc > 0 and kc_s0 > 0):
        raise InputError(
            f"the readings at {spring.joint} ask for a spring that cannot be (K_2 {k2:.3g} N m/rad, K_c {kc:.3g} N/m, "
            f"K_c s_0 {kc_s0:.3g} N); measure over a wider range of the joint, or give k_c and s_0 in the robot file",
            code="no-spring",
            value=(k2, kc, kc_s0),
        )
    place = spring.joint
    return {f"{place}.k": float(1 / k2), f"{place}.k_c": float(1 / kc), f"{place}.s_0": float(kc_s0 / kc)}


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
    used, readings = fit.problem.counted, fit.problem.used.size
    angles = fit.campaign.measurement.setup.q[:, fit.model.joints.index(spring.joint)]
    q = np.concatenate([np.repeat(angles, fit.problem.shape[1]), np.zeros(len(used) - readings)])
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
    known = np.arange(len(used)) >= readings
    samples = gibbs_metropolis(
        [fit.names[i] for i in others], fit.problem.matrix[used][:, others], fit.problem.misfit[used], known[used],
        block, rng=rng, draws=draws,
    )  # fmt: skip
    return _in_order(fit, samples, others)


def _in_order(fit: Fit, posterior: NonlinearPosterior, others: list[int]) -> NonlinearPosterior:
    """Columns as the fit names them; linear ones are drawn as changes from its values."""
    draws = posterior.draws.copy()
    draws[:, :, : len(others)] += fit.values[others]
    draws[:, :, len(others) :] = from_stiffness(draws[:, :, len(others) :])
    order = [posterior.names.index(n) for n in fit.names]
    return replace(
        posterior,
        names=fit.names,
        draws=draws[:, :, order],
        rhat=posterior.rhat[order],
        effective=posterior.effective[order],
    )
