"""From what the controller, the motors and the encoders show to joint values, in one place.

    q = M (c - z)                 controller values c; M holds the signs on its diagonal and the couplings beside it
    phi = S c                     motor angles by the structure matrix S (motor rad per rad or m of an axis)
    eps = eps_0 + n phi / 2 pi    encoder counts, n per motor turn, eps_0 where all axes are at zero

(001 eq. 1, 3 and 8.)  Virtual work gives the torques: the controller's axes feel M^T times the joint torques, and
S^T times the motors'.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

import numpy as np

from elastocal.errors import ConflictError, FormatError, RangeError, ShapeError, UnknownNameError
from elastocal.model.parameters import Parameter
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

Language = Literal["krl", "rapid", "fanuc", "jbi", "urscript", ""]


@dataclass(frozen=True, eq=False)
class Transmission:
    """``axes`` names the controller's axes; ``matrix`` is M (n, n); ``zero`` is z, in rad or m.

    ``language`` is that of its programs; empty where nobody says.  ``coupled`` are motors that turn with several
    joints, such as A5+A6, where no structure matrix tells; their friction loads all of them.
    """

    axes: tuple[str, ...]
    matrix: Array
    zero: Array
    drives: Drives | None = None
    language: Language = ""
    coupled: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        n = len(self.axes)
        if self.drives is not None and len(self.drives.structure) != n:
            raise ShapeError(
                f"controller: structure has {len(self.drives.structure)} motors for {n} axes",
                value=(len(self.drives.structure), n),
            )
        matrix = np.asarray(self.matrix, dtype=np.float64).reshape(n, n)
        if n and (not np.all(np.isfinite(matrix)) or abs(np.linalg.det(matrix)) < 1e-12):
            raise ConflictError(
                "controller: signs and couplings make a singular map; two axes would move one joint",
                code="singular-map",
            )
        object.__setattr__(self, "matrix", matrix)
        object.__setattr__(self, "zero", np.asarray(self.zero, dtype=np.float64).reshape(n))

    @classmethod
    def identity(cls, axes: tuple[str, ...]) -> Transmission:
        return cls(axes, np.eye(len(axes)), np.zeros(len(axes)))

    def to_joints(self, controller: Array) -> Array:
        """(N, n) controller values to (N, n) joint values, both rad or m."""
        return np.asarray((controller - self.zero) @ self.matrix.T)

    def to_controller(self, joints: Array) -> Array:
        return np.asarray(np.linalg.solve(self.matrix, joints.T).T + self.zero)

    def parameters(self, joints: Sequence[str], units: Sequence[str], source: str) -> tuple[Parameter, ...]:
        """Zeros of the axes (``units`` rad or m) and the couplings of joints to axes that exist."""
        named = [(f"zero_{a}", u, float(z)) for a, u, z in zip(self.axes, units, self.zero, strict=True)]
        named += [(f"{joints[i]}_per_{self.axes[j]}", "1", float(self.matrix[i, j])) for i, j in self._coupled()]
        return tuple(Parameter(f"controller.{n}", u, v, 1e-3, "transmission", source) for n, u, v in named)

    def sensitivity(self, controller: Array) -> Array:
        """Derivative of the joint values (N, n) by the parameters: (N, n, p)."""
        n = len(self.axes)
        out = np.zeros((len(controller), n, n + len(self._coupled())))
        out[:, :, :n] = -self.matrix
        for p, (i, j) in enumerate(self._coupled(), n):
            out[:, i, p] = controller[:, j] - self.zero[j]
        return out

    def _coupled(self) -> list[tuple[int, int]]:
        return [(int(i), int(j)) for i, j in np.argwhere(self.matrix != 0) if i != j]

    def torques_to_controller(self, torques: Array) -> Array:
        """(N, n) joint torques to the torques that the controller's axes carry."""
        return np.asarray(torques @ self.matrix)


_TERM = re.compile(r"([+-]?)\s*([^+\-\s]+)\s*")


def sum_of_joints(text: str, joints: Sequence[str]) -> Array:
    """Direction (n,) in joint values of A5+A6 or A5-A6: what a motor turns with that moves several joints."""
    terms = _TERM.findall(text)
    if "".join(s + n for s, n in terms) != text.replace(" ", "") or len(terms) < 2:
        raise FormatError(f"{text!r} is no sum of joints; write for example {'+'.join(joints[-2:])}", value=text)
    out = np.zeros(len(joints))
    for sign, name in terms:
        if name not in joints:
            raise UnknownNameError("joint", name, joints)
        out[joints.index(name)] += -1.0 if sign == "-" else 1.0
    return out


TURN = 2 * np.pi


@dataclass(frozen=True, eq=False)
class Drives:
    """``structure`` is S (n, n), rows motors, columns axes; ``counts_per_turn`` (n,) is nan where it is unknown."""

    structure: Array
    counts_per_turn: Array
    counts_at_zero: Array

    def __post_init__(self) -> None:
        s = np.asarray(self.structure, dtype=np.float64)
        n = len(s)
        if s.shape != (n, n) or not np.all(np.isfinite(s)):
            raise ShapeError(
                "controller: structure must be a square matrix of finite numbers, one row for each motor",
                code="structure",
            )
        lengths = np.linalg.norm(s, axis=1)
        if n and (np.any(lengths == 0) or abs(np.linalg.det(s / lengths[:, None])) < 1e-9):
            raise RangeError(
                "controller: structure is singular; its motors do not determine the axes", code="singular-structure"
            )
        per_turn = np.asarray(self.counts_per_turn, dtype=np.float64).reshape(n)
        if np.any(per_turn == 0):
            raise RangeError("controller: counts_per_turn must not be zero", code="zero-counts")
        for name, value in (("structure", s), ("counts_per_turn", per_turn), ("counts_at_zero", self.counts_at_zero)):
            object.__setattr__(self, name, np.asarray(value, dtype=np.float64).reshape(s.shape if value is s else (n,)))

    def motors(self, controller: Array) -> Array:
        """(N, n) controller values to motor angles in rad."""
        return np.asarray(controller @ self.structure.T)

    def counts(self, controller: Array) -> Array:
        return np.asarray(self.counts_at_zero + self.motors(controller) * self.counts_per_turn / TURN)

    def from_motors(self, motors: Array) -> Array:
        """(N, n) motor angles in rad to controller values in rad or m."""
        return np.asarray(np.linalg.solve(self.structure, motors.T).T)

    def motors_of_counts(self, counts: Array) -> Array:
        """(N, n) counts to motor angles in rad; nan where the counts per turn are unknown."""
        return np.asarray(TURN * (counts - self.counts_at_zero) / self.counts_per_turn)

    def from_counts(self, counts: Array) -> Array:
        return self.from_motors(self.motors_of_counts(counts))

    def torques_to_motors(self, torques: Array) -> Array:
        """(N, n) torques of the controller's axes to those of the motors."""
        return np.asarray(np.linalg.solve(self.structure.T, torques.T).T)

    def torques_of_motors(self, torques: Array) -> Array:
        """(N, n) torques of the motors to those of the controller's axes: S^T tau_m.

        A torque that is nan spoils those axes only that its motor turns with.
        """
        lost = np.isnan(torques).astype(float) @ (self.structure != 0) > 0
        return np.where(lost, np.nan, np.nan_to_num(torques) @ self.structure)
