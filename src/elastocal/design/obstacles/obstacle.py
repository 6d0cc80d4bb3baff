"""A thing that stands in the cell and how far segments are from it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

from elastocal.kinds import kinds_in
from elastocal.spatial.entries import Array

Vector = tuple[float, float, float]


@dataclass(frozen=True, kw_only=True)
class Obstacle(ABC):
    """One shape in base axes; ``name`` for reports."""

    kind: ClassVar[str]
    name: str = ""

    @property
    def label(self) -> str:
        return self.name or self.kind

    @abstractmethod
    def distance(self, a: Array, b: Array) -> Array:
        """From the segments a-b (N, 3) to its surface, (N,); zero or less where they meet."""


@cache
def obstacle_kinds() -> dict[str, type[Obstacle]]:
    """Every shape by its kind."""
    from elastocal.design import obstacles

    return kinds_in(obstacles, Obstacle)
