"""Which poses and loads to measure, what to expect of them, and the files to do it with.

A plan of arcs says where to stop a joint and where to put markers, so that arcs show a gravity compensator best.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from elastocal.app.cells.roles import REPORT, Fill, Uses
from elastocal.app.cli import options as o
from elastocal.app.cli.command import command
from elastocal.app.cli.progress import Progress
from elastocal.app.plan_request import PlanRequest
from elastocal.errors import ConflictError, ExtraMissingError, FileError, InputError, RangeError, TooFewError
from elastocal.report.blocks import Fact
from elastocal.untrusted import shell_line
from elastocal.values import dataclass

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from elastocal.design.result import Plan
    from elastocal.design.task import PlanTask
    from elastocal.files.plan.arcs import ArcPlanFile
    from elastocal.files.plan.file import PlanFile
    from elastocal.procedures.compensator.marker_design import ArcPlan, PlanRow
    from elastocal.spatial.entries import Array


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
        str, o.argument("PLAN.yaml|ROBOT", "A plan file (robot in its cell), a robot alone, or its calibration.")
    ],
    out: Annotated[Path, o.option("DIR", "Folder for plan.csv, campaign.yaml, report.html and the program."), o.FOLDER],
    poses: Annotated[int | None, o.option("N", "How many poses (default 15, without load 40).")] = None,
    criterion: Annotated[
        str | None, o.option("KIND", "d, a, e, condition or test_pose (default d, without load test_pose).")
    ] = None,
    require: Annotated[
        list[str] | None,
        o.option("WHAT", 'Take the smallest plan with "A2.k=2%" or "error=0.1mm" at the test poses; repeatable.'),
    ] = None,
    most: Annotated[int, o.option("N", "Most poses that --require may take.")] = 60,
    curve: Annotated[bool, o.flag("Accuracy against the number of poses as well.", "--curve")] = False,
    hang: Annotated[list[float] | None, o.option("KG", "A robot alone: weights to hang on.")] = None,
    force: Annotated[list[str] | None, o.option("FX,FY,FZ", "A robot alone: forces in N to choose from.")] = None,
    marker: Annotated[list[str] | None, o.option("FRAME", "A robot alone: what is watched (default the tool).")] = None,
    seek: Annotated[list[str] | None, o.option("PATTERN", 'A robot alone: parameters, such as "A*.k".')] = None,
    noise_mm: Annotated[
        float | None,
        o.option("MM", "A robot alone: sd of a reading per axis (default 0.03; of a calibration its own)."),
    ] = None,
    test: Annotated[Path | None, o.option("FILE.csv", "A robot alone: test poses or path with their loads.")] = None,
    without: o.Without = None,
    repeats: Annotated[int | None, o.option("N", "Readings of every pose (default 1).")] = None,
    candidates: Annotated[
        int | None, o.option("N", "Configurations to draw (default 4000, without load 2000).")
    ] = None,
    restarts: Annotated[int, o.option("N", "Searches, each from another start.")] = 10,
    given: Annotated[
        Path | None, o.option("CAMPAIGN.yaml", "Take the poses and loads of this planned campaign.")
    ] = None,
    language: Annotated[
        str | None, o.option("WORD", "Of the program: krl, rapid, fanuc, jbi, urscript, apt, gcode, csv.")
    ] = None,
    seed: o.Seed = 1,
    workers: Annotated[int | None, o.option("N", "Search in so many processes.")] = None,
    cluster: Annotated[str | None, o.option("ADDRESS", "Search on a Dask cluster (extra cluster).")] = None,
    progress: Progress | None = None,
) -> PlanResult | ArcPlanResult:
    """Which poses and loads to measure, before anything is.

    The best poses and loads, contacts or sweeps out of everything that the cell allows, the accuracy to expect of
    every parameter and at test poses, how good the plan is, and files to measure by: a table, a campaign file, a
    program in the language of the robot or in --language. A plan file may also ask for angles and markers of arcs.

    A robot alone, without loads, is planned for an unloaded calibration with a laser tracker: geometry, own weight,
    gears, with the priors of calibrate; the plan tells the error to expect on unseen poses. In place of a robot
    stands a calibration.json of it where poses are to be measured next: what it knows counts as known.

    \b
    Example:
      elastocal plan arm.urdf --poses 40 --out plan
      elastocal plan kuka-kr270 --hang 250 --seek "A[2-6].k" --marker marker1 --marker marker2 --out plan
    """
    from elastocal.app.starter.robot import check_language

    typed = locals()
    if language is not None:
        check_language(language)
    request = o.request(PlanRequest, typed)
    if not seeks_arcs(source):
        return _run(request, progress)
    for name in o.typed(plan, typed):
        if name not in ("out", "poses"):
            raise ConflictError(f"--{name.replace('_', '-')} does not go with measurement: arcs; leave it out")
    return plan_of_arcs(request)


def _run(request: PlanRequest, progress: Progress | None) -> PlanResult:
    from elastocal.app.plan_files import check_plan_targets, check_unfilled, plan_files
    from elastocal.app.plan_request import limits_of, plan_file, robot_of_calibration
    from elastocal.design.planning import planned
    from elastocal.design.warnings import ASSUMED

    file = plan_file(request)
    check_plan_targets(request, file.name, file.task.model, file.files)
    limits = limits_of(request.require, file.task.measuring.counted)
    with _executor(request.workers, request.cluster) as workers:
        chosen = planned(
            file.task, tests=file.tests, limits=limits, most=request.most, curve=request.curve,
            restarts=request.restarts, seed=request.seed, speeds=file.speeds, change=file.change, executor=workers,
            progress=progress,
        )  # fmt: skip
        warnings = tuple(w.text for w in chosen.warnings if w.code != ASSUMED)  # the verdict of the page says it
        files, program_notes = plan_files(request, file, chosen)
    files |= robot_of_calibration(request)
    check_unfilled(files)
    notes, html = (*file.notes, *warnings, *program_notes), request.out / "report.html"
    return PlanResult(file.name, chosen, files, _facts(request, file, chosen.task), notes, html)


@contextmanager
def _executor(workers: int | None, cluster: str | None) -> Iterator[Executor | None]:
    """None for this process; ``cluster`` is the address of a Dask scheduler, such as tcp://host:8786."""
    if workers is not None and cluster is not None:
        raise ConflictError("--workers and --cluster both say who computes; keep one")
    if workers is not None and workers < 1:
        raise RangeError(f"--workers {workers}: give at least 1", parameter="workers", value=workers)
    if cluster is not None:
        with _dask(cluster) as pool:
            yield pool
    elif workers is not None and workers > 1:
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing import get_context

        with ProcessPoolExecutor(workers, get_context("spawn")) as processes:
            yield processes
    else:
        yield None


