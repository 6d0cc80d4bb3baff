"""The command line: a thin skin that turns words into requests and results into output."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from elastocal import __version__
from elastocal.app import options as o
from elastocal.errors import ElastocalError

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

    Example: elastocal robots
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
    tool: o.Tool = None,
    json: o.Json = False,
) -> None:
    """Show frames, joints, controller map, effects and parameters of a robot.

    Example: elastocal show kuka-kr270 --parameters "A*.k"
    """
    from elastocal.app.commands import show as command
    from elastocal.app.output import deliver, warn
    from elastocal.app.pages import show as pages

    result = command.run(command.ShowRequest(robot, tuple(parameters or ()), tool))
    if json:
        warn(result.notes)
    deliver(pages.page(result), json)


@app.command()
def deflect(
    robot: o.Robot,
    at: o.At = None,
    configurations: o.File = None,
    force: o.Force = None,
    moment: o.Moment = None,
    load_frame: o.LoadFrame = None,
    frame: o.Frame = None,
    follow: o.Follow = False,
    payload: o.Payload = None,
    payload_frame: o.PayloadFrame = None,
    linear: Annotated[bool, typer.Option("--linear", help="Show the linear formula beside the equilibrium.")] = False,
    without: o.Without = None,
    ignore_limits: o.IgnoreLimits = False,
    tool: o.Tool = None,
    report: o.ReportFile = None,
    csv: o.CsvFile = None,
    json: o.Json = False,
) -> None:
    """How far a load moves a frame, at the loaded equilibrium.

    Example: elastocal deflect kuka-kr270 --at "0,-90,90,0,30,0" --force "0,0,-2500"
    """
    from elastocal.app.commands import deflect as command
    from elastocal.app.output import deliver, warn
    from elastocal.app.pages import deflect as pages
    from elastocal.app.progress import progress
    from elastocal.app.pushing import LoadRequest
    from elastocal.files.write import check_targets

    check_targets({"--report": report, "--csv": csv}, {"--configurations": configurations})
    load = LoadRequest(force, moment, load_frame, follow)
    request = command.DeflectRequest(
        robot, tuple(at or ()), configurations, load, frame, payload, payload_frame, linear, tuple(without or ()),
        ignore_limits, tool,
    )  # fmt: skip
    with progress("loaded equilibrium") as callback:
        result = command.run(request, callback)
    if json:
        warn(result.notes)
    deliver(pages.page(result), json, report, (csv, pages.deflection_table(result)))


@app.command()
def stiffness(
    robot: o.Robot,
    at: o.At = None,
    configurations: o.File = None,
    map: Annotated[
        str | None, typer.Option(metavar="GRID", help='Grid over two axes, such as "A2:-130:-20:12,A3:-90:120:12".')
    ] = None,
    force: o.Force = None,
    moment: o.Moment = None,
    load_frame: o.LoadFrame = None,
    frame: o.Frame = None,
    follow: o.Follow = False,
    loaded: Annotated[
        bool, typer.Option("--loaded", help="Under weights and springs also where no external load is given.")
    ] = False,
    payload: o.Payload = None,
    payload_frame: o.PayloadFrame = None,
    without: o.Without = None,
    ignore_limits: o.IgnoreLimits = False,
    tool: o.Tool = None,
    report: o.ReportFile = None,
    csv: o.CsvFile = None,
    json: o.Json = False,
) -> None:
    """Cartesian stiffness of a frame, in chosen configurations or as a map; with a load, at the loaded equilibrium.

    Example: elastocal stiffness kuka-kr270 --map "A2:-130:-20:12,A3:-90:120:12" --report map.html
    """
    from elastocal.app.commands import stiffness as command
    from elastocal.app.output import deliver, warn
    from elastocal.app.pages import stiffness as pages
    from elastocal.app.progress import progress
    from elastocal.app.pushing import LoadRequest
    from elastocal.files.write import check_targets

    check_targets({"--report": report, "--csv": csv}, {"--configurations": configurations})
    load = LoadRequest(force, moment, load_frame, follow)
    request = command.StiffnessRequest(
        robot, tuple(at or ()), configurations, map, load, loaded, frame, payload, payload_frame, tuple(without or ()),
        ignore_limits, tool,
    )  # fmt: skip
    with progress("stiffness") as callback:
        result = command.run(request, callback)
    if json:
        warn(result.notes)
    deliver(pages.page(result), json, report, (csv, pages.stiffness_table(result)), pages.text_page(result))


@app.command()
def assess(
    robot: o.Robot,
    plan: Annotated[
        Path, typer.Argument(metavar="PLAN.csv", help="Configurations and loads: A1_deg,...[,fx_N,...,mz_Nm].")
    ],
    marker: Annotated[
        list[str] | None, typer.Option(metavar="FRAME", help="What is measured; repeatable (default: the tool).")
    ] = None,
    pose: Annotated[bool, typer.Option("--pose", help="Orientations are measured too.")] = False,
    noise_mm: Annotated[float, typer.Option(metavar="MM", help="Standard deviation of a reading, per axis.")] = 0.03,
    noise_mrad: Annotated[float | None, typer.Option(metavar="MRAD", help="The same for orientations.")] = None,
    repeats: Annotated[int, typer.Option(metavar="N", help="Readings averaged, loaded and unloaded.")] = 1,
    force: o.Force = None,
    moment: o.Moment = None,
    load_frame: o.LoadFrame = None,
    parameters: Annotated[
        list[str] | None, typer.Option(metavar="PATTERN", help='Parameters to seek, such as "A*.k"; repeatable.')
    ] = None,
    form: Annotated[
        str | None, typer.Option(metavar="FORM", help="Describe all 6x6 springs as full, symmetric or beam.")
    ] = None,
    thresholds: Annotated[
        tuple[float, float], typer.Option(metavar="ABOVE BELOW", help="Ratios that part G1+, G1~ and G1-.")
    ] = (5.0, 2.0),
    without: o.Without = None,
    ignore_limits: o.IgnoreLimits = False,
    tool: o.Tool = None,
    report: o.ReportFile = None,
    csv: o.CsvFile = None,
    json: o.Json = False,
) -> None:
    """Which compliances a plan can tell apart and how well, before anything is measured.

    Example: elastocal assess kuka-kr270 plan.csv --force "0,0,-2500" --marker marker1 --marker marker2
    """
    from elastocal.app.commands import assess as command
    from elastocal.app.output import deliver, warn
    from elastocal.app.pages import assess as pages
    from elastocal.app.pushing import LoadRequest
    from elastocal.files.write import check_targets

    check_targets({"--report": report, "--csv": csv}, {"PLAN.csv": plan})
    load = LoadRequest(force, moment, load_frame)
    request = command.AssessRequest(
        robot, plan, tuple(marker or ()), pose, noise_mm, noise_mrad, repeats, load, tuple(parameters or ()), form,
        thresholds, tuple(without or ()), ignore_limits, tool,
    )  # fmt: skip
    result = command.run(request)
    if json:
        warn(result.notes)
    deliver(pages.page(result), json, report, (csv, pages.parameter_table(result)))


@app.command()
def reproduce(
    case: Annotated[str | None, typer.Argument(metavar="[CASE]", help="Name of a case; without it, list them.")] = None,
    report: o.ReportFile = None,
    json: o.Json = False,
) -> None:
    """Recompute a published case and compare figure by figure.

    Example: elastocal reproduce kr270-elastostatic
    """
    from elastocal.app.commands import reproduce as command
    from elastocal.app.output import deliver, print_json
    from elastocal.app.pages import reproduce as pages
    from elastocal.files.write import check_targets

    if case is None:
        lines = command.cases()
        if json:
            print_json([{"case": c.case, "title": c.title, "source": c.source} for c in lines])
        else:
            deliver(pages.list_page(lines), False)
        return
    check_targets({"--report": report})
    result = command.run(case)
    deliver(pages.page(result), json, report, data=command.outcome_data(result.outcome))


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
    """Put geometric corrections into the <origin> of joints; comments and foreign tags stay as they are.

    Example: elastocal urdf arm.urdf corrected.urdf --shift "joint_3:x=0.4mm,rz=-0.02deg"
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
    """Load the KR-270, solve its loaded statics, write an HTML report.

    Example: elastocal demo --out elastocal-report
    """
    from elastocal.app.commands import demo as command
    from elastocal.app.output import deliver
    from elastocal.app.pages import demo as pages
    from elastocal.app.progress import progress
    from elastocal.files.write import check_targets, make_folder
    from elastocal.report.blocks import Report

    with progress("loaded statics of the KR-270") as callback:
        result = command.run(callback)
    make_folder(out)
    check_targets({"--out": out / "report.html"})
    page = pages.page(result)
    deliver(page, json, out / "report.html", on_screen=Report(page.title, page.verdict, ()))


def main() -> None:
    """Run, with one sentence instead of a traceback for what a user can put right."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a console of another encoding must not break the answer
    try:
        app(prog_name="elastocal")
    except ElastocalError as error:
        print(f"elastocal: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("elastocal: stopped", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        # the reader has gone: keep the interpreter from complaining when it flushes stdout at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except OSError as error:
        print(f"elastocal: {error.filename or 'file'}: {error.strerror or error}", file=sys.stderr)
        sys.exit(2)
