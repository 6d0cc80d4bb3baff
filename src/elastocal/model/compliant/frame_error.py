"""Geometric error: a frame that is not where the drawing says, theta = constant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from elastocal.errors import MissingError
from elastocal.model.chain import AXES, Dof
from elastocal.model.elements import FrameCoordinate, Terms
from elastocal.model.frames import FrameTree
from elastocal.model.parameters import Parameter, quantity
from elastocal.model.posture import Posture
from elastocal.spatial.entries import Array
from elastocal.values import dataclass


@dataclass(frozen=True, kw_only=True)
class FrameError(FrameCoordinate):
    """Small motions of ``frame`` in its own axes; those that are given are parameters."""

    kind: ClassVar[str] = "frame_error"
    constant_in_load: ClassVar[bool] = True
    x: float | None = quantity("length", default=None)
    y: float | None = quantity("length", default=None)
    z: float | None = quantity("length", default=None)
    rx: float | None = quantity("angle", default=None)
    ry: float | None = quantity("angle", default=None)
    rz: float | None = quantity("angle", default=None)

    def _given(self) -> dict[str, float]:
        return {axis: float(v) for axis in AXES if (v := getattr(self, axis)) is not None}

    def check(self, tree: FrameTree) -> None:
        super().check(tree)
        if not self._given():
            raise MissingError(f"frame_error at {self.frame}: name at least one of {', '.join(AXES)} (0 is a value)")

    def dofs(self) -> tuple[Dof, ...]:
        return tuple(Dof(self.frame, axis) for axis in self._given())

    def parameters(self, tree: FrameTree) -> tuple[Parameter, ...]:
        given = self._given().items()
        return tuple(self.parameter(a, "rad" if a.startswith("r") else "m", v, 1e-3) for a, v in given)

    def with_values(self, values: Sequence[float]) -> Self:
        new: dict[str, Any] = {axis: float(v) for axis, v in zip(self._given(), values, strict=True)}
        return replace(self, **new)

    def unloaded(self, posture: Posture) -> Array:
        return np.array(list(self._given().values()))

    def sensitivity(self, force: Array, posture: Posture) -> tuple[Terms, ...]:
        return tuple(((i, 1.0),) for i in range(len(self._given())))
