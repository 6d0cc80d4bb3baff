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
_TEXT = f"{_TAG}str"
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
    reading = _Reading(file, _Loader(text))
    if not reading.begins():
        return None
    data = reading.value(reading.next(), ())
    reading.end()
    return data, reading.lines


def _too_deep(file: str, line: int) -> InputError:
    message = f"{file}, line {line}: is nested too deeply, or an alias refers to itself; write it out plainly"
    return InputError(message, code="too-deep", file=file, line=line)


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1


@dataclass
class _Reading:
    """One walk over the events of a file, those behind an alias walked again; ``count`` are the entries met so far."""

    file: str
    loader: Any
    lines: dict[Path_, int] = field(default_factory=dict)
    count: int = 0
    events: list[yaml.Event] = field(default_factory=list)
    at: int = 0
    anchors: dict[str, int] = field(default_factory=dict)

    def next(self) -> Any:
        at = self.at
        self.at = at + 1
        if at < len(self.events):
            return self.events[at]
        event = self.loader.get_event()
        self.events.append(event)
        return event

    def begins(self) -> bool:
        """Whether there is a document."""
        self.next()
        return isinstance(self.next(), yaml.DocumentStartEvent)

    def end(self) -> None:
        """Refuse a second document."""
        self.next()
        more = self.next()
        if not isinstance(more, yaml.StreamEndEvent):
            raise yaml.composer.ComposerError(None, None, "there is a second document", more.start_mark)

    def value(self, event: Any, path: Path_) -> Any:
        """What begins with the event that came last."""
        kind = type(event)
        if kind is yaml.AliasEvent:
            return self._aliased(event, path)
        self._anchored(event)
        self.count += 1
        if self.count > LARGEST:
            message = (
                f"unfolds to more than {LARGEST} entries; write out what its aliases stand for, in tables where long"
            )
            raise self.error(event, message, "too-large")
        if path not in self.lines:
            self.lines[path] = _line(event)
        if kind is yaml.ScalarEvent:
            return self._scalar(event)
        if len(path) >= DEEPEST:
            raise _too_deep(self.file, _line(event))
        if kind is yaml.SequenceStartEvent and event.tag in (None, "!", f"{_TAG}seq"):
            return self._list(path)
        if kind is yaml.MappingStartEvent and event.tag in (None, "!", f"{_TAG}map"):
            return self._mapping(path)
        raise self._foreign(event, event.tag)

    def _anchored(self, event: Any) -> None:
        new = event.anchor is not None and type(event) is not yaml.AliasEvent
        if new and self.anchors.setdefault(event.anchor, self.at - 1) != self.at - 1:
            message = f"the anchor {event.anchor!r} stands twice"
            raise yaml.composer.ComposerError(None, None, message, event.start_mark)

    def _aliased(self, alias: Any, path: Path_) -> Any:
        """What stands at the anchor, at another place."""
        if alias.anchor not in self.anchors:
            message = f"found undefined alias {alias.anchor!r}"
            raise yaml.composer.ComposerError(None, None, message, alias.start_mark)
        if len(path) > DEEPEST:
            raise _too_deep(self.file, _line(alias))
        behind, self.at = self.at, self.anchors[alias.anchor]
        out = self.value(self.next(), path)
        self.at = behind
        return out

    def _list(self, path: Path_) -> list[Any]:
        out: list[Any] = []
        while type(event := self.next()) is not yaml.SequenceEndEvent:
            out.append(self.value(event, (*path, len(out))))
        return out

    def _mapping(self, path: Path_) -> dict[Any, Any]:
        out: dict[Any, Any] = {}
        merged: dict[Any, Any] = {}
        seen: set[str] = set()
        before: tuple[str, Any] | None = None
        while type(event := self.next()) is not yaml.MappingEndEvent:
            key = self._key(event)
            if type(key) is not yaml.ScalarEvent:
                raise self.error(key, "a key is a list or a mapping; write a word")
            name = key.value
            if (name == "<<" or key.tag is not None) and self._tag(key) == f"{_TAG}merge":
                for other in self._merged(path):
                    merged = {**other, **merged}
                continue
            value = self.next()
            if before is not None and name.isdecimal() and self._is_nothing(value):
                self._refuse_comma(key, (*path, before[0]), before[1], name)
            before = name, value
            if name in seen:
                raise self.error(key, f"key {name!r} stands twice; keep one", value=name)
            seen.add(name)
            place = (*path, name)
            self.lines[place] = _line(key)
            out[self._scalar(key)] = self.value(value, place)
        return {**merged, **out}

    def _is_nothing(self, event: Any) -> bool:
        return type(event) is yaml.ScalarEvent and self._tag(event) == f"{_TAG}null"

    def _key(self, event: Any) -> Any:
        """A key, or what stands at the anchor that it names."""
        self._anchored(event)
        if type(event) is yaml.AliasEvent and event.anchor in self.anchors:
            return self.events[self.anchors[event.anchor]]
        return event

    def _merged(self, path: Path_) -> Iterator[dict[Any, Any]]:
        """What << merges: a mapping, or several."""
        event = self.next()
        mappings = self.value(event, (*path, "<<"))
        for one in mappings if isinstance(mappings, list) else [mappings]:
            if not isinstance(one, dict):
                raise self.error(event, "<< merges a mapping; name one by its anchor")
            yield one

    def _tag(self, event: Any) -> str:
        if event.tag not in (None, "!"):
            return str(event.tag)
        text = event.value
        for tag, pattern in _Loader.yaml_implicit_resolvers.get(text[:1], ()) if event.implicit[0] else ():
            if pattern.match(text):
                return str(tag)
        return _TEXT

    def _scalar(self, event: Any) -> Any:
        tag, text = self._tag(event), event.value
        if tag == _TEXT:
            if not text.isprintable() and (control := CONTROL.search(text)) is not None:
                raise self.error(event, f"text with the control character {control[0]!r}; leave it out")
            return text
        tag = tag.removeprefix(_TAG)
        if tag == "null" and text in ("", "~", "null", "Null", "NULL"):
            return None
        if tag == "bool" and text.lower() in _WORDS:
            return _WORDS[text.lower()]
        if tag == "int" and _INTEGER.fullmatch(text):
            if len(text.lstrip("+-")) > DIGITS:
                raise self.error(
                    event, f"an integer of {len(text.lstrip('+-'))} digits; at most {DIGITS} are read", value=text
                )
            return int(text)
        if tag == "float" and (_NUMBER.fullmatch(text) or _NO_NUMBER.fullmatch(text)):
            number = float(text) if _NUMBER.fullmatch(text) else float("nan")
            if not isfinite(number):
                raise self.error(event, f"{text!r} is not a finite number; write one, or leave the key out", value=text)
            return number
        if tag in ("null", "bool", "int", "float"):
            raise self.error(event, f"{text!r} is marked as !!{tag} and is none; write it without !!{tag}", value=text)
        raise self._foreign(event, f"{_TAG}{tag}" if tag.isalpha() else tag)

    def _foreign(self, event: Any, tag: str) -> InputError:
        shown = tag.replace(_TAG, "!!")
        return self.error(event, f"the tag {shown!r} is not read; write text, numbers, lists and mappings", value=shown)

    def _refuse_comma(self, key: Any, path: Path_, number: Any, decimals: str) -> None:
        """YAML reads {k: 33,5} as the key k with 33 and a key 5 with nothing."""
        if isinstance(number, yaml.ScalarEvent) and re.fullmatch(r"[+-]?\d+", number.value):
            written, point = f"{number.value},{decimals}", f"{number.value}.{decimals}"
            message = f"{spelled(path)}: {written} has a decimal comma; use a decimal point: {point}"
            raise self.error(key, message, between=", ")

    def error(self, event: Any, message: str, code: str = "yaml", between: str = ": ", value: Any = None) -> InputError:
        line = _line(event)
        text = f"{self.file}, line {line}{between}{message}"
        return InputError(text, code=code, file=self.file, line=line, value=value)


