"""YAML with a memory of where everything stood, so that an error can name file and line.

Every file says what it is by one word: ``format: elastocal-robot/1``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from elastocal.errors import ConflictError, DuplicateError, FormatError, InputError, MissingError, UnknownNameError
from elastocal.files.opened import read_bytes
from elastocal.files.plain_data import CONTROL, parse_json, spelled, yaml_data
from elastocal.files.plain_data import Path_ as Path_
from elastocal.values import dataclass

_START = "a robot file starts with 'format: elastocal-robot/1'"
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
"""Marks at the start of a file."""


@dataclass(frozen=True)
class Located:
    """Plain data and the line of every key and item."""

    file: str
    data: Any
    lines: Mapping[Path_, int]

    def where(self, path: Path_) -> str:
        """``file, line 12, joints[2].axis`` for the innermost part of the path that the file holds."""
        line = f", line {self.line(path)}" if path and self.lines else ""
        return f"{self.file}{line}{', ' + spelled(self._written(path)[0]) if path else ''}"

    def line(self, path: Path_) -> int:
        """Line of the innermost part of the path that the file holds."""
        path = self._written(path)[0]
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)

    def error(
        self, path: Path_, problem: str, kind: type[InputError] | InputError = InputError, **data: Any
    ) -> InputError:
        """A mistake at this place about what is written there; ``kind`` is its class, or an error that says as much."""
        message, place = f"{self.where(path)}: {problem}", self.place(path)
        if isinstance(kind, type):
            return kind(message, **{"value": self._written(path)[1] if path else None, **place, **data})
        return kind.reworded(message, **place)

    @contextmanager
    def at(self, path: Path_) -> Iterator[None]:
        """Errors of what is made of the value at this place name it."""
        try:
            yield
        except InputError as error:
            raise self.error(path, str(error), error) from None

    def unknown(self, path: Path_, what: str, name: str, valid: Iterable[str]) -> UnknownNameError:
        """A name at this place that does not exist."""
        return UnknownNameError(what, name, valid, self.where(path), **self.place(path))

    def place(self, path: Path_) -> dict[str, Any]:
        """Where it is, as data of an error."""
        line = self.line(path) if path and self.lines else None
        return {"file": self.file, "line": line, "column": spelled(self._written(path)[0]) or None}

    def _written(self, path: Path_) -> tuple[Path_, Any]:
        """The path as the file spells it (``noise`` may stand there as ``noise_um``), and what is written there."""
        value, keys = self.data, []
        for key in path:
            if isinstance(value, dict) and key not in value:
                longer = [k for k in value if str(k).startswith(f"{key}_")]
                key = longer[0] if len(longer) == 1 else key
            keys.append(key)
            there = isinstance(value, list) and isinstance(key, int) and key < len(value)
            value = value[key] if there else value.get(key) if isinstance(value, dict) else None
        return tuple(keys), value


def check_tree(located: Located, entries: Sequence[tuple[Path_, str, str]], root: str) -> None:
    """Entries (place, name, parent) have names of their own and stand after their parents."""
    known: dict[str, Path_] = {root: ()}
    names = [name for _, name, _ in entries]
    for path, name, parent in entries:
        if name in known:
            first = f"line {located.line(known[name])}" if known[name] else "the fixed end of the robot"
            raise located.error(
                (*path, "name"), f"{name!r} is the name of {first} already; choose another", DuplicateError
            )
        if parent not in known:
            where = (*path, "parent")
            if parent not in names:
                raise located.unknown(where, "frame", parent, known)
            raise located.error(
                where, f"{parent!r} comes later or closes a loop; write parents before children", ConflictError
            )
        known[name] = path


def check_once(located: Located, given: Iterable[tuple[Path_, str]]) -> None:
    """Nothing is given by two entries."""
    seen: dict[str, Path_] = {}
    for path, what in given:
        first = seen.setdefault(what, path)
        if first != path:
            line = located.line(first)
            raise located.error(path, f"gives {what} again (first in line {line}); keep one of the two", DuplicateError)


def read_text(path: Path, encoding: str | None = None) -> str:
    """A file's text in the ``encoding`` stated; without one UTF-16 where its mark says so, else UTF-8: no guess."""
    raw = read_bytes(path)
    marked = "utf-16" if raw[:2] in UTF_16 else None
    if b"\0" in raw and not (encoding or marked):
        raise FormatError(
            f"{path}: is not a text file; give one that was saved as plain text in UTF-8",
            code="not-text",
            file=str(path),
        )
    name = encoding or marked or "utf-8"
    try:
        return _without_control(raw.decode(name).removeprefix("\ufeff").removesuffix("\x1a"), path)
    except LookupError:
        raise FormatError(
            f"{path}: encoding {name!r} is not known; write one such as cp1252 or utf-16", file=str(path), value=name
        ) from None
    except UnicodeDecodeError as error:
        line, said = raw[: error.start].count(b"\n") + 1, name.upper()
        raise FormatError(
            f"{path}, line {line}: byte 0x{raw[error.start]:02x} is not {said} text; save the file as UTF-8",
            code="encoding", file=str(path), line=line, value=raw[error.start], allowed=(name,),
        ) from None  # fmt: skip


