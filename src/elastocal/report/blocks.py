"""What a report is made of.  Builders fill these values; the renderers only write them down."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from elastocal.report.colours import Role
from elastocal.report.parts import Part, box
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.report.certificate import Certificate


@dataclass(frozen=True)
class Unknown:
    """A number that does not exist here, and why."""

    reason: str


Cell = str | int | float | bool | None | Unknown
"""None is an empty cell; a nan is shown like an Unknown without a reason."""


@dataclass(frozen=True)
class Column:
    """``key`` names the column in JSON and CSV (with its unit), ``name`` and ``unit`` for people.

    Neighbours with the same ``group`` share one column on the page, where ``decimals`` is the number of
    digits after the point, ``digits`` that of significant ones (six if neither is given).  With ``footnote`` long
    texts are numbered and printed once below the table; of a ``reason`` on the terminal only, a page has them
    in the table.  A column that is not ``shown`` is for programs only.
    A column in ``si`` holds numbers in the unit that the row's column ``unit`` names; people read them in a unit of the
    trade.  With ``sd``, the key of another such column, they read both as 0.3343(12).  Elsewhere they read
    ``scale`` times the number; of a ``probability`` that is next to nothing they read that.
    Columns of a later ``part`` stand on the page in a table of their own, behind the first column.
    """

    key: str
    name: str
    unit: str = ""
    decimals: int | None = None
    group: str = ""
    footnote: bool = False
    reason: bool = False
    shown: bool = True
    digits: int | None = None
    part: int = 0
    si: bool = False
    sd: str = ""
    scale: float = 1.0
    probability: bool = False


@dataclass(frozen=True)
class Paragraphs:
    """Paragraphs of plain words."""

    paragraphs: tuple[str, ...]


@dataclass(frozen=True)
class Code:
    """Lines of a file, to be copied as they are."""

    key: str
    text: str


Row = tuple[Cell, ...]
T = TypeVar("T")
Columns = Mapping[Column | tuple[Column, ...], Callable[[T], Cell | Iterable[Cell]]]
"""Columns of a table, each beside what it reads of an item; several together beside their cells."""
PIECE = 4096
"""Rows that are made at once."""


@dataclass(frozen=True, eq=False)
class Rows(Sequence[Row]):
    """``size`` rows that are made when they are asked for, by pieces: those of a long table need not be held.

    ``lines`` may give some rows as lines of CSV at once, None where a cell of them is not a plain number.
    """

    size: int
    make: Callable[[slice], Sequence[Row]]
    lines: Callable[[slice], str | None] = lambda part: None

    def __len__(self) -> int:
        return self.size

    @overload
    def __getitem__(self, which: int) -> Row: ...

    @overload
    def __getitem__(self, which: slice) -> tuple[Row, ...]: ...

    def __getitem__(self, which: int | slice) -> Row | tuple[Row, ...]:
        at = range(self.size)[which]
        if isinstance(at, int):
            return self.make(slice(at, at + 1))[0]
        return tuple(self.make(slice(at.start, at.stop))) if at.step == 1 else tuple(self[i] for i in at)

    def __iter__(self) -> Iterator[Row]:
        for part in self.pieces():
            yield from self.make(part)

    def pieces(self) -> Iterator[slice]:
        return (slice(first, min(first + PIECE, self.size)) for first in range(0, self.size, PIECE))


@dataclass(frozen=True)
class Table:
    key: str
    title: str
    columns: tuple[Column, ...]
    rows: Sequence[Row]
    notes: tuple[str, ...] = ()

    @staticmethod
    def of(key: str, items: Iterable[T], columns: Columns[T], *notes: str, title: str = "") -> Table:
        """One row for each of ``items``.  Numbers of arrays may be given as they are."""
        names = [c if isinstance(c, tuple) else (c,) for c in columns]

        def cells(item: T) -> Iterator[Cell]:
            for column, read in columns.items():
                value: Any = read(item)
                yield from map(_plain, value) if isinstance(column, tuple) else (_plain(value),)

        return Table(key, title, tuple(c for some in names for c in some), tuple(tuple(cells(i)) for i in items), notes)


def floats(values: Iterable[float]) -> tuple[float, ...]:
    """Numbers of an array as a figure takes them."""
    return tuple(float(v) for v in values)


def _plain(value: Any) -> Cell:
    return value.item() if hasattr(value, "item") else value  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Axis:
    """Label, unit and grid of one direction of a map; with ``labels`` the places have names in place of numbers."""

    name: str
    unit: str
    values: tuple[float, ...]
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Heatmap:
    """``values[row][column]`` belongs to ``y.values[row]`` and ``x.values[column]``; nan where nothing is known.

    ``downwards`` draws y from above, as rows of a matrix are written; ``signed`` values are drawn from -1 to 1;
    ``equal`` gives both axes one scale, and ``drawn`` are curves on top: a robot, a floor, a program.
    """

    key: str
    title: str
    x: Axis
    y: Axis
    name: str
    unit: str
    values: tuple[tuple[float, ...], ...]
    notes: tuple[str, ...] = ()
    downwards: bool = False
    signed: bool = False
    equal: bool = False
    drawn: tuple[Series, ...] = ()


@dataclass(frozen=True)
class Series:
    """A curve or, with ``points``, separate marks; ``spread`` is half the length of each mark's error bar.

    ``role`` is what it stands for, drawn alike in every figure; ``words`` say what each mark is where a reader points
    at it.  With ``low`` the area between ``low`` and ``y`` is filled.
    """

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    points: bool = False
    spread: tuple[float, ...] = ()
    role: Role = ""
    words: tuple[str, ...] = ()
    low: tuple[float, ...] = ()


@dataclass(frozen=True)
class Lines:
    """Curves over one axis, interrupted where y is nan.

    ``polar`` draws x as an angle in degrees and y as the distance from the centre; ``equal`` draws both axes to one
    scale, for pictures of things.
    """

    key: str
    title: str
    x_name: str
    x_unit: str
    y_name: str
    y_unit: str
    series: tuple[Series, ...]
    notes: tuple[str, ...] = ()
    polar: bool = False
    equal: bool = False
    log: bool = False


@dataclass(frozen=True)
class Bars:
    """Lying bars of parts one after the other: ``values[row][part]``, all in ``unit``."""

    key: str
    title: str
    rows: tuple[str, ...]
    parts: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]
    name: str
    unit: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Interval:
    """An estimate with half of its 95 % interval, beside the value of the file."""

    name: str
    value: float
    half: float
    file: float
    words: str = ""


@dataclass(frozen=True)
class Forest:
    """Estimates of one unit below each other, each with its interval and the value that the file gives."""

    key: str
    title: str
    unit: str
    rows: tuple[Interval, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Scene:
    """A picture in three dimensions that a reader can turn, to one scale; ``unit`` is that of all coordinates.

    Parts with a ``view`` are shown only while the reader has chosen it, the first view at the start; the others always.
    """

    key: str
    title: str
    unit: str
    parts: tuple[Part, ...]
    notes: tuple[str, ...] = ()

    @property
    def views(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(p.view for p in self.parts if p.view))

    @cached_property
    def box(self) -> list[tuple[float, float]]:
        """Lowest and highest x, y and z of the axes."""
        return box(self.parts)


def titled(name: str, unit: str) -> str:
    """``force [N]``"""
    return f"{name} [{unit}]" if unit else name


def loud(sentence: str) -> bool:
    """Warnings begin with two words in capitals."""
    first = [w.strip(":;,.") for w in sentence.split()[:2]]
    return len(first) == 2 and all(len(w) > 1 and w.isupper() and w.replace("-", "").isalpha() for w in first)


Figure = Heatmap | Lines | Bars | Forest | Scene
Block = Paragraphs | Code | Table | Figure


@dataclass(frozen=True)
class Section:
    """``folded`` shows its title until a reader opens it; sections of one ``step`` stand together behind one tab."""

    title: str
    blocks: tuple[Block, ...]
    folded: bool = False
    step: str = ""


State = Literal["", "good", "bad", "open"]


@dataclass(frozen=True)
class Tile:
    """One number that matters, and how it is meant."""

    name: str
    value: str
    unit: str = ""
    note: str = ""
    role: Role = ""
    state: State = ""


@dataclass(frozen=True)
class Fact:
    """One thing that a result rests on: ``value`` under ``key`` for programs, ``words`` under ``name`` for people.

    Without ``words`` people read the value.  Without a ``name`` it is for programs only, because another fact tells
    people.
    """

    key: str
    name: str
    value: str | int | float | tuple[str, ...] | Mapping[str, str] | None
    words: str = ""

    def __post_init__(self) -> None:
        if self.name and not self.words and self.value is not None:
            words = ", ".join(self.value) if isinstance(self.value, tuple) else str(self.value)
            object.__setattr__(self, "words", words)


@dataclass(frozen=True)
class Report:
    """``verdict`` is what a reader must know if he reads nothing else; ``notes`` are assumptions and warnings.

    Of ``sections`` those without blocks are left out.  ``inputs`` say what was computed, so that the answer can be had
    again.  ``tiles`` are its summary, ``certificate`` its first page, ``hint`` one line on what the reader could have
    besides; ``data`` are further entries of its JSON.
    """

    title: str
    verdict: tuple[str, ...]
    sections: Sequence[Section]
    notes: tuple[str, ...] = ()
    inputs: tuple[Fact, ...] = ()
    data: Mapping[str, Any] = field(default_factory=dict)
    tiles: tuple[Tile, ...] = ()
    certificate: Certificate | None = None
    hint: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "sections", tuple(s for s in self.sections if s.blocks))
