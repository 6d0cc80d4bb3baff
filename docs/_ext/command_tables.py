"""Tables of the command line, made from the commands themselves.

``{command-table} deflect`` lists the options of one, ``all`` what each does, ``cells`` what they take from a cell.
"""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar

import typer
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from elastocal.app.cells.roles import USES, Fill, Uses
from elastocal.app.cli.command import COMMANDS, GROUPS
from elastocal.app.cli.main import app as command_line


@cache
def commands() -> dict[str, Any]:
    """The commands by name, in the order of the help."""
    group: Any = typer.main.get_command(command_line)
    return dict(group.commands)


def command_table(name: str) -> list[str]:
    if name == "all":
        rows = [
            (f"`{n}`", _plain((c.help or "").split("\n")[0]), GROUPS[COMMANDS[n].group]) for n, c in commands().items()
        ]
        return _table(("command", "what it does", "group"), rows)
    if name == "cells":
        rows = [(f"`{n}`", _stands_for(n, USES[n]), _writes(n, USES[n])) for n in commands() if n in USES]
        return _table(("command", "`CELL` stands for", "writes into the cell"), rows)
    return _table(("argument or option", "meaning"), [_row(p) for p in commands()[name].params])


def _row(param: Any) -> tuple[str, str]:
    if param.param_type_name == "argument":
        return f"`{param.metavar or param.name.upper()}`", _plain(param.help or "")
    if param.name == "help":
        return "`-h`, `--help`", "Show the help and stop."
    value = "" if param.is_flag else f" {param.metavar or param.name.upper()}"
    names = ", ".join(f"`{o}{value}`" for o in param.opts)
    return names, _plain(param.help or "")


def _plain(text: str) -> str:
    return text.replace("|", r"\|").replace("*", r"\*").replace("_", r"\_").replace("[", r"\[").replace("<", r"\<")


def _stands_for(name: str, uses: Uses) -> str:
    """The place for an argument, then those for options, then what the cell adds."""
    arguments = {p.name for p in commands()[name].params if p.param_type_name == "argument"}
    own = [f"`{role}`" for p, role in uses.roles.items() if p in arguments]
    after = [f"after `--{p}` `{role}`" for p, role in uses.roles.items() if p not in arguments]
    added = [f"with `{f.place}`" for f in uses.fills if not f.output]
    return "; ".join((*own, *after, *added))


def _writes(name: str, uses: Uses) -> str:
    places = [_place(name, fill) for fill in uses.fills if fill.output]
    return "; ".join((*(places or ["nothing, unless an option says so"]), *([uses.note] if uses.note else [])))


def _place(name: str, fill: Fill) -> str:
    if fill.parameter == "report":
        return f"`reports/{name}{'-PROGRAM' * ('program' in USES[name].roles)}.html`"
    others = ", ".join(f"`--{p}`" for p in fill.unless)
    unless = f", unless one of {others} asks for others" if others else ""
    if fill.name:
        return f"`{fill.name}` beside `{fill.place}`{unless}"
    return f"{'the folder of ' * fill.parent}`{fill.place}`{unless}"


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    lines = [" | ".join(head), " | ".join("---" for _ in head), *(" | ".join(r) for r in rows)]
    return [f"| {line} |" for line in lines] + [""]


class CommandTable(SphinxDirective):
    """``{command-table} deflect``"""

    required_arguments = 1
    option_spec: ClassVar[dict[str, Any]] = {}

    def run(self) -> list[nodes.Node]:
        return self.parse_text_to_nodes("\n".join(command_table(self.arguments[0])))


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("command-table", CommandTable)
    return {"parallel_read_safe": True}
