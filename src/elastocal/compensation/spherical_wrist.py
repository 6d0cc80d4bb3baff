"""Closed-form inverse kinematics of six revolute joints whose last three axes meet in one point.

A robot has it where axis 1 is at right angles to 2, 2 along 3, and 4, 5 and 6 meet at right angles.
Axes at zero joint values: z along axis 1, y along axes 2 and 3, c the wrist centre.
In the arm's axes (x, y, z) the wrist centre w = T M^-1 c of a target T has three coordinates that decide the arm:

    y:  -w_x sin q1 + w_y cos q1 = d              x' = +-sqrt(w_x^2 + w_y^2 - d^2)              (shoulder)
    plane, z + i x as a complex number:  P = e^{i q2} (A + e^{i q3} B),   A = l1 e^{i alpha}, B = l2 e^{i(alpha+beta)}
    cos(q3 + beta) = (|P|^2 - l1^2 - l2^2) / (2 l1 l2)                                     (elbow: sign of the sine)

With V = l1 + l2 e^{i(q3+beta)} the whole turn about y is e^{i(q2+q3)} = P conj(V) e^{i(q3+beta)} e^{-i(alpha+beta)} /
|P|^2, so that no angle is needed for what is left to the wrist, which is Rz(q4) Ry(q5 + gamma) Rz(q6) in its own axes
(wrist: sign of sin(q5 + gamma)).  q6 is taken from what q4 leaves over: exact however small that sine is.
"""

from __future__ import annotations

from functools import lru_cache
from typing import cast

import numpy as np

from elastocal.model.chain import JOINT
from elastocal.model.robot import Robot
from elastocal.spatial import entries as en
from elastocal.spatial.entries import Array, Bools, Entry, Ints, Matrix3, Row3
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
    state = model.chain.evaluate([0.0] * len(model.chain.dofs), 1)
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


SHOULDER, ELBOW, WRIST = 1, 2, 4
BRANCHES = tuple(range(8))
"""Bits set: wrist centre behind axis 1, negative sine at the elbow, negative sine at the wrist."""
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class NominalJoints:
    """Joint values (n, N) and whether each reaches its target; where not, the nearest that was found or nan.

    ``margins`` (k, N) tell how far each is from its singularities, where the inverse knows.  Of a spherical wrist:
    distance of its centre from the singular cylinder about axis 1 per length of the arm, sine of the elbow, sine of the
    wrist.
    """

    q: Array
    reached: Bools
    margins: Array | None = None


def wrist_joints(
    arm: WristGeometry, position: Array, rotation: Array, branch: int | Ints, free: Array
) -> NominalJoints:
    """Joint values for tool positions (3, N) and rotations (3, 3, N) on a branch, each within half a turn of zero.

    ``free`` (N,) is q4 where the wrist is exactly singular, so that any q4 would do.
    """
    signs = [_sign(branch, bit) for bit in (SHOULDER, ELBOW, WRIST)]
    signs[0] = en.mul(arm.front, signs[0])
    turn: Matrix3 = cast(Matrix3, tuple(tuple(rotation[i, j] for j in range(3)) for i in range(3)))
    place: Row3 = (position[0], position[1], position[2])
    centre = en.times_vector(arm.basis, en.minus(en.plus(place, en.times_vector(turn, arm.wrist)), arm.foot))
    hand = en.times_matrix(_product(arm.basis, turn), arm.hand)
    with np.errstate(invalid="ignore", divide="ignore"):
        q1, c1, s1, x, lift = _shoulder(arm, centre, signs[0])
        q2, q3, c, s, bend = _elbow(arm, x, cast(Array, centre[2]), signs[1])
        q4, q5, q6, tilt = _wrist(arm, _left_over(arm, hand, c1, s1, c, s), signs[2], free)
    q = np.stack([q1, q2, arm.elbow_sense * q3, q4, q5, q6])
    lost = np.isnan(q1 + q2)
    q[:, lost] = np.nan
    return NominalJoints(q, ~lost, np.stack([lift, bend, tilt]))


def branch_of(arm: WristGeometry, q: Array) -> Ints:
    """Branch (N,) that joint values (6, N) lie on."""
    elbow = arm.elbow_sense * q[2] + arm.beta
    v = arm.upper + arm.fore * np.exp(1j * elbow)
    x = (v * np.exp(1j * (q[1] + arm.alpha))).imag + arm.shoulder[0]
    wrist = np.sin(q[4] + arm.gamma)
    return np.asarray(
        SHOULDER * (arm.front * x < 0) + ELBOW * (np.sin(elbow) < 0) + WRIST * (wrist < 0),
        dtype=np.int64,
    )


