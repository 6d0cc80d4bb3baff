"""Is the loaded equilibrium stable, and how much more load would it take?

With weights and springs fixed and the external load scaled by f, the tangent is I - k (D_0 + f D_e).
It first becomes singular at f = 1/mu, mu the largest positive real eigenvalue of
(I - k D_0)^-1 k D_e.  The arm is unstable where f <= 1, or where I - k D_0 already is.

Eigenvalues are costly and almost never needed.  Let F_l be the size of load l and r_l its longest distance
from any axis: then |D_ij| <= c a_i a_j with c = sum F_l r_l, a_i = 1 for a rotation and 1/r for a translation
(r the longest of all), and over the blocks b of k

    rho(k D) <= c sum_b (sum_{i in b} a_i sqrt(k_ii))^2,

from the robot's dimensions alone.  Where that is not below one, the tangents themselves give

    rho(k D)^2 <= |B^T D B|^2 <= 2 (tr(C GkG^T) + tr(C HkH^T)),   C = J k J^T,  k = B B^T,

and only configurations where this fails too are examined.
(Divergence only: flutter under following loads is a matter of dynamics.)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import RobotModel
from elastocal.model.statics.flexibility import Flexibility
from elastocal.model.statics.forces import Forces, evaluate, frame_forces, placed_loads, placed_wrenches
from elastocal.model.statics.state import commanded_values, state_at
from elastocal.spatial.entries import Array, Bools

_SAFE = 0.95


def judge(
    model: RobotModel,
    flex: Flexibility,
    q: Array,
    theta: Array,
    applied: Sequence[AppliedWrenches],
    converged: Bools,
) -> tuple[Bools, Array]:
    """Unstable (N,) and critical load factor (N,), nan where a bound suffices."""
    total = theta.shape[1]
    unstable = np.zeros(total, dtype=bool)
    factor = np.full(total, np.nan)
    rows = (
        np.flatnonzero(~converged | ~(_size_bound(model, flex, q, theta, applied) < _SAFE))
        if flex.n
        else np.empty(0, int)
    )
    if not len(rows):
        return unstable, factor
    at = np.where(converged, theta, flex.constant[list(flex.dofs)][:, None])[:, rows]
    some = [w.picked(rows) for w in applied]
    own, external = split_forces(model, flex, q[:, rows], at, some)
    doubtful = ~converged[rows] | ~(_bound(flex, own) + _bound(flex, external) < _SAFE)
    hard = np.flatnonzero(doubtful)
    if len(hard):
        factor[rows[hard]] = critical_factor(flex, own.dense()[:, :, hard], external.dense()[:, :, hard])
        unstable[rows[hard]] = factor[rows[hard]] <= 1.0
    return unstable, factor


def _size_bound(
    model: RobotModel, flex: Flexibility, q: Array, theta: Array, applied: Sequence[AppliedWrenches]
) -> Array:
    """An upper bound of the spectral radius of k D (N,) from load sizes and the robot's dimensions."""
    slides = [i for i, m in enumerate(model.motions) if m.kind == "prismatic"]
    slack = np.abs(q[slides]).sum(axis=0) + np.abs(theta[~flex.rotates]).sum(axis=0)
    reach = slack + max(1e-6, *(model.chain.length(f) for f in model.tree.names))
    loads = [(f, force, moment) for element in model.loads for f, force, moment in element.sizes(model.gravity)]
    lever = np.zeros(theta.shape[1])
    for frame, force, moment in loads:
        lever = lever + force * (slack + model.chain.length(frame)) + moment
    for w in applied:
        force, moment = np.linalg.norm(w.wrench[:, :3], axis=1), np.linalg.norm(w.wrench[:, 3:], axis=1)
        lever = lever + force * (slack + model.chain.length(w.frame)) + moment
    root = np.sqrt(np.diag(flex.compliance))
    give = np.zeros(theta.shape[1])
    for b in flex.blocks:
        turns = flex.rotates[b]
        give = give + (root[b][turns].sum() + root[b][~turns].sum() / reach) ** 2
    follow = 2.0 if any(w.follows for w in applied) else 1.0
    return np.asarray(follow * lever * give + _axis_bound(model, flex, q, theta))


def _axis_bound(model: RobotModel, flex: Flexibility, q: Array, theta: Array) -> Array:
    """k times the axis tangents: springs act on single joints, so no bound is needed."""
    out = np.zeros(theta.shape[1])
    commanded = commanded_values(model, q)
    local = {dof: i for i, dof in enumerate(flex.dofs)}
    for joint, value in commanded.items():
        i = local.get(model.chain.joint_dof(joint))
        if i is None:
            continue
        at = {**commanded, joint: value + theta[i]}
        for load in model.loads:
            for axis in load.axis_forces(at, commanded):
                if axis.joint == joint:
                    out += np.abs(flex.compliance[i, i] * axis.tangent)
    return out


def split_forces(
    model: RobotModel, flex: Flexibility, q: Array, theta: Array, applied: Sequence[AppliedWrenches]
) -> tuple[Forces, Forces]:
    """Forces of the model's own loads and of the external wrenches, at one state."""
    state, values = state_at(model, flex, q, theta)
    own = evaluate(model, flex, state, placed_loads(model, state), values, commanded_values(model, q))
    return own, frame_forces(flex, own.screws, placed_wrenches(model, state, applied))


def _bound(flex: Flexibility, forces: Forces) -> Array:
    """An upper bound of the spectral radius of k D (N,)."""
    screws = forces.screws[forces.top :]
    spread = np.einsum("ain,bin->abn", screws, flex.linear(np.moveaxis(screws, 0, 1)).swapaxes(0, 1))
    total = np.zeros(forces.q.shape[1])
    for column in (forces.g, forces.h):
        weighted = flex.linear(np.moveaxis(column, 0, 1)).swapaxes(0, 1)
        gram = np.einsum("ain,bin->abn", column, weighted)
        total += np.einsum("abn,abn->n", spread, gram)
    size = np.sqrt(2 * np.clip(total, 0.0, None))
    axis = np.max(np.abs(np.diag(flex.compliance)[:, None] * forces.axis), axis=0)
    return np.asarray(size + axis)


def critical_factor(flex: Flexibility, own: Array, external: Array) -> Array:
    """Load factor (N,) from dense tangents (n, n, N); 0 where the arm fails without external load, inf if never."""
    out = np.empty(own.shape[2])
    k, eye = flex.compliance, np.eye(flex.n)
    for i in range(own.shape[2]):
        base = eye - k @ own[:, :, i]
        values = np.linalg.eigvals(base)
        if np.any((np.abs(values.imag) < 1e-9) & (values.real <= 0)):
            out[i] = 0.0
            continue
        mu = np.linalg.eigvals(np.linalg.solve(base, k @ external[:, :, i]))
        real = mu.real[(np.abs(mu.imag) < 1e-9 * np.maximum(1.0, np.abs(mu))) & (mu.real > 0)]
        out[i] = 1.0 / real.max() if real.size else np.inf
    return out
