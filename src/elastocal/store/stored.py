"""Documents as they are stored, read as far as they are asked for.

Of a thousand calibrations a page lists fifty and charts the parameters of all.  So an entry begins with the columns of
its row and the text of its document.  File, parameters, points and words of a calibration are cut from the text; all
else is read when it is first asked for.  Keys of a document are in order and quotes within its texts are escaped:
nothing but a key looks like one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Any

from pydantic_core import from_json

from elastocal.store.entry import Calibrated, Entry, Parameters, Point, entry_of, numbers

PARTS = ("calibration", "check", "release")


class _Document:
    """``text`` of the entry that is called ``where``; as an ``entry`` with the first question that needs all of it."""

    def __init__(self, text: str, where: str) -> None:
        self.text, self.where = text, where

    @cached_property
    def entry(self) -> Entry:
        return entry_of(self.text, self.where)


class StoredEntry(Entry):
    """What is not known yet is read by the name that is asked for."""

    def __getattr__(self, name: str) -> Any:
        known = self.__dict__
        if "document" not in known or name.startswith("_"):
            raise AttributeError(name)
        if name in PARTS and name != known["kind"]:
            return None
        own: _Document = known["document"]
        whole = name != "calibration"
        known[name] = getattr(own.entry, name) if whole else _begun(StoredCalibration, {"document": own})
        return known[name]


class StoredCalibration(Calibrated):
    """The same for the calibration of an entry."""

    def __getattr__(self, name: str) -> Any:
        known = self.__dict__
        if "document" not in known or name.startswith("_"):
            raise AttributeError(name)
        own: _Document = known["document"]
        known[name] = _CUT[name](own.text) if name in _CUT else getattr(own.entry.calibration, name)
        return known[name]


def stored_entry(text: str, where: str, **columns: Any) -> Entry:
    """Of a document whose SHA-256 is right; ``columns`` are robot, number, kind, time and supersedes."""
    made: Entry = _begun(StoredEntry, {**columns, "document": _Document(text, where)})
    return made


def _begun(kind: type, known: dict[str, Any]) -> Any:
    made: Any = object.__new__(kind)
    made.__dict__.update(known)
    return made


def _file(text: str) -> str:
    return text.partition('"file":"')[2].partition('"')[0]


def _parameters(text: str) -> Parameters:
    """Names and units are the same in most calibrations of a robot."""
    names, _, rest = text.partition('"parameters":{"names":')[2].partition(',"sd":')
    sd, _, rest = rest.partition(',"units":')
    units, _, rest = rest.partition(',"values":')
    values = rest.partition('},"points":')[0]
    return Parameters(_words(names), _words(units), _floats(values), _floats(sd))


def _floats(text: str) -> tuple[float, ...]:
    return numbers(from_json(text)) if "null" in text else tuple(from_json(text))


def _points(text: str) -> tuple[Point, ...]:
    return tuple(from_json(text.partition('},"points":')[2].partition(',"sd":')[0]))


def _model(text: str) -> tuple[str, ...]:
    return _words(text.rpartition('"words":')[2].partition('},"check":')[0])


@lru_cache(maxsize=64)
def _words(text: str) -> tuple[str, ...]:
    return tuple(from_json(text))


_CUT: dict[str, Callable[[str], object]] = {
    "file": _file, "parameters": _parameters, "points": _points, "words": _model,
}  # fmt: skip