def _without_control(text: str, path: Path) -> str:
    if (match := CONTROL.search(text)) is None:
        return text
    line = text.count("\n", 0, match.start()) + 1
    message = f"{path}, line {line}: is not a text file (it holds the character {match[0]!r}); save it as plain text"
    raise FormatError(message, code="control", file=str(path), line=line, value=match[0])


def read_yaml(path: Path, start: str = _START) -> Located:
    return parse_yaml(read_text(path), path.as_posix(), start)


def parse_yaml(text: str, file: str, start: str = _START) -> Located:
    """Data and lines of a YAML text; ``start`` tells whoever gives an empty one what belongs there."""
    try:
        read = yaml_data(text, file)
    except yaml.YAMLError as error:
        if isinstance(error, yaml.reader.ReaderError):
            message = f"{file}: is not a text file (it holds the character {error.character!r})"
            raise FormatError(message, code="control", file=file, value=error.character) from None
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else None
        problem = getattr(error, "problem", None) or str(error)
        where = f"{file}, line {line}" if mark else file
        message = f"{where}: not valid YAML ({problem}); check indentation, colons and quotes"
        raise InputError(message, code="yaml", file=file, line=line) from None
    if read is None:
        raise MissingError(f"{file}: is empty; {start}", code="empty", file=file)
    return Located(file, *read)


KINDS = {
    "robot": "a robot file",
    "campaign": "a campaign file",
    "plan": "a plan file",
    "cell": "the file of a cell, which is named by its folder",
    "table": "a file that names a table",
    "calibration": "a calibration file",
    "record": "the record of a run",
    "result": "an answer as JSON",
    "compliance": "a file of compliances beside a URDF",
}
"""What files are, by the word between ``elastocal-`` and ``/``."""
_WORD = re.compile(r"elastocal-(?P<kind>[a-z]+)/\d+")
_LINE = re.compile(r"^format:\s*(?P<word>\S+)", re.MULTILINE)


def check_format(located: Located, wanted: str, what: str) -> None:
    """The file says which format it has; ``what`` is such as "a robot file"."""
    data = located.data
    if not isinstance(data, dict) or "format" not in data:
        problem = f"the line 'format: {wanted}' is missing; {what} starts with it"
        raise located.error((), problem, MissingError, value="format", allowed=(wanted,))
    if data["format"] == wanted:
        return
    match, needed = _WORD.fullmatch(str(data["format"])), _WORD.fullmatch(wanted)
    if match is None or needed is None or match["kind"] not in KINDS:
        problem = f"{data['format']!r} is not known; write 'format: {wanted}'"
        raise located.error(("format",), problem, FormatError, allowed=(wanted,))
    if match["kind"] == needed["kind"]:
        problem = f"{match[0]} is of another version; {what} of {wanted} is needed"
        raise located.error(("format",), problem, FormatError, allowed=(wanted,))
    problem = f"this is {KINDS[match['kind']]} ({match[0]}); {what} is needed"
    raise located.error((), problem, FormatError, value=match[0], allowed=(wanted,))


def read_formatted(path: Path, wanted: str, what: str) -> Located:
    """A YAML file of the format ``wanted``."""
    located = read_yaml(path, f"{what} starts with 'format: {wanted}'")
    check_format(located, wanted, what)
    return located


def read_json(path: Path, wanted: str, what: str) -> Located:
    """A JSON file of the format ``wanted``; one that is no JSON at all may still say what it is."""
    file, text = path.as_posix(), read_text(path)
    try:
        located = Located(file, parse_json(text, file), {})
    except InputError:
        if (match := _LINE.search(text)) is not None:
            check_format(Located(file, {"format": match["word"]}, {}), wanted, what)
        raise
    check_format(located, wanted, what)
    return located
