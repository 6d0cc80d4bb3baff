"""Published cases: what a document prints, the same recomputed, and why they may differ.

A case is two files.  ``data/NAME.yaml`` has its ``title`` and ``source``, ``tables`` of the document that go into the
computation, and its ``figures`` by name:

    s11: {published: 124.92, unit: "1", place: eq. (9), why: rule, last_digit: 0.01, note: "both tables; +- {sd:.2g}"}

``published`` is missing where nothing is printed.  ``why`` is a reason (``Why``) for which a recomputed number
may differ, and ``note`` says more; the computation fills its {places}.  What is said of all of them is its ``verdict``,
with the {name} of a figure for the number recomputed and {printed[name]} for that printed; ``curves`` have the labels
of pictures.

The module of the same name (with _ for -) recomputes them: ``run(rng, progress)`` gives an ``Outcome``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from enum import StrEnum
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elastocal.arguments import checked
from elastocal.errors import UnknownNameError
from elastocal.files.located import read_yaml
from elastocal.report.blocks import Heatmap, Lines, Series, floats
from elastocal.results import as_frame, shortened
from elastocal.values import dataclass

if TYPE_CHECKING:
    import numpy as np


class Why(StrEnum):
    """Why a recomputed number is not the printed one; the note of the figure says more."""

    CONTRADICTION = "the document's own data contradict the printed number"
    RULE = "it is found here by another rule than the document's"
    DEFINITION = "the document counts or defines it otherwise"
    STOPPED = "the document's search stops before its end"
    PLAN = "the document's plan cannot tell these parameters apart"
    ONE_DRAW = "one random draw is printed, here many are taken"
    VIRTUAL = "the readings are not published: a virtual experiment stands for them"
    INPUTS = "inputs of the computation are not published"
    ROUNDING = "the digits printed of its inputs leave room for the printed number"
    OPEN = "the virtual experiment gives another size, and the cause is open"


NOT_PRINTED = (Why.ONE_DRAW, Why.VIRTUAL, Why.INPUTS, Why.OPEN)
"""Reasons that leave nothing to recompute from print alone: only sizes can be compared."""


class Kind(StrEnum):
    """What a comparison with a printed number can prove."""

    FROM_PRINT = "recomputed from printed data"
    SIZE = "only the size compares"
    PUT_IN = "put in, comes back"


@dataclass(frozen=True)
class Figure:
    """One number: as printed (None where nothing is printed), as recomputed, and why they may differ.

    ``place`` is where it is printed.  Without ``why`` both must agree to the last printed digit; ``last_digit`` is the
    unit of that digit where Python's shortest form of the number hides it (0.70, 0).  ``at_least`` marks a bound.
    ``put_in`` is the number that the readings were made of: that it comes back says nothing about the document.
    """

    name: str
    published: float | None
    recomputed: float | None
    unit: str
    note: str = ""
    place: str = ""
    why: Why | None = None
    last_digit: float | None = None
    at_least: bool = False
    put_in: float | None = None

    @property
    def kind(self) -> Kind:
        if self.put_in is not None:
            return Kind.PUT_IN
        return Kind.SIZE if self.why in NOT_PRINTED else Kind.FROM_PRINT

    @property
    def agrees(self) -> bool:
        """Whether a number recomputed from printed data is the printed one: digits that coincide otherwise are none."""
        return self.kind is Kind.FROM_PRINT and self.matches

    @property
    def matches(self) -> bool:
        """Whether the recomputed number, rounded like the printed one, is the printed one, or keeps its bound."""
        if self.published is None or self.recomputed is None:
            return False
        if self.at_least:
            return self.recomputed >= self.published
        digit = self.last_digit or 10.0 ** int(Decimal(repr(self.published)).as_tuple().exponent)
        return abs(self.recomputed - self.published) <= digit * (0.5 + 1e-6)

    @property
    def difference(self) -> float | None:
        """Relative to the printed number; None where that is zero or one of them is missing."""
        if not self.published or self.recomputed is None:
            return None
        return (self.recomputed - self.published) / abs(self.published)

    @property
    def unexplained(self) -> bool:
        """Printed, not reproduced, and nothing said about it; no reason explains a bound that is not kept."""
        return self.published is not None and not self.matches and (self.at_least or not (self.why and self.note))


DOCUMENTS = "documents"
"""File of the items of all documents, beside those of the cases."""


def _folders() -> list[Path]:
    from elastocal import published

    return [Path(folder) / "data" for folder in published.__path__]


@cache
def _data(case: str) -> dict[str, Any]:
    path = next(path for folder in _folders() if (path := folder / f"{case}.yaml").is_file())
    out: dict[str, Any] = read_yaml(path, "printed numbers start with 'title: ...'").data
    return out


@dataclass(frozen=True)
class Item:
    """Something that a document prints as a result; ``case`` is empty where nothing can be recomputed.

    ``done`` is what is done with it, or why nothing is.
    """

    document: str
    item: str
    case: str
    done: str


@cache
def printed_items() -> tuple[Item, ...]:
    """Of all documents, in their order (``data/documents.yaml``)."""
    rows = ((document, entry) for document, entries in _data(DOCUMENTS).items() for entry in entries)
    return tuple(Item(document, e["item"], e.get("case", ""), e["done"]) for document, e in rows)


Row = dict[str, str | int | float]
"""Cells by column."""


@dataclass(frozen=True)
class Listing:
    """A result that is a list: ``rows`` by column, all with the same columns."""

    name: str
    rows: tuple[Row, ...]
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


def curve(name: str, x: Iterable[float], y: Iterable[float], *, points: bool = False) -> Series:
    """Of arrays."""
    return Series(name, floats(x), floats(y), points)


Progress = Callable[[int, int], None]


def unwatched(done: int, total: int) -> None:
    """Nobody looks on."""


@dataclass(frozen=True)
class Case:
    """A published computation: ``data/NAME.yaml`` has what is printed of it, the module of that name recomputes it."""

    name: str

    @property
    def data(self) -> dict[str, Any]:
        return _data(self.name)

    @property
    def title(self) -> str:
        return str(self.data["title"])

    @property
    def source(self) -> str:
        return str(self.data["source"])

    def table(self, name: str) -> Any:
        """A table of the document, as the file has it."""
        return self.data["tables"][name]

    def value(self, name: str) -> float:
        """A number as printed."""
        return float(self._entry(name)["published"])

    def unit(self, name: str) -> str:
        return str(self._entry(name)["unit"])

    def figure(
        self, name: str, recomputed: float | None, *, why: Why | None = None, put_in: float | None = None, **words: Any
    ) -> Figure:
        """Both numbers; ``words`` fill the note, ``why`` is given where the computation decides it."""
        e = self._entry(name)
        note = str(e.get("note", ""))
        reason = why or (Why[str(e["why"]).upper()] if "why" in e else None)
        return Figure(
            name, e.get("published"), recomputed, self.unit(name), note.format(**words) if words else note,
            str(e.get("place", "")), reason, e.get("last_digit"), bool(e.get("at_least", False)),
            put_in if put_in is not None else e.get("put_in"),
        )  # fmt: skip

    def figures(self, recomputed: Mapping[str, float | None], **words: Any) -> tuple[Figure, ...]:
        """Several whose notes have nothing to fill, or the same."""
        return tuple(self.figure(name, value, **words) for name, value in recomputed.items())

    def text(self, name: str, **words: Any) -> str:
        """One of its sentences with the places filled."""
        return str(self.data[name]).format(**words)

    def lines(self, entry: str, series: Iterable[Series], key: str = "", **words: Any) -> Lines:
        """A picture with the labels of an entry of ``curves``; ``words`` fill its title and notes."""
        e = self.data["curves"][entry]
        notes = tuple(str(n).format(**words) for n in e.get("notes", ()))
        (x, x_unit), (y, y_unit) = e["x"], e["y"]
        title, equal = str(e["title"]).format(**words), bool(e.get("equal", False))
        return Lines(key or entry, title, x, x_unit, y, y_unit, tuple(series), notes, equal=equal)

    def outcome(
        self, figures: Sequence[Figure], curves: Sequence[Lines | Heatmap] = (), *listings: Listing, **words: Any
    ) -> Outcome:
        """With the verdict, whose places are figures, printed numbers and ``words``."""
        made = {f.name: float("nan") if f.recomputed is None else f.recomputed for f in figures}
        printed = {f.name: f.published for f in figures}
        verdict = self.text("verdict", printed=printed, **made | words)
        return Outcome(self.name, verdict, tuple(figures), tuple(curves), listings)

    def _entry(self, name: str) -> dict[str, Any]:
        figures: dict[str, dict[str, Any]] = self.data["figures"]
        if name not in figures:
            raise UnknownNameError("figure", name, figures, f"{self.name}.yaml")
        return figures[name]

    def run(self, rng: np.random.Generator, progress: Progress = unwatched) -> Outcome:
        """Recompute every figure from the case's inputs; ``rng`` is the only source of chance."""
        module = import_module(f"{__package__}.{self.name.replace('-', '_')}")
        outcome: Outcome = module.run(rng, progress)
        return outcome


def registry() -> dict[str, Case]:
    """Every case by its name; none of their modules is imported."""
    names = sorted(path.stem for folder in _folders() for path in folder.glob("*.yaml") if path.stem != DOCUMENTS)
    return {name: Case(name) for name in names}


SEED = 20130101


@checked()
def reproduce(name: str, seed: int = SEED, progress: Progress = unwatched) -> Outcome:
    """Recompute a published case, figure by figure; ``registry`` has the names."""
    import numpy as np

    return case_named(name).run(np.random.default_rng(seed), progress)


def case_named(name: str) -> Case:
    cases = registry()
    if name not in cases:
        raise UnknownNameError("case", name, cases)
    return cases[name]
