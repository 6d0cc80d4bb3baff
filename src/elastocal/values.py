"""``dataclass`` of the standard library, with frozen classes that take a fifth of the time to make.

    from elastocal.values import dataclass

The standard decorator compiles four to six functions for every class, and a command makes some 400 of them.  Here
``__init__`` is compiled when it is first asked for, and the others are closures.  To the standard library it is a
frozen dataclass like any other: ``fields``, ``replace`` and ``asdict`` take it, and either may inherit from the other.
What a value has worked out and remembers (``cached_property``) is neither copied nor pickled with it: code that was
generated cannot be.
Type checkers see the standard decorator, which also makes whatever is not plainly frozen (``order``, ``slots``).
There is no ``InitVar``.
"""

from __future__ import annotations

import dataclasses
import re
import sys
from abc import update_abstractmethods
from collections.abc import Callable, Collection
from dataclasses import MISSING, Field, FrozenInstanceError
from functools import cache, cached_property
from inspect import get_annotations
from operator import attrgetter
from reprlib import recursive_repr
from types import CellType, CodeType, FunctionType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, eq=True, repr=True, kw_only=False, **others):
        def decorated(made):
            if frozen and not others and _is_plain(made):
                return _frozen(made, eq, repr, kw_only)
            return dataclasses.dataclass(frozen=frozen, eq=eq, repr=repr, kw_only=kw_only, **others)(made)

        return decorated if cls is None else decorated(cls)


@dataclasses.dataclass(frozen=True)
class _Standard:
    """What the standard library puts on any frozen class."""

    one: int = 0


_FIELD = _Standard.__dataclass_fields__["one"]._field_type  # type: ignore[attr-defined]
_MARKS = {name: value for name, value in vars(_Standard).items() if name in ("__dataclass_params__", "__replace__")}


def _is_plain(cls: type) -> bool:
    """Whether nothing speaks against its being frozen, which the standard decorator would refuse in its words."""
    inherited = [vars(base)["__dataclass_params__"] for base in cls.__mro__ if "__dataclass_params__" in vars(base)]
    return all(p.frozen for p in inherited) and not {"__setattr__", "__delattr__"} & vars(cls).keys()


def _frozen(cls: type, eq: bool, repr: bool, kw_only: bool) -> type:
    own_hash = "__hash__" in vars(cls) and not (vars(cls)["__hash__"] is None and "__eq__" in vars(cls))
    for name, value in (_MARKS | {"__dataclass_fields__": _fields_of(cls, kw_only)}).items():
        setattr(cls, name, value)
    fields = dataclasses.fields(cls)
    _check_order(fields)
    names = tuple(f.name for f in fields)
    made: dict[str, Any] = {"__getstate__": _getstate}
    made |= {"__init__": _Init(cls), "__match_args__": tuple(f.name for f in fields if f.init and not f.kw_only)}
    if repr:
        made["__repr__"] = _repr(tuple(f.name for f in fields if f.repr))
    if eq:
        made["__eq__"] = _eq(_values(tuple(f.name for f in fields if f.compare)))
    for name, value in made.items():
        if name not in vars(cls):
            setattr(cls, name, value)
    if eq and not own_hash:
        compared = tuple(f.name for f in fields if (f.compare if f.hash is None else f.hash))
        cls.__hash__ = _hash(_values(compared))  # type: ignore[method-assign]
    cls.__setattr__, cls.__delattr__ = _refusals(cls, frozenset(names))  # type: ignore[method-assign]
    cls.__doc__ = cls.__doc__ or f"{cls.__name__}({', '.join(names)})"
    update_abstractmethods(cls)
    return cls


_SPECIAL = re.compile(r"InitVar|KW_ONLY|.\bClassVar")
"""In annotations that are left to the standard library."""


def _fields_of(cls: type, kw_only: bool) -> dict[str, Field[Any]]:
    """Of the class and those it inherits from."""
    annotations = get_annotations(cls)
    named = all(isinstance(v, Field) <= (n in annotations) for n, v in vars(cls).items())
    plain = named and all(type(a) is str and not _SPECIAL.search(a) for a in annotations.values())
    own = (_plain_fields if plain else _standard_fields)(cls, annotations, kw_only)
    for name in (n for n in own if isinstance(vars(cls).get(n), Field)):
        if own[name].default is MISSING:
            delattr(cls, name)
        else:
            setattr(cls, name, own[name].default)
    fields: dict[str, Field[Any]] = {}
    for base in reversed(cls.__mro__[1:]):
        fields |= getattr(base, "__dataclass_fields__", {})
    return fields | own


def _plain_fields(cls: type, annotations: dict[str, Any], kw_only: bool) -> dict[str, Field[Any]]:
    """As the standard library makes them, without the rest of what it does."""
    own: dict[str, Field[Any]] = {}
    for name, annotation in annotations.items():
        stated = vars(cls).get(name, MISSING)
        if annotation.startswith("ClassVar"):
            continue
        made: Any = stated if isinstance(stated, Field) else dataclasses.field(default=stated)
        if made.default is not MISSING and made.default.__class__.__hash__ is None:
            raise ValueError(f"mutable default {type(made.default)} for field {name} is not allowed")
        made.name, made.type, made._field_type = name, annotation, _FIELD
        made.kw_only = kw_only if made.kw_only is MISSING else made.kw_only
        own[name] = made
    return own


