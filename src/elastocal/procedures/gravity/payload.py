"""What the arm carries, from a second log: the arm as identified without it, plus one body at the tool.

How well the arm itself is known goes in as one common error of the whole log: tau = tau_arm + F (pi - pi_hat), with
pi - pi_hat drawn from the covariance of the first fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from elastocal.measure.joint_torque import JointTorque
from elastocal.measure.kind import Measurement
from elastocal.measure.sources.friction import Friction
from elastocal.measure.sources.source import ErrorSource, SourceUnknown
from elastocal.model.loads.payload import Payload
from elastocal.model.robot import Robot
from elastocal.procedures.gravity.fit import GravityFit, fit_masses
from elastocal.procedures.gravity.samples import Samples
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

    def unknowns(self, measurement: Measurement, model: Robot) -> tuple[SourceUnknown, ...]:
        return tuple(SourceUnknown(f"arm {i + 1}", "1", 1.0) for i in range(self._directions.shape[1]))

    def columns(self, measurement: Measurement, model: Robot) -> Array:
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
    return fit_masses(model, samples, sense=arm.sense, friction=friction, seek=seek, also=(arm_itself,))


def payload_numbers(payload: GravityFit) -> tuple[tuple[str, float, float, str], ...]:
    """What, value, standard deviation and SI unit: mass, mass moments, and the centre c = u / m, with

    d c = (d u - c d m) / m; nan where the mass is zero.
    """
    names, covariance = payload.wide.names, payload.wide.covariance
    table = payload.model.parameters
    mass, *moment = (table.rows[table.index(n)].value for n in names)
    sd = np.sqrt(np.diag(covariance))
    out = [("mass", mass, float(sd[0]), "kg")]
    out += [
        (f"mass moment {a}", u, float(sd[i]), "kg m") for i, (a, u) in enumerate(zip("xyz", moment, strict=True), 1)
    ]
    for i, (axis, u) in enumerate(zip("xyz", moment, strict=True), 1):
        centre = u / mass if mass else np.nan
        slope = np.array([-centre, 1.0]) / mass if mass else np.full(2, np.nan)
        spread = slope @ covariance[np.ix_([0, i], [0, i])] @ slope
        out.append((f"centre {axis}", centre, float(np.sqrt(np.maximum(spread, 0.0))), "m"))
    return tuple(out)
