"""The arm before contact: where its tip would be, and whether that tells which side of the object is met."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from elastocal.model.elements import CompliantCoordinate
from elastocal.model.posture import Posture
from elastocal.model.statics.flexibility import Flexibility
from elastocal.model.statics.forces import evaluate, force_noise, placed_loads
from elastocal.model.statics.newton import Batch, newton_equilibrium
from elastocal.model.statics.state import state_at
from elastocal.model.surfaces.surface import Near
from elastocal.spatial.batch import dot_products
from elastocal.spatial.entries import Array, Bools


def at_rest(flex: Flexibility, posture: Posture) -> tuple[Array, Bools]:
    """theta (n, N) of the arm without contact, and whether it was found; gaps that nothing loads stay at the middle."""
    model, start = posture.model, posture.start(flex.dofs)
    theta, force, _, done = newton_equilibrium(replace(flex, plays=()), Batch(posture, (), start))
    if not flex.plays or not model.loads:
        return theta, done
    state, values = state_at(flex, posture, np.where(done, theta, 0.0))
    placed = placed_loads(model, state)
    noise = force_noise(model, flex, evaluate(flex, posture, state, placed, values), placed)
    loaded = np.array([~unsure(c, force[list(at)], noise[list(at)]) for c, at in flex.plays])
    for pattern in np.unique(loaded, axis=1).T:
        if pattern.any():
            rows = np.flatnonzero((loaded == pattern[:, None]).all(axis=0))
            some = replace(flex, plays=tuple(p for p, on in zip(flex.plays, pattern, strict=True) if on))
            batch = Batch(posture.take(rows), (), theta[:, rows])
            theta[:, rows], _, _, done[rows] = newton_equilibrium(some, batch)
    return theta, done


def unsure(coordinate: CompliantCoordinate, force: Array, noise: Array) -> Bools:
    unknown = coordinate.undetermined(force, noise)
    return np.zeros(force.shape[1], dtype=bool) if unknown is None else unknown


def too_deep(free: Near) -> Bools:
    """Inside by more than the radius of curvature there (N,): nearer to the middle than to the surface.

    Of a ball or bar H = P / rho with a projector P, so that rho = tr(H) / |H|^2.
    """
    bend = np.einsum("iin->n", free.hessian)
    flat = bend <= 0
    rho = bend / np.where(flat, 1.0, np.einsum("ijn,ijn->n", free.hessian, free.hessian))
    lost = dot_products(free.normal, free.normal) < 0.5  # the very middle has no normal
    return np.asarray(lost | (~flat & (-free.distance > rho)))
