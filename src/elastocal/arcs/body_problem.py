"""Markers on one rigid body that turns about an axis: in pose i all of them have turned by the same angle.

In the frame of the axis, with arms b_j (2,) and heights h_j of the markers in the body,

    p_ij = p_0 + E (Rot(theta_i) b_j, h_j)

The angles theta_i are free, all but the first, which fixes the direction from which they count.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from elastocal.arcs.frame import AxisFrame
from elastocal.arcs.points import COORDINATES, Markers
from elastocal.arcs.problem import ArcProblem
from elastocal.spatial.entries import Array


@dataclass(frozen=True, eq=False)
class BodyProblem(ArcProblem):
    """Moves: centre in the plane (2), tilt (2, in space), arms (2 k), heights (k, in space), angles (poses - 1).

    ``turns`` (poses,) are the angles.  ``numbers`` are the poses' numbers in the data, where some may have been seen by
    no marker.
    """

    frame: AxisFrame
    arms: Array
    heights: Array
    turns: Array
    markers: Markers
    numbers: tuple[int, ...]

    @property
    def components(self) -> tuple[str, ...]:
        return COORDINATES[: self.markers.dimension]

    @property
    def labels(self) -> tuple[tuple[int, int], ...]:
        poses = [self.numbers[i] for i in self.markers.pose]
        return tuple(zip(self.markers.marker.tolist(), poses, strict=True))

    @property
    def points(self) -> Array:
        return self.markers.points

    @property
    def readings(self) -> Array:
        return self.markers.points

    def _local(self) -> tuple[Array, Array, Array]:
        """Model points in the axis frame (M, d), and cosine and sine of their angles (M,)."""
        theta, b = self.turns[self.markers.pose], self.arms[self.markers.marker]
        c, s = np.cos(theta), np.sin(theta)
        columns = [c * b[:, 0] - s * b[:, 1], s * b[:, 0] + c * b[:, 1]]
        if self.frame.spatial:
            columns.append(self.heights[self.markers.marker])
        return np.column_stack(columns), c, s

    def residuals(self) -> Array:
        return np.asarray(self.markers.points - self.frame.origin - self._local()[0] @ self.frame.matrix.T)

    def slopes(self) -> Array:
        model, c, s = self._local()
        j, at, k = self.markers.marker, np.arange(len(c)), self.markers.count
        first = 4 if self.frame.spatial else 2
        out = np.zeros((len(c), model.shape[1], first + 2 * k + (k if self.frame.spatial else 0)))
        out[:, 0, 0] = out[:, 1, 1] = 1.0
        if self.frame.spatial:
            out[:, 0, 2] = out[:, 1, 3] = model[:, 2]
            out[:, 2, 2:4] = -model[:, :2]
            out[at, 2, first + 2 * k + j] = 1.0
        out[at, 0, first + 2 * j], out[at, 1, first + 2 * j] = c, s
        out[at, 0, first + 2 * j + 1], out[at, 1, first + 2 * j + 1] = -s, c
        turned = np.einsum("ab,mbp->map", self.frame.matrix, out)
        return np.concatenate([turned, self.turn_slopes()[:, :, 1:]], axis=2)

    def turn_slopes(self) -> Array:
        """(M, d, poses): by the angle of every pose, also the first."""
        model = self._local()[0]
        out = np.zeros((*model.shape, len(self.turns)))
        at = np.arange(len(model))
        out[at, 0, self.markers.pose], out[at, 1, self.markers.pose] = -model[:, 1], model[:, 0]
        return np.asarray(np.einsum("ab,mbp->map", self.frame.matrix, out))

    def moved(self, step: Array) -> Self:
        k, first = self.markers.count, 4 if self.frame.spatial else 2
        frame = self.frame.shifted(step[:2])
        arms = self.arms + step[first : first + 2 * k].reshape(k, 2)
        rest = step[first + 2 * k :]
        heights = self.heights
        if self.frame.spatial:
            frame, heights, rest = frame.tilted(step[2:4]), heights + rest[:k], rest[k:]
        turns = self.turns + np.concatenate([[0.0], rest])
        return replace(self, frame=frame, arms=arms, heights=heights, turns=turns)

    def centred(self) -> Self:
        """The same state with the origin at the mean height of the markers' circles."""
        if not self.frame.spatial:
            return self
        mean = float(self.heights.mean())
        return replace(self, frame=self.frame.shifted(np.array([0.0, 0.0, mean])), heights=self.heights - mean)
