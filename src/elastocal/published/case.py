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
from elastocal.results import as_frame, shortened

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Listing:
    """A result that is a list: ``rows`` by column, all with the same columns."""

    name: str
    rows: tuple[Mapping[str, str | int | float], ...]
    note: str = ""


@dataclass(frozen=True, repr=False)
class Outcome:
    """Figures of a case beside the printed ones, curves and lists."""

    case: str
    verdict: str
    figures: tuple[Figure, ...]
    curves: tuple[Lines | Heatmap, ...] = ()
    listings: tuple[Listing, ...] = ()

    @property
    def unexplained(self) -> tuple[Figure, ...]:
        return tuple(f for f in self.figures if f.unexplained)

    def __repr__(self) -> str:
        printed = [f for f in self.figures if f.published is not None]
        agree = sum(f.agrees for f in printed)
        odd = len(self.unexplained)
        head = f"<Outcome of {self.case}: {agree} of {len(printed)} printed figures agree, {odd} not explained"
        return shortened([head, f"  {self.verdict}>"])

    def to_frame(self) -> object:
        """One row for every figure."""
        keys = ("name", "published", "recomputed", "unit", "note")
        return as_frame([{k: getattr(f, k) for k in keys} for f in self.figures])


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


SEED = 20130101


def reproduce(name: str, seed: int = SEED, progress: Progress = unwatched) -> Outcome:
    """Recompute a published case, figure by figure; ``registry`` has the names."""
    import numpy as np

    return case_named(name).run(np.random.default_rng(seed), progress)


def case_named(name: str) -> Case:
    cases = registry()
    if name not in cases:
        raise UnknownNameError("case", name, cases)
    return cases[name]
