"""YAML with a memory of where everything stood, so that an error can name file and line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from elastocal.errors import InputError

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
        known = path
        while known and known not in self.lines:
            known = known[:-1]
        line = f", line {self.lines[known]}" if known in self.lines else ""
        return f"{self.file}{line}{', ' + spelled(path) if path else ''}"

    def error(self, path: Path_, problem: str) -> InputError:
        return InputError(f"{self.where(path)}: {problem}")


def spelled(path: Path_) -> str:
    out = ""
    for key in path:
        out += f"[{key + 1}]" if isinstance(key, int) else f"{'.' if out else ''}{key}"
    return out


def read_text(path: Path) -> str:
    """A file's text; UTF-8 only, since guessing an encoding would be silent."""
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; check the name") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check the name and its permissions") from None
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise InputError(f"{path}: is UTF-16; save it as UTF-8")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise InputError(
            f"{path}, line {line}: byte 0x{raw[error.start]:02x} is not UTF-8 text; save the file as UTF-8"
        ) from None


def read_yaml(path: Path, name: str | None = None) -> Located:
    return parse_yaml(read_text(path), name or str(path))


def parse_yaml(text: str, file: str) -> Located:
    lines: dict[Path_, int] = {}
    try:
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        if node is None:
            raise InputError(f"{file}: is empty; a robot file starts with 'format: elastocal-robot/1'")
        _mark(node, (), lines, file)
        data = loader.construct_document(node)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or str(error)
        raise InputError(f"{file}{line}: not valid YAML ({problem}); check indentation, colons and quotes") from None
    return Located(file, data, lines)


def _mark(node: yaml.Node, path: Path_, lines: dict[Path_, int], file: str) -> None:
    lines.setdefault(path, node.start_mark.line + 1)
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            name = str(key.value)
            if name in seen:
                raise InputError(f"{file}, line {key.start_mark.line + 1}: key {name!r} stands twice; keep one")
            seen.add(name)
            lines[(*path, name)] = key.start_mark.line + 1
            _mark(value, (*path, name), lines, file)
    elif isinstance(node, yaml.SequenceNode):
        for i, item in enumerate(node.value):
            _mark(item, (*path, i), lines, file)