def spelled(path: Path_) -> str:
    """``joints[2].axis``"""
    out = ""
    for key in path:
        out += f"[{key + 1}]" if isinstance(key, int) else f"{'.' if out else ''}{key}"
    return out


def parse_json(text: str, file: str) -> Any:
    """Data of a JSON text that a program has written."""

    def refuse(word: str) -> NoReturn:
        message = f"{file}: holds {word[:40]}, which is no number; make the file again"
        raise InputError(message, code="json", file=file, value=word)

    def integer(word: str) -> int:
        return int(word) if len(word) <= DIGITS + 1 else refuse(word)

    def decimal(word: str) -> float:
        number = float(word)
        return number if isfinite(number) else refuse(word)

    def mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        out = dict(pairs)
        if len(out) < len(pairs):
            twice = next(key for i, (key, _) in enumerate(pairs) if key in dict(pairs[:i]))
            message = f"{file}: key {twice[:40]!r} stands twice; make the file again"
            raise InputError(message, code="json", file=file, value=twice)
        return out

    try:
        return json.loads(
            text, parse_constant=refuse, parse_int=integer, parse_float=decimal, object_pairs_hook=mapping
        )
    except json.JSONDecodeError as error:
        mend = "make the file again" if text[: error.pos].strip() else "give the JSON file that a command wrote"
        message = f"{file}, line {error.lineno}: not valid JSON ({error.msg}); {mend}"
        raise InputError(message, code="json", file=file, line=error.lineno) from None
    except RecursionError:
        raise InputError(f"{file}: is nested too deeply; make the file again", code="too-deep", file=file) from None
