"""An axis and the plane across it: local coordinates, and small moves of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from elastocal.spatial.entries import Array
from elastocal.spatial.rotation import rotations


@dataclass(frozen=True, eq=False)
class AxisFrame:
    """``origin`` (d,) on the axis and ``matrix`` (d, d): two columns in the plane, in 3-D the axis as the third.

    Local coordinates of a point p are matrix^T (p - origin): two in the plane and, in 3-D, the height.
    """

    origin: Array
    matrix: Array

    @property
    def spatial(self) -> bool:
        return len(self.origin) == 3

    @property
    def plane(self) -> Array:
        """(d, 2): the directions in the plane."""
        return self.matrix[:, :2]

    @property
    def axis(self) -> Array:
        """The unit vector of the axis; in 2-D it is out of the page."""
        return self.matrix[:, 2] if self.spatial else np.array([0.0, 0.0, 1.0])

    def local(self, points: Array) -> Array:
        return np.asarray((points - self.origin) @ self.matrix)

    def shifted(self, local: Array) -> Self:
        """With the origin moved by local coordinates (d,) or, within the plane, (2,)."""
        return type(self)(self.origin + self.matrix[:, : len(local)] @ local, self.matrix)

    def turned(self, angle: float) -> Self:
        """Turned in its plane."""
        c, s = np.cos(angle), np.sin(angle)
        turn = np.eye(len(self.origin))
        turn[:2, :2] = [[c, -s], [s, c]]
        return type(self)(self.origin, self.matrix @ turn)

    def tilted(self, tilt: Array) -> Self:
        """With the axis moved towards the plane's directions by angles (2,): n + t_1 e_1 + t_2 e_2 to first order."""
        turn = rotations(np.array([[-tilt[1]], [tilt[0]], [0.0]]))[:, :, 0]
        return type(self)(self.origin, self.matrix @ turn)


def plane_frame(points: Array, spread: Array) -> AxisFrame:
    """Origin at the mean of ``points``; in 3-D the axis is the direction in which ``spread`` (M, 3) is least (eq. 30).

    The sign of the axis is the one whose largest component is positive, so that it does not depend on the data.
    """
    origin = points.mean(axis=0)
    if points.shape[1] == 2:
        return AxisFrame(origin, np.eye(2))
    directions = np.linalg.svd(spread, full_matrices=True)[2]
    axis = directions[2] * np.sign(directions[2][np.argmax(np.abs(directions[2]))])
    first = directions[0] * np.sign(directions[0][np.argmax(np.abs(directions[0]))])
    return AxisFrame(origin, np.column_stack([first, np.cross(axis, first), axis]))
