"""A spring between two links that carries part of the arm's weight (000 section 2).

P2 is the joint axis, P1 the spring's end on the moving link, P0 its end on the link before.  With
L = |P1 P2|, a = |P0 P2|, a_x = a cos(alpha), a_y = a sin(alpha) and x = phi0 - q:

    s^2 = a^2 + L^2 + 2 a L cos x                         (1)
    U   = (s - s_0)^2 / (2 k_c)                           spring energy
    M_c = dU/dq = (1 - s_0/s) a L sin(x) / k_c            (4)
    dM_c/dq = a L eta / k_c                               (5)
    eta = (s_0/s) ((a L / s^2) sin^2 x + cos x) - cos x   (6)

The force on the joint is -M_c at the LOADED angle; its tangent brings the stiffness of (5) by itself.
phi0 is a parameter of its own: the angle of P1 seen from P2 at q = 0 minus alpha, or its negative where P1 runs
with q.  (The printed text uses alpha there, which contradicts its own Table 1 by up to 235 mm.)

``stiffness_only`` subtracts the torque at the angle without load.  It is meant for published pairs
(k_c, s_0) that describe the joint's stiffness well but would need an impossible spring force.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import hypot
from typing import Any, ClassVar, Literal, Self

import numpy as np

from elastocal.errors import RangeError
from elastocal.model.elements import AxisForce, Load
from elastocal.model.frames import FrameTree
from elastocal.model.parameters import Parameter, quantity
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

Mode = Literal["torque", "stiffness_only"]
_SYMBOLS = ("a_x", "a_y", "L", "phi0", "k_c", "s_0")


@dataclass(frozen=True, kw_only=True)
class GravityCompensator(Load):
    """Spring on ``joint``: geometry a_x, a_y, L, phi0, compliance k_c and free length s_0."""

    kind: ClassVar[str] = "gravity_compensator"
    joint: str
    a_x: float = quantity("length")
    a_y: float = quantity("length")
    L: float = quantity("length")
    phi0: float = quantity("angle")
    k_c: float = quantity("linear compliance")
    s_0: float = quantity("length")
    mode: Mode = "torque"

    @property
    def place(self) -> str:
        return self.joint

    @property
    def a(self) -> float:
        return hypot(self.a_x, self.a_y)

    def check(self, tree: FrameTree) -> None:
        where = f"gravity_compensator of {self.joint}"
        if tree.joint(self.joint).kind != "revolute":
            raise RangeError(f"{where}: the joint must be revolute")
        if abs(self.a - self.L) < 1e-9:
            raise RangeError(
                f"{where}: a equals L = {self.L} m, so the spring can shrink to a point; check the lengths"
            )

    def check_physics(self) -> None:
        where = f"gravity_compensator of {self.joint}"
        if not self.k_c > 0 or not self.L > 0 or not self.a > 0 or not self.s_0 >= 0:
            raise RangeError(f"{where}: k_c, L and a must be positive and s_0 not negative")

    def parameters(self, tree: FrameTree) -> tuple[Parameter, ...]:
        units = ("m", "m", "m", "rad", "m/N", "m")
        scales = (1e-3, 1e-3, 1e-3, 1e-3, 1e-7, 1e-2)
        rows = zip(_SYMBOLS, units, scales, strict=True)
        return tuple(self.parameter(s, u, getattr(self, s), scale) for s, u, scale in rows)

    def with_values(self, values: Sequence[float]) -> Self:
        numbers: dict[str, Any] = dict(zip(_SYMBOLS, map(float, values), strict=True))
        return replace(self, **numbers)

    def length(self, q: Array) -> Array:
        """s(q), eq. (1)."""
        return np.asarray(np.sqrt(self.a**2 + self.L**2 + 2 * self.a * self.L * np.cos(self.phi0 - q)))

    def force(self, q: Array) -> Array:
        """Pull of the spring, eq. (2), in N."""
        return np.asarray((self.length(q) - self.s_0) / self.k_c)

    def torque(self, q: Array) -> Array:
        """M_c, eq. (4): the energy's slope; the joint feels its negative."""
        return self._torque_and_eta(q)[0]

    def eta(self, q: Array) -> Array:
        """The factor of eq. (6)."""
        return self._torque_and_eta(q)[1]

    def stiffness(self, q: Array) -> Array:
        """dM_c/dq, the addition to the joint's stiffness in eq. (5), in N m/rad."""
        return np.asarray(self.a * self.L * self.eta(q) / self.k_c)

    def _torque_and_eta(self, q: Array) -> tuple[Array, Array]:
        """Both share sine, cosine and length, which cost most."""
        x, al = self.phi0 - q, self.a * self.L
        sine, cosine = np.sin(x), np.cos(x)
        s = np.sqrt(self.a**2 + self.L**2 + 2 * al * cosine)
        ratio = self.s_0 / s
        bend = al / s**2 * sine**2 + cosine
        return np.asarray((1 - ratio) * al * sine / self.k_c), np.asarray(ratio * bend - cosine)

    def sizes(self, gravity: Array) -> tuple[tuple[str, float, float], ...]:
        return ()

    def axis_sizes(self) -> tuple[tuple[str, float], ...]:
        return ((self.joint, self.a * self.L / self.k_c),)

    def axis_forces(self, value: dict[str, Array], rest: dict[str, Array]) -> tuple[AxisForce, ...]:
        torque, eta = self._torque_and_eta(value[self.joint])
        per_eta = self.a * self.L / self.k_c
        if self.mode == "torque":
            return (AxisForce(self.joint, -torque, -per_eta * eta),)
        before, eta_before = self._torque_and_eta(rest[self.joint])
        return (AxisForce(self.joint, before - torque, -per_eta * eta, per_eta * eta_before),)

    def axis_sensitivity(self, value: dict[str, Array], rest: dict[str, Array]) -> tuple[tuple[int, str, Array], ...]:
        slopes = self._slopes(value[self.joint])
        if self.mode == "stiffness_only":
            before = self._slopes(rest[self.joint])
            slopes = [now - then for now, then in zip(slopes, before, strict=True)]
        return tuple((i, self.joint, -slope) for i, slope in enumerate(slopes))

    def _slopes(self, q: Array) -> list[Array]:
        """dM_c by (a_x, a_y, L, phi0, k_c, s_0)."""
        a, length = self.a, self.L
        x, s = self.phi0 - q, self.length(q)
        sine, ratio = np.sin(x), self.s_0 / self.length(q)
        # M = (1 - s0/s) a L sin x / k_c with ds/da = (a + L cos x)/s, ds/dL = (L + a cos x)/s
        by_a = length * sine * (1 - ratio + a * ratio * (a + length * np.cos(x)) / s**2) / self.k_c
        by_length = a * sine * (1 - ratio + length * ratio * (length + a * np.cos(x)) / s**2) / self.k_c
        by_s0 = -a * length * sine / s / self.k_c
        return [
            by_a * self.a_x / a,
            by_a * self.a_y / a,
            by_length,
            -self.stiffness(q),
            -self.torque(q) / self.k_c,
            by_s0,
        ]
