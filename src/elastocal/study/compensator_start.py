"""Where to start the search for a compensator's spring, without anybody's guess (000 eq. 5, 6).

The stiffness of its joint is linear in three numbers,

    K(q) = K_2 + K_c a L (-cos x) + (K_c s_0) a L (sin^2 x a L/s^2 + cos x) / s,    x = phi0 - q,

and the deflection is linear in the compliance 1/K(q) of every angle q that was measured.  So two linear fits, one after
the other, give K_2, K_c = 1/k_c and s_0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elastocal.errors import InputError
from elastocal.identify.problem import weigh
from elastocal.measure.campaign import Campaign
from elastocal.measure.deflection import Deflection
from elastocal.model.loads.gravity_compensator import GravityCompensator
from elastocal.model.robot import Robot
from elastocal.solve.groups import classify, covariance
from elastocal.spatial.entries import Array, Ints

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


def start_values(model: Robot, campaign: Campaign, names: Sequence[str], spring: GravityCompensator) -> Start:
    """Start values of ``names``: the spring's pair, its joint's compliance and all other compliances sought."""
    kind = campaign.measurement
    if not isinstance(kind, Deflection):
        raise InputError("start values of a compensator need deflections; give k_c and s_0 in the robot file instead")
    linear = Deflection(kind.where, "linear")
    own = f"{spring.joint}.k"
    others = [n for n in linear.names(model, None) if n in set(names) and n != own]
    angles, place = _angles(model, kind, spring)
    if len(angles) < 3:
        raise InputError(
            f"{len(angles)} different angles of {spring.joint} cannot give stiffness, spring and preload; measure at "
            "three or more"
        )
    weights = weigh(campaign, model)
    used = np.isfinite(campaign.readings) & weights.live
    plain = linear.predict(model.with_parameters(dict.fromkeys((own, *others), 0.0)))
    target = weights.whiten(np.where(used, campaign.readings - plain, 0.0)).reshape(-1)
    columns = np.concatenate([linear.derivative(model, others), _by_angle(linear, model, own, place)], axis=2)
    matrix = weights.whiten(np.where(used[:, :, None], columns, 0.0)).reshape(len(target), -1)
    values, spread = _solved([*others, *(f"angle {i}" for i in range(len(angles)))], matrix, target)
    m = len(others)
    found = {n: float(v) for n, v in zip(others, values[:m], strict=True)}
    found |= _spring(spring, angles, values[m:], spread[m:, m:])
    return Start(found, angles, values[m:])


def _angles(model: Robot, kind: Deflection, spring: GravityCompensator) -> tuple[Array, Ints]:
    """Different angles of the joint, and the number of that of every reading."""
    q = kind.where.q[:, model.joints.index(spring.joint)]
    rough, place = np.unique(np.round(q / SAME_ANGLE).astype(np.int64), return_inverse=True)
    return np.asarray(rough * SAME_ANGLE, dtype=np.float64), place.reshape(-1)


def _by_angle(linear: Deflection, model: Robot, own: str, place: Ints) -> Array:
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
        raise InputError("the readings do not tell the compensator's joint from the others; load it at other angles")
    values, spread = np.zeros(len(names)), np.zeros((len(names), len(names)))
    values[kept] = np.linalg.lstsq(r[:, kept], d, rcond=None)[0]
    spread[np.ix_(kept, kept)] = covariance(r, kept)
    unseen = [i for i, n in enumerate(names) if n in lost]
    values[unseen], spread[unseen, unseen] = np.nan, np.nan
    return values, spread


def _spring(spring: GravityCompensator, angles: Array, compliance: Array, spread: Array) -> dict[str, float]:
    """Weighted fit of K(q) = 1/compliance by its three linear coefficients, at the angles where it is clear."""
    sd = np.sqrt(np.diag(spread))
    negative, clear = compliance < -CLEAR * sd, np.flatnonzero(compliance > CLEAR * sd)
    if np.any(negative) or len(clear) < 3:
        said = (
            f"a negative compliance at {np.sum(negative)}" if np.any(negative) else f"a clear one at {len(clear)} only"
        )
        raise InputError(
            f"the joint {spring.joint} shows {said} of {len(angles)} angles: too much noise for the spring; measure "
            "more or give k_c and s_0 in the robot file"
        )
    angles, compliance, spread = angles[clear], compliance[clear], spread[np.ix_(clear, clear)]
    x, s, al = spring.phi0 - angles, spring.length(angles), spring.a * spring.L
    bend = (al / s**2 * np.sin(x) ** 2 + np.cos(x)) / s
    design = np.column_stack([np.ones_like(x), -al * np.cos(x), al * bend])
    slope = np.diag(-1 / compliance**2)
    lower = np.linalg.cholesky(slope @ spread @ slope)
    sizes = np.linalg.norm(np.linalg.solve(lower, design), axis=0)
    k2, kc, kc_s0 = (
        np.linalg.lstsq(np.linalg.solve(lower, design / sizes), np.linalg.solve(lower, 1 / compliance), rcond=None)[0]
        / sizes
    )
    if not (k2 > 0 and kc > 0 and kc_s0 > 0):
        raise InputError(
            f"the readings at {spring.joint} ask for a spring that cannot be (K_2 {k2:.3g} N m/rad, K_c {kc:.3g} N/m, "
            f"K_c s_0 {kc_s0:.3g} N); measure over a wider range of the joint, or give k_c and s_0 in the robot file"
        )
    place = spring.joint
    return {f"{place}.k": float(1 / k2), f"{place}.k_c": float(1 / kc), f"{place}.s_0": float(kc_s0 / kc)}
