"""Every command also works on a cell: the folder stands for its robot, plan, campaign, calibration or programs.

``in_cell`` is put round a command of the command line.  A parameter that the command gives a role may name the folder
of a cell; what was not typed comes from the options in cell.yaml, then from the places of the cell, then from
the command itself.  The run is traced in any case.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from copy import copy
from functools import wraps
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer

from elastocal.app.cells.uses import Uses

Command = Callable[..., None]


def in_cell(command: Command, uses: Uses) -> Command:
    """The command with what a cell gives; its help says so, and what a cell can give need not be typed."""

    @wraps(command)
    def wrapped(context: typer.Context, **values: Any) -> None:
        from elastocal.app.cells.run import run_command

        typed = {k for k in values if str(context.get_parameter_source(k)).endswith("COMMANDLINE")}
        run_command(context, command, uses, values, typed)

    signature = inspect.signature(command)
    hints = get_type_hints(command, include_extras=True)
    given = {fill.parameter for fill in uses.fills}
    parameters = [
        _parameter(p, hints[p.name], p.name in uses.roles, p.name in given) for p in signature.parameters.values()
    ]
    context = inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    keyword = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in parameters]
    wrapped.__signature__ = signature.replace(parameters=[context, *keyword])  # type: ignore[attr-defined]
    wrapped.__annotations__ = {"context": typer.Context, **{p.name: p.annotation for p in parameters}, "return": None}
    del wrapped.__wrapped__
    return wrapped


def _parameter(p: inspect.Parameter, hint: Any, may_be_cell: bool, given: bool) -> inspect.Parameter:
    """The parameter as the command line shall know it."""
    if get_origin(hint) is not Annotated:
        return p.replace(annotation=hint)
    kind, info, *rest = get_args(hint)
    if may_be_cell:
        info = copy(info)
        info.metavar = _or_cell(info.metavar)
    default = p.default
    if given and default is inspect.Parameter.empty:
        kind, default = kind | None, None
    return p.replace(annotation=Annotated[kind, info, *rest], default=default)


def _or_cell(metavar: str | None) -> str | None:
    if metavar is None:
        return None
    return f"[{metavar[1:-1]}|CELL]" if metavar.startswith("[") else f"{metavar}|CELL"
