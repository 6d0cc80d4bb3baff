"""Every reflector faces the tracker: the beam comes in within an angle of the reflector's own axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from elastocal.design.cell import Cell
from elastocal.design.feasibility.filter import Filter, check_angle
from elastocal.design.feasibility.line_of_sight import beam_start
from elastocal.design.pool import Pool
from elastocal.errors import InputError, UnknownNameError
from elastocal.model.elements import quantity
from elastocal.spatial.entries import Bools

Vector = tuple[float, float, float]


@dataclass(frozen=True, kw_only=True)
class Incidence(Filter):
    """``facing`` says for each marker which way it looks, in its own axes; those not named may look anywhere."""

    kind: ClassVar[str] = "incidence"
    facing: dict[str, Vector] = quantity("number")
    within: float = quantity("angle")

    def __post_init__(self) -> None:
        check_angle(self.label, self.within)

    def passes(self, pool: Pool, cell: Cell) -> Bools:
        tracker = beam_start(cell, self.kind)
        seen = np.ones(len(pool.poses), dtype=bool)
        for marker, facing in self.facing.items():
            if marker not in cell.markers:
                raise UnknownNameError("marker", marker, cell.markers, "incidence")
            size = float(np.linalg.norm(facing))
            if not size > 0:
                raise InputError(f"incidence: the direction that {marker} faces must not be zero")
            beam = tracker - pool.poses.origin(marker)
            out = pool.poses.rotation(marker) @ (np.array(facing) / size)
            seen &= np.sum(out * beam, axis=1) >= np.cos(self.within) * np.linalg.norm(beam, axis=1)
        return seen[pool.at]
