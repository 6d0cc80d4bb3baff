"""YAML and JSON as plain data within stated bounds: text, finite numbers, lists and mappings, and nothing else.

A file that was received may be made to hurt: aliases that unfold to gigabytes, nesting that overflows the stack,
integers with thousands of digits, tags that build other things than data.  All of that is refused with its line.
The line of every key and item is put together when somebody asks for one: most files are read without a complaint.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite
from typing import Any, NoReturn

import yaml
from yaml import AliasEvent, MappingEndEvent, MappingStartEvent, ScalarEvent, SequenceEndEvent, SequenceStartEvent

from elastocal.errors import InputError

Key = str | int
Path_ = tuple[Key, ...]
Place = tuple["Place | None", Key, int]
"""What a value stands in, its key or number there, and its line; the whole file stands in nothing."""


class Lines(Mapping[Path_, int]):
    """Lines by path, of places as they were met: what holds others before what it holds."""

    def __init__(self, places: list[Place]) -> None:
        self._places = places

    @cached_property
    def _by_path(self) -> dict[Path_, int]:
        paths: dict[int, Path_] = {}
        lines: dict[Path_, int] = {}
        for place in self._places:
            parent, key, line = place
            path = () if parent is None else (*paths[id(parent)], key)
            paths[id(place)] = path
            lines.setdefault(path, line)
        return lines

    def __getitem__(self, path: Path_) -> int:
        return self._by_path[path]

    def __iter__(self) -> Iterator[Path_]:
        return iter(self._by_path)

    def __len__(self) -> int:
        return len(self._by_path)


def path_of(place: Place | None) -> Path_:
    """From the whole file to the place."""
    if place is None or place[0] is None:
        return ()
    return (*path_of(place[0]), place[1])


DEEPEST = 100
"""Levels of a file."""
LARGEST = 100_000
"""Entries of a YAML file, aliases unfolded: parts of a second of reading; what is longer belongs into a table."""
DIGITS = 18
"""Of an integer: counts of encoders have fewer, and more would not fit into 64 bits."""
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


def yaml_data(text: str, file: str) -> tuple[Any, Lines] | None:
    """Data and the line of every key and item; None for an empty text."""
    reading = _Reading(file, _Loader(text))
    if not reading.begins():
        return None
    first = reading.next()
    data = reading.value(first, reading.placed(None, "", first), 0)
    reading.end()
    return data, Lines(reading.places)


def _too_deep(file: str, line: int) -> InputError:
    message = f"{file}, line {line}: is nested too deeply, or an alias refers to itself; write it out plainly"
    return InputError(message, code="too-deep", file=file, line=line)


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1


@dataclass
class _Reading:
    """One walk over the events of a file; ``places`` are the entries met so far.

    Events of what stands at an anchor are kept, and walked again for every alias: ``open`` is how many such things
    were not met to their end, ``at`` the next event where some are walked again.  ``plain`` is what words without
    quotes stand for: most are met many times.
    """

    file: str
    loader: Any
    places: list[Place] = field(default_factory=list)
    plain: dict[str, Any] = field(default_factory=dict)
    anchors: dict[str, int] = field(default_factory=dict)
    events: list[Any] = field(default_factory=list)
    open: int = 0
    at: int | None = None

    def source(self) -> Callable[[], Any]:
        """What gives the events of the thing that has begun; most stand at no anchor, and the loader gives them."""
        return self.next if self.open or self.at is not None else self.loader.get_event

    def next(self) -> Any:
        if self.at is not None:
            self.at += 1
            return self.events[self.at - 1]
        event = self.loader.get_event()
        if self.open:
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

    def placed(self, parent: Place | None, key: Key, event: Any) -> Place:
        place = (parent, key, event.start_mark.line + 1)
        self.places.append(place)
        return place

    def value(self, event: Any, place: Place, depth: int) -> Any:
        """What begins with the event that came last."""
        kind = type(event)
        if kind is ScalarEvent and event.anchor is None and len(self.places) <= LARGEST:
            return self._scalar(event)
        if kind is AliasEvent:
            return self._aliased(event, place, depth)
        new = event.anchor is not None and self._anchored(event)
        if len(self.places) > LARGEST:
            message = (
                f"unfolds to more than {LARGEST} entries; write out what its aliases stand for, in tables where long"
            )
            raise self.error(event, message, "too-large")
        if kind is ScalarEvent:
            return self._scalar(event)
        if depth >= DEEPEST:
            raise _too_deep(self.file, _line(event))
        self.open += new
        if kind is SequenceStartEvent and event.tag in (None, "!", f"{_TAG}seq"):
            out: Any = self._list(place, depth + 1)
        elif kind is MappingStartEvent and event.tag in (None, "!", f"{_TAG}map"):
            out = self._mapping(place, depth + 1)
        else:
            raise self._foreign(event, event.tag)
        self.open -= new
        return out

    def _anchored(self, event: Any) -> bool:
        """Whether the anchor of an event is met for the first time."""
        known = self.anchors.get(event.anchor)
        if known is None:
            if not self.open:
                self.events.append(event)
            self.anchors[event.anchor] = len(self.events) - 1
        elif self.events[known] is not event:
            message = f"the anchor {event.anchor!r} stands twice"
            raise yaml.composer.ComposerError(None, None, message, event.start_mark)
        return known is None

    def _anchor(self, alias: Any) -> int:
        """Number of the event that an alias stands for."""
        if alias.anchor not in self.anchors:
            message = f"found undefined alias {alias.anchor!r}"
            raise yaml.composer.ComposerError(None, None, message, alias.start_mark)
        return self.anchors[alias.anchor]

    def _aliased(self, alias: Any, place: Place, depth: int) -> Any:
        """What stands at the anchor, at another place."""
        anchor = self._anchor(alias)
        if depth > DEEPEST:
            raise _too_deep(self.file, _line(alias))
        behind, self.at = self.at, anchor
        out = self.value(self.next(), place, depth)
        self.at = behind
        return out

    def _list(self, parent: Place, depth: int) -> list[Any]:
        out: list[Any] = []
        following = self.source()
        while type(event := following()) is not SequenceEndEvent:
            shown = self.events[self._anchor(event)] if type(event) is AliasEvent else event
            out.append(self.value(event, self.placed(parent, len(out), shown), depth))
        return out

    def _mapping(self, parent: Place, depth: int) -> dict[Any, Any]:
        out: dict[Any, Any] = {}
        merged: dict[Any, Any] = {}
        seen: set[str] = set()
        before: tuple[str, Any] | None = None
        following, plain = self.source(), self.plain
        while type(event := following()) is not MappingEndEvent:
            key = event if event.anchor is None else self._key(event)
            if type(key) is not ScalarEvent:
                raise self.error(key, "a key is a list or a mapping; write a word")
            name = key.value
            if (name == "<<" or key.tag is not None) and self._tag(key) == f"{_TAG}merge":
                for other in self._merged(parent, depth):
                    merged = {**other, **merged}
                continue
            value = following()
            if before is not None and name.isdecimal() and self._is_nothing(value):
                self._refuse_comma(key, (*path_of(parent), before[0]), before[1], name)
            before = name, value
            if name in seen:
                raise self.error(key, f"key {name!r} stands twice; keep one", value=name)
            seen.add(name)
            word = plain.get(name) if key.tag is None and key.implicit[0] else None
            word = self._scalar(key) if word is None else word
            out[word] = self.value(value, self.placed(parent, name, key), depth)
        return {**merged, **out} if merged else out

    def _is_nothing(self, event: Any) -> bool:
        return type(event) is ScalarEvent and self._tag(event) == f"{_TAG}null"

    def _key(self, event: Any) -> Any:
        """A key, or what stands at the anchor that it names."""
        if type(event) is AliasEvent:
            return self.events[self.anchors[event.anchor]] if event.anchor in self.anchors else event
        self._anchored(event)
        return event

    def _merged(self, parent: Place, depth: int) -> Iterator[dict[Any, Any]]:
        """What << merges: a mapping, or several."""
        event = self.next()
        shown = self.events[self._anchor(event)] if type(event) is AliasEvent else event
        mappings = self.value(event, self.placed(parent, "<<", shown), depth)
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
        if event.tag is not None or not event.implicit[0]:
            return self._read(event)
        text = event.value
        known = self.plain.get(text)
        if known is None:  # or is nothing, which is read again
            known = _usual(text)
            known = self.plain[text] = self._read(event) if known is None else known
        return known

    def _read(self, event: Any) -> Any:
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


def _usual(text: str) -> Any:
    """What most words without quotes stand for, short numbers and text; None where more must be asked."""
    if text[:1] not in _Loader.yaml_implicit_resolvers:
        return text if text.isprintable() else None
    if _NUMBER.fullmatch(text) and len(text) <= DIGITS:
        number = int(text) if _INTEGER.fullmatch(text) else float(text)
        return number if isfinite(number) else None
    return None


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
