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
from functools import cached_property
from inspect import get_annotations
from operator import attrgetter
from reprlib import recursive_repr
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


MOST_SHOWN = 36
"""Numbers up to which an array is shown whole in the ``repr`` of a value."""


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


def _compiled(cls: type) -> Any:
    fields = dataclasses.fields(cls)
    known: dict[str, Any] = {"factory__": _Factory(), "set__": object.__setattr__}
    known |= {f"{f.name}__default": f.default for f in fields if f.default is not MISSING}
    known |= {f"{f.name}__make": f.default_factory for f in fields if f.default_factory is not MISSING}
    taken = [f for f in fields if f.init]
    named = [_parameter(f) for f in taken if f.kw_only]
    parameters = ["self__", *(_parameter(f) for f in taken if not f.kw_only), *(["*", *named] if named else [])]
    lines = [f"set__(self__, {f.name!r}, {value})" for f in fields if (value := _value(f))]
    lines += ["self__.__post_init__()"] if hasattr(cls, "__post_init__") else []
    body = "".join(f"  {line}\n" for line in lines or ["pass"])
    space: dict[str, Any] = {}  # annotations are looked up among the names of the module
    module = getattr(sys.modules.get(cls.__module__), "__dict__", {})
    source = f"def make__({', '.join(known)}):\n def __init__({', '.join(parameters)}):\n{body} return __init__"
    exec(source, module, space)
    init: Any = space["make__"](**known)
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    init.__annotations__ = {**{f.name: f.type for f in taken}, "return": None}
    return init


def _parameter(field: Field[Any]) -> str:
    if field.default_factory is not MISSING:
        return f"{field.name}=factory__"
    return field.name if field.default is MISSING else f"{field.name}={field.name}__default"


def _value(field: Field[Any]) -> str:
    """What a field is set to; nothing for one whose default stands on the class."""
    name, make = field.name, f"{field.name}__make()"
    if field.default_factory is MISSING:
        return name if field.init else ""
    return f"{make} if {name} is factory__ else {name}" if field.init else make


def _values(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    return lambda value: tuple(getattr(value, name) for name in names)


def _repr(names: tuple[str, ...]) -> Any:
    @recursive_repr()
    def __repr__(self: Any) -> str:
        return f"{type(self).__qualname__}({', '.join(f'{name}={_short(getattr(self, name))}' for name in names)})"

    return __repr__


def _short(value: Any) -> str:
    """Its ``repr``; of a large array the shape."""
    shape = getattr(value, "shape", None)
    return repr(value) if shape is None or getattr(value, "size", 0) <= MOST_SHOWN else f"<array {shape}>"


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
