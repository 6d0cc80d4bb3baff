"""Holding torques of joints with parallel level axes as sums of one sine and cosine each (001 eq. 12-17).

    tau_i = A_i cos(b_i) + B_i sin(b_i) + tau_next,     b_i = sum of the angles of the parallel joints up to i

A_i and B_i are mass moments times gravity: of link i, and of all that hangs further out, put at the next axis.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.errors import InputError
from elastocal.model.chain import JOINT, Dof
from elastocal.model.robot import RobotModel
from elastocal.spatial.entries import Array

ALIKE = 1e-3
"""Radians: axes closer than this are parallel, or level."""


@dataclass(frozen=True)
class Level:
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
    """What joint ``joint`` carries beyond the next one out, in N m with standard deviations (nan where unknown)."""

    joint: str
    angles: tuple[tuple[str, int], ...]
    cosine: float
    sine: float
    cosine_sd: float
    sine_sd: float
    next: str | None
    next_sign: int = 1

    @property
    def size(self) -> float:
        return float(np.hypot(self.cosine, self.sine))

    @property
    def text(self) -> str:
        """Like 001 eq. (15)-(17)."""
        inside = " ".join(f"{'+' if s > 0 else '-'} {j}" for j, s in self.angles).removeprefix("+ ")
        outer = "" if self.next is None else f" {'+' if self.next_sign > 0 else '-'} tau_{self.next}"
        sine = f" {'+' if self.sine >= 0 else '-'} {abs(self.sine):.2f} sin({inside})"
        return f"tau_{self.joint} = {self.cosine:.2f} cos({inside}){sine}{outer}"


def level_joints(model: RobotModel, q: Array) -> Level:
    """The largest set of joints with parallel axes at right angles to gravity at joint values (n,).

    Joints between them must stay where they are for the sums to hold.
    """
    if not np.any(model.gravity):
        raise InputError(f"robot {model.name}: gravity is zero, so that nothing weighs; give gravity_m_s2")
    state = model.chain.evaluate(model.chain.values(np.asarray(q, dtype=np.float64)[:, None], list(model.constants)), 1)
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
        raise InputError(
            f"robot {model.name}: no axis is level at this pose, so no torque is a plain sine of one angle; use the "
            "fit of all joints at once"
        )
    signs = tuple(1 if axes[j] @ axes[best[0]] > 0 else -1 for j in best)
    return Level(tuple(best), signs, tuple(model.joints.index(j) for j in best))
