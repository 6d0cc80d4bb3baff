"""The command line: a thin skin that turns words into requests and results into output."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from elastocal import __version__
from elastocal.app import options as o
from elastocal.app.cli_compensate import compensate, export, iso9283
from elastocal.app.cli_compensator import arcs, compensator
from elastocal.app.cli_contact import kinetostatics
from elastocal.app.cli_gravity import gravity
from elastocal.app.cli_identify import identify, predict, simulate
from elastocal.app.cli_loops import loops
from elastocal.app.cli_plan import plan
from elastocal.app.cli_record import record
from elastocal.app.cli_statics import assess, deflect, stiffness
from elastocal.app.cli_transmission import transmission
from elastocal.app.ending import run_to_exit
from elastocal.errors import InputError

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
def robots(json: o.Json = False) -> None:
    """List the robots that come with the package.

    \b
    Example:
      elastocal robots
    """
    from elastocal.app.commands import robots as command
    from elastocal.app.output import deliver
    from elastocal.app.pages import robots as pages

    deliver(pages.page(command.run()), json)


@app.command()
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
    from elastocal.app.commands import show as command
    from elastocal.app.output import deliver, warn
    from elastocal.app.pages import show as pages

    result = command.run(command.ShowRequest(robot, tuple(parameters or ()), tool, tuple(at or ())))
    if json:
        warn(result.notes)
    deliver(pages.page(result), json)


app.command()(deflect)
app.command()(stiffness)
app.command()(assess)
app.command()(plan)
app.command()(simulate)
app.command()(identify)
app.command()(predict)
app.command()(compensate)
app.command()(iso9283)
app.command()(export)
app.command()(arcs)
app.command()(compensator)
app.command()(transmission)
app.command()(gravity)
app.command()(record)
app.command()(loops)
app.command()(kinetostatics)


@app.command()
def reproduce(
    case: Annotated[str | None, typer.Argument(metavar="[CASE]", help="Name of a case; without it, list them.")] = None,
    report: o.ReportFile = None,
    json: o.Json = False,
) -> None:
    """Recompute a published case and compare figure by figure.

    \b
    Example:
      elastocal reproduce kr270-elastostatic
    """
    from elastocal.app.commands import reproduce as command
    from elastocal.app.output import deliver
    from elastocal.app.pages import reproduce as pages
    from elastocal.app.progress import progress
    from elastocal.files.write import check_targets

    if case is None:
        if report is not None:
            raise InputError("--report needs a case; name one (elastocal reproduce lists them)")
        lines = command.cases()
        deliver(pages.list_page(lines), json, data=command.cases_data(lines))
        return
    check_targets({"--report": report})
    with progress(f"recomputing {case}") as callback:
        result = command.run(case, progress=callback)
    deliver(pages.page(result), json, report, data=command.outcome_data(result.outcome))


@app.command()
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
    from elastocal.app.commands import convert as command
    from elastocal.app.output import deliver
    from elastocal.app.pages import convert as pages

    deliver(pages.page(command.run(source, target, tool)), json)


@app.command()
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
    from elastocal.app.commands import urdf as command
    from elastocal.app.output import deliver
    from elastocal.app.pages import urdf as pages
    from elastocal.files.write import check_targets

    check_targets({"TARGET.urdf": target}, {"SOURCE.urdf": source})
    changes = command.run(source, target, tuple(shift))
    deliver(pages.page(changes, str(target)), json)


@app.command()
def demo(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for report.html; it is made if needed.")] = Path(
        "elastocal-report"
    ),
    json: o.Json = False,
) -> None:
    """A shipped robot under load, as an HTML report.

    Loads the KR-270, solves its loaded statics and writes the report.

    \b
    Example:
      elastocal demo --out elastocal-report
    """
    from elastocal.app.commands import demo as command
    from elastocal.app.output import deliver
    from elastocal.app.pages import demo as pages
    from elastocal.app.progress import progress
    from elastocal.files.write import check_targets, make_folder
    from elastocal.report.blocks import Report

    make_folder(out)
    check_targets({"--out": out / "report.html"}, {"the robot": command.robot_path()})
    with progress("loaded statics of the KR-270") as callback:
        result = command.run(callback)
    page = pages.page(result)
    short = Report(page.title, page.verdict, (), page.notes, page.inputs)
    deliver(page, json, out / "report.html", on_screen=short)


def main() -> None:
    """Run, with one sentence instead of a traceback for what a user can put right."""
    run_to_exit(app)
