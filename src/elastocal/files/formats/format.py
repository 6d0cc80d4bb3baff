"""A way to write tables down: files of other programs to a table with Elastocal's names of columns.

    table: {file: export.txt, format: spatial-analyzer, points: "{name}_{marker}", length: mm, join: poses.csv}

A format turns one file into a ``RawTable`` whose header is such as ``A1_deg, marker, x_mm`` and whose origins still
tell where every cell stood.  Units are stated by the file or by whoever names it; a format never guesses one.  Adding a
format is adding one file here with a class that has a ``kind``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import field
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Literal

from elastocal.errors import InputError
from elastocal.files.located import Located, Path_
from elastocal.files.tables.raw import RawTable
from elastocal.kinds import kinds_in
from elastocal.model.robot import Robot
from elastocal.values import dataclass

WORDS = ("name", "marker", "pose", "direction", "state", "repeat")
"""Columns that name what was read, without a unit."""


@dataclass(frozen=True, eq=False)
class Asked:
    """Where a table is named (``path`` in a YAML file), and of which robot it is, if it is of one."""

    located: Located
    path: Path_
    robot: Robot | None

    def where(self, *keys: str) -> str:
        return self.located.where((*self.path, *keys))

    def error(
        self, keys: tuple[str, ...], problem: str, kind: type[InputError] = InputError, **data: Any
    ) -> InputError:
        """A mistake of the entry, or one of its file, whose place is then in the ``data``."""
        return self.located.error((*self.path, *keys), problem, kind, **data)

    def unknown(self, key: str, what: str, name: str, valid: Iterable[str]) -> InputError:
        return self.located.unknown((*self.path, key), what, name, valid)


@dataclass(frozen=True, kw_only=True)
class TableFormat(ABC):
    """What every table may be told: its file, and what ``elastocal.files.tables`` makes of its rows.

    ``unloaded`` is a state of the rows, or another table (``elastocal.files.tables.named``).
    """

    kind: ClassVar[str]
    file: str
    unloaded: Any = None
    join: Any = None
    unmatched: Literal["refuse", "leave_out"] = "refuse"
    markers: dict[str, str] = field(default_factory=dict)

    @abstractmethod
    def read(self, file: Path, asked: Asked) -> RawTable:
        """The cells of ``file`` under Elastocal's names; notes say what was assumed and what is not used."""


@cache
def format_kinds() -> dict[str, type[TableFormat]]:
    """Every format by its kind."""
    from elastocal.files import formats

    return kinds_in(formats, TableFormat, group="elastocal.formats")
