"""Tables of the command line, made from the commands themselves: ``{command-table} deflect``, or ``all``."""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar

import typer
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from elastocal.app.cli.main import app as command_line


@cache
def commands() -> dict[str, Any]:
    """The commands by name, in the order of the help."""
    group: Any = typer.main.get_command(command_line)
    return dict(group.commands)


def command_table(name: str) -> list[str]:
    if name == "all":
        rows = [(f"`{n}`", _plain((c.help or "").split("\n")[0])) for n, c in commands().items()]
        return _table(("command", "what it does"), rows)
    rows = [_row(p) for p in commands()[name].params]
    return _table(("argument or option", "meaning"), [r for r in rows if r])


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


def _table(head: tuple[str, str], rows: list[tuple[str, str]]) -> list[str]:
    lines = [" | ".join(head), "--- | ---", *(" | ".join(r) for r in rows)]
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
