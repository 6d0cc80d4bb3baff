"""Is the loaded equilibrium stable, how much more load would it take, and is the side of every backlash known?

With weights and springs fixed and the external load scaled by f, the tangent is I - k (D_0 + f D_e).
It first becomes singular at f = 1/mu, mu the largest positive real eigenvalue of
(I - k D_0)^-1 k D_e.  The arm is unstable where f <= 1, or where I - k D_0 already is.

Eigenvalues are costly and almost never needed.  Let F_l be the size of load l and r_l its longest distance
from any axis.  Then |D_ij| <= c a_i a_j with c = sum F_l r_l, a_i = 1 for a rotation and (sum F_l)/c for a
translation (two translations do not interact), and over the blocks b of k

    rho(k D) <= c sum_b (sum_{i in b} a_i sqrt(k_ii))^2,

from the robot's dimensions alone.  It holds for loads that follow too: a turn of j about its axis a_j changes the
moment of a following force about i by a_i . (a_j x (rho x f) + d x (a_j x f)), rho from j to the load and d from i to
j, and |rho| + |d| is not longer than the way from i to the load.  Where the bound is not below one, the Frobenius norm
of k D, its rows and columns scaled by sqrt(k_ii) or by units, is tried; only configurations where this fails too are
examined.
(Divergence only: flutter under following loads is a matter of dynamics.)

The side of a backlash is not known in three cases:

No force      the force on it is zero within rounding, or below its friction threshold.
Either side   with the gap closed the other way the force would hold it there: both are equilibria.
Floating      the force changes its sign across the gap: the joint hangs free inside, at zero force.

The last two are judged by the stiffness that the rest of the robot shows: moving the gap by t changes its force by
t (D (I - k D)^-1)_ii.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.posture import Posture
from elastocal.model.robot import Robot
from elastocal.model.statics import sweep
from elastocal.model.statics.flexibility import Flexibility
from elastocal.model.statics.forces import (
    Forces,
    axis_forces,
    evaluate,
    frame_forces,
    placed_loads,
    placed_wrenches,
    state_at,
    values_at,
)
from elastocal.model.statics.newton import States, newton_equilibrium
from elastocal.spatial.entries import Array, Bools

_SAFE = 0.95
_DENSE = 256


def judge_stability(states: States, converged: Bools) -> tuple[Bools, Array]:
    """Unstable (N,) and critical load factor (N,), nan where a bound suffices."""
    flex, posture, theta = states.flex, states.posture, states.theta
    unstable = np.zeros(states.size, dtype=bool)
    factor = np.full(states.size, np.nan)
    if flex.n == 0:
        return unstable, factor
    rows = np.flatnonzero(~converged | ~(_size_bound(states) < _SAFE))
    for start in range(0, len(rows), _DENSE):
        some = rows[start : start + _DENSE]
        at = np.where(converged, theta, posture.unloaded(flex.dofs))[:, some]
        own, external = split_forces(flex, posture.take(some), at, [w.picked(some) for w in states.applied])
        loose = flex.backlash(own.q + external.q)[1]
        k = flex.compliance[:, :, None] + loose
        bent = [flex.bend(slice(0, flex.n), f.dense(), loose) for f in (own, external)]
        hard = np.flatnonzero(~converged[some] | ~(_norm_bound(posture.model, flex, k, bent) < _SAFE))
        factor[some[hard]] = critical_factor(bent[0][:, :, hard], bent[1][:, :, hard])
        unstable[some[hard]] = factor[some[hard]] <= 1.0
    return unstable, factor


def _size_bound(states: States) -> Array:
    """An upper bound of the spectral radius of k D (N,) from load sizes and the robot's dimensions."""
    flex, posture, applied = states.flex, states.posture, states.applied
    model = posture.model
    root = _roots(states)
    if root is None:
        return np.full(states.size, np.inf)
    slack = _slack(flex, posture, states.theta)
    total, lever = np.zeros_like(slack), np.zeros_like(slack)
    for frame, force, moment in model.load_sizes:
        total = total + force
        lever = lever + force * (slack + model.chain.length(frame)) + moment
    for w in applied:
        _, size, twist = w.sizes()
        total = total + size
        lever = lever + size * (slack + model.chain.length(w.frame)) + twist
    shift = total / np.where(lever > 0, lever, 1.0)
    pointed = (lever == 0) & (total > 0)  # every load sits on its axis: translations alone can still give way
    give = np.zeros_like(slack)
    for b in flex.blocks:
        turns = flex.rotates[b]
        give = give + (root[b][turns].sum(axis=0) + root[b][~turns].sum(axis=0) * shift) ** 2
    bound = np.where(pointed, np.inf, lever * give) + _axis_bound(flex, posture, states.theta)
    return np.broadcast_to(bound, (states.size,))


def _roots(states: States) -> Array | None:
    """sqrt(k_ii) of all coordinates, (m, N) or (m, 1), or None where |k_ij| <= sqrt(k_ii k_jj) fails: an estimate.

    Backlash by direction adds its tangent to k, which keeps that law: it rests on the far side of a convex body.
    """
    flex = states.flex
    size = np.diag(flex.compliance)[:, None]
    if np.any(size < 0) or np.any(flex.compliance**2 > (1 + 1e-9) * size * size.T):
        return None
    soft = [(c, at) for c, at in flex.backlashes if len(at) > 1 or not c.sharp]
    if soft:
        size = np.repeat(size, states.size, axis=1)
    for coordinate, at in soft:
        shift = coordinate.backlash(states.q[list(at)])
        assert shift is not None
        size[list(at)] += np.maximum(np.einsum("iin->in", shift[1]), 0.0)
    return np.sqrt(size)


