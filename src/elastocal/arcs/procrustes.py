"""The scaled Procrustes match of Algorithm 1 (000 eq. 8-17) and its least-squares problem.

    p_i = p_0 + L R u_i,   u_i = [cos q_i, sense sin q_i (, 0)],   R^T R = I, det R = +1        (8)

With p^ and u^ the points and u minus their means, and sum u^_i p^_i^T = U S V^T:

    R = V D U^T,   D = diag(1, .., det V U^T)                                                    (16-17)
    L = trace(S D) / sum |u^_i|^2,   p_0 = mean p - L R mean u                                   (13, 10)

The text has no D; without it a mirrored arc would be fitted by a reflection.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from elastocal.arcs.frame import AxisFrame
from elastocal.arcs.points import COORDINATES
from elastocal.arcs.problem import ArcProblem
from elastocal.spatial.entries import Array


def unit_directions(angles: Array, sense: int, dimension: int) -> Array:
    """u_i of eq. (8), (m, d)."""
    out = np.zeros((len(angles), dimension))
    out[:, 0], out[:, 1] = np.cos(angles), sense * np.sin(angles)
    return out


def procrustes(points: Array, u: Array) -> tuple[AxisFrame, float, float]:
    """Eq. (10)-(17): (p_0, R), L and the sum of squared residuals."""
    p, v = points - points.mean(axis=0), u - u.mean(axis=0)
    left, singular, right = np.linalg.svd(v.T @ p)
    signs = np.ones(points.shape[1])
    signs[-1] = np.sign(np.linalg.det(right.T @ left.T))
    rotation = right.T @ (signs[:, None] * left.T)
    radius = float(singular @ signs / np.sum(v**2))
    frame = AxisFrame(points.mean(axis=0) - radius * rotation @ u.mean(axis=0), rotation)
    return frame, radius, float(np.sum((p - radius * v @ rotation.T) ** 2))


@dataclass(frozen=True, eq=False)
class KnownAngleProblem(ArcProblem):
    """Eq. (9) at ``frame`` = (p_0, R) and ``radius`` L.  Moves: centre (d), radius, turn in the plane, two tilts."""

    frame: AxisFrame
    radius: float
    directions: Array
    measured: Array
    poses: tuple[int, ...]

    @property
    def components(self) -> tuple[str, ...]:
        return COORDINATES[: self.measured.shape[1]]

    @property
    def labels(self) -> tuple[tuple[int, int], ...]:
        return tuple((0, i) for i in self.poses)

    @property
    def points(self) -> Array:
        return self.measured

    @property
    def readings(self) -> Array:
        return self.measured

    def residuals(self) -> Array:
        return np.asarray(self.measured - self.frame.origin - self.radius * self.directions @ self.frame.matrix.T)

    def slopes(self) -> Array:
        m, d = self.measured.shape
        out = np.zeros((m, d, 4 if d == 2 else 7))
        out[:, :, :d] = np.eye(d)
        out[:, :, d] = self.directions @ self.frame.matrix.T
        across = np.column_stack([-self.directions[:, 1], self.directions[:, 0]])
        out[:, :, d + 1] = self.radius * across @ self.frame.plane.T
        if d == 3:
            out[:, :, 5:] = -self.radius * self.directions[:, None, :2] * self.frame.axis[:, None]
        return out

    def moved(self, step: Array) -> Self:
        d = len(self.frame.origin)
        frame = AxisFrame(self.frame.origin + step[:d], self.frame.matrix).turned(step[d + 1])
        frame = frame.tilted(step[d + 2 :]) if d == 3 else frame
        return replace(self, frame=frame, radius=self.radius + float(step[d]))