@contextmanager
def _dask(address: str) -> Iterator[Executor]:
    try:
        from distributed import Client
    except ImportError:
        raise ExtraMissingError.needed("--cluster needs Dask", "cluster") from None
    try:
        client = Client(address, timeout=10)
    except (OSError, ValueError) as error:
        raise FileError(
            f"--cluster {address}: no scheduler answers there ({error}); check the address",
            parameter="cluster",
            value=address,
        ) from None
    try:
        pool: Executor = client.get_executor()
        yield pool
    finally:
        client.close()


def _model(task: PlanTask) -> tuple[Fact, ...]:
    words = () if task.prior is None else tuple(task.prior.effects)
    return (Fact("model", "model words, with their priors", words),) if words else ()


def _facts(request: PlanRequest, file: PlanFile, task: PlanTask) -> tuple[Fact, ...]:
    errors = tuple(s.label for s in task.measuring.sources)
    words = ", ".join(k if len(task.weights) == 1 else f"{w:g} {k}" for k, w in task.weights.items())
    return (
        Fact("source", "plan file or robot", request.source),
        Fact("robot", "robot", file.robot),
        Fact("criterion", "criterion", words),
        *_model(task),
        Fact("drawn", "configurations drawn", task.draw.count),
        Fact("errors", "errors counted", errors, "; ".join(errors) or "none stated: 10 um per number"),
        Fact("repeats", "readings of each pose", task.repeats),
        Fact("seed", "seed", request.seed),
    )


