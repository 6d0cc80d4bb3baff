"""The commands from readings to a calibrated model: simulate, calibrate, predict."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from elastocal.app.cli import options as o

Seed = Annotated[
    int, typer.Option(metavar="N", min=0, help="Start of the random numbers; the same seed, the same result.")
]


def calibrate(
    campaign: Annotated[
        Path, typer.Argument(metavar="CAMPAIGN.yaml", help="Robot, table of readings, errors, what to seek.")
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE.json", help="Write the calibration, which predict reads.")
    ] = None,
    correlated: Annotated[float, typer.Option(metavar="R", help="List correlations above this size.")] = 0.8,
    emcee: Annotated[
        int | None, typer.Option(metavar="STEPS", help="Also sample the nonlinear problem by emcee (extra mcmc).")
    ] = None,
    seed: Seed = 1,
    report: o.ReportFile = None,
    csv: o.CsvFile = None,
    json: o.Json = False,
) -> None:
    """Parameters from deflections, positions or contacts.

    With their accuracy, what the readings can tell apart, a reduced model that is safe to compensate with, and how
    well it predicts poses that it has not seen.

    \b
    Example:
      elastocal calibrate campaign.yaml --out calibration.json --report found.html
    """
    from elastocal.app.cli.output import deliver, warn
    from elastocal.app.cli.progress import progress
    from elastocal.app.commands import calibrate as command
    from elastocal.app.found_calibration import calibration as calibration_file
    from elastocal.app.pages.calibrate import page as pages
    from elastocal.app.pages.calibrate.parameters import parameter_table
    from elastocal.files.write import check_targets

    targets = {"--out": out, "--report": report, "--csv": csv}
    check_targets(targets, {"CAMPAIGN.yaml": campaign})
    with progress("calibrating") as callback:
        result = command.run(command.CalibrateRequest(campaign, correlated, emcee, seed, targets), callback)
    if json:
        warn(result.notes)
    calibration = {} if out is None else {out: calibration_file(result, out)}
    table = parameter_table(result.study, result.ensemble, result.standing)
    deliver(pages.page(result), json, report, (csv, table), pages.screen(result), more=calibration)


def predict(
    calibration: Annotated[
        Path, typer.Argument(metavar="CALIBRATION.json", help="What 'elastocal calibrate --out' wrote.")
    ],
    at: o.At = None,
    configurations: o.File = None,
    force: o.Force = None,
    moment: o.Moment = None,
    load_frame: o.LoadFrame = None,
    frame: o.Frame = None,
    follow: o.Follow = False,
    ignore_limits: o.IgnoreLimits = False,
    report: o.ReportFile = None,
    csv: o.CsvFile = None,
    json: o.Json = False,
) -> None:
    """Deflection by a calibrated model, with its accuracy.

    95 % intervals and the error ellipsoid of the compensated point, model discrepancy included.

    \b
    Example:
      elastocal predict calibration.json --at "0,-90,90,0,30,0" --force "0,0,-900"
    """
    from elastocal.app.cli.output import deliver, warn
    from elastocal.app.commands import predict as command
    from elastocal.app.pages.predict import page as pages
    from elastocal.app.pushing import LoadRequest
    from elastocal.files.write import check_targets

    check_targets(
        {"--report": report, "--csv": csv}, {"CALIBRATION.json": calibration, "--configurations": configurations}
    )
    load = LoadRequest(force, moment, load_frame, follow)
    request = command.PredictRequest(calibration, tuple(at or ()), configurations, load, frame, ignore_limits)
    result = command.run(request)
    if json:
        warn(result.notes)
    deliver(pages.page(result), json, report, (csv, pages.prediction_table(result)))


def simulate(
    plan: Annotated[
        Path, typer.Argument(metavar="PLAN.yaml", help="A campaign file whose table holds no readings yet.")
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for campaign.yaml and readings.csv.")],
    truth: Annotated[
        str | None, typer.Option(metavar="ROBOT", help="The robot that is measured (default: the plan's own).")
    ] = None,
    gross: Annotated[int, typer.Option(metavar="N", help="Gross errors to plant.")] = 0,
    gross_mm: Annotated[float, typer.Option(metavar="MM", help="Their size.")] = 2.0,
    gross_n: Annotated[float, typer.Option("--gross-N", metavar="N", help="Their size in forces of contacts.")] = 20.0,
    seed: Seed = 1,
    report: o.ReportFile = None,
    json: o.Json = False,
) -> None:
    """A virtual campaign: readings of a robot that is known.

    At its loaded equilibrium, with every stated error drawn at random, repeats, backlash if the robot has it, and
    gross errors on request. It can be given to calibrate like a measured one.

    \b
    Example:
      elastocal simulate plan.yaml --out virtual --gross 1
    """
    from elastocal.app.cli.output import deliver, warn
    from elastocal.app.commands import simulate as command
    from elastocal.app.pages import simulate as pages
    from elastocal.files.write import check_targets, make_folder

    check_targets({"--report": report}, {"PLAN.yaml": plan})
    result = command.run(command.SimulateRequest(plan, out, truth, seed, gross, gross_mm, gross_n))
    if json:
        warn(result.notes)
    make_folder(out)
    deliver(pages.page(result), json, report, more=result.files)
