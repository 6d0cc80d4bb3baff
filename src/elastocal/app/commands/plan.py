"""Which poses and loads to measure, what to expect of them, and the files to do it with."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from elastocal.app.cells.roles import REPORT, Fill, Uses
from elastocal.app.cli import options as o
from elastocal.app.cli.command import command
from elastocal.app.cli.progress import Progress
from elastocal.report.blocks import Fact
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.app.planning.arcs import ArcPlanResult
    from elastocal.app.planning.request import PlanRequest
    from elastocal.design.result import Plan
    from elastocal.design.task import PlanTask
    from elastocal.files.plan.file import PlanFile


@dataclass(frozen=True, eq=False)
class PlanResult:
    """``files`` are to be written; ``notes`` are the plan's warnings and what its files say of themselves.

    ``html`` is where the report goes unless another place is named.
    """

    name: str
    plan: Plan
    files: dict[Path, str]
    facts: tuple[Fact, ...]
    notes: tuple[str, ...]
    html: Path | None = None


@command("daily", 2, Uses({"source": "plan"}, (Fill("out", "planned", parent=True), REPORT)), progress="planning")
def plan(
    source: Annotated[
        str, typer.Argument(metavar="PLAN.yaml|ROBOT", help="A plan file (robot in its cell), or a robot alone.")
    ],
    out: Annotated[
        Path,
        typer.Option(metavar="DIR", help="Folder for plan.csv, campaign.yaml, report.html and the program."),
        o.FOLDER,
    ],
    poses: Annotated[
        int | None, typer.Option(metavar="N", help="How many poses (default 15, without load 40).")
    ] = None,
    criterion: Annotated[
        str | None,
        typer.Option(metavar="KIND", help="d, a, e, condition or test_pose (default d, without load test_pose)."),
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
    candidates: Annotated[
        int | None, typer.Option(metavar="N", help="Configurations to draw (default 4000, without load 2000).")
    ] = None,
    restarts: Annotated[int, typer.Option(metavar="N", help="Searches, each from another start.")] = 10,
    given: Annotated[
        Path | None, typer.Option(metavar="CAMPAIGN.yaml", help="Take the poses and loads of this planned campaign.")
    ] = None,
    language: Annotated[
        str | None,
        typer.Option(metavar="WORD", help="Of the program: krl, rapid, fanuc, jbi, urscript, apt, gcode, csv."),
    ] = None,
    seed: o.Seed = 1,
    workers: Annotated[int | None, typer.Option(metavar="N", help="Search in so many processes.")] = None,
    cluster: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Search on a Dask cluster (extra cluster).")
    ] = None,
    progress: Progress | None = None,
) -> PlanResult | ArcPlanResult:
    """Which poses and loads to measure, before anything is.

    The best poses and loads, contacts or sweeps out of everything that the cell allows, the accuracy to expect of
    every parameter and at test poses, how good the plan is, and files to measure by: a table, a campaign file, a
    program in the language of the robot or in --language. A plan file may also ask for angles and markers of arcs.

    A robot alone, without loads, is planned for an unloaded calibration with a laser tracker: geometry, own weight,
    gears, with the priors of calibrate; the plan tells the error to expect on unseen poses.

    \b
    Example:
      elastocal plan arm.urdf --poses 40 --out plan
      elastocal plan kuka-kr270 --hang 250 --seek "A[2-6].k" --marker marker1 --marker marker2 --out plan
    """
    from elastocal.app.planning import arcs
    from elastocal.app.planning.request import PlanRequest
    from elastocal.app.starter.robot import check_language

    if language is not None:
        check_language(language)

    request = PlanRequest(
        source, out, poses, criterion, seed, restarts, curve, tuple(require or ()), most, workers, cluster,
        tuple(force or ()), tuple(hang or ()), tuple(marker or ()), tuple(seek or ()), noise_mm, repeats, candidates,
        test, tuple(without or ()), given, language,
    )  # fmt: skip
    return arcs.run(request) if arcs.seeks_arcs(source) else _run(request, progress)


def _run(request: PlanRequest, progress: Progress | None) -> PlanResult:
    from elastocal.app.planning.files import check_plan_targets, check_unfilled, plan_files
    from elastocal.app.planning.request import limits_of, plan_file
    from elastocal.app.workers import executor
    from elastocal.design.planning import planned
    from elastocal.design.warnings import ASSUMED

    file = plan_file(request)
    check_plan_targets(request, file.name, file.task.model, file.files)
    limits = limits_of(request.require, file.task.measuring.counted)
    with executor(request.workers, request.cluster) as workers:
        chosen = planned(
            file.task, tests=file.tests, limits=limits, most=request.most, curve=request.curve,
            restarts=request.restarts, seed=request.seed, speeds=file.speeds, change=file.change, executor=workers,
            progress=progress,
        )  # fmt: skip
        warnings = tuple(w.text for w in chosen.warnings if w.code != ASSUMED)  # the verdict of the page says it
        files, program_notes = plan_files(request, file, chosen)
    check_unfilled(files)
    notes, html = (*file.notes, *warnings, *program_notes), request.out / "report.html"
    return PlanResult(file.name, chosen, files, _facts(request, file, chosen.task), notes, html)


def _model(task: PlanTask) -> tuple[Fact, ...]:
    words = () if task.prior is None else tuple(task.prior.effects)
    return (Fact("model", "model words, with their priors", words, ", ".join(words)),) if words else ()


def _facts(request: PlanRequest, file: PlanFile, task: PlanTask) -> tuple[Fact, ...]:
    errors = tuple(s.label for s in task.measuring.sources)
    words = ", ".join(k if len(task.weights) == 1 else f"{w:g} {k}" for k, w in task.weights.items())
    return (
        Fact("source", "plan file or robot", request.source, request.source),
        Fact("robot", "robot", file.robot, file.robot),
        Fact("criterion", "criterion", words, words),
        *_model(task),
        Fact("drawn", "configurations drawn", task.draw.count, str(task.draw.count)),
        Fact("errors", "errors counted", errors, "; ".join(errors) or "none stated: 10 um per number"),
        Fact("repeats", "readings of each pose", task.repeats, str(task.repeats)),
        Fact("seed", "seed", request.seed, str(request.seed)),
    )