MOVING = "P1"


@dataclass(frozen=True, eq=False)
class ArcPlanResult:
    """``plan`` compares plans; ``q`` (m, n) are the configurations of the best one, in order."""

    request: PlanRequest
    file: ArcPlanFile
    plan: ArcPlan
    q: Array
    files: dict[Path, str]
    notes: tuple[str, ...]

    @property
    def html(self) -> Path:
        """Where the report goes unless another place is named."""
        return self.request.out / "report.html"

    @property
    def best(self) -> PlanRow:
        """By exact covariance, for the model of the markers that is asked for."""
        return self.plan.best(self.file.markers)

    @property
    def markers(self) -> tuple[str, ...]:
        return (MOVING, *(f"P0{i + 1}" for i in range(len(self.file.radii))))


def seeks_arcs(source: str) -> bool:
    """Whether the plan is one of arcs."""
    from elastocal.files.plan.read import is_plan, plans_arcs

    path = Path(source)
    return path.suffix.lower() in (".yaml", ".yml") and path.is_file() and is_plan(path) and plans_arcs(path)


def plan_of_arcs(request: PlanRequest) -> ArcPlanResult:
    import numpy as np

    from elastocal.app.plan_files import check_plan_targets, check_unfilled
    from elastocal.files.plan.arcs import read_arc_plan
    from elastocal.procedures.compensator.geometry import CompensatorGeometry
    from elastocal.procedures.compensator.marker_design import plan_arcs

    file = read_arc_plan(Path(request.source))
    file = file if request.poses is None else replace(file, poses=request.poses)
    if file.poses < 3:
        raise TooFewError.of("poses", file.poses, "that many angles fit either sense of rotation; give at least 3")
    check_plan_targets(request, file.name, file.model, file.files)
    _configurations(file, np.array(file.limits))  # whether the other axes may stand where they are
    geometry = CompensatorGeometry.described(file.compensator, file.sense)
    plan = plan_arcs(geometry, file.poses, file.limits, file.radii, file.noise)
    q = _configurations(file, plan.best(file.markers).angles)
    result = ArcPlanResult(request, file, plan, q, {}, ())
    files, notes = _arc_files(result)
    check_unfilled(files)
    return replace(result, files=files, notes=(*file.notes, *notes))


def _configurations(file: ArcPlanFile, angles: Array) -> Array:
    """Joint values (m, n) with the compensator's joint at these angles and the other axes where they stand."""
    from elastocal.procedures.compensator.marker_design import plan_configurations

    at = file.model.controller.to_joints(file.axes[None])[0]
    try:
        return plan_configurations(file.model, file.compensator.joint, angles, at, file.limits)
    except InputError as error:
        raise error.reworded(f"{file.files[0]}: {error}; say with at_deg where the axes stand") from None


def _arc_files(result: ArcPlanResult) -> tuple[dict[Path, str], tuple[str, ...]]:
    """A table of points to fill in, and a program."""
    import numpy as np

    from elastocal.app.plan_files import measuring_program
    from elastocal.design.method import Stop
    from elastocal.files.plan.arcs import arc_table_text

    file, out = result.file, result.request.out
    joint = file.compensator.joint
    axis = file.model.controller.axes[file.model.joints.index(joint)]
    shown = file.model.controller.to_controller(result.q)[:, file.model.joints.index(joint)]
    halts = tuple(Stop(q, (f"pose {i + 1}: read {', '.join(result.markers)}",)) for i, q in enumerate(result.q))
    texts, notes = measuring_program(file.name, file.model, halts, result.request.language)
    texts["plan.csv"] = arc_table_text(axis, np.degrees(shown), result.markers)
    pivots = [word for m in result.markers[1:] for word in ("--pivot", m)]
    typed = shell_line("compensator", "plan.csv", "--moving", MOVING, *pivots, "--joint", joint, "--robot", file.robot)
    words = (
        f"Fill in plan.csv, then: {typed}",
        f"{MOVING} is the spring's end on the moving link; the others sit on the body that turns about its fixed end. "
        "Nothing but joint limits is checked.",
    )
    return {out / name: text for name, text in texts.items()}, (*words, *notes)
