"""Arguments of calls against what their annotations say: a value of another type is an :class:`InputError`, with the
name of the argument, before anything is computed."""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from functools import cache, wraps
from os import PathLike
from typing import Any, Literal, ParamSpec, TypeVar, Union, get_args, get_origin

from elastocal.errors import ConflictError, NumberError, RangeError, ShapeError, WrongTypeError

UNIT = re.compile(r"_(deg|rad|mm|m|N|Nm)$")
P = ParamSpec("P")
R = TypeVar("R")
WORDS: dict[Any, str] = {
    str: "a text", int: "a whole number", float: "a number", bool: "True or False", type(None): "None",
    PathLike: "a path", Mapping: "a mapping", Iterable: "a sequence", Callable: "a function", "numbers": "numbers",
}  # fmt: skip


def checked(*own: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A call that refuses arguments of another type; those of ``own`` names are left to it."""

    def around(call: Callable[P, R]) -> Callable[P, R]:
        @wraps(call)
        def judged(*args: P.args, **kwargs: P.kwargs) -> R:
            signature, hints = _declared(call)
            try:
                given = signature.bind(*args, **kwargs).arguments
            except TypeError:  # Python's own error of this call
                return call(*args, **kwargs)
            for name, value in given.items():
                if name not in own and name in hints:
                    check_type(name, value, hints[name])
            return call(*args, **kwargs)

        return judged

    return around


def check_type(name: str, value: Any, hint: Any) -> None:
    if not _fits(value, hint):
        wanted = " or ".join(dict.fromkeys(_words(hint)))
        raise WrongTypeError(f"{name} is {given_as(value)}; {wanted} is needed", parameter=name, value=value)


def check_fields(value: Any) -> None:
    """Refuse fields of a frozen value that are of another type."""
    _, hints = _declared(type(value).__init__)
    for name, hint in hints.items():
        check_type(name, getattr(value, name), hint)


def generator(name: str, seed: Any) -> Any:
    """Random numbers of a seed, or those that are given."""
    import numpy as np

    if isinstance(seed, np.random.Generator):
        return seed
    check_type(name, seed, int)
    if seed < 0:
        raise RangeError.of(name, seed, "give a whole number from 0, or a generator")
    return np.random.default_rng(seed)


def vector(name: str, value: Any, *sizes: int) -> Any:
    """Finite numbers in a row, as an array: as many as one of the ``sizes``, any number where there are none."""
    import numpy as np

    listed = list(value) if isinstance(value, Iterable) and not hasattr(value, "__array__") else value
    try:
        out = None if isinstance(value, str | bytes | Set | Mapping) else np.array(listed)
    except ValueError:
        out = None
    if out is None or out.dtype.kind not in "iuf":
        raise WrongTypeError(f"{name} is {given_as(value)}; numbers are needed", parameter=name, value=value)
    if out.ndim != 1 or (sizes and len(out) not in sizes):
        wanted = f"{' or '.join(map(str, sizes))} numbers are" if sizes else "one row of numbers is"
        raise ShapeError(f"{name} has shape {out.shape}; {wanted} needed", parameter=name, value=value, allowed=sizes)
    if not np.all(np.isfinite(out)):
        raise NumberError(f"{name} is {out.tolist()}; its numbers must be finite", parameter=name, value=value)
    return out.astype(np.float64)


def order_of(name: str, value: Any, *orders: Sequence[str]) -> list[int] | None:
    """Places of columns (of a data frame, or their names) in the first of some orders that has the same names.

    A unit behind a name (``A1_deg``) is no part of it.  None where there are no such names: columns count by place.
    """
    columns = [*getattr(value, "columns", value if isinstance(value, tuple) else ())]
    if not columns or not all(isinstance(c, str) for c in columns):
        return None
    plain = [UNIT.sub("", c) for c in columns]
    for order in orders:
        for names in (columns, plain):
            if sorted(names) == sorted(order):
                return [names.index(each) for each in order]
    known = {each for order in orders for each in order}
    if len(columns) == len(orders[0]) and any(c in known or p in known for c, p in zip(columns, plain, strict=True)):
        twice = next((c for c in columns if columns.count(c) > 1), "")
        what = f"has column {twice} twice" if twice else f"has columns {', '.join(columns)}, not all of them known"
        raise ConflictError(
            f"{name} {what}; name each of {', '.join(orders[0])} once, or give an array, whose columns count by place",
            parameter=name, value=tuple(columns), allowed=tuple(orders[0]),
        )  # fmt: skip
    return None


def by_name(name: str, value: Any, *orders: Sequence[str]) -> Any:
    """Columns of a data frame in order of their names (``order_of``); anything else as it is."""
    order = order_of(name, value, *orders) if hasattr(value, "columns") else None
    if order is None:
        return value
    import numpy as np

    return np.asarray(value)[:, order]


def given_as(value: Any) -> str:
    """A text or a number as it is; of anything else its type."""
    return repr(value) if isinstance(value, str | int | float) else type(value).__name__


@cache
def _declared(call: Callable[..., Any]) -> tuple[inspect.Signature, dict[str, Any]]:
    """Signature, and those annotations that can be told while the program runs."""
    signature, known = inspect.signature(call), {}
    for name, parameter in signature.parameters.items():
        hint = parameter.annotation
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL) or hint is parameter.empty:
            continue
        try:
            known[name] = eval(hint, inspect.unwrap(call).__globals__) if isinstance(hint, str) else hint
        except (NameError, AttributeError):  # imported for type checkers alone
            continue
    return signature, known


def _fits(value: Any, hint: Any) -> bool:
    origin = get_origin(hint) or hint
    if hint is Any or hint is object or isinstance(hint, TypeVar):
        return True
    if origin in (Union, types.UnionType):
        return any(_fits(value, h) for h in _parts(hint))
    if hint is None or hint is type(None):
        return value is None
    if origin is Literal:
        return isinstance(value, str) or any(value is word for word in get_args(hint))  # words are judged by the call
    if _numeric(hint):
        return _numbers(value)
    if hint in (bool, int, float):
        return _number(value, hint)
    if not isinstance(origin, type):
        return True
    if issubclass(origin, Iterable) and not issubclass(origin, Mapping | str | bytes) and get_args(hint):
        once = not hasattr(value, "__len__") and issubclass(origin, Sequence)  # a generator, gone after one reading
        return not once and _items(value, get_args(hint)[0])
    if issubclass(origin, Mapping) and get_args(hint):
        return isinstance(value, Mapping) and all(_fits(v, get_args(hint)[1]) for v in value.values())
    return isinstance(value, origin)


def _items(value: Any, hint: Any) -> bool:
    """Any sequence will do: lists, arrays, columns of a data frame; a text where texts are wanted is one."""
    if isinstance(value, str):
        return _fits(value, hint)
    if not isinstance(value, Iterable) or isinstance(value, Mapping | bytes):
        return False
    if "float" in str(getattr(value, "dtype", "")) and hint is not float and not _numeric(hint):
        return False
    return not hasattr(value, "__len__") or all(_fits(v, hint) for v in value)


def _number(value: Any, hint: type) -> bool:
    import numpy as np

    value = value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value
    if hint is bool or isinstance(value, bool | np.bool_):
        return hint is bool and isinstance(value, bool | np.bool_)
    return isinstance(value, int | np.integer if hint is int else int | float | np.number)


def _numeric(hint: Any) -> bool:
    return hint == "numbers" or "ndarray" in repr(get_origin(hint) or "")


def _parts(hint: Any) -> Iterable[Any]:
    """Of a union; what NumPy calls like an array is numbers."""
    parts = get_args(hint)
    if not any("_SupportsArray" in repr(part) for part in parts):
        return parts
    return ("numbers", *(part for part in parts if part is type(None)))


def _numbers(value: Any) -> bool:
    import numpy as np

    try:
        return np.asarray(value, dtype=np.float64).ndim > 0
    except (TypeError, ValueError):
        return False


def _words(hint: Any) -> Iterable[str]:
    origin = get_origin(hint) or hint
    if origin in (Union, types.UnionType):
        for part in _parts(hint):
            yield from _words(part)
    elif _numeric(hint):
        yield WORDS["numbers"]
    elif hint in WORDS or origin in WORDS:
        yield WORDS[hint if hint in WORDS else origin]
    elif origin is Literal:
        yield from (repr(word) for word in get_args(hint))
    elif isinstance(origin, type) and issubclass(origin, Iterable) and get_args(hint):
        yield f"a sequence of {', '.join(getattr(h, '__name__', str(h)) for h in get_args(hint) if h is not ...)}"
    else:
        yield f"a {getattr(origin, '__name__', str(origin))}"
