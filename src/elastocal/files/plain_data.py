"""YAML and JSON as plain data within stated bounds: text, finite numbers, lists and mappings, and nothing else.

A file that was received may be made to hurt: aliases that unfold to gigabytes, nesting that overflows the stack,
integers with thousands of digits, tags that build other things than data.  All of that is refused with its line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, NoReturn

import yaml

from elastocal.errors import InputError

DEEPEST = 100
"""Levels of a file."""
LARGEST = 100_000
"""Entries of a YAML file, aliases unfolded: parts of a second of reading; what is longer belongs into a table."""
DIGITS = 18
"""Of an integer: counts of encoders have fewer, and more would not fit into 64 bits."""
Key = str | int
Path_ = tuple[Key, ...]
_BASE: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The loader of libyaml where PyYAML was built with it, many times faster: the same nodes and lines."""
CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
"""Characters that no text needs: a terminal would obey them."""
_TAG = "tag:yaml.org,2002:"
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_NUMBER = re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?")
_NO_NUMBER = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_WORDS = {
    "yes": True, "no": False, "true": True, "false": False, "on": True, "off": False,
}  # fmt: skip


class _Loader(_BASE):  # type: ignore[misc]
    """Numbers as people write them: 010 is ten, 1e-6 needs no dot, 1:30 and dates are text."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in known if tag.rpartition(":")[2] not in ("int", "float", "timestamp")]
    for first, known in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(f"{_TAG}int", re.compile(f"^{_INTEGER.pattern}$"), list("-+0123456789"))
_Loader.add_implicit_resolver(
    f"{_TAG}float", re.compile(f"^({_NUMBER.pattern}|{_NO_NUMBER.pattern})$"), list("-+0123456789.")
)


def yaml_data(text: str, file: str) -> tuple[Any, dict[Path_, int]] | None:
    """Data and the line of every key and item; None for an empty text."""
    _check_depth(text, file)
    node = _Loader(text).get_single_node()
    if node is None:
        return None
    reading = _Reading(file)
    return reading.value(node, ()), reading.lines


def _check_depth(text: str, file: str) -> None:
    """Refuse what would overflow the stack, which libyaml does not guard; a pass over the events takes no time."""
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > DEEPEST:
                raise _too_deep(file, 1 if event.start_mark is None else event.start_mark.line + 1)
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _too_deep(file: str, line: int) -> InputError:
    said = f"{file}, line {line}: is nested too deeply, or an alias refers to itself; write it out plainly"
    return InputError(said, code="too-deep", file=file, line=line)


@dataclass
class _Reading:
    """One walk over the nodes of a file; ``count`` are those met so far."""

    file: str
    lines: dict[Path_, int] = field(default_factory=dict)
    count: int = 0

    def value(self, node: yaml.Node, path: Path_) -> Any:
        self.count += 1
        if self.count > LARGEST:
            said = f"unfolds to more than {LARGEST} entries; write out what its aliases stand for, in tables where long"
            raise self.error(node, said, "too-large")
        if len(path) > DEEPEST:
            raise _too_deep(self.file, node.start_mark.line + 1)
        self.lines.setdefault(path, node.start_mark.line + 1)
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node)
        tag = node.tag.removeprefix(_TAG)
        if isinstance(node, yaml.SequenceNode) and tag == "seq":
            return [self.value(item, (*path, i)) for i, item in enumerate(node.value)]
        if isinstance(node, yaml.MappingNode) and tag == "map":
            return self._mapping(node, path)
        raise self._foreign(node)

    def _mapping(self, node: yaml.MappingNode, path: Path_) -> dict[Any, Any]:
        out: dict[Any, Any] = {}
        merged: dict[Any, Any] = {}
        seen: set[str] = set()
        before: tuple[str, yaml.Node] | None = None
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise self.error(key, "a key is a list or a mapping; write a word")
            if key.tag == f"{_TAG}merge":
                for other in self._merged(value, path):
                    merged = {**other, **merged}
                continue
            name = str(key.value)
            if before is not None and value.tag == f"{_TAG}null" and name.isdecimal():
                self._refuse_comma(key, (*path, before[0]), before[1], name)
            before = name, value
            if name in seen:
                raise self.error(key, f"key {name!r} stands twice; keep one")
            seen.add(name)
            place = (*path, name)
            self.lines[place] = key.start_mark.line + 1
            out[self._scalar(key)] = self.value(value, place)
        return {**merged, **out}

    def _merged(self, node: yaml.Node, path: Path_) -> Iterator[dict[Any, Any]]:
        for one in node.value if isinstance(node, yaml.SequenceNode) else [node]:
            if not isinstance(one, yaml.MappingNode):
                raise self.error(one, "<< merges a mapping; name one by its anchor")
            yield self.value(one, (*path, "<<"))

    def _scalar(self, node: yaml.ScalarNode) -> Any:
        tag, text = node.tag.removeprefix(_TAG), str(node.value)
        if tag == "str":
            if (control := CONTROL.search(text)) is not None:
                raise self.error(node, f"text with the control character {control[0]!r}; leave it out")
            return text
        if tag == "null" and text in ("", "~", "null", "Null", "NULL"):
            return None
        if tag == "bool" and text.lower() in _WORDS:
            return _WORDS[text.lower()]
        if tag == "int" and _INTEGER.fullmatch(text):
            if len(text.lstrip("+-")) > DIGITS:
                raise self.error(node, f"an integer of {len(text.lstrip('+-'))} digits; at most {DIGITS} are read")
            return int(text)
        if tag == "float" and (_NUMBER.fullmatch(text) or _NO_NUMBER.fullmatch(text)):
            number = float(text) if _NUMBER.fullmatch(text) else float("nan")
            if not isfinite(number):
                raise self.error(node, f"{text!r} is not a finite number; write one, or leave the key out")
            return number
        if tag in ("null", "bool", "int", "float"):
            raise self.error(node, f"{text!r} is marked as !!{tag} and is none; write it without !!{tag}")
        raise self._foreign(node)

    def _foreign(self, node: yaml.Node) -> InputError:
        tag = node.tag.replace(_TAG, "!!")
        return self.error(node, f"the tag {tag!r} is not read; write text, numbers, lists and mappings")

    def _refuse_comma(self, key: yaml.Node, path: Path_, number: yaml.Node, decimals: str) -> None:
        """YAML reads {k: 33,5} as the key k with 33 and a key 5 with nothing."""
        if isinstance(number, yaml.ScalarNode) and re.fullmatch(r"[+-]?\d+", number.value):
            written, point = f"{number.value},{decimals}", f"{number.value}.{decimals}"
            said = f"{spelled(path)}: {written} has a decimal comma; use a decimal point: {point}"
            raise self.error(key, said, between=", ")

    def error(self, node: yaml.Node, said: str, code: str = "yaml", between: str = ": ") -> InputError:
        line = node.start_mark.line + 1
        return InputError(f"{self.file}, line {line}{between}{said}", code=code, file=self.file, line=line)


def spelled(path: Path_) -> str:
    """``joints[2].axis``"""
    out = ""
    for key in path:
        out += f"[{key + 1}]" if isinstance(key, int) else f"{'.' if out else ''}{key}"
    return out


def parse_json(text: str, file: str) -> Any:
    """Data of a JSON text that a program has written."""

    def refuse(word: str) -> NoReturn:
        raise InputError(f"{file}: holds {word[:40]}, which is no number; make the file again", code="json", file=file)

    def integer(word: str) -> int:
        return int(word) if len(word) <= DIGITS + 1 else refuse(word)

    def decimal(word: str) -> float:
        number = float(word)
        return number if isfinite(number) else refuse(word)

    def mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        out = dict(pairs)
        if len(out) < len(pairs):
            twice = next(key for i, (key, _) in enumerate(pairs) if key in dict(pairs[:i]))
            raise InputError(f"{file}: key {twice[:40]!r} stands twice; make the file again", code="json", file=file)
        return out

    try:
        return json.loads(
            text, parse_constant=refuse, parse_int=integer, parse_float=decimal, object_pairs_hook=mapping
        )
    except json.JSONDecodeError as error:
        mend = "make the file again" if text[: error.pos].strip() else "give the JSON file that a command wrote"
        said = f"{file}, line {error.lineno}: not valid JSON ({error.msg}); {mend}"
        raise InputError(said, code="json", file=file, line=error.lineno) from None
    except RecursionError:
        raise InputError(f"{file}: is nested too deeply; make the file again", code="too-deep", file=file) from None
