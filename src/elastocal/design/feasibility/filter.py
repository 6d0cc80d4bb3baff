"""A filter of candidates, and filters one after another with the count that each removes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np

from elastocal.design.cell import Cell
from elastocal.design.kinds import kinds_in
from elastocal.design.pool import Pool
from elastocal.errors import InputError
from elastocal.spatial.entries import Bools


@dataclass(frozen=True, kw_only=True)
class Filter(ABC):
    """One demand on a candidate."""

    kind: ClassVar[str]

    @property
    def label(self) -> str:
        """Its name in reports."""
        return self.kind.replace("_", " ")

    @abstractmethod
    def passes(self, pool: Pool, cell: Cell) -> Bools:
        """(N,) True where the candidate is possible."""


@dataclass(frozen=True)
class Removed:
    """What one step took away, and what it left."""

    label: str
    removed: int
    left: int


@dataclass(frozen=True, eq=False)
class Screened:
    """``pool`` is what all filters leave."""

    pool: Pool
    steps: tuple[Removed, ...]


def screened(pool: Pool, cell: Cell, filters: Sequence[Filter]) -> Screened:
    """Filters in order, each on what those before it leave; refuses where nothing is left."""
    cell.check(pool.model)
    steps: list[Removed] = []
    for each in filters:
        kept = each.passes(pool, cell)
        left = int(np.sum(kept))
        steps.append(Removed(each.label, len(pool) - left, left))
        if not left:
            raise nothing_left(steps)
        pool = pool if left == len(pool) else pool.picked(np.flatnonzero(kept))
    return Screened(pool, tuple(steps))


def nothing_left(steps: Sequence[Removed]) -> InputError:
    """No candidate is possible: names the filter that removed the last one, and what the others took."""
    before = ", ".join(f"{s.label} {s.removed}" for s in steps[:-1] if s.removed)
    return InputError(
        f"no feasible candidate: {steps[-1].label} removed the last {steps[-1].removed}"
        + (f" (before it: {before})" if before else "")
        + "; relax it or draw more candidates"
    )


@cache
def filter_kinds() -> dict[str, type[Filter]]:
    """Every filter by its kind."""
    from elastocal.design import feasibility

    return kinds_in(feasibility, Filter)
