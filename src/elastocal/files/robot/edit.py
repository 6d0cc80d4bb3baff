"""One number of a robot file changed in its text, with a new source and status; all else stays, comments too.

Which number of the text a parameter is follows from trying: the one whose change moves this parameter and no other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import yaml

from elastocal.errors import InputError, UnknownNameError
from elastocal.files.robot.read import robot_from_text
from elastocal.untrusted import finite_number
from elastocal.values import dataclass

NEAR = 1e-9


@dataclass(frozen=True)
class _Spot:
    """A number of the text from ``start`` to ``end``, in the entry of ``entry``."""

    start: int
    end: int
    value: float
    entry: yaml.MappingNode


def with_parameter(text: str, name: str, value: float, source: str, status: str, file: str) -> str:
    """The text with parameter ``name`` at ``value`` (SI); refused where the text does not hold it as one number."""
    before = _values(text, file)
    if name not in before:
        raise UnknownNameError("parameter", name, before)
    for spot in sorted(_spots(text), key=lambda s: name.split(".")[0] not in _words(s.entry)):
        trial = spot.value * 1.01 if spot.value else 1e-4
        try:
            moved = _values(text[: spot.start] + repr(trial) + text[spot.end :], file)
        except InputError:
            continue
        if set(moved) == set(before) and [n for n in before if moved[n] != before[n]] == [name]:
            slope = (moved[name] - before[name]) / (trial - spot.value)
            number = float(f"{spot.value + (value - before[name]) / slope:.12g}")
            return _checked(_written(text, spot, number, source, status), before | {name: value}, file)
    raise InputError(f"{file}: {name} does not stand as one number in the file; edit its text", code="derived",
                     file=file, parameter=name)  # fmt: skip


def _values(text: str, file: str) -> dict[str, float]:
    return {p.name: p.value for p in robot_from_text(text, file).parameters}


def _words(entry: yaml.MappingNode) -> list[str]:
    return [v.value for _, v in entry.value if isinstance(v, yaml.ScalarNode)]


def _spots(text: str) -> Iterator[_Spot]:
    top = yaml.compose(text, Loader=yaml.SafeLoader)
    lists = [v for k, v in top.value if k.value == "elements"] if isinstance(top, yaml.MappingNode) else []
    for entry in (e for each in lists for e in each.value if isinstance(e, yaml.MappingNode)):
        for node in (n for _, v in entry.value for n in (v.value if isinstance(v, yaml.SequenceNode) else [v])):
            if isinstance(node, yaml.ScalarNode) and (number := finite_number(node.value)) is not None:
                yield _Spot(node.start_mark.index, node.end_mark.index, number, entry)


def _written(text: str, spot: _Spot, number: float, source: str, status: str) -> str:
    """From the end of the entry to its begin, so that places stay true."""
    edits = [(spot.start, spot.end, repr(number))]
    first, last = spot.entry.start_mark.index, spot.entry.end_mark.index
    for key, word in (("source", yaml.safe_dump(source, width=10**6).strip()), ("status", status)):
        word = word.removesuffix("\n...").strip()
        node = next((k for k, _ in spot.entry.value if k.value == key), None)
        if node is None:
            at, more = (last - 1, f", {key}: {word}") if spot.entry.flow_style else (
                first, f"{key}: {word}\n{' ' * spot.entry.start_mark.column}")  # fmt: skip
            edits.append((at, at, more))
            continue
        held = re.compile(r":\s*").match(text, node.end_mark.index)
        start = held.end() if held else node.end_mark.index
        value = next(v for k, v in spot.entry.value if k is node)
        own = first <= value.start_mark.index < last
        alias = re.compile(r"\*[\w-]+").match(text, start)
        end = alias.end() if alias else value.end_mark.index if own else start
        anchor = re.compile(r"&([\w-]+)\s+").match(text, start)
        if anchor:  # the next that repeats it must state it now
            again = re.compile(rf"\*{re.escape(anchor[1])}\b").search(text, end)
            if again:
                edits.append((again.start(), again.end(), text[start:end]))
        edits.append((start, end, word))
    for start, end, word in sorted(edits, reverse=True):
        text = text[:start] + word + text[end:]
    return text


def _checked(text: str, wanted: dict[str, float], file: str) -> str:
    made = _values(text, file)
    off = [n for n in wanted if abs(made.get(n, float("nan")) - wanted[n]) > NEAR * max(1e-12, abs(wanted[n]))]
    if off or set(made) != set(wanted):
        raise InputError(f"{file}: {', '.join(off[:3])} would not come out as asked; edit its text", code="derived",
                         file=file)  # fmt: skip
    return text
