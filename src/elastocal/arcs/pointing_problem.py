"""A rigid body that points from its axis to a target, the spring's other end P1, which is measured like the markers.

To the points of the body (``body_problem``) each target y_i, in the frame of the axis, adds its distance from the line
on which the body points:

    e_i = cos(theta_i) y_i2 - sin(theta_i) y_i1

with the same noise as a coordinate.  Where on that line the target is, is free.  The angles theta_i are all free, the
targets fix the direction from which they count.  Taken as exact, targets would make a body that does point look as if
it did not, because their noise would count as its misfit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from elastocal.arcs.body_problem import BodyProblem
from elastocal.arcs.problem import ArcProblem
from elastocal.spatial.entries import Array, Ints


@dataclass(frozen=True, eq=False)
class PointingProblem(ArcProblem):
    """``targets`` (t, d) in the poses ``aimed`` (t,).  Moves: those of the body, the angle of its first pose last.

    Targets come after the points of the body, as marker ``markers.count``; only their first component is used.
    """

    body: BodyProblem
    targets: Array
    aimed: Ints

    @property
    def components(self) -> tuple[str, ...]:
        return self.body.components

    @property
    def labels(self) -> tuple[tuple[int, int], ...]:
        return (*self.body.labels, *((self.body.markers.count, self.body.numbers[i]) for i in self.aimed))

    @property
    def readings(self) -> Array:
        return self.points

    @property
    def points(self) -> Array:
        return np.concatenate([self.body.points, self.targets])

    def residuals(self) -> Array:
        local, c, s = self._aims()
        out = np.zeros_like(self.targets)
        out[:, 0] = c * local[:, 1] - s * local[:, 0]
        return np.concatenate([self.body.residuals(), out])

    def slopes(self) -> Array:
        points, turns = self.body.slopes(), self.body.turn_slopes()[:, :, :1]
        local, c, s = self._aims()
        aims = np.zeros((len(local), points.shape[1], points.shape[2] + 1))
        aims[:, 0, 0], aims[:, 0, 1] = -s, c
        if self.body.frame.spatial:
            aims[:, 0, 2], aims[:, 0, 3] = -s * local[:, 2], c * local[:, 2]
        along = c * local[:, 0] + s * local[:, 1]
        first = points.shape[2] - len(self.body.turns)  # the turn of pose i is at first + i, of pose 0 at the end
        column = np.where(self.aimed > 0, first + self.aimed, points.shape[2])
        aims[np.arange(len(local)), 0, column] = along
        return np.concatenate([np.concatenate([points, turns], axis=2), aims])

    def _aims(self) -> tuple[Array, Array, Array]:
        theta = self.body.turns[self.aimed]
        return self.body.frame.local(self.targets), np.cos(theta), np.sin(theta)

    def moved(self, step: Array) -> Self:
        body = self.body.moved(step[:-1])
        turns = body.turns.copy()
        turns[0] += step[-1]
        return replace(self, body=replace(body, turns=turns))