def _standard_fields(cls: type, annotations: dict[str, Any], kw_only: bool) -> dict[str, Field[Any]]:
    """By the standard library itself, from a twin without bases."""
    stated = {n: v for n, v in vars(cls).items() if n in annotations or isinstance(v, Field)}
    twin = type(
        cls.__name__, (), {"__annotations__": annotations, "__module__": cls.__module__, "__doc__": "-", **stated}
    )
    dataclasses.dataclass(init=False, repr=False, eq=False, match_args=False, kw_only=kw_only)(twin)
    return dict(twin.__dataclass_fields__)  # type: ignore[attr-defined]


def _check_order(fields: Collection[Field[Any]]) -> None:
    optional = False
    for field in (f for f in fields if f.init and not f.kw_only):
        if optional and not _is_optional(field):
            raise TypeError(f"non-default argument {field.name!r} follows default argument")
        optional = optional or _is_optional(field)


def _is_optional(field: Field[Any]) -> bool:
    return field.default is not MISSING or field.default_factory is not MISSING


class _Init:
    """``__init__`` of a class, which takes the place of this one as soon as anybody looks at it."""

    def __init__(self, cls: type) -> None:
        self.cls = cls

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        init = _compiled(self.cls)
        self.cls.__init__ = init  # type: ignore[misc]
        return init.__get__(instance, owner)


class _Factory:
    """Stands in a signature for a value that is made anew for every instance."""

    def __repr__(self) -> str:
        return "<factory>"


_FACTORY = _Factory()


def _compiled(cls: type) -> Any:
    """The code is that of any class with as many fields of the same sorts, under other names."""
    fields = dataclasses.fields(cls)
    code = _code(tuple(map(_sort, fields)), hasattr(cls, "__post_init__"))
    names: dict[Any, Any] = {f"field{i}__": f.name for i, f in enumerate(fields)}
    own = code.replace(
        co_varnames=tuple(names.get(name, name) for name in code.co_varnames),
        co_consts=tuple(names.get(value, value) for value in code.co_consts),
    )
    known: dict[str, Any] = {"factory__": _FACTORY, "set__": object.__setattr__}
    known |= {f"make{i}__": f.default_factory for i, f in enumerate(fields)}
    module = getattr(sys.modules.get(cls.__module__), "__dict__", {})  # annotations are looked up among its names
    cells = tuple(CellType(known[name]) for name in code.co_freevars)
    stated = {f.name: f.default if f.default is not MISSING else _FACTORY for f in fields if _is_optional(f)}
    taken = [f for f in fields if f.init]
    values = tuple(stated[f.name] for f in taken if not f.kw_only and f.name in stated)
    init: Any = FunctionType(own, module, "__init__", values, cells)
    init.__kwdefaults__ = {f.name: stated[f.name] for f in taken if f.kw_only and f.name in stated}
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    init.__annotations__ = {**{f.name: f.type for f in taken}, "return": None}
    return init


def _sort(field: Field[Any]) -> tuple[bool, bool, bool]:
    """Whether it is a parameter, one by name alone, and made anew for every instance."""
    return field.init, bool(field.kw_only), field.default_factory is not MISSING


@cache
def _code(sorts: tuple[tuple[bool, bool, bool], ...], checked: bool) -> CodeType:
    """What sets fields of such sorts, by the names ``field0__``, ``field1__`` and so on."""
    taken = [(f"field{i}__", named) for i, (init, named, _) in enumerate(sorts) if init]
    named = [name for name, by_name in taken if by_name]
    parameters = ["self__", *(name for name, by_name in taken if not by_name), *(["*", *named] if named else [])]
    lines = [f"set__(self__, 'field{i}__', {v})" for i, sort in enumerate(sorts) if (v := _value(i, *sort))]
    lines += ["self__.__post_init__()"] if checked else []
    body = "".join(f"  {line}\n" for line in lines or ["pass"])
    free = ", ".join(["factory__", "set__", *(f"make{i}__" for i in range(len(sorts)))])
    space: dict[str, Any] = {}
    exec(f"def make__({free}):\n def __init__({', '.join(parameters)}):\n{body} return __init__", space)
    code: CodeType = space["make__"](*[None] * (len(sorts) + 2)).__code__
    return code


def _value(i: int, init: bool, _: bool, made: bool) -> str:
    """What a field is set to; nothing for one whose default stands on the class."""
    if not made:
        return f"field{i}__" if init else ""
    return f"make{i}__() if field{i}__ is factory__ else field{i}__" if init else f"make{i}__()"


def _values(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    return lambda value: tuple(getattr(value, name) for name in names)


def _repr(names: tuple[str, ...]) -> Any:
    @recursive_repr()
    def __repr__(self: Any) -> str:
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    return __repr__


def _getstate(self: Any) -> dict[str, Any]:
    known = {name for base in type(self).__mro__ for name, v in vars(base).items() if isinstance(v, cached_property)}
    return {name: value for name, value in vars(self).items() if name not in known}


def _eq(values: Callable[[Any], tuple[Any, ...]]) -> Any:
    def __eq__(self: Any, other: object) -> Any:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    return __eq__


def _hash(values: Callable[[Any], tuple[Any, ...]]) -> Any:
    def __hash__(self: Any) -> int:
        return hash(values(self))

    return __hash__


def _refusals(cls: Any, names: frozenset[str]) -> tuple[Any, Any]:
    def __setattr__(self: Any, name: str, value: Any) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def __delattr__(self: Any, name: str) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    return __setattr__, __delattr__
