"""Is the loaded equilibrium stable, and how much more load would it take?

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
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.posture import Posture
from elastocal.model.robot import RobotModel
from elastocal.model.statics.flexibility import Flexibility
from elastocal.model.statics.forces import Forces, evaluate, frame_forces, placed_loads, placed_wrenches
from elastocal.model.statics.found import FoundStates
from elastocal.model.statics.state import rest_values, state_at
from elastocal.spatial.entries import Array, Bools

_SAFE = 0.95
_DENSE = 256


def judge_stability(found: FoundStates, converged: Bools) -> tuple[Bools, Array]:
    """Unstable (N,) and critical load factor (N,), nan where a bound suffices."""
    flex, posture, theta = found.flex, found.posture, found.theta
    unstable = np.zeros(found.size, dtype=bool)
    factor = np.full(found.size, np.nan)
    if flex.n == 0:
        return unstable, factor
    rows = np.flatnonzero(~converged | ~(_size_bound(found) < _SAFE))
    for start in range(0, len(rows), _DENSE):
        some = rows[start : start + _DENSE]
        at = np.where(converged, theta, posture.unloaded(flex.dofs))[:, some]
        own, external = split_forces(flex, posture.take(some), at, [w.picked(some) for w in found.applied])
        k = flex.compliance[:, :, None] + flex.play(own.q + external.q)[1]
        bent = [np.einsum("ijn,jkn->ikn", k, f.dense()) for f in (own, external)]
        hard = np.flatnonzero(~converged[some] | ~(_norm_bound(posture.model, flex, k, bent) < _SAFE))
        factor[some[hard]] = critical_factor(bent[0][:, :, hard], bent[1][:, :, hard])
        unstable[some[hard]] = factor[some[hard]] <= 1.0
    return unstable, factor


def _size_bound(found: FoundStates) -> Array:
    """An upper bound of the spectral radius of k D (N,) from load sizes and the robot's dimensions."""
    flex, posture, applied = found.flex, found.posture, found.applied
    model = posture.model
    root = _roots(found)
    if root is None:
        return np.full(found.size, np.inf)
    slack = _slack(flex, posture, found.theta)
    total, lever = np.zeros_like(slack), np.zeros_like(slack)
    for load in model.loads:
        for frame, force, moment in load.sizes(model.gravity):
            total = total + force
            lever = lever + force * (slack + model.chain.length(frame)) + moment
    for w in applied:
        size, twist = np.linalg.norm(w.wrench[:, :3], axis=1), np.linalg.norm(w.wrench[:, 3:], axis=1)
        total = total + size
        lever = lever + size * (slack + model.chain.length(w.frame)) + twist
    shift = total / np.where(lever > 0, lever, 1.0)
    pointed = (lever == 0) & (total > 0)  # every load sits on its axis: translations alone can still give way
    give = np.zeros_like(slack)
    for b in flex.blocks:
        turns = flex.rotates[b]
        give = give + (root[b][turns].sum(axis=0) + root[b][~turns].sum(axis=0) * shift) ** 2
    bound = lever * give + _axis_bound(flex, posture, found.theta)
    return np.asarray(np.where(pointed, np.inf, bound))


def _roots(found: FoundStates) -> Array | None:
    """sqrt(k_ii) of all coordinates, (m, N) or (m, 1), or None where |k_ij| <= sqrt(k_ii k_jj) fails: an estimate.

    Play by direction adds its tangent to k, which keeps that law: the play rests on the far side of a convex body.
    """
    flex = found.flex
    size = np.diag(flex.compliance)[:, None]
    if np.any(size < 0) or np.any(flex.compliance**2 > (1 + 1e-9) * size * size.T):
        return None
    if any(len(at) > 1 for _, at in flex.plays):
        size = size + np.maximum(np.einsum("iin->in", found.played[1]), 0.0)
    return np.sqrt(size)


def _slack(flex: Flexibility, at: Posture, theta: Array) -> Array:
    """How much farther than the fixed offsets say a load can be: slides, bends and geometric errors."""
    model = at.model
    sliding = any(f.joint is not None and f.joint.kind == "prismatic" for f in model.tree.frames)
    values = rest_values(at) if sliding else {}
    slides = [np.abs(v) for joint, v in values.items() if model.tree.joint(joint).kind == "prismatic"]
    still = [c for i, c in enumerate(at.offsets) if i not in flex.dofs and not model.chain.rotates[i]]
    out = np.abs(theta[~flex.rotates]).sum(axis=0) + sum(np.abs(c) for c in still)
    return np.asarray(out + sum(slides))


def _axis_bound(flex: Flexibility, at: Posture, theta: Array) -> Array:
    """The axis tangents' share: an entry D_ii alone adds k_ii |D_ii|."""
    model, out = at.model, np.zeros(theta.shape[1])
    if not model.loads:
        return out
    rest = rest_values(at)
    local = {dof: i for i, dof in enumerate(flex.dofs)}
    place = {joint: local.get(model.chain.joint_dof(joint)) for joint in rest}
    loaded = {joint: value if (i := place[joint]) is None else value + theta[i] for joint, value in rest.items()}
    for load in model.loads:
        for axis in load.axis_forces(loaded, rest):
            i = place[axis.joint]
            if i is not None:
                out += np.abs(flex.compliance[i, i] * axis.tangent)
    return out


def split_forces(
    flex: Flexibility, at: Posture, theta: Array, applied: Sequence[AppliedWrenches]
) -> tuple[Forces, Forces]:
    """Forces of the model's own loads and of the external wrenches, at one state."""
    state, values = state_at(flex, at, theta)
    own = evaluate(flex, at, state, placed_loads(at.model, state), values)
    return own, frame_forces(flex, own.screws, placed_wrenches(at.model, state, applied))


def _norm_bound(model: RobotModel, flex: Flexibility, k: Array, bent: Sequence[Array]) -> Array:
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
