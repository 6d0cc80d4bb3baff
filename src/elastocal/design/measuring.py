"""What a campaign of a plan reads: the kind of measurement at any configurations and loads.

A search needs nothing of a kind but ``derivative`` and ``predict``; a new kind that is planned by poses and loads is
one more line of ``KINDS``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from elastocal.errors import UnknownNameError
from elastocal.measure.deflection import Deflection, Statics
from elastocal.measure.kind import Measurement
from elastocal.measure.position import Position
from elastocal.measure.setup import Setup
from elastocal.measure.sources.source import ErrorSource
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.statics.observation import Marker
from elastocal.spatial.entries import Array

KINDS: dict[str, Callable[[Setup, Statics], Measurement]] = {
    "deflection": Deflection,
    "position": lambda where, statics: Position(where),
}


@dataclass(frozen=True)
class Measuring:
    """``kind`` of measurement of ``markers`` with its ``sources`` of error; ``statics`` is of deflections."""

    kind: str
    markers: tuple[Marker, ...]
    sources: tuple[ErrorSource, ...] = ()
    statics: Statics = "loaded"

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise UnknownNameError("kind of measurement", self.kind, KINDS)

    def at(self, q: Array, load: AppliedWrenches, markers: tuple[Marker, ...] | None = None) -> Measurement:
        """The readings of (N, n) configurations under their loads."""
        return KINDS[self.kind](Setup(q, load, markers or self.markers), self.statics)
