"""Files as text: YAML that people read and change, and tables as CSV.

Numbers stand in the usual units (mm, deg) where these give every number back exactly, else in SI.
"""

from __future__ import annotations

import csv
import io
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import yaml

from elastocal.errors import NumberError
from elastocal.files.units import DIMENSIONS, USUAL, fitting
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array
from elastocal.untrusted import spreadsheet_cell

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
        raise NumberError(f"{name}: {value!r} is not a finite number; correct it before writing")
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


Column = tuple[str, Array, str]
"""Name, values in SI, dimension."""
_UNITS = {"angle": ("deg", "rad"), "length": ("mm", "m"), "force": ("N", "N"), "moment": ("Nm", "Nm")}
"""The usual unit, and that of SI."""


def shown_joint_columns(model: Robot, q: Array) -> list[Column]:
    """Joint values (N, n) as the controller shows them."""
    shown = model.controller.to_controller(q)
    return [
        (axis, shown[:, i], "angle" if motion.kind == "revolute" else "length")
        for i, (axis, motion) in enumerate(zip(model.controller.axes, model.motions, strict=True))
    ]


def csv_text(columns: Sequence[tuple[str, Sequence[str]]]) -> str:
    """Header and cells of columns as CSV."""
    header, cells = zip(*columns, strict=True)
    out = io.StringIO()
    rows = ([spreadsheet_cell(c) for c in row] for row in (header, *zip(*cells, strict=True)))
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


def column_texts(columns: Sequence[Column]) -> Iterator[tuple[str, list[str]]]:
    """Header and cells of columns; all of one dimension stand in one unit."""
    chosen = {}
    for dimension, (usual, si) in _UNITS.items():
        numbers = [float(v) for _, values, d in columns if d == dimension for v in values]
        exact = all(_cell(v, DIMENSIONS[dimension][usual]) is not None for v in numbers)
        chosen[dimension] = usual if exact else si
    for name, values, dimension in columns:
        unit = chosen[dimension]
        yield f"{name}_{unit}", [_cell(float(v), DIMENSIONS[dimension][unit]) or "" for v in values]


def _cell(value: float, factor: float) -> str | None:
    """The fewest digits that give the value back when they are multiplied by the factor, None where none do."""
    if np.isnan(value):
        return ""
    near = value / factor
    tries = (float(f"{t:.{places}g}") for places in (6, 9, 12, 15, 17) for t in (near, *_neighbours(near, places)))
    return next((digits(t) for t in tries if t * factor == value), None)


def _neighbours(number: float, places: int) -> tuple[float, ...]:
    return (float(np.nextafter(number, -np.inf)), float(np.nextafter(number, np.inf))) if places == 17 else ()
