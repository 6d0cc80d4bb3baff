"""The load can be put on: a weight has room to hang, a rope reaches its anchor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from elastocal.design.cell import Cell
from elastocal.design.feasibility.filter import Filter
from elastocal.design.pool import Pool
from elastocal.spatial.entries import Bools


@dataclass(frozen=True, kw_only=True)
class LoadPossible(Filter):
    kind: ClassVar[str] = "load"

    def passes(self, pool: Pool, cell: Cell) -> Bools:
        return pool.possible
