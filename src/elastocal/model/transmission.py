"""From what the controller shows to joint values, in one place: signs, zeros and couplings.

    q = M (c - z)        M holds the signs on its diagonal and the couplings beside it

Virtual work gives the torques: what the controller's axes feel is M^T times the joint torques.  Where the drives are
known (``elastocal.model.drives``), motor angles and encoder counts lead to c.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from elastocal.errors import InputError
from elastocal.model.drives import Drives
from elastocal.model.parameters import Parameter
from elastocal.spatial.entries import Array

Language = Literal["krl", "rapid", ""]


@dataclass(frozen=True, eq=False)
class Transmission:
    """``axes`` names the controller's axes; ``matrix`` is M (n, n); ``zero`` is z, in rad or m.

    ``language`` is that of its programs, krl or rapid; empty where nobody says.
    """

    axes: tuple[str, ...]
    matrix: Array
    zero: Array
    drives: Drives | None = None
    language: Language = ""

    def __post_init__(self) -> None:
        n = len(self.axes)
        if self.drives is not None and len(self.drives.structure) != n:
            raise InputError(f"controller: structure has {len(self.drives.structure)} motors for {n} axes")
        matrix = np.asarray(self.matrix, dtype=np.float64).reshape(n, n)
        if n and (not np.all(np.isfinite(matrix)) or abs(np.linalg.det(matrix)) < 1e-12):
            raise InputError("controller: signs and couplings make a singular map; two axes would move one joint")
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
