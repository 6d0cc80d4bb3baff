"""What was typed, looked at before anything is computed: words in the wrong order, files that are not there, gaps."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from elastocal.app.cells.uses import Uses
from elastocal.app.cells.values import each
from elastocal.errors import InputError
from elastocal.files.cell_yaml import is_cell


def check_given(context: typer.Context, uses: Uses, values: Mapping[str, Any]) -> None:
    """Refuse what cannot be right, whatever else is missing."""
    _check_order(context, values)
    for parameter in uses.roles:
        if parameter == "out" or (parameter == "robot" and values.get("plan", "") is None):
            continue  # a campaign alone may stand where assess takes a robot and a plan
        for value in each(values.get(parameter)):
            if isinstance(value, Path):
                _check_there(value)
            elif not is_cell(Path(value)):
                _check_robot(value)


def check_needed(context: typer.Context, command: Any, values: Mapping[str, Any]) -> None:
    """Refuse what neither the command line nor a cell gave."""
    needed = [p.name for p in inspect.signature(command).parameters.values() if p.default is inspect.Parameter.empty]
    for name in (p for p in needed if values[p] is None):
        shown = f"--{name}" if name == "out" else name.upper()
        raise InputError(f"{shown} is missing; give it, or a cell{example(context.command)}")


def example(command: Any) -> str:
    """The first example in the help of a command, as the end of a sentence."""
    _, _, shown = str(command.help or "").partition("Example:")
    return f"; for example: {shown.strip().splitlines()[0].strip()}" if shown else ""


def _check_order(context: typer.Context, values: Mapping[str, Any]) -> None:
    """A robot and a table that have changed places."""
    given = {p.name: values[p.name] for p in context.command.params if p.param_type_name == "argument"}
    robot = given.pop("robot", None)
    others = [str(v) for v in given.values() if v is not None]
    if robot is not None and others and _is_robot(others[0]) and not _is_robot(robot):
        raise InputError(f"{robot} stands where a robot is meant, and {others[0]} is one{example(context.command)}")


def _is_robot(word: str) -> bool:
    from elastocal.files.robot.read import robot_file, shipped_robots

    return robot_file(word) is not None or word in shipped_robots() or is_cell(Path(word))


def _check_there(path: Path) -> None:
    if not path.exists():
        raise InputError(f"{path}: no such file; check the name")
    if path.is_dir() and not is_cell(path):
        raise InputError(
            f"{path}: is a folder and not a cell; give a file, or make a cell by 'elastocal new {path} --robot ROBOT'"
        )


def _check_robot(word: str) -> None:
    from elastocal.files.robot.read import check_word, robot_file

    if robot_file(word) is not None or (Path(word).is_dir() and not _is_robot(word)):
        _check_there(Path(word))
    else:
        check_word(word, Path(word))
