"""Where markers are, under whatever load each reading names: geometry and compliance in one reading."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np

from elastocal.errors import MissingError
from elastocal.measure.kind import Column, MarkerMeasurement
from elastocal.model.robot import Robot
from elastocal.model.statics.deflection import bent_chain
from elastocal.model.statics.equilibrium import Status
from elastocal.spatial.entries import Array
from elastocal.spatial.rotation import left_jacobian_inverse, rotation_vector, rotations
from elastocal.values import dataclass


@dataclass(frozen=True, eq=False)
class Position(MarkerMeasurement):
    """Origin of every marker in base axes and, for a pose, its turn away from ``turned``, the measured orientation.

    ``turned`` (N, markers, 3, 3) holds rotations measured in base axes; the reading of an orientation is then zero
    by definition and its prediction the rotation vector from measured to predicted.
    """

    kind: ClassVar[str] = "position"
    symbols = ("x", "y", "z", "rx", "ry", "rz")
    turned: Array | None = None

    def __post_init__(self) -> None:
        if self.turned is None and any(m.rows == 6 for m in self.where.markers):
            raise MissingError(
                "poses are measured but no orientations are given; watch positions or add them", code="no-orientations"
            )

    @property
    def affine(self) -> bool:
        return False

    def predict(self, model: Robot) -> Array:
        at = self.where
        bent = at.bent(model)
        state = bent_chain(model, at.q, bent)
        out = np.empty((at.count, at.height))
        for number, (m, start) in enumerate(zip(at.markers, at.starts, strict=True)):
            out[:, start : start + 3] = state.origin(m.frame).T
            if m.rows == 6:
                out[:, start + 3 : start + 6] = self._away(number, state.rotation(m.frame)).T
        out[bent.status != Status.CONVERGED] = np.nan
        return out

    def _away(self, number: int, turn: Array) -> Array:
        assert self.turned is not None
        return rotation_vector(np.einsum("ijn,nkj->ikn", turn, self.turned[:, number]))

    def written(self, readings: Array) -> Iterator[Column]:
        """With orientations as rotation vectors of what was measured: the reference turned by the reading."""
        out = readings.copy()
        for number, (m, start) in enumerate(zip(self.where.markers, self.where.starts, strict=True)):
            if self.turned is not None and m.rows == 6:
                away = readings[:, start + 3 : start + 6]
                known = np.isfinite(away).all(axis=1, keepdims=True)
                turn = rotations(np.where(known, away, 0.0).T)
                whole = rotation_vector(np.einsum("ijn,njk->ikn", turn, self.turned[:, number])).T
                out[:, start + 3 : start + 6] = np.where(known, whole, np.nan)
        return super().written(out)

    def derivative(self, model: Robot, names: Sequence[str]) -> Array:
        at = self.where
        out = at.observation(model, names)
        if self.turned is None:
            return out
        away = self.predict(model)
        for m, start in zip(at.markers, at.starts, strict=True):
            if m.rows == 6:
                w = slice(start + 3, start + 6)
                out[:, w] = np.einsum("ijn,njp->nip", left_jacobian_inverse(np.nan_to_num(away[:, w].T)), out[:, w])
        return out
