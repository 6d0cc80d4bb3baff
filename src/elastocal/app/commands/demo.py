"""The whole cycle on a KR-270: plan, virtual campaign, calibration, compensation, proof on the truth.

Every step is the one that the command of its name does, in a cell that stays behind and can be worked on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from elastocal.app import demonstration as cell_contents
from elastocal.app.cli import options as o
from elastocal.app.cli.command import command
from elastocal.app.cli.progress import Progress
from elastocal.app.demonstration import (
    CHECK,
    CHECK_SEED,
    DENSIFY_UM,
    MEASURED,
    MILLING,
    NAME,
    OUTLIERS,
    SEED,
    TRUTH,
    load_lines,
)
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.app.commands.compensate import CompensateResult
    from elastocal.app.commands.plan import PlanResult
    from elastocal.app.commands.simulate import SimulateResult
    from elastocal.app.predictor import Predictor
    from elastocal.compensation.verification import Residual
    from elastocal.files.cell import CellFolder
    from elastocal.report.blocks import Report

Watch = Callable[[str], AbstractContextManager[Progress]]
"""Progress of a step, named by what it does."""
Write = Callable[["Report", Mapping[Path, str | bytes]], None]
"""Of the report and the files of a step."""


@dataclass(frozen=True, eq=False)
class DemoResult:
    """What each step gave, and its page by the name of the step; ``stated`` is the same program corrected by the robot
    file, without any calibration and without points between its targets."""

    planned: PlanResult
    measured: SimulateResult
    predictor: Predictor
    corrected: CompensateResult
    stated: Residual
    pages: Mapping[str, Report]


@command("published", 1)
def demo(
    out: Annotated[
        Path, o.option("DIR", "Folder for the cell; it must be empty, or hold an older demonstration.")
    ] = Path("elastocal-demo"),
    json: o.Json = False,
) -> None:
    """The whole cycle on a shipped robot, with a report.

    Plan, virtual campaign, calibration, corrected program and proof on the true robot, in a cell that stays behind to
    be looked at and changed. Takes less than a minute.

    \b
    Example:
      elastocal demo --out elastocal-demo
    """
    from elastocal.app.cli.output import deliver
    from elastocal.app.cli.progress import progress
    from elastocal.app.pages import demo as pages

    with new_cell(out) as cell:
        result = run(cell, progress)
        whole = pages.page(result)
        deliver(whole, json, cell.place("reports") / "demo.html", on_screen=pages.short(whole, result, out))


@contextmanager
def new_cell(folder: Path) -> Iterator[CellFolder]:
    """The cell, made in ``folder``, which must be empty, not exist, or hold an older demonstration.

    Within, it is the working folder of one run, which rests on all that its steps have read and made.
    """
    from elastocal.app.cells.freshness import setting
    from elastocal.app.cells.trace import running
    from elastocal.app.cli.progress import progress
    from elastocal.files.cell import read_cell

    with progress("making the cell", reported=False):
        _make(folder)
    cell = read_cell(folder)
    settings = {key: setting(cell, key, "demo") for key in ("reports", "options")}
    with running(("demo", "--out", "."), cell, label="demo", seed=SEED, settings=settings):
        yield replace(cell, folder=Path())


def run(cell: CellFolder, watch: Watch) -> DemoResult:
    planned, plan_page = _plan(cell, watch)
    measured, campaign_page = _simulate(cell, watch)
    predictor, calibration_page = _calibrate(cell, watch)
    corrected, stated, program_page = _correct(cell, watch)
    pages = {
        "Plan": plan_page, "Campaign": campaign_page, "Calibration": calibration_page, "Compensation": program_page,
    }  # fmt: skip
    return DemoResult(planned, measured, predictor, corrected, stated, pages)


def _make(folder: Path) -> None:
    from elastocal.app.commands.new import check_empty
    from elastocal.files.write import make_folder, write_files

    files = cell_contents.contents(folder.resolve().name)
    if not _older(folder, files):
        check_empty(folder)
    for place in {p.parent for p in files}:
        make_folder(folder / place)
    write_files({folder / place: text for place, text in files.items()})


def _older(folder: Path, files: dict[Path, str]) -> bool:
    """Whether everything that would be written stands there already, word for word."""
    return all((folder / p).is_file() and (folder / p).read_bytes() == text.encode() for p, text in files.items())


@contextmanager
def _step(cell: CellFolder, words: tuple[str, ...], keys: tuple[str, ...], of: str = "") -> Iterator[Write]:
    """A command on the cell; ``keys`` are those of cell.yaml that it uses, ``of`` what is added to its name."""
    from elastocal.app.cells.freshness import setting, usual_settings
    from elastocal.app.cells.trace import running
    from elastocal.app.cli.output import report_files
    from elastocal.files.opened import note_file, note_marks
    from elastocal.files.write import make_folder

    name = words[0]
    made: list[Path] = []
    settings = {key: setting(cell, key, name) for key in dict.fromkeys((*keys, "reports", *usual_settings(name)))}
    with running(words, cell, label=name + of, seed=SEED, settings=settings) as trace:

        def write(report: Report, files: Mapping[Path, str | bytes]) -> None:
            html = cell.place("reports") / f"{name}{of}.html"
            written = {**files, **report_files(trace.on(report), html)}
            for folder in {p.parent for p in written}:
                make_folder(folder)
            trace.write(written)
            made.extend(files)

        yield write
    note_marks(trace.inputs)
    for path in made:
        note_file(path)


def _plan(cell: CellFolder, watch: Watch) -> tuple[PlanResult, Report]:
    from elastocal.app.commands.plan import PlanResult, plan
    from elastocal.app.pages.plan.page import page

    with _step(cell, ("plan", "."), ("plan", "planned")) as write, watch("planning") as progress:
        result = plan(str(cell.place("plan")), cell.place("planned").parent, seed=SEED, progress=progress)
        assert isinstance(result, PlanResult)
        write(shown := page(result), result.files)
    return result, shown


def _simulate(cell: CellFolder, watch: Watch) -> tuple[SimulateResult, Report]:
    from elastocal.app.commands.simulate import page, simulate

    truth = TRUTH.as_posix()
    with (
        _step(cell, ("simulate", ".", "--truth", truth), ("planned", "campaign", "options")) as write,
        watch("measuring"),
    ):
        out = cell.place("campaign").parent
        result = simulate(cell.place("planned"), out, truth, outliers=OUTLIERS, seed=SEED)
        write(shown := page(result), result.files)
    more = ("--out", MEASURED.as_posix(), "--outliers", "0", "--seed", str(CHECK_SEED))
    words = ("simulate", CHECK.as_posix(), "--truth", truth, *more)
    with _step(cell, words, (), "-check") as write, watch("measuring validation poses"):  # they take no part
        check = simulate(CHECK, MEASURED, truth, outliers=0, seed=CHECK_SEED)
        write(page(check), check.files)
    return result, shown


def _calibrate(cell: CellFolder, watch: Watch) -> tuple[Predictor, Report]:
    from elastocal.app.commands.calibrate import calibrate
    from elastocal.app.pages.calibrate.page import page
    from elastocal.app.predictor import Predictor

    with (
        _step(cell, ("calibrate", "."), ("campaign", "calibration", "options", "certificate")) as write,
        watch("calibrating") as progress,
    ):
        result = calibrate(
            cell.place("campaign"), out=cell.place("calibration"), validate=MEASURED / "campaign.yaml", seed=SEED,
            progress=progress,
        )  # fmt: skip
        write(shown := page(result), result.files)
    assert isinstance(result, Predictor), "the demonstration's plan asks for the best predictor"
    return result, shown


def _correct(cell: CellFolder, watch: Watch) -> tuple[CompensateResult, Residual, Report]:
    """By the calibration, and, only to compare the targets, by the robot file."""
    from elastocal.app.commands.compensate import compensate
    from elastocal.app.pages.compensate import page
    from elastocal.compensation.job import command_residuals, corrected
    from elastocal.compensation.stations import with_tools
    from elastocal.files.robot.read import read_robot

    words = ("compensate", ".", "--truth", TRUTH.as_posix())
    keys = ("programs", "calibration", "corrected", "options")
    with _step(cell, words, keys, f"-{NAME}") as write, watch("correcting the program") as progress:
        loaded, leads = load_lines()
        result = compensate(
            cell.place("programs") / NAME, calibration=cell.place("calibration"), truth=TRUTH.as_posix(),
            load_lines=[loaded], lead_lines=list(leads), milling=MILLING, out=cell.place("corrected"),
            densify_um=DENSIFY_UM, progress=progress,
        )  # fmt: skip
        write(shown := page(result), result.files)
        work, flange = result.correction.job, result.correction.method.flange
        stated, true = (
            with_tools(read_robot(robot), result.correction.program, flange) for robot in (cell.place("robot"), TRUTH)
        )
        command = corrected(replace(work, placed=replace(work.placed, model=stated))).command
        return result, command_residuals(true, work, command), shown
