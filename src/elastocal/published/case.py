"""What a published case must say of itself, and the registry that finds cases by walking this folder."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from elastocal.errors import UnknownNameError
from elastocal.kinds import kinds_in
from elastocal.published.figure import Figure
from elastocal.published.printed import Printed
from elastocal.report.blocks import Heatmap, Lines

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Listing:
    """A result that is a list: ``rows`` by column, all with the same columns."""

    name: str
    rows: tuple[Mapping[str, str | int | float], ...]
    note: str = ""


@dataclass(frozen=True)
class Outcome:
    case: str
    verdict: str
    figures: tuple[Figure, ...]
    curves: tuple[Lines | Heatmap, ...] = ()
    listings: tuple[Listing, ...] = ()

    @property
    def unexplained(self) -> tuple[Figure, ...]:
        return tuple(f for f in self.figures if f.unexplained)


Progress = Callable[[int, int], None]


def unwatched(done: int, total: int) -> None:
    """Nobody looks on."""


class Case(ABC):
    """A published computation that can be repeated; what is printed of it is in ``data/NAME.yaml``."""

    name: ClassVar[str]

    @property
    def title(self) -> str:
        return Printed(self.name).title

    @property
    def source(self) -> str:
        return Printed(self.name).source

    @abstractmethod
    def run(self, rng: np.random.Generator, progress: Progress = unwatched) -> Outcome:
        """Recompute every figure from the case's inputs; ``rng`` is the only source of chance."""


def registry() -> dict[str, Case]:
    """Every case by its name."""
    from elastocal import published

    return {name: case() for name, case in kinds_in(published, Case, "name").items()}


def case_named(name: str) -> Case:
    cases = registry()
    if name not in cases:
        raise UnknownNameError("case", name, cases)
    return cases[name]
