"""What the drives must give to move a rigid arm, linear in the ten inertial parameters of every body.

    tau = sum_b Y_b(q, q', q'') (m, m c, I)_b,     I = (Ixx, Ixy, Ixz, Iyy, Iyz, Izz) about the origin of frame b

With the spatial twists S_j of the joints about the base origin,

    V_k = sum_(j <= k) S_j q'_j,     A_k = sum_(j <= k) S_j q''_j + (V_j x S_j) q'_j      (rates)

a body at frame (R, p) turns with w, accelerates by a at p, and needs there

    f = m (a - g) + (w' x + w x w x) R u,     n = R u x (a - g) + I w' + w x I w,     u = m c,

of which joint j feels S_j . (f, n + p x f).  A joint that follows another by gears loads its leader by the ratio.  At
rest this is the holding torque of the weights (``statics.holding``).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from elastocal.errors import ShapeError
from elastocal.model.chain import ChainState
from elastocal.model.kinematics import rigid_state
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array

INERTIAL = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
CHUNK = 2048
_cross = partial(np.cross, axis=0)
_PAIRS = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


def inertial_regressor(model: Robot, q: object, velocity: object, acceleration: object, frames: Sequence[str]) -> Array:
    """Y (N, n, 10 bodies) at joint values, velocities and accelerations (N, n), body after body in ``INERTIAL``."""
    configurations = model.configurations(q)
    total = len(configurations)
    v, a = (np.asarray(x, dtype=np.float64) for x in (velocity, acceleration))
    for name, given in (("velocities", v), ("accelerations", a)):
        if given.shape != (total, model.n):
            raise ShapeError(
                f"{name} are {given.shape}, joint values {(total, model.n)}; give one each",
                value=(given.shape, (total, model.n)),
            )
    leads = np.eye(model.n) if model.leads is None else model.leads
    out = np.empty((total, model.n, 10 * len(frames)))
    for first in range(0, total, CHUNK):
        rows = slice(first, min(first + CHUNK, total))
        state = rigid_state(model.posture(configurations[rows]))
        screws = state.columns(model.joint_dofs)
        moves, bends = leads @ v[rows].T, leads @ a[rows].T
        rates = _rates(screws, moves, bends)
        for b, frame in enumerate(frames):
            count = sum(d < model.chain.level(frame) for d in model.joint_dofs)
            felt = np.einsum("akn,apn->kpn", screws[:, :count], _wrench(state, frame, rates, count, model.gravity))
            part = np.einsum("kj,kpn->npj", leads[:count], felt, optimize=True)
            out[rows, :, 10 * b : 10 * b + 10] = part.transpose(0, 2, 1)
    return out


def shifted_inertia(mass: float, moment: Sequence[float]) -> tuple[float, ...]:
    """Inertia of a point of ``mass`` at moment / mass about the origin, as in ``INERTIAL``; zero without mass."""
    if mass == 0:
        return (0.0,) * 6
    u = np.asarray(moment, dtype=np.float64)
    tensor = ((u @ u) * np.eye(3) - np.outer(u, u)) / mass
    return tuple(float(tensor[i, j]) for i, j in _PAIRS)


def _rates(screws: Array, moves: Array, bends: Array) -> tuple[Array, Array]:
    """Spatial velocity and its rate (6, joints + 1, N) behind none, one, two ... of the joints."""
    count, size = moves.shape
    velocity, rate = np.zeros((6, count + 1, size)), np.zeros((6, count + 1, size))
    for j in range(count):
        s = screws[:, j]
        velocity[:, j + 1] = velocity[:, j] + s * moves[j]
        w, v = velocity[3:, j], velocity[:3, j]
        turned = np.concatenate([_cross(w, s[:3]) + _cross(v, s[3:]), _cross(w, s[3:])])
        rate[:, j + 1] = rate[:, j] + s * bends[j] + turned * moves[j]
    return velocity, rate


def _wrench(state: ChainState, frame: str, rates: tuple[Array, Array], count: int, gravity: Array) -> Array:
    """(6, 10, N): force and moment about the base origin that each inertial parameter of the body needs."""
    turn, at = state.rotation(frame), state.origin(frame)
    velocity, rate = rates[0][:, count], rates[1][:, count]
    w, dw = velocity[3:], rate[3:]
    a = rate[:3] + _cross(dw, at) + _cross(w, velocity[:3] + _cross(w, at)) - gravity[:, None]
    out = np.zeros((6, 10, state.size))
    out[:3, 0] = a
    spin, kick = np.einsum("ijn,in->jn", turn, w), np.einsum("ijn,in->jn", turn, dw)
    out[:3, 1:4] = _cross(dw[:, None], turn) + _cross(w[:, None], _cross(w[:, None], turn))
    out[3:, 1:4] = _cross(turn, a[:, None])
    inner = _tensors(kick) + _cross(spin[:, None], _tensors(spin))
    out[3:, 4:] = np.einsum("ijn,jpn->ipn", turn, inner)
    out[3:, :4] += _cross(at[:, None], out[:3, :4])
    return out


def _tensors(vectors: Array) -> Array:
    """(3, 6, N): each of the six symmetric unit tensors times vectors (3, N)."""
    out = np.zeros((3, len(_PAIRS), vectors.shape[1]))
    for p, (i, k) in enumerate(_PAIRS):
        out[i, p], out[k, p] = vectors[k], vectors[i]
    return out
