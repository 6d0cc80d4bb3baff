"""A table of like things, a row each: what stands in a column is said beside its title.

Listing(outliers).column("place", lambda o: o.place, "reading").column("sigmas", lambda o: o.sigmas).table("outliers")
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from elastocal.report.blocks import Cell, Column, Table

Thing = TypeVar("Thing")


@dataclass(frozen=True, eq=False)
class Listing(Generic[Thing]):
    """``cells`` make the row of a thing, one for every column."""

    things: Iterable[Thing]
    columns: tuple[Column, ...] = ()
    cells: tuple[Callable[[Thing], Cell], ...] = ()

    def column(
        self,
        key: str,
        cell: Callable[[Thing], Cell],
        name: str | None = None,
        unit: str = "",
        decimals: int | None = None,
        **shown: Any,
    ) -> Listing[Thing]:
        """One column more, called by its key where it has no other name; ``shown`` are further fields of ``Column``."""
        column = Column(key, key if name is None else name, unit, decimals, **shown)
        return replace(self, columns=(*self.columns, column), cells=(*self.cells, cell))

    def table(self, key: str, *notes: str, title: str = "") -> Table:
        """All rows at once."""
        rows = tuple(tuple(cell(thing) for cell in self.cells) for thing in self.things)
        return Table(key, title, self.columns, rows, notes)
