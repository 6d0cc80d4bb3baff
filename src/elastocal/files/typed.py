"""Data that have the types of a dataclass as they stand, without pydantic: making that ready takes longer than reading.

Numbers, words, lists and mappings are taken here; everything else, and whatever does not fit, is left to pydantic: to
be converted, or to say what is wrong with it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")
Taken = Callable[[Any], Any]
"""From a value of a file to that of a field, or Misfit."""
PLAIN = (float, int, str, bool, NoneType)


class Misfit(Exception):
    """A value that is not of its type as it stands."""


def made(cls: type[T], values: dict[str, Any]) -> T | None:
    """The instance of a dataclass; None where pydantic is to decide."""
    ways, needed = _ways(cls)  # type: ignore[arg-type]
    if not (values.keys() <= ways.keys() and needed <= values.keys()):
        return None
    try:
        return cls(**{name: ways[name](value) for name, value in values.items()})
    except (Misfit, OverflowError):  # a whole number beyond every float
        return None


def of_type(hint: Any, value: Any) -> Any:
    """The value as one of a type; Misfit where pydantic is to decide."""
    return _way(hint)(value)


@cache
def _ways(cls: type) -> tuple[dict[str, Taken], frozenset[str]]:
    """How each field is taken, and those without a default."""
    hints = get_type_hints(cls, include_extras=True)
    given = [f for f in fields(cls) if f.init]
    needed = frozenset(f.name for f in given if f.default is MISSING and f.default_factory is MISSING)
    return {f.name: _way(hints[f.name]) for f in given}, needed


def _way(hint: Any) -> Taken:
    origin, args = get_origin(hint), get_args(hint)
    if hint is Any:
        return lambda value: value
    if hint is float:
        return lambda value: value if type(value) is float else float(value) if type(value) is int else _refuse()
    if hint in PLAIN:
        return lambda value: value if type(value) is hint else _refuse()
    if hint is Path:
        return lambda value: Path(value) if type(value) is str else _refuse()
    if isinstance(hint, type) and is_dataclass(hint):
        return lambda value: value if isinstance(value, hint) else _refuse()
    if origin is Literal:
        return lambda value: value if type(value) is str and value in args else _refuse()
    if origin in (Union, UnionType):
        return _either(args)
    if origin is tuple and len(args) == 2 and args[1] is ...:
        each = _way(args[0])
        return lambda value: tuple(map(each, value)) if type(value) in (list, tuple) else _refuse()
    if origin is tuple:
        ways, floats = [_way(a) for a in args], [float] * len(args) if set(args) == {float} else None
        return lambda value: value if type(value) is tuple and [*map(type, value)] == floats else _row(value, ways)
    if origin is list:
        each = _way(args[0])
        return lambda value: [each(v) for v in value] if type(value) is list else _refuse()
    if origin is dict:
        key, each = map(_way, args)
        return lambda value: {key(k): each(v) for k, v in value.items()} if type(value) is dict else _refuse()
    return _refuse


def _refuse(value: Any = None) -> Any:
    raise Misfit


def _row(value: Any, ways: list[Taken]) -> tuple[Any, ...]:
    if type(value) not in (list, tuple) or len(value) != len(ways):
        raise Misfit
    return tuple(way(v) for way, v in zip(ways, value, strict=True))


def _either(hints: tuple[Any, ...]) -> Taken:
    """A value whose own type is among them stays what it is."""
    plain, ways = [h for h in hints if h in PLAIN], [_way(h) for h in hints]

    def taken(value: Any) -> Any:
        if type(value) in plain:
            return value
        for way in ways:
            try:
                return way(value)
            except Misfit:
                continue
        raise Misfit

    return taken
