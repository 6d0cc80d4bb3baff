"""Every command also works on a cell: the folder stands for its robot, plan, campaign, calibration or programs.

What a command takes from a cell, and where its results go there, is declared with it (``app/cli/command.py``).
``in_cell`` is put round a command of the command line.  A parameter that the command gives a role may name the folder
of a cell; what was not typed comes from the options in cell.yaml, then from the places of the cell, then from the
command itself.  The run is traced in any case.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from copy import copy
from functools import wraps
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer

from elastocal.values import dataclass


@dataclass(frozen=True)
class Fill:
    """A value that the cell gives to a parameter that was not typed, unless one of others was.

    ``place`` is a role of cell.yaml, with ``name`` a file in that folder; "{}" stands for the label of the run.
    ``parent`` takes the folder of the place.
    """

    parameter: str
    place: str
    name: str = ""
    parent: bool = False
    output: bool = True
    unless: tuple[str, ...] = ()


@dataclass(frozen=True)
class Uses:
    """``roles`` are the places that a folder stands for, by parameter; ``fills`` what the cell adds.

    ``either`` are sets of parameters that say the same in different ways: what is typed in one of them sets aside what
    cell.yaml says in another.  ``nominal`` commands answer from the robot file, whether it was calibrated or not.
    ``note`` is added to what the documentation says of the command.  One that is not ``alone`` in the cell lets others
    run beside it: it lasts for hours and touches nothing of theirs.  ``by_line`` parameters name lines of one program:
    cell.yaml states them for that one alone, and what is typed of ``either`` sets them aside.
    """

    roles: dict[str, str]
    fills: tuple[Fill, ...] = ()
    either: tuple[tuple[str, ...], ...] = ()
    nominal: bool = False
    note: str = ""
    alone: bool = True
    by_line: tuple[str, ...] = ()

    def other_ways(self, parameter: str, typed: Collection[str]) -> tuple[str, ...]:
        """What was typed in place of a parameter."""
        if parameter in self.by_line:
            return tuple(p for way in self.either for p in way if p in typed)
        if not any(parameter in way for way in self.either):
            return ()
        return tuple(p for way in self.either if parameter not in way for p in way if p in typed)


REPORT = Fill("report", "reports", "{}.html")
ROBOT = Fill("robot", "robot", output=False)
WHERE = (("at",), ("configurations",))
"""Fills and ways that several commands share."""
USES: dict[str, Uses] = {}
"""By command, as commands are declared."""
TARGETS = ("out", "urdf", "kinematics", "schema", "report", "csv")
"""Parameters that say where a result goes."""
FIRST = {
    "robot": "write it, or name it in cell.yaml",
    "plan": "write it (docs/planning.md), or name it in cell.yaml",
    "planned": "run 'elastocal plan CELL' first",
    "campaign": "put what was measured there, or run 'elastocal simulate CELL'",
    "calibration": "run 'elastocal calibrate CELL' first",
    "programs": "put programs to correct there",
}
"""How a place of the cell comes to hold something."""


Command = Callable[..., None]


def in_cell(command: Command, uses: Uses) -> Command:
    """The command with what a cell gives; its help says so, and what a cell can give need not be typed."""

    @wraps(command)
    def wrapped(context: typer.Context, **values: Any) -> None:
        from elastocal.app.cells.run import run_command
        from elastocal.app.cli.words import in_order

        arguments = [p.name for p in context.command.params if p.param_type_name == "argument" and p.name]
        values = in_order(values, arguments)
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
