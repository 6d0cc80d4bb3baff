"""A gear or encoder that runs untrue: theta = sum of a sin(n q) + b cos(n q), n waves per turn of the joint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from elastocal.errors import RangeError, ShapeError
from elastocal.model.elements import JointCoordinate, PriorGroup, Terms
from elastocal.model.frames import FrameTree
from elastocal.model.parameters import Parameter, quantity
from elastocal.model.posture import Posture
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.model.robot import Robot


@dataclass(frozen=True, kw_only=True)
class GearHarmonics(JointCoordinate):
    """``sin`` and ``cos`` hold the amplitudes, rad or m, of ``orders`` n, in waves per rad or m of q."""

    kind: ClassVar[str] = "gear_harmonics"
    constant_in_load: ClassVar[bool] = True
    varies: ClassVar[bool] = True
    word: ClassVar[str] = "harmonics"
    prior_sd: ClassVar[float] = 1e-4
    orders: tuple[float, ...] = quantity("number")
    sin: tuple[float, ...] = quantity("joint value", default=())
    cos: tuple[float, ...] = quantity("joint value", default=())

    @classmethod
    def neutral(cls, robot: Robot) -> tuple[GearHarmonics, ...]:
        """Once and twice a turn."""
        return tuple(cls(joint=j, orders=(1.0, 2.0)) for j in robot.revolute_joints)

    @classmethod
    def prior_groups(cls, robot: Robot) -> tuple[PriorGroup, ...]:
        """One scale for each order, also of those that the robot file adds."""
        names: dict[str, list[str]] = {}
        for p in robot.parameters:
            if p.kind == cls.kind:
                names.setdefault(p.name.rpartition(".")[2][3:], []).append(p.name)
        return tuple(PriorGroup(f"{cls.word} {n}", cls.prior_sd, tuple(each)) for n, each in names.items())

    def __post_init__(self) -> None:
        for name in ("sin", "cos"):  # nothing given: zero
            object.__setattr__(self, name, getattr(self, name) or (0.0,) * len(self.orders))

    def check(self, tree: FrameTree) -> None:
        super().check(tree)
        where = f"gear_harmonics of {self.joint}"
        if not self.orders or not all(n > 0 for n in self.orders) or len(set(self.orders)) < len(self.orders):
            raise RangeError(f"{where}: orders must be different numbers above zero, at least one")
        if not len(self.sin) == len(self.cos) == len(self.orders):
            raise ShapeError(f"{where}: {len(self.orders)} orders need as many amplitudes sin and cos")

    def parameters(self, tree: FrameTree) -> tuple[Parameter, ...]:
        unit = tree.joint(self.joint).unit
        waves = zip(self.orders, self.sin, self.cos, strict=True)
        pairs = [(f"{word}{n:g}", value) for n, a, b in waves for word, value in (("sin", a), ("cos", b))]
        return tuple(self.parameter(symbol, unit, value, 1e-4) for symbol, value in pairs)

    def with_values(self, values: Sequence[float]) -> Self:
        each = tuple(float(v) for v in values)
        return replace(self, sin=each[::2], cos=each[1::2])

    def _waves(self, posture: Posture) -> tuple[Array, Array]:
        """sin(n q) and cos(n q), (orders, N)."""
        angle = np.array(self.orders)[:, None] * posture.value(self.joint)
        return np.sin(angle), np.cos(angle)

    def unloaded(self, posture: Posture) -> Array:
        if not any(self.sin) and not any(self.cos):
            return np.zeros(1)
        s, c = self._waves(posture)
        return np.asarray(np.array(self.sin) @ s + np.array(self.cos) @ c)[None]

    def unloaded_slope(self, posture: Posture) -> Array | None:
        if not any(self.sin) and not any(self.cos):
            return None
        s, c = self._waves(posture)
        n = np.array(self.orders)
        by_value = (n * self.sin) @ c - (n * self.cos) @ s
        return np.asarray(posture.value_slope(self.joint)[:, None] * by_value)[None]

    def sensitivity(self, force: Array, posture: Posture) -> tuple[Terms, ...]:
        s, c = self._waves(posture)
        return tuple(((0, wave),) for pair in zip(s, c, strict=True) for wave in pair)
