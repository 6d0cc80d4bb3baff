"""The command line: a thin skin that turns words into requests and results into output."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from elastocal import __version__
from elastocal.app.cells.in_cell import in_cell
from elastocal.app.cli import options as o
from elastocal.app.cli.cell import new, status
from elastocal.app.cli.compensate import compensate, export, iso9283
from elastocal.app.cli.compensator import arcs, compensator
from elastocal.app.cli.contact import kinetostatics
from elastocal.app.cli.ending import run_to_exit
from elastocal.app.cli.gravity import gravity
from elastocal.app.cli.identify import identify, predict, simulate
from elastocal.app.cli.loops import loops
from elastocal.app.cli.plan import plan
from elastocal.app.cli.record import record
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


@app.command()
@in_cell
def robots(json: o.Json = False) -> None:
    """List the robots that come with the package.

    \b
    Example:
      elastocal robots
    """
    from elastocal.app.cli.output import deliver
    from elastocal.app.commands import robots as command
    from elastocal.app.pages import robots as pages

    deliver(pages.page(command.run()), json)


@app.command()
@in_cell
def show(
    robot: o.Robot,
    parameters: Annotated[
        list[str] | None, typer.Option(metavar="PATTERN", help='Only these parameters, such as "A*.k".')
    ] = None,
    at: o.At = None,
    tool: o.Tool = None,
    json: o.Json = False,
) -> None:
    """Everything a robot file says: frames, joints, effects.

    Frames, joints, controller map, effects and parameters; with --at also where the frames stand.

    \b
    Example:
      elastocal show kuka-kr270 --parameters "A*.k"
    """
    from elastocal.app.cli.output import deliver, warn
    from elastocal.app.commands import show as command
    from elastocal.app.pages import show as pages

    result = command.run(command.ShowRequest(robot, tuple(parameters or ()), tool, tuple(at or ())))
    if json:
        warn(result.notes)
    deliver(pages.page(result), json)


app.command()(in_cell(new))
app.command()(in_cell(status))
app.command()(in_cell(deflect))
app.command()(in_cell(stiffness))
app.command()(in_cell(assess))
app.command()(in_cell(plan))
app.command()(in_cell(simulate))
app.command()(in_cell(identify))
app.command()(in_cell(predict))
app.command()(in_cell(compensate))
app.command()(in_cell(iso9283))
app.command()(in_cell(export))
app.command()(in_cell(arcs))
app.command()(in_cell(compensator))
app.command()(in_cell(transmission))
app.command()(in_cell(gravity))
app.command()(in_cell(record))
app.command()(in_cell(loops))
app.command()(in_cell(kinetostatics))


@app.command()
@in_cell
def reproduce(
    case: Annotated[
        str | None, typer.Argument(metavar="[CASE]", help="Name of a case; without it all: a list, or their gallery.")
    ] = None,
    report: o.ReportFile = None,
    json: o.Json = False,
) -> None:
    """Recompute a published case and compare figure by figure.

    Without a case, --report makes the gallery of all of them. Ends with 1 if a printed number is not reproduced and
    nothing explains it.

    \b
    Example:
      elastocal reproduce kr270-elastostatic
      elastocal reproduce --report gallery.html
    """
    from elastocal.app.cli.output import deliver
    from elastocal.app.cli.progress import progress
    from elastocal.app.commands import gallery
    from elastocal.app.commands import reproduce as command
    from elastocal.app.pages import gallery as gallery_pages
    from elastocal.app.pages import reproduce as pages
    from elastocal.files.write import check_targets

    check_targets({"--report": report})
    if case is not None:
        with progress(f"recomputing {case}") as callback:
            result = command.run(case, progress=callback)
        deliver(pages.page(result), json, report, data=command.outcome_data(result.outcome))
        unexplained = len(result.outcome.unexplained)
    elif report is not None:
        with progress("recomputing all cases") as callback:
            made = gallery.run(progress=callback)
        deliver(gallery_pages.page(made), json, report, on_screen=gallery_pages.short(made), data=gallery.data(made))
        unexplained = gallery.tally(made.printed).unexplained
    else:
        lines = command.cases()
        deliver(pages.list_page(lines), json, data=command.cases_data(lines))
        return
    if unexplained:
        raise typer.Exit(1)


@app.command()
@in_cell
def convert(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="A .urdf or .yaml file, or a shipped name.")],
    target: Annotated[Path, typer.Argument(metavar="TARGET.yaml", help="The robot file to write; it must not exist.")],
    tool: o.Tool = None,
    json: o.Json = False,
) -> None:
    """Write any robot as a complete robot file.

    It is the start for a file of one's own, to be filled in and changed by hand.

    \b
    Example:
      elastocal convert arm.urdf arm.yaml
    """
    from elastocal.app.cli.output import deliver
    from elastocal.app.commands import convert as command
    from elastocal.app.pages import convert as pages

    deliver(pages.page(command.run(source, target, tool)), json)


@app.command()
@in_cell
def urdf(
    source: Annotated[Path, typer.Argument(metavar="SOURCE.urdf", help="The URDF to correct; it is not changed.")],
    target: Annotated[Path, typer.Argument(metavar="TARGET.urdf", help="The corrected URDF.")],
    shift: Annotated[
        list[str],
        typer.Option(
            metavar="JOINT:AXIS=VALUE,...",
            help="Move a joint's origin in its own axes: x y z (m, mm, um), rx ry rz (rad, mrad, deg); repeatable.",
        ),
    ],
    json: o.Json = False,
) -> None:
    """Put geometric corrections into the joints of a URDF.

    Only the numbers of <origin> change; comments and foreign tags stay as they are.

    \b
    Example:
      elastocal urdf arm.urdf corrected.urdf --shift "joint_3:x=0.4mm,rz=-0.02deg"
    """
    from elastocal.app.cli.output import deliver
    from elastocal.app.commands import urdf as command
    from elastocal.app.pages import urdf as pages
    from elastocal.files.write import check_targets

    check_targets({"TARGET.urdf": target}, {"SOURCE.urdf": source})
    changes = command.run(source, target, tuple(shift))
    deliver(pages.page(changes, str(target)), json)


@app.command()
@in_cell
def demo(
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder for the cell; it must be empty, or hold an older demonstration.")
    ] = Path("elastocal-demo"),
    json: o.Json = False,
) -> None:
    """The whole cycle on a shipped robot, with a report.

    Plan, virtual campaign, identification, corrected program and proof on the true robot, in a cell that stays behind
    to be looked at and changed. Takes less than a minute.

    \b
    Example:
      elastocal demo --out elastocal-demo
    """
    from elastocal.app.cli.output import deliver
    from elastocal.app.cli.progress import progress
    from elastocal.app.commands import demo as command
    from elastocal.app.pages.demo import page as pages

    with command.new_cell(out) as cell:
        result = command.run(cell, progress)
        whole = pages.page(result)
        short = pages.short(whole, result, out)
        deliver(whole, json, cell.place("reports") / "demo.html", on_screen=short)


def main() -> None:
    """Run, with one sentence instead of a traceback for what a user can put right."""
    run_to_exit(app)
