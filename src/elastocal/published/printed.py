"""What a document prints: the file of data of a case, and figures that set recomputed numbers beside the printed ones.

A file ``data/CASE.yaml`` has the case's ``title`` and ``source``, ``tables`` of the document that go into the
computation, and its ``figures`` by name:

    s11: {published: 124.92, unit: "1", place: eq. (9), why: rule, last_digit: 0.01, note: "both tables; +- {sd:.2g}"}

``published`` is missing where nothing is printed.  ``why`` is a reason (``figure.Why``) for which a recomputed number
may differ, and ``note`` says more; the computation fills its {places}.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from elastocal.errors import UnknownNameError
from elastocal.files.located import read_yaml
from elastocal.published.figure import Figure, Why

DATA = Path(__file__).parent / "data"


@cache
def _data(case: str) -> dict[str, Any]:
    out: dict[str, Any] = read_yaml(DATA / f"{case}.yaml", "printed numbers start with 'title: ...'").data
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
    rows = ((document, entry) for document, entries in _data("documents").items() for entry in entries)
    return tuple(Item(document, e["item"], e.get("case", ""), e["done"]) for document, e in rows)


@dataclass(frozen=True)
class Printed:
    """The data of a case, read when they are first asked for."""

    case: str

    @property
    def data(self) -> dict[str, Any]:
        return _data(self.case)

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

    def figures(self, recomputed: Mapping[str, float | None]) -> tuple[Figure, ...]:
        """Those whose notes have nothing to fill."""
        return tuple(self.figure(name, value) for name, value in recomputed.items())

    def _entry(self, name: str) -> dict[str, Any]:
        figures: dict[str, dict[str, Any]] = self.data["figures"]
        if name not in figures:
            raise UnknownNameError("figure", name, figures, f"{self.case}.yaml")
        return figures[name]
