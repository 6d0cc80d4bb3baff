"""Weight of a body fixed to a frame.

With mass m and mass moment u = m c (c the centre of mass in the frame's axes) the weight is the dead
force m g and its tensor is (m p + R u) g^T: linear in (m, u), also for m = 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from elastocal.errors import DuplicateError, MissingError, RangeError
from elastocal.model.chain import ChainState
from elastocal.model.elements import Load
from elastocal.model.frames import FrameTree
from elastocal.model.loads.wrench import Resultant
from elastocal.model.parameters import Parameter, quantity
from elastocal.spatial import entries as en
from elastocal.spatial.entries import Array, Row3
from elastocal.values import dataclass


@dataclass(frozen=True, kw_only=True)
class LinkMass(Load):
    """``mass`` with mass moment ``moment`` = mass * centre of mass, in the axes of ``frame``."""

    kind: ClassVar[str] = "link_mass"
    shorthand: ClassVar[Mapping[str, str]] = {"com": "length"}
    frame: str
    mass: float = quantity("mass")
    moment: tuple[float, float, float] = quantity("mass moment", default=(0.0, 0.0, 0.0))

    @property
    def place(self) -> str:
        return self.frame

    @classmethod
    def expand(cls, given: dict[str, Any]) -> dict[str, Any]:
        """``com`` (centre of mass) instead of the mass moment."""
        com = given.pop("com", None)
        if com is None:
            if "moment" not in given and given.get("mass", 0.0) != 0:
                raise MissingError("does not say where the mass is; add com_mm (the frame's origin is [0, 0, 0])")
            return given
        if "moment" in given:
            raise DuplicateError("com and moment say the same thing; keep one")
        return {**given, "moment": tuple(given.get("mass", 0.0) * float(c) for c in com)}

    def check(self, tree: FrameTree) -> None:
        tree.frame(self.frame)

    def check_physics(self) -> None:
        if not self.mass >= 0 or np.isinf(self.mass):
            raise RangeError(f"{self.kind} at {self.frame}: mass {self.mass} kg must be finite and not negative")

    def parameters(self, tree: FrameTree) -> tuple[Parameter, ...]:
        tag = "" if self.kind == "link_mass" else f"{self.kind}_"
        names = (("m", "kg", 1.0), ("mx", "kg m", 0.1), ("my", "kg m", 0.1), ("mz", "kg m", 0.1))
        values = (self.mass, *self.moment)
        rows = zip(names, values, strict=True)
        return tuple(self.parameter(tag + n, unit, v, scale) for (n, unit, scale), v in rows)

    def with_values(self, values: Sequence[float]) -> Self:
        m, x, y, z = values
        return replace(self, mass=m, moment=(x, y, z))

    def resultants(self, state: ChainState, gravity: Array) -> tuple[tuple[str, Resultant], ...]:
        if self.mass == 0 and not any(self.moment):
            return ()
        rotation, origin = state.pose(self.frame)
        arm = en.plus(en.scaled(origin, self.mass), en.times_vector(rotation, self.moment))
        g: Row3 = (gravity[0], gravity[1], gravity[2])
        return ((self.frame, Resultant(en.scaled(g, self.mass), en.outer(arm, g))),)

    def sizes(self, gravity: Array) -> tuple[tuple[str, float, float], ...]:
        g = float(np.linalg.norm(gravity))
        return ((self.frame, self.mass * g, float(np.linalg.norm(self.moment)) * g),)

    def resultant_sensitivity(self, state: ChainState, gravity: Array) -> tuple[tuple[int, str, Resultant], ...]:
        rotation, origin = state.pose(self.frame)
        g: Row3 = (gravity[0], gravity[1], gravity[2])
        by_moment = (Resultant(moment=en.cross(en.column(rotation, j), g)) for j in range(3))
        resultants = (Resultant(g, moment=en.cross(origin, g)), *by_moment)
        return tuple((i, self.frame, by) for i, by in enumerate(resultants))
