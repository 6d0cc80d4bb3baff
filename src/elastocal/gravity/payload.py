"""What the arm carries, from a second log: the arm as identified without it, plus one body at the tool.

How well the arm itself is known goes in as one common error of the whole log: tau = tau_arm + F (pi - pi_hat), with
pi - pi_hat drawn from the covariance of the first fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from elastocal.gravity.fit import GravityFit, identify_gravity
from elastocal.gravity.samples import Samples
from elastocal.measure.joint_torque import JointTorque
from elastocal.measure.kind import Measurement
from elastocal.measure.sources.friction import Friction
from elastocal.measure.sources.source import ErrorSource, SourceUnknown
from elastocal.model.loads.payload import Payload
from elastocal.model.robot import RobotModel
from elastocal.spatial.entries import Array


@dataclass(frozen=True, eq=False)
class ArmItself(ErrorSource):
    """Errors of the arm's own parameters, along the directions in which they are known independently."""

    kind: ClassVar[str] = "arm"
    bends: ClassVar[bool] = False
    names: tuple[str, ...]
    covariance_of: Array

    @property
    def common(self) -> bool:
        return True

    @property
    def label(self) -> str:
        return "the arm without payload, common"

    @cached_property
    def _directions(self) -> Array:
        values, vectors = np.linalg.eigh(self.covariance_of)
        live = values > 1e-12 * values.max()
        return np.asarray(vectors[:, live] * np.sqrt(values[live]))

    def unknowns(self, measurement: Measurement, model: RobotModel) -> tuple[SourceUnknown, ...]:
        return tuple(SourceUnknown(f"arm {i + 1}", "1", 1.0) for i in range(self._directions.shape[1]))

    def columns(self, measurement: Measurement, model: RobotModel) -> Array:
        assert isinstance(measurement, JointTorque)
        return np.asarray(measurement.derivative(model, self.names) @ self._directions)


def identify_payload(
    arm: GravityFit, samples: Samples, frame: str | None = None, friction: Friction | None = None
) -> GravityFit:
    """Mass and mass moment of a payload, all else held at the first fit; ``frame`` is by default where the robot file
    has its payload, else the tool."""
    place = frame or next((e.frame for e in arm.model.elements if isinstance(e, Payload)), arm.model.tool)
    model = arm.model
    standing = [e for e in model.elements if isinstance(e, Payload) and e.frame == place]
    if not standing:
        model = model.with_elements(Payload(frame=place, mass=0.0))
    seek = tuple(f"{place}.payload_{s}" for s in ("m", "mx", "my", "mz"))
    known = [i for i, n in enumerate(arm.wide.names) if n not in seek]
    arm_itself = ArmItself(tuple(arm.wide.names[i] for i in known), arm.wide.covariance[np.ix_(known, known)])
    return identify_gravity(model, samples, sense=arm.sense, friction=friction, seek=seek, also=(arm_itself,))
