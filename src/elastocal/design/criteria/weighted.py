"""Several criteria at once: the weighted mean of their gains, a weighted product of efficiencies.

gain = sum_i w_i gain_i / sum_i w_i
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import ClassVar

import numpy as np

from elastocal.design.criteria.criterion import Criterion
from elastocal.design.knowledge import Knowledge
from elastocal.design.updates import Trials
from elastocal.errors import RangeError
from elastocal.spatial.entries import Array
from elastocal.values import dataclass


@dataclass(frozen=True, eq=False)
class Weighted(Criterion):
    """``parts`` are positive weights with criteria; only ratios of the weights matter."""

    kind: ClassVar[str] = "weighted"
    parts: tuple[tuple[float, Criterion], ...]

    def __post_init__(self) -> None:
        if not self.parts or not all(np.isfinite(w) and w > 0 for w, _ in self.parts):
            raise RangeError("a weighted criterion needs parts, each with a positive weight", code="no-parts")

    @cached_property
    def shares(self) -> tuple[tuple[float, Criterion], ...]:
        total = sum(w for w, _ in self.parts)
        return tuple((w / total, part) for w, part in self.parts)

    @property
    def monotone(self) -> bool:
        return all(part.monotone for _, part in self.parts)

    @property
    def degree(self) -> float:
        return sum(w * part.degree for w, part in self.shares)

    @property
    def certifiable(self) -> bool:
        return all(part.certifiable for _, part in self.parts)

    def check(self, parameters: int) -> None:
        for _, part in self.parts:
            part.check(parameters)

    def gain(self, known: Knowledge) -> float:
        return sum(w * part.gain(known) for w, part in self.shares)

    def value(self, known: Knowledge) -> float:
        return self.gain(known)

    def gains(self, trials: Trials) -> Array:
        return self._sum(lambda part: part.gains(trials))

    def ceilings(self, trials: Trials) -> Array | None:
        bounds = [part.ceilings(trials) for _, part in self.shares]
        if all(b is None for b in bounds):
            return None
        known = [part.gains(trials) if b is None else b for b, (_, part) in zip(bounds, self.shares, strict=True)]
        return np.asarray(sum(w * b for b, (w, _) in zip(known, self.shares, strict=True)))

    def slopes(self, known: Knowledge, rows: Array) -> Array:
        return self._sum(lambda part: part.slopes(known, rows))

    def _sum(self, of: Callable[[Criterion], Array]) -> Array:
        return np.asarray(sum(w * of(part) for w, part in self.shares))
