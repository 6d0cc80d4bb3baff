"""A joint that moves farther or less far than it is told: theta = gain * q."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Self

import numpy as np

from elastocal.model.elements import JointCoordinate, Occasion, Terms
from elastocal.model.frames import FrameTree
from elastocal.model.parameters import Parameter, quantity
from elastocal.model.posture import Posture
from elastocal.spatial.entries import Array
from elastocal.values import dataclass


@dataclass(frozen=True, kw_only=True)
class JointGain(JointCoordinate):
    """theta = gain * q: a gear ratio or a scale that is off by the share ``gain``."""

    kind: ClassVar[str] = "joint_gain"
    constant_in_load: ClassVar[bool] = True
    varies: ClassVar[bool] = True
    word: ClassVar[str] = "gain"
    prior_sd: ClassVar[float] = 1e-4
    gain: float = quantity("number", default=0.0)

    @classmethod
    def applies(cls, occasion: Occasion) -> bool:
        return False  # it has helped no robot that was tried

    def parameters(self, tree: FrameTree) -> tuple[Parameter, ...]:
        return (self.parameter("gain", "1", self.gain, 1e-4),)

    def with_values(self, values: Sequence[float]) -> Self:
        return replace(self, gain=float(values[0]))

    def unloaded(self, posture: Posture) -> Array:
        return self.gain * posture.value(self.joint)[None] if self.gain else np.zeros(1)

    def unloaded_slope(self, posture: Posture) -> Array | None:
        slope = self.gain * posture.value_slope(self.joint)[None, :, None]
        return np.broadcast_to(slope, (1, len(posture.q), posture.size)) if self.gain else None

    def sensitivity(self, force: Array, posture: Posture) -> tuple[Terms, ...]:
        return (((0, posture.value(self.joint)),),)
