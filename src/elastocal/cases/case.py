"""What a published case must say of itself, and the registry that finds cases by walking this folder."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from elastocal.errors import UnknownNameError
from elastocal.kinds import kinds_in
from elastocal.report.blocks import Lines

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Figure:
    """One number: as printed (None where nothing is printed), as recomputed, and why they may differ."""

    name: str
    published: float | None
    recomputed: float | None
    unit: str
    note: str = ""


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
    curves: tuple[Lines, ...] = ()
    listings: tuple[Listing, ...] = ()


Progress = Callable[[int, int], None]


def unwatched(done: int, total: int) -> None:
    """Nobody looks on."""


class Case(ABC):
    """A published computation that can be repeated."""

    name: ClassVar[str]
    title: ClassVar[str]
    source: ClassVar[str]

    @abstractmethod
    def run(self, rng: np.random.Generator, progress: Progress = unwatched) -> Outcome:
        """Recompute every figure from the case's inputs; ``rng`` is the only source of chance."""


def registry() -> dict[str, Case]:
    """Every case by its name."""
    from elastocal import cases

    return {name: case() for name, case in kinds_in(cases, Case, "name").items()}


def case_named(name: str) -> Case:
    cases = registry()
    if name not in cases:
        raise UnknownNameError("case", name, cases)
    return cases[name]
