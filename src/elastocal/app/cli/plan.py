"""The command that chooses what to measure: plan."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from elastocal.app.cli import options as o


def plan(
    source: Annotated[
        str, typer.Argument(metavar="PLAN.yaml|ROBOT", help="A plan file (robot in its cell), or a robot alone.")
    ],
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder for plan.csv, campaign.yaml, report.html and the program.")
    ],
    poses: Annotated[int | None, typer.Option(metavar="N", help="How many poses (default 15).")] = None,
    criterion: Annotated[
        str | None, typer.Option(metavar="KIND", help="d, a, e, condition or test_pose (default d).")
    ] = None,
    require: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WHAT", help='Take the smallest plan with "A2.k=2%" or "error=0.1mm" at the test poses; repeatable.'
        ),
    ] = None,
    most: Annotated[int, typer.Option(metavar="N", help="Most poses that --require may take.")] = 60,
    curve: Annotated[bool, typer.Option("--curve", help="Accuracy against the number of poses as well.")] = False,
    hang: Annotated[list[float] | None, typer.Option(metavar="KG", help="A robot alone: weights to hang on.")] = None,
    force: Annotated[
        list[str] | None, typer.Option(metavar="FX,FY,FZ", help="A robot alone: forces in N to choose from.")
    ] = None,
    marker: Annotated[
        list[str] | None, typer.Option(metavar="FRAME", help="A robot alone: what is watched (default the tool).")
    ] = None,
    seek: Annotated[
        list[str] | None, typer.Option(metavar="PATTERN", help='A robot alone: parameters, such as "A*.k".')
    ] = None,
    noise_mm: Annotated[
        float | None, typer.Option(metavar="MM", help="A robot alone: sd of a reading per axis (default 0.03).")
    ] = None,
    test: Annotated[
        Path | None, typer.Option(metavar="FILE.csv", help="A robot alone: test poses or path with their loads.")
    ] = None,
    without: o.Without = None,
    repeats: Annotated[int | None, typer.Option(metavar="N", help="Readings of every pose (default 1).")] = None,
    candidates: Annotated[int | None, typer.Option(metavar="N", help="Configurations to draw (default 4000).")] = None,
    restarts: Annotated[int, typer.Option(metavar="N", help="Searches, each from another start.")] = 10,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Start of the random numbers.")] = 1,
    workers: Annotated[int | None, typer.Option(metavar="N", help="Search in so many processes.")] = None,
    cluster: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Search on a Dask cluster (extra cluster).")
    ] = None,
    report: Annotated[
        Path | None, typer.Option("--report", metavar="FILE.html", help="The report (default report.html in --out).")
    ] = None,
    json: o.Json = False,
) -> None:
    """Which poses and loads to measure, before anything is.

    The best poses and loads, contacts or sweeps out of everything that the cell allows, the accuracy to expect of
    every parameter and at test poses, how good the plan is, and files to measure by: a table, a campaign file, a
    program for KUKA or ABB. A plan file may also ask for angles and markers of arcs.

    \b
    Example:
      elastocal plan kuka-kr270 --hang 250 --seek "A[2-6].k" --marker marker1 --marker marker2 --out plan
    """
    from elastocal.app.cli.output import deliver, warn
    from elastocal.app.cli.progress import progress
    from elastocal.app.commands import plan as command
    from elastocal.app.commands import plan_arcs as arcs
    from elastocal.app.pages import plan as pages
    from elastocal.app.pages import plan_arcs as arc_pages
    from elastocal.app.planning.request import PlanRequest
    from elastocal.files.write import check_targets, make_folder
    from elastocal.report.blocks import Report

    request = PlanRequest(
        source, out, poses, criterion, seed, restarts, curve, tuple(require or ()), most, workers, cluster,
        tuple(force or ()), tuple(hang or ()), tuple(marker or ()), tuple(seek or ()), noise_mm, repeats, candidates,
        test, tuple(without or ()),
    )  # fmt: skip
    html = out / "report.html" if report is None else report
    check_targets({"--report": report})
    if arcs.seeks_arcs(source):
        planned = arcs.run(request)
        if json:
            warn(planned.notes)
        make_folder(out)
        deliver(arc_pages.page(planned), json, html, more=planned.files)
        return
    with progress("planning") as callback:
        result = command.run(request, callback)
    if json:
        warn(result.notes)
    make_folder(out)
    page = pages.page(result)
    keep = tuple(s for s in page.sections if s.title in pages.ON_SCREEN)
    short = Report(page.title, page.verdict, keep, page.notes, page.inputs)
    deliver(page, json, html, on_screen=short, more=result.files)
