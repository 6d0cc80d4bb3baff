"""The command line: a thin skin that turns words into requests and results into output."""

from __future__ import annotations

from typing import Annotated

import typer

from elastocal import __version__
from elastocal.app.cells.in_cell import in_cell
from elastocal.app.cli.calibrate import calibrate, predict, simulate
from elastocal.app.cli.cell import new, status
from elastocal.app.cli.compensate import compensate, export, iso9283
from elastocal.app.cli.compensator import arcs, compensator
from elastocal.app.cli.contact import kinetostatics
from elastocal.app.cli.ending import run_to_exit
from elastocal.app.cli.examples import demo, reproduce
from elastocal.app.cli.gravity import gravity
from elastocal.app.cli.loops import loops
from elastocal.app.cli.plan import plan
from elastocal.app.cli.record import record
from elastocal.app.cli.robots import convert, robots, show, urdf
from elastocal.app.cli.statics import assess, deflect, stiffness
from elastocal.app.cli.transmission import transmission

app = typer.Typer(
    name="elastocal",
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


for _command in (
    robots, show, new, status, deflect, stiffness, assess, plan, simulate, calibrate, predict, compensate, iso9283,
    export, arcs, compensator, transmission, gravity, record, loops, kinetostatics, reproduce, convert, urdf, demo,
):  # fmt: skip
    app.command()(in_cell(_command))


def main() -> None:
    """Run, with one sentence instead of a traceback for what a user can put right."""
    run_to_exit(app)
