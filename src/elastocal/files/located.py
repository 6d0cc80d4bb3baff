"""YAML with a memory of where everything stood, so that an error can name file and line.

Every file says what it is by one word: ``format: elastocal-robot/1``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import yaml

from elastocal.errors import InputError, UnknownNameError
from elastocal.files.opened import read_bytes

_NULL = "tag:yaml.org,2002:null"
_BASE: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The loader of libyaml where PyYAML was built with it, many times faster: the same data and lines."""
_START = "a robot file starts with 'format: elastocal-robot/1'"
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
"""Marks at the start of a file."""
DEEPEST = 100
"""Levels of a YAML file."""
Key = str | int
Path_ = tuple[Key, ...]


@dataclass(frozen=True)
class Located:
    """Plain data and the line of every key and item."""

    file: str
    data: Any
    lines: dict[Path_, int]

    def where(self, path: Path_) -> str:
        """``file, line 12, joints[2].axis`` for the innermost part of the path that the file holds."""
        line = f", line {self.line(path)}" if path and self.lines else ""
        return f"{self.file}{line}{', ' + spelled(path) if path else ''}"

    def line(self, path: Path_) -> int:
        """Line of the innermost part of the path that the file holds."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)

    def error(self, path: Path_, problem: str) -> InputError:
        return InputError(f"{self.where(path)}: {problem}", **self.place(path))

    def place(self, path: Path_) -> dict[str, Any]:
        """The same as data of an error."""
        line = self.line(path) if path and self.lines else None
        return {"file": self.file, "line": line, "column": spelled(path) or None}


def check_tree(located: Located, entries: Sequence[tuple[Path_, str, str]], root: str) -> None:
    """Entries (place, name, parent) have names of their own and stand after their parents."""
    known: dict[str, Path_] = {root: ()}
    names = [name for _, name, _ in entries]
    for path, name, parent in entries:
        if name in known:
            first = f"line {located.line(known[name])}" if known[name] else "the fixed end of the robot"
            raise located.error((*path, "name"), f"{name!r} is the name of {first} already; choose another")
        if parent not in known:
            where = (*path, "parent")
            if parent not in names:
                raise UnknownNameError("frame", parent, known, located.where(where))
            raise located.error(where, f"{parent!r} comes later or closes a loop; write parents before children")
        known[name] = path


def check_once(located: Located, given: Iterable[tuple[Path_, str]]) -> None:
    """Nothing is given by two entries."""
    seen: dict[str, Path_] = {}
    for path, what in given:
        first = seen.setdefault(what, path)
        if first != path:
            line = located.line(first)
            raise located.error(path, f"gives {what} again (first in line {line}); keep one of the two")


def spelled(path: Path_) -> str:
    out = ""
    for key in path:
        out += f"[{key + 1}]" if isinstance(key, int) else f"{'.' if out else ''}{key}"
    return out


def read_text(path: Path, encoding: str | None = None) -> str:
    """A file's text in the ``encoding`` stated; without one UTF-16 where its mark says so, else UTF-8: no guess."""
    raw = read_bytes(path)
    marked = "utf-16" if raw[:2] in UTF_16 else None
    if b"\0" in raw and not (encoding or marked):
        raise InputError(f"{path}: is not a text file; give one that was saved as plain text in UTF-8")
    name = encoding or marked or "utf-8"
    try:
        return raw.decode(name).removeprefix("\ufeff")
    except LookupError:
        raise InputError(f"{path}: encoding {name!r} is not known; write one such as cp1252 or utf-16") from None
    except UnicodeDecodeError as error:
        line, said = raw[: error.start].count(b"\n") + 1, name.upper()
        raise InputError(
            f"{path}, line {line}: byte 0x{raw[error.start]:02x} is not {said} text; save the file as UTF-8",
            code="encoding",
            file=str(path),
            line=line,
        ) from None


def read_yaml(path: Path, start: str = _START) -> Located:
    return parse_yaml(read_text(path), path.as_posix(), start)


