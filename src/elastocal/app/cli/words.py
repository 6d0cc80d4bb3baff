"""Words of a command line: in which order they may stand, and those that are values as they stand.

What is typed first is the robot or the calibration that acts, then the data that it acts on:

    elastocal calibrate arm.urdf points.csv        elastocal validate calibration.json later.csv

Files tell by themselves what they are, so the other way round is understood too; and where a command knows robot or
calibration by an option only, as ``compensate`` does, they may stand before the data as well.

Typer hands every value to pydantic, also those that nobody gave, and making that ready takes a tenth of the time of a
short command.  Words, paths and defaults are taken here; whatever is to be converted or refused is left to Typer.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from typing import Any, get_args, get_origin

from typer.core import TyperCommand

_ROBOT = re.compile(r"^\s*format\s*:\s*[\"']?elastocal-robot/", re.MULTILINE)
ACTS = ("calibration", "robot", "campaign")
DATA = ("table", "tables", "measured", "plan", "log")
"""Parameters of commands, and those that stand beside them."""


def in_order(values: dict[str, Any], arguments: Collection[str]) -> dict[str, Any]:
    """Values of a command with the first two of its ``arguments`` exchanged, where files say that they should be."""
    first = next((p for p in ACTS if p in arguments), "robot")
    second = next((p for p in DATA if p in arguments), None)
    if first not in values or second is None or not values[second]:
        return values
    before, several = values[first], isinstance(values[second], list)
    data = values[second] if several else [values[second]]
    acting = [w for w in data if _acts(first, str(w))]
    if len(acting) != 1 or (_acts(first, str(before)) if first in arguments else before is not None):
        return values
    rest = [w for w in data if w is not acting[0]]
    rest = rest if before is None else [type(data[0])(before), *rest]
    if not rest:
        return values
    own = str(acting[0]) if before is None else type(before)(acting[0])
    return {**values, first: own, second: rest if several else rest[0]}


def with_options(words: Sequence[str], options: Collection[str]) -> list[str] | None:
    """Words of a command line with --calibration or --robot before a file that was typed as an argument; else None."""
    for name in ("calibration", "robot"):
        for i in range(1, len(words)) if f"--{name}" in options and f"--{name}" not in words else ():
            if not words[i].startswith("-") and not words[i - 1].startswith("--") and _acts(name, words[i]):
                return [*words[:i], *words[i + 1 :], f"--{name}", words[i]]
    return None


def _acts(parameter: str, word: str) -> bool:
    """Whether a word is a calibration, or a robot."""
    if parameter == "calibration":
        return Path(word).suffix.lower() == ".json"
    from elastocal.files.located import read_text
    from elastocal.files.robot.read import TABLES, XML, YAML, robot_file, shipped_robots

    file = robot_file(word)
    if file is None:
        return not Path(word).suffix and any(f"-{word.lower()}-" in f"-{name}-" for name in shipped_robots())
    if file.suffix.lower() in YAML:
        return file.is_file() and _ROBOT.search(read_text(file)) is not None
    return file.suffix.lower() in XML or (file.suffix.lower() in TABLES and file.is_file())


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
