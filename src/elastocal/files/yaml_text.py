"""YAML as a person would write it: numbers in usual units with few digits, short lists and mappings on one line."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import yaml

from elastocal.errors import InputError
from elastocal.files.units import DIMENSIONS, USUAL, fitting

_RARE = {"in", "um", "mrad", "urad", "kN", "kNm", "g", "kg_mm", "mm_per_N", "mrad_per_Nm", "deg_per_Nm"}
_ULP = 2.3e-16
_MUCH = 8  # so many characters another unit must save to be chosen instead of the usual one


class Number(str):
    """The digits of a number."""


class FlowList(list[Any]):
    """A list on one line."""


class Map(dict[str, Any]):
    """A mapping on one line."""


class LongText(str):
    """A long text that may stand in several places; it is written once."""


def quantity_text(name: str, dimension: str, value: Any, joint: str | None = None) -> dict[str, Any]:
    """The key with its unit, and the value in it."""
    units = sorted((u for u in fitting(dimension, joint) if u not in _RARE), key=lambda u: u not in USUAL) or [""]
    best: tuple[int, str, Any] | None = None
    for unit in units:
        written = _written(value, DIMENSIONS[dimension].get(unit, 1.0))
        if written is not None and (best is None or len(str(written)) + _MUCH < best[0]):
            best = len(str(written)), unit, written
    if best is None:
        raise InputError(f"{name}: {value!r} is not a finite number; correct it before writing")
    return {f"{name}_{best[1]}" if best[1] else name: best[2]}


def _written(value: Any, factor: float) -> Any:
    """The fewest digits that give the value back when they are multiplied by the factor, or None."""
    if isinstance(value, Mapping):
        items = {k: _written(v, factor) for k, v in value.items()}
        return None if None in items.values() else Map(items)
    if isinstance(value, Iterable):
        row = [_written(v, factor) for v in value]
        return None if None in row else FlowList(row)
    number = float(value) + 0.0
    tries = (float(f"{number / factor:.{places}g}") for places in (6, 9, 12, 15, 16, 17))
    same = next((t for t in tries if abs(t * factor - number) <= _ULP * abs(number)), None)
    return None if same is None else Number(digits(same))


def digits(number: float) -> str:
    text = repr(float(number)).removesuffix(".0")
    mantissa, e, exponent = text.partition("e")
    return f"{mantissa if '.' in mantissa or not e else mantissa + '.0'}{e}{exponent}"


def comment(sentences: Sequence[str]) -> str:
    lines = [line for s in sentences for line in textwrap.wrap(" ".join(s.split()), 108) or [""]]
    return "".join(f"# {line}".rstrip() + "\n" for line in lines)


class Dumper(yaml.SafeDumper):
    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)  # items of a list stand deeper than its key

    def ignore_aliases(self, data: Any) -> bool:
        return not isinstance(data, LongText)

    def generate_anchor(self, node: yaml.Node) -> str:
        return super().generate_anchor(node).replace("id", "source")


def _number(dumper: yaml.SafeDumper, data: Number) -> yaml.Node:
    tag = dumper.resolve(yaml.ScalarNode, str(data), (True, False))  # type: ignore[no-untyped-call]
    return dumper.represent_scalar(tag, str(data))


_TEXT, _LIST, _MAPPING = (f"tag:yaml.org,2002:{kind}" for kind in ("str", "seq", "map"))
Dumper.add_representer(Number, _number)
Dumper.add_representer(LongText, lambda dumper, data: dumper.represent_scalar(_TEXT, str(data)))
Dumper.add_representer(FlowList, lambda dumper, data: dumper.represent_sequence(_LIST, data, flow_style=True))
Dumper.add_representer(Map, lambda dumper, data: dumper.represent_mapping(_MAPPING, data, flow_style=True))
