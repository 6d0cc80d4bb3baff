"""``plan``: which poses to measure, under loads for compliances, or without for what ``calibrate`` would fit then.

Without loads, and with nothing sought, the poses are for the best predictor of an unloaded campaign: every effect of
the model words with its prior, where instrument and markers are unknown, as ``calibrate`` takes them.  Those are chosen
that leave the smallest error over the workspace: a Bayesian design.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from os import PathLike

import numpy as np

from elastocal.arguments import checked
from elastocal.calibration.calibration import Calibration
from elastocal.calibration.given import Prior
from elastocal.calibration.noise import REPEATS, points_sd
from elastocal.calibration.placing import least_poses
from elastocal.calibration.task import FLAT
from elastocal.calibration.words import automatic, check_words, prior_covariance, with_words
from elastocal.design.cell import Cell
from elastocal.design.criteria.criterion import criterion_class
from elastocal.design.criteria.test_pose import TestPose
from elastocal.design.feasibility.places import LineOfSight
from elastocal.design.loading import Loading
from elastocal.design.method import Measuring
from elastocal.design.observed import information_of
from elastocal.design.planning import marker_task, planned
from elastocal.design.result import Plan
from elastocal.design.task import Limits, PlanTask, PriorCovariance, TestPlan
from elastocal.errors import ConflictError, MissingError, TooFewError
from elastocal.files.robot.read import read_robot
from elastocal.measure.sources.places import MarkerPlaces, Registration
from elastocal.model.robot import Robot
from elastocal.model.start_values import bending
from elastocal.results import Finding, note
from elastocal.spatial.entries import Array

POSES, CANDIDATES = 40, 2000
"""Poses of an unloaded campaign, and configurations that are drawn for it, where nobody says how many."""
NOISE = 3e-5
"""Of one coordinate of a reading in m, where nobody says it and no calibration knows it."""
Words = str | Sequence[str]


@checked()
def plan(
    robot: Robot | Calibration | str | PathLike[str],
    work: PlanTask | Cell | None = None,
    *,
    loads: Sequence[Loading] = (),
    markers: Sequence[str] = (),
    seek: Sequence[str] | None = None,
    model: Words | None = None,
    noise: float | None = None,
    tests: TestPlan | None = None,
    poses: int | None = None,
    criterion: str | None = None,
    limits: Limits | None = None,
    most: int = 60,
    curve: bool = False,
    restarts: int = 10,
    seed: int = 1,
    speeds: Array | None = None,
    change: float | None = None,
    executor: Executor | None = None,
    progress: Callable[[int, int, str], None] | None = None,
) -> Plan:
    """What to measure of a robot, its name or its file: the best plan found for a task, or in a cell.

        plan("arm.urdf", poses=40)                                  geometry, own weight, gears: no load
        plan(robot, loads=[Hanging(masses=(100.0,))], seek=["A?.k"])   compliances
        plan(cal, poses=10)                                         the next poses: its covariance counts as known

    After a calibration its markers and model words are taken, unless others are given.
    With ``loads`` deflections of ``markers`` (default the tool) are read; ``noise`` (m, default as the calibration has
    it, of a robot alone 3e-5) is the sd of one coordinate of one reading, loaded or not, so that a deflection has
    sqrt(2) of it.  Without loads positions are read, for what ``calibrate`` would fit to them: ``model`` are its words
    (default "auto").  A task has all of these of its own.  ``tests`` are poses where the accuracy counts; with
    ``limits`` the smallest plan that meets them is sought, up to ``most`` poses.
    """
    known = robot if isinstance(robot, Calibration) else None
    if isinstance(robot, Calibration):
        markers = markers or robot.markers
        robot = measured_robot(robot)
    robot = robot if isinstance(robot, Robot) else read_robot(robot)
    notes: tuple[Finding, ...] = ()
    if isinstance(work, PlanTask):
        _refuse("the task has its own", loads=loads or None, markers=markers or None, model=model, noise=noise)
        made = robot if work.prior is None else with_words(robot, tuple(work.prior.effects))[0]
        task = replace(work, model=made)
    else:
        if loads:
            _refuse("its words are those of a campaign without loads", model=model)
        own = noise_of(known) if known is not None and noise is None else None
        notes = () if own is None else (noise_note(own),)
        size = next((n for n in (noise, own) if n is not None), NOISE)
        task = marker_task(bending(robot) if loads else robot, work, loads, markers, size)
        if not loads and seek is not None:
            raise MissingError(
                "no load is given, so that nothing bends; give loads, such as a weight that hangs at the tool, or "
                "leave seek out: an unloaded campaign is planned for all that calibrate would fit"
            )
        words = model if known is None or model is not None else words_of(known)
        task = task if loads else unloaded_task(task, "auto" if words is None else words)
    task = replace(
        task,
        names=task.names if seek is None else (seek,) if isinstance(seek, str) else tuple(seek),
        count=task.count if poses is None else poses,
        weights=task.weights if criterion is None else {criterion_class(criterion).kind: 1.0},
    )
    _check_count(task)
    best = planned(
        task if known is None else after(task, known), tests=tests, limits=limits, most=most, curve=curve,
        restarts=restarts, seed=seed, speeds=speeds, change=change, executor=executor, progress=progress,
    )  # fmt: skip
    return replace(best, notes=notes) if notes else best


def noise_of(c: Calibration) -> float | None:
    """Sd in m of one coordinate of one reading, as the readings of a calibration show it, mean over them; None where
    lengths of beams are all that was read.

    Of a deflection, the difference of two readings, by sqrt(2)."""
    if c.seen.distances_alone:
        return None
    points, share = (c.seen.position, 1.0) if c.seen.position is not None else (np.zeros((1, 1, 3)), np.sqrt(0.5))
    variance = float(np.nanmean(points_sd(dict(c.noise), c.instrument, points) ** 2)) + c.noise.get(REPEATS, 0.0) ** 2
    return float(share * np.sqrt(variance)) or None


def noise_note(noise: float) -> Finding:
    text = (
        f"the noise of a reading is that of the calibration, {1e3 * noise:.3g} mm per axis; state another where "
        "another instrument will be used"
    )
    return note("noise-of-calibration", text, noise=noise)


def measured_robot(c: Calibration) -> Robot:
    """The nominal robot of a calibration, with the markers where they sat."""
    from elastocal.calibration.export import with_placing

    return with_placing(c.nominal, c)[0]


def words_of(c: Calibration) -> tuple[str, ...] | None:
    """Model words of a calibration that an unloaded campaign tells something of."""
    return tuple(w for w in c.words if w in automatic(c.nominal, loaded=False, placed=True, warms=False)) or None


def after(task: PlanTask, c: Calibration) -> PlanTask:
    """The task once a calibration is known: the robot has its values, their covariance stands in place of priors."""
    own = c.names
    values = {e.name: e.value for e in c.parameters.rows if e.name in task.model.parameters.names}
    if not set(own) & set(values):
        raise ConflictError(
            f"the calibration estimates nothing of robot {task.model.name} that is sought; plan for the robot itself"
        )
    covariance = c.covariance[: len(own), : len(own)]
    rest = None if task.prior is None else task.prior.without(own)
    known = (*task.earlier, lambda names: information_of(own, covariance, names))
    return replace(task, model=task.model.with_estimates(values), prior=rest, earlier=known)


def _refuse(why: str, **given: object) -> None:
    """What was given and would not be used."""
    for name, value in given.items():
        if value is not None:
            raise ConflictError(f"{name}: {why}; leave {name} out", parameter=name, value=value)


def _check_count(task: PlanTask) -> None:
    """Of an unloaded campaign as many as ``calibrate`` needs."""
    if task.prior is None or not isinstance(task.measuring, Measuring):
        return
    least = least_poses(1, len(task.measuring.markers))
    if task.count < least:
        raise TooFewError(
            f"poses {task.count}: calibrate needs {least} or more, which still say little; 30 are usual",
            parameter="poses", value=task.count, allowed=(least,),
        )  # fmt: skip


def unloaded_task(task: PlanTask, model: Words = "auto", priors: Sequence[Prior] = ()) -> PlanTask:
    """The task of reading positions without a load, for the parameters of model words with their priors.

    Where the tracker stands is known, every marker must be seen from there.
    """
    method = task.measuring
    if not isinstance(method, Measuring) or method.kind != "position" or task.loadings:
        raise ConflictError("an unloaded campaign reads positions of markers, without loads")
    words = unloaded_words(task.model, model)
    robot, wanted = with_words(task.model, words, priors)
    every = {word: tuple(n for w in with_words(robot, (word,))[1] for n in w.names) for word in words}
    names = tuple(n for w in wanted for n in w.names)
    placing = Registration(sd=FLAT, turn_sd=FLAT), MarkerPlaces(sd=FLAT)
    stated = {s.kind for s in method.sources}
    seen = task.cell.tracker is not None and LineOfSight.kind not in {f.kind for f in task.filters}
    return replace(
        task,
        model=robot,
        measuring=replace(method, placing=tuple(p for p in placing if p.kind not in stated)),
        names=names,
        prior=PriorCovariance(names, prior_covariance(robot, wanted), every),
        draw=replace(task.draw, count=CANDIDATES),
        filters=(*task.filters, LineOfSight()) if seen else task.filters,
        count=POSES,
        weights={TestPose.kind: 1.0},
    )


def unloaded_words(robot: Robot, model: Words = "auto") -> tuple[str, ...]:
    """Model words of an unloaded campaign: those that ``calibrate`` tries, or those that are given."""
    return check_words(model) or automatic(robot, loaded=False, placed=True, warms=False)


def drawn_robot(robot: Robot, rng: np.random.Generator, model: Words = "auto") -> Robot:
    """A robot that differs from its file as the priors of an unloaded campaign let expect: for simulations."""
    made, wanted = with_words(robot, unloaded_words(robot, model))
    names = [n for w in wanted for n in w.names]
    start = made.parameters.values[[made.parameters.index(n) for n in names]]
    change = np.concatenate([np.linalg.cholesky(w.spread) @ rng.standard_normal(len(w.names)) for w in wanted])
    logs = np.array([w.log for w in wanted for _ in w.names])
    positive = np.array([w.positive for w in wanted for _ in w.names])
    values = np.where(logs, start * np.exp(np.where(logs, change, 0.0)), start + change)
    return made.with_estimates(dict(zip(names, np.where(positive, np.abs(values), values).tolist(), strict=True)))
