"""Has a robot a closed-form inverse?  Axis 1 at right angles to 2, 2 along 3; 4, 5 and 6 meet at right angles."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from elastocal.model.chain import JOINT
from elastocal.model.robot import Robot
from elastocal.spatial import entries as en
from elastocal.spatial.entries import Array, Matrix3, Row3
from elastocal.spatial.pose import Pose
from elastocal.spatial.rotation import axis_matrix
from elastocal.values import dataclass

TOLERANCE = 1e-9
Limits = tuple[float, float] | None


@dataclass(frozen=True, eq=False)
class WristGeometry:
    """Constants of ``spherical_wrist``: lengths in m, angles in rad, all at zero joint values.

    ``basis`` rows x y z of the arm in base axes, ``foot`` a point of axis 1, ``shoulder`` axis 2 in the plane (x, z),
    ``front`` the sign of x before axis 1, ``side`` the wrist centre's distance from that plane, ``upper`` and
    ``fore`` the lengths, ``wrist`` the wrist centre in the tool frame, ``hand`` and ``wrist_axes`` the constant turns
    on both sides of the wrist.
    """

    basis: Matrix3
    foot: Row3
    shoulder: tuple[float, float]
    front: float
    side: float
    upper: float
    fore: float
    alpha: float
    beta: float
    gamma: float
    elbow_sense: float
    wrist: Row3
    hand: Matrix3
    wrist_axes: Matrix3
    limits: tuple[Limits, ...]


@lru_cache(maxsize=16)
def wrist_geometry(model: Robot, frame: str) -> WristGeometry | str:
    """The constants for a frame at the end of the arm, or the reason why there are none."""
    if model.n != 6 or any(m.kind != "revolute" for m in model.motions):
        return f"{model.name} has not six revolute joints"
    dofs = [i for i, d in enumerate(model.chain.dofs) if d.axis == JOINT]
    if len(dofs) != 6:
        return f"{model.name} has joints that follow others"
    state = model.chain.evaluate([0.0] * len(model.chain.dofs), 1, screws=dofs)
    if model.chain.level(frame) <= dofs[-1]:
        return f"frame {frame} does not lie beyond the last joint"
    axes, points = np.empty((6, 3)), np.empty((6, 3))
    for i, dof in enumerate(dofs):
        screw = state.screws[dof]
        assert screw is not None
        assert screw.point is not None
        axes[i], points[i] = screw.axis, screw.point
    centre = _meeting(axes[3:], points[3:])
    why = _refusal(model, axes, points, centre)
    turn, origin = state.pose(frame)
    return why or _constants(model, axes, points, centre, np.array(turn, dtype=float), np.array(origin, dtype=float))


def _meeting(axes: Array, points: Array) -> Array:
    """The point with least squared distance to lines."""
    across = np.eye(3) - axes[:, :, None] * axes[:, None, :]
    return np.asarray(np.linalg.lstsq(across.sum(axis=0), np.einsum("lij,lj->i", across, points), rcond=None)[0])


def _refusal(model: Robot, axes: Array, points: Array, centre: Array) -> str:
    j = model.joints
    away = points[3:] - centre
    miss = np.linalg.norm(np.cross(away, axes[3:]), axis=1).max()
    if miss > TOLERANCE * model.size:
        return f"axes {j[3]}, {j[4]} and {j[5]} have no common point: the nearest is {1e3 * miss:.3g} mm off"
    for a, b, along in ((0, 1, False), (1, 2, True), (3, 4, False), (4, 5, False)):
        off = np.linalg.norm(np.cross(axes[a], axes[b])) if along else abs(axes[a] @ axes[b])
        if off > TOLERANCE:
            return f"axes {j[a]} and {j[b]} are not {'parallel' if along else 'at right angles'}"
    return ""


def _constants(
    model: Robot, axes: Array, points: Array, centre: Array, turn: Array, origin: Array
) -> WristGeometry | str:
    basis = np.stack([np.cross(axes[1], axes[0]), axes[1], axes[0]])
    foot = points[0]
    second, elbow, wrist = (basis @ (p - foot) for p in (points[1], points[2], centre))
    a, b = (complex(v[2], v[0]) for v in (elbow - second, wrist - elbow))
    if min(abs(a), abs(b)) < TOLERANCE * model.size:
        return f"upper arm or forearm of {model.name} has no length"
    alpha, beta = float(np.angle(a)), float(np.angle(b / a))
    sense = float(np.sign(axes[1] @ axes[2]))
    own = np.stack([np.cross(axes[4], axes[3]), axes[4], axes[3]], axis=1)
    gamma = float(np.arctan2(axes[5] @ own[:, 0], axes[5] @ own[:, 2]))
    hand = turn.T @ own @ axis_matrix(1, gamma)
    wrist_axes = (axis_matrix(1, -(alpha + beta)) @ basis @ own).T
    return WristGeometry(
        Pose(basis).entries[0],
        _row(foot),
        (float(second[0]), float(second[2])),
        _front(float(second[0]), float(wrist[0]), TOLERANCE * model.size),
        float(wrist[1]) if abs(wrist[1]) > TOLERANCE * model.size else 0.0,
        abs(a),
        abs(b),
        alpha,
        beta,
        gamma,
        sense,
        _row(turn.T @ (centre - origin)),
        Pose(hand).entries[0],
        Pose(wrist_axes).entries[0],
        tuple(m.limits for m in model.motions),
    )


def _front(shoulder: float, wrist: float, least: float) -> float:
    """Where axis 2 is, seen from axis 1; if they meet, where the wrist is at zero joint values."""
    ahead = shoulder if abs(shoulder) > least else wrist
    return -1.0 if ahead < 0 else 1.0


def _row(vector: Array) -> Row3:
    return Pose(np.eye(3), vector).entries[1] if np.any(vector) else en.ORIGIN
