"""Points about one axis, each marker at its own radius and height; where on its circle a point is, is free.

In the frame of the axis a point has local coordinates y.  With the free angle at its best value two residuals remain:

    e_r = |(y_1, y_2)| - R_j,   e_h = y_3 - h_j

so their sum of squares is the squared distance to the circle (the geometric form of 000 eq. 18).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from elastocal.arcs.frame import AxisFrame
from elastocal.arcs.points import Markers
from elastocal.arcs.problem import ArcProblem
from elastocal.spatial.entries import Array


@dataclass(frozen=True, eq=False)
class AxisProblem(ArcProblem):
    """Moves: centre in the plane (2), tilt (2, in space), radii (k), heights (k, in space)."""

    frame: AxisFrame
    radii: Array
    heights: Array
    markers: Markers

    @property
    def components(self) -> tuple[str, ...]:
        return ("radius", "height") if self.frame.spatial else ("radius",)

    @property
    def labels(self) -> tuple[tuple[int, int], ...]:
        return tuple(zip(self.markers.marker.tolist(), self.markers.pose.tolist(), strict=True))

    @property
    def points(self) -> Array:
        return self.markers.points

    @property
    def readings(self) -> Array:
        local = self.frame.local(self.markers.points)
        return np.column_stack([np.hypot(local[:, 0], local[:, 1]), local[:, 2:]])

    def residuals(self) -> Array:
        model = np.column_stack([self.radii, self.heights]) if self.frame.spatial else self.radii[:, None]
        return np.asarray(self.readings - model[self.markers.marker])

    def slopes(self) -> Array:
        local, j = self.frame.local(self.markers.points), self.markers.marker
        k, at = self.markers.count, np.arange(len(j))
        outward = local[:, :2] / np.linalg.norm(local[:, :2], axis=1)[:, None]
        if not self.frame.spatial:
            out = np.zeros((len(j), 1, 2 + k))
            out[:, 0, :2] = outward
            out[at, 0, 2 + j] = 1.0
            return out
        out = np.zeros((len(j), 2, 4 + 2 * k))
        out[:, 0, :2] = outward
        out[:, 0, 2:4] = local[:, 2:] * outward  # a tilted axis has moved at this height
        out[at, 0, 4 + j] = 1.0
        out[:, 1, 2:4] = -local[:, :2]
        out[at, 1, 4 + k + j] = 1.0
        return out

    def moved(self, step: Array) -> Self:
        k, first = self.markers.count, 4 if self.frame.spatial else 2
        frame = self.frame.shifted(step[:2])
        if not self.frame.spatial:
            return replace(self, frame=frame, radii=self.radii + step[2:])
        return replace(
            self, frame=frame.tilted(step[2:4]), radii=self.radii + step[first : first + k],
            heights=self.heights + step[first + k :],
        )  # fmt: skip

    def centred(self) -> Self:
        """The same state with the origin at the mean height of the markers' circles."""
        if not self.frame.spatial:
            return self
        mean = float(self.heights.mean())
        return replace(self, frame=self.frame.shifted(np.array([0.0, 0.0, mean])), heights=self.heights - mean)
