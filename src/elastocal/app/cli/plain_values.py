"""Values of the command line that are what their option asks for as they stand.

Typer hands every value to pydantic, also those that nobody gave, and making that ready takes a tenth of the time of a
short command.  Words, paths and defaults are taken here; whatever is to be converted or refused is left to Typer.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, get_args, get_origin

from typer.core import TyperCommand

_RULES = ("parser", "min", "max", "clamp", "exists", "writable", "resolve_path", "allow_dash", "path_type")
"""Of an option: with any of them more is asked for than a type."""


class PlainValues(TyperCommand):
    """A command whose parameters pass what needs no conversion."""

    def get_params(self, ctx: Any) -> list[Any]:
        parameters: list[Any] = super().get_params(ctx)
        for parameter in parameters:
            wanted = getattr(parameter, "type_descriptor", None)  # earlier versions of Typer have nothing to be spared
            if wanted is not None and "process_value" not in vars(parameter):
                parameter.process_value = partial(_value, parameter, wanted, parameter.process_value)
        return parameters


def _value(parameter: Any, wanted: Any, checked: Callable[[Any, Any], Any], context: Any, value: Any) -> Any:
    several = parameter.multiple or parameter.nargs == -1
    if value is None and not parameter.required:
        nothing = () if several else None
        return nothing if parameter.callback is None else parameter.callback(context, parameter, nothing)
    if parameter.callback is not None:
        return checked(context, value)
    kind, rules = wanted.annotation, wanted.parameter_info
    if any(getattr(rules, rule, None) for rule in _RULES) or not (rules.file_okay and rules.dir_okay):
        return checked(context, value)
    if several and get_origin(kind) is list and isinstance(value, list | tuple) and value:
        taken = [_plain(get_args(kind)[0], v) for v in value]
        return checked(context, value) if None in taken else taken
    taken_one = None if several or parameter.nargs != 1 else _plain(kind, value)
    return checked(context, value) if taken_one is None else taken_one


def _plain(kind: Any, value: Any) -> Any:
    """The value as its type, None where it is not of it as it stands."""
    if kind in (str, int, float) and type(value) is kind:
        return value
    return Path(value) if kind is Path and isinstance(value, str | Path) and _may_be_read(value) else None


def _may_be_read(path: str | Path) -> bool:
    """Whether nothing is there, or something that may be read."""
    try:
        return os.access(path, os.R_OK) or not os.path.lexists(path)
    except ValueError:
        return False
