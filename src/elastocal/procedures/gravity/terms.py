"""Holding torques of joints with parallel level axes as sums of one sine and cosine each (001 eq. 12-17).

    tau_i = A_i cos(b_i) + B_i sin(b_i) + tau_next,     b_i = sum of the angles of the parallel joints up to i

A_i and B_i are mass moments times gravity: of link i, and of all that hangs further out, put at the next axis.
"""

from __future__ import annotations

import numpy as np

from elastocal.errors import RangeError, UnobservableError
from elastocal.model.chain import JOINT, Dof
from elastocal.model.kinematics import rigid_state
from elastocal.model.robot import Robot
from elastocal.model.statics.holding import holding_observation, holding_torque
from elastocal.procedures.gravity.fit import Known
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

ALIKE = 1e-3
"""Radians: axes closer than this are parallel, or level."""


@dataclass(frozen=True)
class LevelAxes:
    """Joints whose axes are parallel and level at a pose, from the base outwards, with the sense of each."""

    joints: tuple[str, ...]
    signs: tuple[int, ...]
    columns: tuple[int, ...]

    def angle(self, q: Array, upto: int) -> Array:
        """b_i (N,) of the joint at place ``upto``, counted in its own sense."""
        out = np.zeros(len(q))
        for sign, column in zip(self.signs[: upto + 1], self.columns, strict=False):
            out += sign * self.signs[upto] * q[:, column]
        return out

    def names(self, upto: int) -> tuple[tuple[str, int], ...]:
        """Joints in b_i with their signs."""
        return tuple((j, s * self.signs[upto]) for j, s in zip(self.joints[: upto + 1], self.signs, strict=False))


@dataclass(frozen=True)
class Term:
    """What joint ``joint`` carries beyond the next one out, in N m with standard deviations (nan where unknown).

    ``cross`` is the covariance of cosine and sine.
    """

    joint: str
    angles: tuple[tuple[str, int], ...]
    cosine: float
    sine: float
    cosine_sd: float
    sine_sd: float
    cross: float
    next: str | None
    next_sign: int = 1

    @classmethod
    def of(cls, level: LevelAxes, i: int, values: Array, covariance: Array, following: tuple[str | None, int]) -> Term:
        """Of the joint at place ``i``: cosine and sine (2,) with their covariance."""
        a, b = (float(v) for v in values)
        a_sd, b_sd = (float(v) for v in np.sqrt(np.maximum(np.diag(covariance), 0.0)))
        cross = float(covariance[0, 1])
        return cls(level.joints[i], level.names(i), a, b, a_sd, b_sd, cross, *following)

    @property
    def amplitude(self) -> float:
        """With the sign of the cosine: A cos b + B sin b = amplitude cos(b - phase)."""
        return float(np.copysign(np.hypot(self.cosine, self.sine), self.cosine))

    @property
    def phase(self) -> float:
        """Radians between -pi/2 and pi/2."""
        sign = np.copysign(1.0, self.cosine)
        return float(np.arctan2(sign * self.sine, sign * self.cosine))

    @property
    def amplitude_sd(self) -> float:
        return self._spread(self.cosine, self.sine)

    @property
    def phase_sd(self) -> float:
        """Radians; nan where the amplitude is zero and has no phase."""
        return self._spread(-self.sine, self.cosine) / abs(self.amplitude) if self.amplitude else float("nan")

    def _spread(self, along_cosine: float, along_sine: float) -> float:
        """Standard deviation along a direction of (cosine, sine)."""
        size = np.hypot(along_cosine, along_sine)
        a, b = np.array([along_cosine, along_sine]) / size if size else np.array([1.0, 0.0])
        return float(np.sqrt((a * self.cosine_sd) ** 2 + (b * self.sine_sd) ** 2 + 2 * a * b * self.cross))

    @property
    def text(self) -> str:
        """Like 001 eq. (15)."""
        sine = f" {'+' if self.sine >= 0 else '-'} {abs(self.sine):.2f} sin({self._inside})"
        return f"tau_{self.joint} = {self.cosine:.2f} cos({self._inside}){sine}{self._outer}"

    @property
    def phase_text(self) -> str:
        """Like 001 eq. (16)."""
        degrees = np.degrees(self.phase)
        shift = f" {'-' if degrees > 0 else '+'} {abs(degrees):.2f} deg" if round(abs(degrees), 2) else ""
        return f"tau_{self.joint} = {self.amplitude:.2f} cos({self._inside}{shift}){self._outer}"

    @property
    def _inside(self) -> str:
        return " ".join(f"{'+' if s > 0 else '-'} {j}" for j, s in self.angles).removeprefix("+ ")

    @property
    def _outer(self) -> str:
        return "" if self.next is None else f" {'+' if self.next_sign > 0 else '-'} tau_{self.next}"