def _sign(branch: int | Ints, bit: int) -> Entry:
    if isinstance(branch, int):
        return -1.0 if branch & bit else 1.0
    return np.where(branch & bit, -1.0, 1.0)


def _shoulder(arm: WristGeometry, w: Row3, sign: Entry) -> tuple[Array, Array, Array, Array, Array]:
    """q1, its cosine and sine, x' and the margin."""
    wx, wy = cast(tuple[Array, Array], w[:2])
    d = arm.side
    square = wx * wx + wy * wy
    inside = square - d * d
    slack = ROUNDING * (arm.upper + arm.fore) ** 2
    x = np.sqrt(np.where((inside < 0) & (inside > -slack), 0.0, inside)) if d else np.sqrt(square)
    lift = x / (arm.upper + arm.fore)
    x = cast(Array, en.mul(sign, x))
    c1 = cast(Array, en.add(wx * x, en.mul(d, wy))) / square
    s1 = cast(Array, en.sub(wy * x, en.mul(d, wx))) / square
    return np.arctan2(s1, c1), c1, s1, x, lift


def _elbow(arm: WristGeometry, x: Array, z: Array, sign: Entry) -> tuple[Array, Array, Array, Array, Array]:
    """q2, the turn of axis 3 about y, cosine and sine of q2 + q3 + alpha + beta, the margin."""
    px, pz = x - arm.shoulder[0], z - arm.shoulder[1]
    square = px * px + pz * pz
    d = (square - (arm.upper**2 + arm.fore**2)) / (2 * arm.upper * arm.fore)
    beyond = np.abs(d) > 1.0
    if beyond.any():
        d = np.where(beyond & (np.abs(d) < 1.0 + ROUNDING), np.sign(d), d)
    bend = np.sqrt((1.0 - d) * (1.0 + d))
    s3 = en.mul(sign, bend)
    vr, vi = arm.upper + arm.fore * d, arm.fore * s3
    re, im = (pz * vr + px * vi) / square, (px * vr - pz * vi) / square
    q2 = np.arctan2(im, re) - arm.alpha
    q3 = cast(Array, en.mul(sign, np.arccos(d))) - arm.beta
    return _half_turn(q2), _half_turn(q3), re * d - im * s3, re * s3 + im * d, bend


def _left_over(arm: WristGeometry, hand: Matrix3, c1: Array, s1: Array, c: Array, s: Array) -> Matrix3:
    """What the first three joints leave to the wrist: G^T Ry(-phi) Rz(-q1) U."""
    rows: list[Row3] = []
    x, y, z = hand
    first = tuple(en.add(en.mul(c1, a), en.mul(s1, b)) for a, b in zip(x, y, strict=True))
    rows.append(cast(Row3, tuple(en.sub(en.mul(c, a), en.mul(s, b)) for a, b in zip(first, z, strict=True))))
    rows.append(cast(Row3, tuple(en.sub(en.mul(c1, b), en.mul(s1, a)) for a, b in zip(x, y, strict=True))))
    rows.append(cast(Row3, tuple(en.add(en.mul(s, a), en.mul(c, b)) for a, b in zip(first, z, strict=True))))
    return _product(arm.wrist_axes, (rows[0], rows[1], rows[2]))


def _wrist(arm: WristGeometry, w: Matrix3, sign: Entry, free: Array) -> tuple[Array, Array, Array, Array]:
    """q4, q5, q6 and the margin, from Rz(q4) Ry(q5 + gamma) Rz(q6)."""
    wx, wy = cast(Array, w[0][2]), cast(Array, w[1][2])
    tilt = np.sqrt(wx * wx + wy * wy)
    c4, s4 = en.mul(sign, wx / tilt), en.mul(sign, wy / tilt)
    aligned = tilt < ROUNDING
    if aligned.any():
        c4, s4 = np.where(aligned, np.cos(free), c4), np.where(aligned, np.sin(free), s4)
    q4 = np.arctan2(s4, c4)
    q5 = np.arctan2(en.mul(sign, tilt), w[2][2]) - arm.gamma
    q6 = np.arctan2(c4 * w[1][0] - s4 * w[0][0], c4 * w[1][1] - s4 * w[0][1])
    return q4, _half_turn(q5), q6, tilt


def _product(constant: Matrix3, batch: Matrix3) -> Matrix3:
    columns = [en.times_vector(constant, en.column(batch, j)) for j in range(3)]
    return en.from_columns((columns[0], columns[1], columns[2]))


def _half_turn(angle: Array) -> Array:
    """The same angle within half a turn of zero."""
    return np.asarray(angle - 2 * np.pi * np.rint(angle / (2 * np.pi)))