def _slack(flex: Flexibility, posture: Posture, theta: Array) -> Array:
    """How much farther than the fixed offsets say a load can be: slides, bends and geometric errors; (N,) or (1,)."""
    model = posture.model
    sliding = any(f.joint is not None and f.joint.kind == "prismatic" for f in model.tree.frames)
    values = posture.resting if sliding else {}
    slides = [np.abs(v) for joint, v in values.items() if model.tree.joint(joint).kind == "prismatic"]
    still = [c for i, c in enumerate(posture.offsets) if i not in flex.dofs and not model.chain.rotates[i]]
    out = np.zeros(1) if flex.rotates.all() else np.abs(theta[~flex.rotates]).sum(axis=0)
    return np.asarray(out + sum(np.abs(c) for c in still) + sum(slides))


def _axis_bound(flex: Flexibility, posture: Posture, theta: Array) -> Array:
    """The axis tangents' share: an entry D_ii alone adds k_ii |D_ii|; (N,) or (1,)."""
    acting = axis_forces(flex, posture, values_at(flex, posture, theta)) if posture.model.axis_loads else []
    return np.asarray(sum((np.abs(flex.compliance[i, i] * axis.tangent) for i, axis in acting), start=np.zeros(1)))


def split_forces(
    flex: Flexibility, at: Posture, theta: Array, applied: Sequence[AppliedWrenches]
) -> tuple[Forces, Forces]:
    """Forces of the model's own loads and of the external wrenches, at one state."""
    state, values = state_at(flex, at, theta)
    own = evaluate(flex, at, state, placed_loads(at.model, state), values)
    return own, frame_forces(flex, own.screws, placed_wrenches(at.model, state, applied))


def _norm_bound(model: Robot, flex: Flexibility, k: Array, bent: Sequence[Array]) -> Array:
    """An upper bound (N,) of the spectral radius of every sum of k D: Frobenius norms with rows and columns scaled.

    Scaled by sqrt(k_ii), and by rad and the robot's length, which holds where an estimate has a k_ii near zero.
    """
    size = np.sqrt(np.abs(np.einsum("iin->in", k)))
    units = np.where(flex.rotates, 1.0, model.size)[:, None]
    sums = [
        sum(np.linalg.norm(b * s[None] / s[:, None], axis=(0, 1)) for b in bent)
        for s in (np.where(size > 0, size, 1.0), units)
    ]
    return np.asarray(np.minimum(*sums))


def critical_factor(own: Array, external: Array) -> Array:
    """Load factor (N,) from k D (n, n, N) of own and external loads; 0: fails without external load, inf: never."""
    out = np.empty(own.shape[2])
    eye = np.eye(own.shape[0])
    for i in range(own.shape[2]):
        base = eye - own[:, :, i]
        values = np.linalg.eigvals(base)
        if np.any((np.abs(values.imag) < 1e-9) & (values.real <= 0)):
            out[i] = 0.0
            continue
        mu = np.linalg.eigvals(np.linalg.solve(base, external[:, :, i]))
        real = mu.real[(np.abs(mu.imag) < 1e-9 * np.maximum(1.0, np.abs(mu))) & (mu.real > 0)]
        out[i] = 1.0 / real.max() if real.size and real.max() > 1e-12 else np.inf
    return out


def undetermined(states: States) -> Bools:
    """No force, or either side possible (N,), at equilibria."""
    out = np.zeros(states.size, dtype=bool)
    two_sided = [(c, at) for c, at in states.flex.backlashes if c.sharp]
    if not two_sided:
        return out
    force, noise = states.forces.q, states.noise
    for coordinate, at in two_sided:
        unknown = coordinate.undetermined(force[list(at)], noise[list(at)])
        if unknown is not None:
            out |= unknown
    single = _single(states.flex)
    if not single:
        return out
    other = force[single] - 2 * states.backlash[0][single] * _resistance(states.flex, states.forces, single)
    return np.asarray(out | np.any(force[single] * other < 0, axis=0))


def floating(states: States) -> Bools:
    """Backlash on single joints that hang free inside their gap (N,), wherever the search has led."""
    flex = states.flex
    if not _single(flex):
        return np.zeros(states.size, dtype=bool)
    free = States.unloaded(replace(flex, backlashes=()), states.posture, states.applied)
    theta, force, _, done = newton_equilibrium(free)
    forces, single = replace(free, theta=theta).forces, _single(flex)
    shift, resistance = flex.backlash(np.ones_like(theta))[0][single], _resistance(free.flex, forces, single)
    hangs = (resistance < 0) & (np.abs(force[single]) <= np.abs(shift * resistance))
    return np.asarray(done & np.any(hangs, axis=0))


def _single(flex: Flexibility) -> list[int]:
    """Numbers of the coordinates with a backlash of their own that has two sides."""
    return [at[0] for c, at in flex.backlashes if len(at) == 1 and c.sharp]


def _resistance(flex: Flexibility, forces: Forces, at: Sequence[int]) -> Array:
    """Change of each force ``at`` per unit of backlash there, the rest of the robot yielding (len(at), N)."""
    unit = np.zeros((flex.n, len(at), forces.q.shape[1]))
    each = np.arange(len(at))
    unit[at, each] = 1.0
    return np.asarray(sweep.solve(flex, forces, unit)[1][at, each])
