"""One thing that happened to a robot, as one JSON document of one schema.

Documents are never changed.  Each bears the SHA-256 of the one before it of the same robot, so that a document that was
changed, taken out or slipped in is noticed; what is wrong is superseded by a later one that says so.

As they are stored, documents are read as far as they are asked for: of a thousand calibrations a page lists fifty and
charts the parameters of all.  So a stored entry begins with the columns of its row and the text of its document.  File,
parameters, points and words of a calibration are cut from the text; all else is read when it is first asked for.  Keys
of a document are in order and quotes within its texts are escaped: nothing but a key looks like one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import field
from functools import cached_property, lru_cache
from typing import Any, Literal

from pydantic_core import from_json

from elastocal.errors import FormatError, InputError
from elastocal.files.typed import schema_text, value_of
from elastocal.results import Finding, finite
from elastocal.solve.summary import ErrorSummary
from elastocal.values import dataclass

FORMAT = "elastocal-history/1"
Kind = Literal["calibration", "check", "release", "withdrawal"]
Point = tuple[float, float, float]


@dataclass(frozen=True)
class Parameters:
    """Estimates with their standard deviations, SI."""

    names: tuple[str, ...]
    units: tuple[str, ...]
    values: tuple[float, ...]
    sd: tuple[float, ...]


@dataclass(frozen=True)
class Calibrated:
    """What a calibration says in short; the whole is the content ``file``.

    ``points`` is the tool in base axes at the check poses of the robot, ``sd`` the standard deviation of such a point
    once shifts and turns of the whole are taken out.
    """

    file: str
    words: tuple[str, ...]
    leave_one_out: ErrorSummary
    before: ErrorSummary
    outliers: int
    parameters: Parameters
    points: tuple[Point, ...]
    sd: float


@dataclass(frozen=True)
class Checked:
    """Readings at fixed poses against calibration ``of``; ``states`` is the SHA-256 of joint values and loads."""

    of: int
    states: str
    after: ErrorSummary
    before: ErrorSummary
    coverage: float
    refitted: bool
    poses: tuple[str, ...]
    errors: tuple[float, ...]


@dataclass(frozen=True)
class Released:
    """Calibration number ``of`` is the one to use, under a name; ``due`` is the day when it must be renewed.

    With ``baseline`` charts of drift begin anew: the robot was repaired, or set up anew.
    """

    of: int
    name: str
    due: str | None
    baseline: bool


@dataclass(frozen=True, kw_only=True, eq=False)
class Entry:
    """``number`` counts within the robot; ``time`` is when it happened, ``recorded`` when it was written down (UTC).

    ``inputs`` are SHA-256 of the files it rests on, by name; ``findings`` is what the history said with it.
    """

    format: str = FORMAT
    robot: str
    number: int
    previous: str | None
    kind: Kind
    time: str
    recorded: str
    who: str | None
    reason: str | None
    supersedes: int | None
    temperature: float | None
    inputs: dict[str, str]
    versions: dict[str, str]
    notes: tuple[str, ...] = field(default_factory=tuple)  # by factories: a class attribute would hide what a stored
    findings: tuple[Finding, ...] = field(default_factory=tuple)  # entry has not read yet
    calibration: Calibrated | None = field(default_factory=lambda: None)
    check: Checked | None = field(default_factory=lambda: None)
    release: Released | None = field(default_factory=lambda: None)

    @property
    def error(self) -> ErrorSummary | None:
        """Leave-one-out of a calibration, or that on check poses."""
        return self.calibration.leave_one_out if self.calibration else self.check.after if self.check else None

    @property
    def alarms(self) -> tuple[Finding, ...]:
        return tuple(f for f in self.findings if f.severity == "warning")


def document(entry: Entry) -> str:
    """The text that is stored, and that its SHA-256 is of."""
    return json.dumps(finite(entry), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def sha256(content: str | bytes) -> str:
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()


def entry_of(text: str, where: str) -> Entry:
    """Of a document as it was stored."""
    try:
        data = from_json(text)
        if data["format"] != FORMAT:
            raise FormatError(f"{where}: format {data['format']!r}, not {FORMAT!r}; update Elastocal")
        made: Entry = value_of(Entry, data)
        return made
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{where}: the entry is damaged ({error!r}); restore the database", code="damaged") from None


def entry_schema() -> str:
    """JSON schema of a document as text (draft 2020-12)."""
    return schema_text(Entry, FORMAT)


PARTS = ("calibration", "check", "release")


class _Document:
    """``text`` of the entry that is called ``where``; as an ``entry`` with the first question that needs all of it."""

    def __init__(self, text: str, where: str) -> None:
        self.text, self.where = text, where

    @cached_property
    def entry(self) -> Entry:
        return entry_of(self.text, self.where)


class _Stored:
    """What is not known yet is read by the name that is asked for."""

    def __getattr__(self, name: str) -> Any:
        known = self.__dict__
        if "document" not in known or name.startswith("_"):
            raise AttributeError(name)
        known[name] = self._read(known["document"], name)
        return known[name]

    def _read(self, own: _Document, name: str) -> Any:
        raise NotImplementedError


class StoredEntry(_Stored, Entry):
    def _read(self, own: _Document, name: str) -> Any:
        if name in PARTS and name != self.kind:
            return None
        return getattr(own.entry, name) if name != "calibration" else _begun(StoredCalibration, {"document": own})


class StoredCalibration(_Stored, Calibrated):
    def _read(self, own: _Document, name: str) -> Any:
        return _CUT[name](own.text) if name in _CUT else getattr(own.entry.calibration, name)


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
    made: tuple[float, ...] = value_of(tuple[float, ...], from_json(text))
    return made


def _points(text: str) -> tuple[Point, ...]:
    return tuple(map(tuple, from_json(text.partition('},"points":')[2].partition(',"sd":')[0])))


def _model(text: str) -> tuple[str, ...]:
    return _words(text.rpartition('"words":')[2].partition('},"check":')[0])


@lru_cache(maxsize=64)
def _words(text: str) -> tuple[str, ...]:
    return tuple(from_json(text))


_CUT: dict[str, Callable[[str], object]] = {
    "file": _file, "parameters": _parameters, "points": _points, "words": _model,
}  # fmt: skip
