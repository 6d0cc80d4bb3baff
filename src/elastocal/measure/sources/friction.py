"""Friction of the joints: a drive that moves up gives more than the weight asks for, one that moves down less.

    tau = tau_weight + c sign(v) + d v

Two-way motion tells both apart from the weight.  What the controller's zero of the torque is off by is ``zero``.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from elastocal.errors import MissingError, UnsupportedError
from elastocal.measure.joints import JointTorque
from elastocal.measure.kind import Measurement
from elastocal.measure.sources.source import ErrorSource, SourceUnknown
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

TERMS = ("coulomb", "viscous", "zero")


@dataclass(frozen=True, kw_only=True)
class Friction(ErrorSource):
    """Coulomb and viscous friction of every joint that moves and the zero of its torque reading, as far as asked for.

    Nothing is known of their sizes beforehand.
    """

    kind: ClassVar[str] = "friction"
    bends: ClassVar[bool] = False
    common: ClassVar[bool] = True
    coulomb: bool = True
    viscous: bool = True
    zero: bool = False

    def unknowns(self, measurement: Measurement, model: Robot) -> tuple[SourceUnknown, ...]:
        kind = _torques(measurement)
        return tuple(
            SourceUnknown(f"{kind.joints[j]} {term}", _unit(term, kind.revolute[j]), np.inf)
            for j, term in self._terms(kind)
        )

    def columns(self, measurement: Measurement, model: Robot) -> Array:
        kind = _torques(measurement)
        terms = self._terms(kind)
        out = np.zeros((kind.count, len(kind.joints), len(terms)))
        for column, (j, term) in enumerate(terms):
            if term == "zero":
                out[:, j, column] = 1.0
            else:
                assert kind.velocity is not None
                v = kind.velocity[:, j]
                out[:, j, column] = kind.sense * (np.sign(v) if term == "coulomb" else v)
        return out

    def _terms(self, kind: JointTorque) -> list[tuple[int, str]]:
        """Joint and term; a joint that never moves shows no friction."""
        if kind.velocity is None:
            if self.coulomb or self.viscous:
                raise MissingError(
                    "error source friction: the log has no time, so no velocity; ask for zero alone", code="no-time"
                )
            moves = np.ones(len(kind.joints), dtype=bool)
        else:
            moves = np.any(kind.velocity != 0, axis=0)
        asked = [t for t in TERMS if getattr(self, t)]
        return [(j, t) for j in range(len(kind.joints)) for t in asked if t == "zero" or moves[j]]


def _unit(term: str, turns: bool) -> str:
    force = "N m" if turns else "N"
    return force if term != "viscous" else f"{force} s/rad" if turns else f"{force} s/m"


def _torques(measurement: Measurement) -> JointTorque:
    if not isinstance(measurement, JointTorque):
        raise UnsupportedError(
            f"error source friction: a measurement of {measurement.kind} reads no joint torques", value=measurement.kind
        )
    return measurement
