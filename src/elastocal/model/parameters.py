"""The model's parameters by name: what identification may seek and what a report must state."""

from __future__ import annotations

import dataclasses
import fnmatch
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from math import isfinite
from typing import Any, Literal

import numpy as np

from elastocal.arguments import check_type
from elastocal.errors import DuplicateError, NumberError, ShapeError, UnknownNameError
from elastocal.results import as_frame
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

Status = Literal["", "measured", "published", "assumed"]
"""Where a number comes from, beside its source in words; "" where nobody says."""


def quantity(dimension: str, **field: Any) -> Any:
    """A field in SI whose unit in files is any of the dimension's (see ``files.units``)."""
    return dataclasses.field(metadata={"dimension": dimension}, **field)


@dataclass(frozen=True)
class Parameter:
    """One number of the model.

    ``scale`` is the size of a change that matters in practice (not an accuracy): columns of an
    observation matrix are multiplied by it, so that a rank decision does not depend on units.
    """

    name: str
    unit: str
    value: float
    scale: float
    kind: str
    source: str
    status: Status = ""


@dataclass(frozen=True)
class ParameterTable:
    """Parameters in the order of the model's elements."""

    rows: tuple[Parameter, ...]

    def __post_init__(self) -> None:
        names = self.names
        wild = [p for p in self.rows if not isfinite(p.value)]
        if wild:
            raise NumberError(f"parameter {wild[0].name} is {wild[0].value}; give a finite number")
        if len(set(names)) < len(names):
            twice = sorted({n for n in names if names.count(n) > 1})
            raise DuplicateError(
                f"two elements define the same parameter: {', '.join(twice)}; give one a name of its own",
                value=tuple(twice),
            )

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Parameter]:
        return iter(self.rows)

    def __getitem__(self, name: str) -> Parameter:
        return self.rows[self.index(name)]

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def to_frame(self) -> object:
        """One row for every parameter, SI."""
        return as_frame([dataclasses.asdict(p) for p in self.rows])

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(p.name for p in self.rows)

    @property
    def values(self) -> Array:
        return np.array([p.value for p in self.rows])

    @property
    def scales(self) -> Array:
        return np.array([p.scale for p in self.rows])

    @cached_property
    def _places(self) -> dict[str, int]:
        return {n: i for i, n in enumerate(self.names)}

    def index(self, name: str) -> int:
        try:
            return self._places[name]
        except KeyError:
            raise UnknownNameError("parameter", name, self.names) from None

    def select(self, wanted: Iterable[str] | None) -> tuple[int, ...]:
        """Indices of the named parameters in table order; ``*`` is a wildcard, ``None`` means all."""
        return selected(self.names, wanted)

    def updated(self, values: Mapping[str, float] | Sequence[float] | Array) -> Array:
        """The full value vector with some (mapping) or all (sequence) values replaced."""
        if isinstance(values, Mapping):
            out = self.values
            for name, value in values.items():
                out[self.index(name)] = value
            return out
        check_type("values", values, Array)
        out = np.asarray(values, dtype=np.float64)
        if out.shape != (len(self.rows),):
            raise ShapeError(
                f"{len(self.rows)} parameter values are needed, {out.shape} were given",
                value=(len(self.rows), out.shape),
            )
        return out


def selected(names: tuple[str, ...], wanted: Iterable[str] | None) -> tuple[int, ...]:
    """Indices of the wanted among ``names`` in their order; ``*`` is a wildcard, ``None`` means all."""
    if wanted is None:
        return tuple(range(len(names)))
    places = {n: i for i, n in enumerate(names)}
    chosen: set[int] = set()
    for word in wanted:
        if not isinstance(word, str):
            raise UnknownNameError("parameter", word, names)
        if word in places:
            chosen.add(places[word])
            continue
        wild = any(c in word for c in "*?[")
        hits = [i for n, i in places.items() if fnmatch.fnmatchcase(n, word)] if wild else []
        if not hits:
            raise UnknownNameError("parameter matching" if wild else "parameter", word, names)
        chosen.update(hits)
    return tuple(sorted(chosen))