def parse_yaml(text: str, file: str, start: str = _START) -> Located:
    """Data and lines of a YAML text; ``start`` tells whoever gives an empty one what belongs there."""
    lines: dict[Path_, int] = {}
    try:
        _check_depth(text, file)
        loader = _Loader(text)
        node = loader.get_single_node()
        if node is None:
            raise InputError(f"{file}: is empty; {start}")
        _mark(node, (), lines, file)
        data = loader.construct_document(node)
    except yaml.YAMLError as error:
        if isinstance(error, yaml.reader.ReaderError):
            raise InputError(f"{file}: is not a text file (it holds the character {error.character!r})") from None
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else None
        problem = getattr(error, "problem", None) or str(error)
        where = f"{file}, line {line}" if mark else file
        said = f"{where}: not valid YAML ({problem}); check indentation, colons and quotes"
        raise InputError(said, code="yaml", file=file, line=line) from None
    except RecursionError:
        raise _too_deep(file) from None
    return Located(file, data, lines)


def _check_depth(text: str, file: str) -> None:
    """Refuse what would overflow the stack, which libyaml does not guard; a pass over the events takes no time."""
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > DEEPEST:
                raise _too_deep(file)
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _too_deep(file: str) -> InputError:
    return InputError(f"{file}: is nested too deeply, or an alias refers to itself; write it out plainly")


def parse_json(text: str, file: str) -> Any:
    """Data of a JSON text that a program has written."""

    def refuse(word: str) -> NoReturn:
        raise InputError(f"{file}: holds {word}, which is no number; make the file again")

    try:
        return json.loads(text, parse_constant=refuse)
    except json.JSONDecodeError as error:
        raise InputError(f"{file}, line {error.lineno}: not valid JSON ({error.msg}); make the file again") from None
    except RecursionError:
        raise InputError(f"{file}: is nested too deeply; make the file again") from None


class _Loader(_BASE):  # type: ignore[misc]
    """Numbers as people write them: 010 is ten, 1e-6 needs no dot, 1:30 and dates are text."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in found if tag.rpartition(":")[2] not in ("int", "float", "timestamp")]
    for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(r"^[-+]?(0|[1-9][0-9]*)$"), list("-+0123456789"))
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^([-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$"),
    list("-+0123456789."),
)


def _mark(node: yaml.Node, path: Path_, lines: dict[Path_, int], file: str) -> None:
    lines.setdefault(path, node.start_mark.line + 1)
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        before: tuple[str, yaml.Node] | None = None
        for key, value in node.value:
            name = str(key.value)
            if before is not None and value.tag == _NULL and name.isdecimal():
                _refuse_comma(f"{file}, line {key.start_mark.line + 1}, {spelled((*path, before[0]))}", before[1], name)
            before = name, value
            if name in seen:
                raise InputError(f"{file}, line {key.start_mark.line + 1}: key {name!r} stands twice; keep one")
            seen.add(name)
            lines[(*path, name)] = key.start_mark.line + 1
            _mark(value, (*path, name), lines, file)
    elif isinstance(node, yaml.SequenceNode):
        for i, item in enumerate(node.value):
            _mark(item, (*path, i), lines, file)


def _refuse_comma(where: str, number: yaml.Node, decimals: str) -> None:
    """YAML reads {k: 33,5} as the key k with 33 and a key 5 with nothing."""
    if isinstance(number, yaml.ScalarNode) and re.fullmatch(r"[+-]?\d+", number.value):
        written = f"{number.value},{decimals}"
        raise InputError(f"{where}: {written} has a decimal comma; use a decimal point: {written.replace(',', '.')}")


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
        raise located.error((), f"the line 'format: {wanted}' is missing; {what} starts with it")
    if data["format"] == wanted:
        return
    said, needed = _WORD.fullmatch(str(data["format"])), _WORD.fullmatch(wanted)
    if said is None or needed is None or said["kind"] not in KINDS:
        raise located.error(("format",), f"{data['format']!r} is not known; write 'format: {wanted}'")
    if said["kind"] == needed["kind"]:
        raise located.error(("format",), f"{said[0]} is of another version; {what} of {wanted} is needed")
    raise located.error((), f"this is {KINDS[said['kind']]} ({said[0]}); {what} is needed")


def read_json(path: Path, wanted: str, what: str) -> Located:
    """A JSON file of the format ``wanted``; one that is no JSON at all may still say what it is."""
    file, text = path.as_posix(), read_text(path)
    try:
        located = Located(file, parse_json(text, file), {})
    except InputError:
        if (found := _LINE.search(text)) is not None:
            check_format(Located(file, {"format": found["word"]}, {}), wanted, what)
        raise
    check_format(located, wanted, what)
    return located
