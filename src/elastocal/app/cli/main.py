"""The command line: all commands of ``app/commands``, grouped in the help."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from elastocal import __version__
from elastocal.app import commands
from elastocal.app.cells.roles import in_cell
from elastocal.app.cli.command import COMMANDS, GROUPS, Command, on_command_line
from elastocal.app.cli.ending import run_to_exit


def declared() -> tuple[Command, ...]:
    """Every command, in the order of the help."""
    for module in iter_modules(commands.__path__):
        import_module(f"{commands.__name__}.{module.name}")
    order = tuple(GROUPS)
    return tuple(sorted(COMMANDS.values(), key=lambda c: (order.index(c.group), c.place, c.name)))


class _Grouped(TyperGroup):
    """Help with one list for every group of commands."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        longest = max(len(name) for name in self.commands)
        for group, title in GROUPS.items():
            names = [c.name for c in COMMANDS.values() if c.group == group]
            shown = [(n, self.commands[n]) for n in self.list_commands(ctx) if n in names]
            with formatter.section(title):
                formatter.write_dl([(f"{n:<{longest}}", c.get_short_help_str(200)) for n, c in shown])


app = typer.Typer(
    name="elastocal",
    cls=_Grouped,
    help="Calibration of serial robots that must be accurate under load. Start with: elastocal demo",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"elastocal {__version__}")
        raise typer.Exit


@app.callback()
def _top(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    pass


for _command in declared():
    app.command()(in_cell(on_command_line(_command), _command.cell))


def main() -> None:
    """Run, with one sentence instead of a traceback for what a user can put right."""
    run_to_exit(app)