def level_joints(model: Robot, q: Array) -> LevelAxes:
    """The largest set of joints with parallel axes at right angles to gravity at joint values (n,).

    Joints between them must stay where they are for the sums to hold.
    """
    if not np.any(model.gravity):
        raise RangeError(
            f"robot {model.name}: gravity is zero, so that nothing weighs; give gravity_m_s2", value=model.name
        )
    state = rigid_state(model.posture(np.asarray(q, dtype=np.float64)[:, None]))
    axes = {}
    for j, motion in zip(model.joints, model.motions, strict=True):
        if motion.kind == "revolute":
            screw = state.columns([model.chain.index[Dof(j, JOINT)]])[:, 0, 0]
            axes[j] = screw[3:] / np.linalg.norm(screw[3:])
    down = model.gravity / np.linalg.norm(model.gravity)
    level = {j: a for j, a in axes.items() if abs(a @ down) < ALIKE}
    best: list[str] = []
    for a in level.values():
        alike = [j for j, b in level.items() if np.linalg.norm(np.cross(a, b)) < ALIKE]
        best = alike if len(alike) > len(best) else best
    if not best:
        raise UnobservableError(
            f"robot {model.name}: no axis is level at this pose, so no torque is a plain sine of one angle; use the "
            "fit of all joints at once",
            value=model.name,
        )
    signs = tuple(1 if axes[j] @ axes[best[0]] > 0 else -1 for j in best)
    return LevelAxes(tuple(best), signs, tuple(model.joints.index(j) for j in best))


def expressions(model: Robot, at: Array, known: Known | None = None) -> tuple[Term, ...]:
    """Outermost joint first, with all other joints held at joint values ``at`` (n,).

    The part of a joint beyond the next one out is a pure sine of b_i, so its values at 0 and 90 degrees say it all.
    """
    level = level_joints(model, at)
    out = []
    for i in reversed(range(len(level.joints))):
        q = _quarter(level, i, np.asarray(at, dtype=np.float64))
        cosine, sine = _beyond(level, i, holding_torque(model, q))
        covariance = np.full((2, 2), np.nan)
        if known is not None:
            slopes = _beyond(level, i, holding_observation(model, q, known.names))
            covariance = slopes @ known.covariance @ slopes.T
        following: tuple[str | None, int] = (None, 1)
        if i + 1 < len(level.joints):
            following = (level.joints[i + 1], level.signs[i] * level.signs[i + 1])
        out.append(Term.of(level, i, np.array([cosine, sine]), covariance, following))
    return tuple(out)


def _quarter(level: LevelAxes, i: int, at: Array) -> Array:
    """Joint values (2, n) with b_i at 0 and at 90 degrees."""
    q = np.stack([at, at])
    now = level.angle(q, i)
    q[:, level.columns[i]] += np.array([0.0, np.pi / 2]) - now
    return q


def _beyond(level: LevelAxes, i: int, torque: Array) -> Array:
    """Torque of joint i less that of the next one out, each in its own sense: (2, ...) from (2, n, ...)."""
    own = torque[:, level.columns[i]]
    if i + 1 == len(level.joints):
        return np.asarray(own)
    return np.asarray(own - level.signs[i] * level.signs[i + 1] * torque[:, level.columns[i + 1]])
