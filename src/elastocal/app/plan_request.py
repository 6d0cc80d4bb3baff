"""What the command line asks of a plan beside its file, the task of a robot without one, and what is known before."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from elastocal.errors import ConflictError, FormatError, MissingError, RangeError, UnsupportedError
from elastocal.results import as_sentence
from elastocal.untrusted import finite_number
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.design.loading import Loading
    from elastocal.design.task import Earlier, Limits, PlanTask, TestPlan
    from elastocal.files.plan.file import PlanFile
    from elastocal.model.robot import Robot


ROBOT = "robot.yaml"
"""The file of the robot beside a plan that was made from a calibration."""


@dataclass(frozen=True)
class PlanRequest:
    """``source`` is a plan file, a robot or a calibration; options that are None leave what the file says.

    ``force`` ("fx,fy,fz" in N), ``hang`` (kg), ``marker``, ``seek``, ``noise_mm``, ``test`` go with a robot alone.
    """

    source: str
    out: Path
    poses: int | None = None
    criterion: str | None = None
    seed: int = 1
    restarts: int = 10
    curve: bool = False
    require: tuple[str, ...] = ()
    most: int = 60
    workers: int | None = None
    cluster: str | None = None
    force: tuple[str, ...] = ()
    hang: tuple[float, ...] = ()
    marker: tuple[str, ...] = ()
    seek: tuple[str, ...] = ()
    noise_mm: float | None = None
    repeats: int | None = None
    candidates: int | None = None
    test: Path | None = None
    without: tuple[str, ...] = ()
    given: Path | None = None
    language: str | None = None


def plan_file(request: PlanRequest) -> PlanFile:
    """The plan file, or one made from the options, with what the command line asks for in its place."""
    from elastocal.files.plan.read import is_plan

    path = Path(request.source)
    own = path.suffix.lower() in (".yaml", ".yml") and path.is_file() and is_plan(path)
    for name in ("force", "hang", "marker", "seek", "noise_mm", "test", "without") if own else ():
        if getattr(request, name):
            option = f"--{name.replace('_', '-')}"
            raise ConflictError(f"{option} goes with a robot; write it into the plan file {request.source} instead")
    file = read_request(path) if own else _bare(request)
    task = _with_earlier(_asked(file.task, request), file)
    if request.given is None:
        return replace(file, task=task)
    made = given_task(task, request.given, request.seed, tests=file.tests is None)
    note = f"The poses are those of {request.given}: none was searched for, and the efficiency is that of taking all."
    return replace(file, task=made, files=(*file.files, request.given), notes=(*file.notes, note))


def read_request(path: Path) -> PlanFile:
    """A plan file; positions without loads, of which nothing is sought by name, are for a calibration by priors."""
    from elastocal.files.plan.read import read_plan_file

    file = read_plan_file(path)
    task, data = file.task, file.located.data if file.located else {}
    if task.measuring.kind != "position" or task.loadings or file.seek is not None:
        return file
    made = _unloaded(file)
    kept = {"count": "poses", "draw": "candidates", "weights": "criterion"}
    return replace(file, task=replace(made, **{name: getattr(task, name) for name, key in kept.items() if key in data}))


def _unloaded(file: PlanFile) -> PlanTask:
    """The task for what ``calibrate`` would fit, with the model words and priors of the file."""
    from elastocal.calibration.planning import unloaded_task, unloaded_words
    from elastocal.calibration.readings import stated_priors
    from elastocal.files.campaign.priors import read_priors
    from elastocal.files.units import declared_units

    words = unloaded_words(file.task.model, file.model or "auto")
    if file.located is None:
        return unloaded_task(file.task, words)
    entries = read_priors(file.located, file.located.data.get("priors") or [], declared_units(file.located))
    return unloaded_task(file.task, words, stated_priors(file.located, entries, file.task.model, words))


def given_task(task: PlanTask, path: Path, seed: int, *, tests: bool = True) -> PlanTask:
    """The task with the poses and loads of a planned campaign in place of a search."""
    from elastocal.design import planning
    from elastocal.files.campaign.read import read_plan

    return planning.given_task(task, read_plan(path).campaign, seed, tests=tests)


def _asked(task: PlanTask, request: PlanRequest) -> PlanTask:
    from elastocal.design.criteria.criterion import criterion_class
    from elastocal.design.task import MOST

    if request.criterion is not None:
        criterion_class(request.criterion)  # a word that means nothing is refused here
    for option, value, kind in (
        ("--poses", request.poses, "poses"), ("--most", request.most, "poses"),
        ("--repeats", request.repeats, "repeats"), ("--candidates", request.candidates, "candidates"),
        ("--restarts", request.restarts, "restarts"),
    ):  # fmt: skip
        if value is not None and not 1 <= value <= MOST[kind]:
            raise RangeError(f"{option} {value}: give 1 to {MOST[kind]}")
    if request.candidates is not None:
        task = replace(task, draw=replace(task.draw, count=request.candidates))
    return replace(
        task,
        count=request.poses or task.count,
        repeats=request.repeats or task.repeats,
        weights=task.weights if request.criterion is None else {request.criterion: 1.0},
    )


def _bare(request: PlanRequest) -> PlanFile:
    """A robot without a cell of its own."""
    import numpy as np

    from elastocal.calibration.planning import NOISE, noise_note
    from elastocal.design.planning import marker_task
    from elastocal.files.plan.file import PlanFile
    from elastocal.files.robot.read import read_robot, robot_file, selected, without_kinds
    from elastocal.model.descriptions import in_form
    from elastocal.model.start_values import bending

    known, loads = calibration_in(request.source), _typed_loads(request)
    robot, word, markers, words, own = (
        (read_robot(request.source), request.source, (), None, None) if known is None else _measured(known, request)
    )
    robot = bending(robot) if loads or request.seek else robot
    model = in_form(without_kinds(robot, request.without), "beam")
    selected(model, request.seek)
    if request.seek and not loads:
        raise MissingError(
            "no load is given, so that nothing bends; add --hang KG, --force or a plan file, or leave --seek out: an "
            "unloaded campaign is planned for all that calibrate would fit",
            parameter="seek",
        )
    if request.noise_mm is not None and not request.noise_mm > 0:
        raise RangeError("--noise-mm must be positive; a reading without noise does not exist")
    noise = (NOISE if own is None else own) if request.noise_mm is None else 1e-3 * request.noise_mm
    task = replace(marker_task(model, None, loads, request.marker or markers, noise), names=request.seek or None)
    robot_or_calibration = robot_file(request.source) if known is None else known
    notes = (
        *robot.notes,
        "No plan file is given: no obstacle, no line of sight and no instrument other than its noise is known.",
        *((as_sentence(noise_note(own).text),) if own is not None and request.noise_mm is None else ()),
    )
    files = tuple(p for p in (robot_or_calibration, request.test) if p is not None)
    file = PlanFile(
        f"plan of {model.name}", word, task, _typed_tests(request, model), np.full(model.n, np.nan), None,
        request.seek or None, None, None, request.without, notes, files,
    )  # fmt: skip
    file = replace(file, model=words)
    file = file if loads else replace(file, task=_unloaded(file))
    return file if known is None else replace(file, task=_knowing(file.task, known))


def calibration_in(source: str) -> Path | None:
    """The calibration that stands in place of a robot."""
    path = Path(source)
    return path if path.suffix.lower() == ".json" and path.is_file() else None


def _measured(
    path: Path, request: PlanRequest
) -> tuple[Robot, str, tuple[str, ...], tuple[str, ...] | None, float | None]:
    """The nominal robot of a calibration, the word for it, the markers that were read, the model words, and the noise
    of a coordinate in m where it is known."""
    from elastocal.app.calibrated import calibrated, of_readings
    from elastocal.calibration.planning import measured_robot, noise_of, words_of
    from elastocal.calibration.store import read_calibration
    from elastocal.files.robot.read import read_robot

    if not of_readings(path):
        word = calibrated(path, None).word
        return read_robot(word), word, (), None, None
    c = read_calibration(path)
    return measured_robot(c), (request.out / ROBOT).as_posix(), c.markers, words_of(c), noise_of(c)


def robot_of_calibration(request: PlanRequest) -> dict[Path, str]:
    """The robot file beside a plan, where a calibration stands in place of the robot: it holds its own."""
    from elastocal.app.calibrated import of_readings
    from elastocal.files.robot.write import robot_text

    path = calibration_in(request.source)
    if path is None or not of_readings(path):
        return {}
    return {request.out / ROBOT: robot_text(_measured(path, request)[0])}


def _typed_loads(request: PlanRequest) -> tuple[Loading, ...]:
    import numpy as np

    from elastocal.app.configurations import numbers
    from elastocal.design.loading import Actuator, Hanging

    loads: list[Loading] = []
    for text in request.force:
        force = np.array(numbers(text, 3, f"--force {text!r}", "fx, fy, fz in N"))
        size = float(np.linalg.norm(force))
        if not size > 0:
            raise RangeError.of("force", text, "a load of zero tells nothing; give another")
        x, y, z = (float(v) for v in force / size)
        loads.append(Actuator(name="force", sizes=(size,), directions=((x, y, z),)))
    if request.hang:
        loads.append(Hanging(name="weight", masses=request.hang))
    return tuple(loads)


def _typed_tests(request: PlanRequest, model: Robot) -> TestPlan | None:
    from elastocal.design.task import TestPlan
    from elastocal.files.plan.task import read_path

    if request.test is None:
        return None
    table = read_path(request.test, model)
    return TestPlan(model.tool, f"poses of {request.test.name}", table.q, table.points, None, 0, None, table.wrenches)


def limits_of(words: tuple[str, ...], counted: str = "m") -> Limits | None:
    """``NAME=2%`` for parameters (patterns allowed), ``error=0.1mm`` (or ``error=2Nm``) for the test poses."""
    from elastocal.design.task import Limits
    from elastocal.files.units import LENGTH, MOMENT

    share: dict[str, float] = {}
    error: float | None = None
    for word in words:
        name, _, text = word.rpartition("=")
        known = ("mm", "um", "m") if counted == "m" else ("Nm",)
        unit = next((u for u in ("%", *known) if text.strip().endswith(u)), "")
        value = finite_number(text.strip().removesuffix(unit)) or 0.0
        if not name or not unit or not value > 0 or (name == "error") == (unit == "%"):
            example = "0.1mm" if counted == "m" else "2Nm"
            raise FormatError.of(
                "require", word, f"write NAME=2% for parameters, or error={example} for the test poses"
            )
        if name == "error":
            error = value * {**LENGTH, **MOMENT}[unit]
        else:
            share[name] = value / 100
    return Limits(share, error) if words else None


def _with_earlier(task: PlanTask, file: PlanFile) -> PlanTask:
    """With the information of the campaigns and calibrations that the plan file names; the model takes their values."""
    from elastocal.files.opened import path_of

    words = () if file.located is None else file.located.data.get("earlier") or ()
    for word in (words,) if isinstance(words, str) else words:
        path = file.folder / path_of(word)
        if path.suffix.lower() == ".json":
            task = _knowing(task, path)
        else:
            task = replace(task, earlier=(*task.earlier, _campaign(task, path)))
    return task


def _knowing(task: PlanTask, path: Path) -> PlanTask:
    """With the information and the values of a calibration."""
    from elastocal.app.calibrated import of_readings
    from elastocal.calibration.planning import after
    from elastocal.calibration.store import read_calibration as read_readings
    from elastocal.design.observed import information_of
    from elastocal.files.calibration import read_calibration

    if of_readings(path):
        try:
            return after(task, read_readings(path))
        except ConflictError as error:
            raise error.reworded(f"{path}: {error}") from None
    record = read_calibration(path)
    values = {p.name: p.value for p in record.parameters if p.name in task.model.parameters.names}
    if not set(record.names) & set(values):
        raise ConflictError(f"{path}: calibrates nothing that robot {task.model.name} has; give a calibration of it")
    rest = None if task.prior is None else task.prior.without(record.names)
    known = (*task.earlier, lambda names: information_of(record.names, record.covariance, names))
    return replace(task, model=task.model.with_estimates(values), prior=rest, earlier=known)


def _campaign(task: PlanTask, path: Path) -> Earlier:
    from elastocal.design.observed import earlier_information
    from elastocal.files.campaign.read import read_campaign

    if task.prior is not None:
        raise UnsupportedError(
            f"{path}: a calibration by priors is planned, and a campaign has none; give the calibration of it (.json)",
            value=str(path),
        )
    file, model = read_campaign(path), task.model
    if file.model.joints != model.joints:
        raise ConflictError(f"{path}: its robot has other joints than {model.name}; give a campaign of this robot")
    return lambda names: earlier_information(file.campaign, model, names)
