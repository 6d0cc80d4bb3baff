"""Plan files: a robot in its cell, how it can be loaded and measured, and what is wanted.  See docs/planning.md."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from elastocal.design.criteria.criterion import criterion_kinds
from elastocal.design.feasibility.filter import filter_kinds
from elastocal.design.loading.loading import loading_kinds
from elastocal.design.poses import Draw
from elastocal.design.task import MOST, PlanTask
from elastocal.design.touching import Touching
from elastocal.errors import InputError, UnknownNameError
from elastocal.files import schema
from elastocal.files.campaign.readings_entry import listed
from elastocal.files.format_word import check_format
from elastocal.files.located import Located, read_yaml
from elastocal.files.plan.cell import check_axes, check_frame, read_kinds, read_plan_cell
from elastocal.files.plan.entry import PlanEntry, PlanFile, nothing_said
from elastocal.files.plan.methods import read_method
from elastocal.files.plan.task import read_around, read_tests
from elastocal.files.robot.read import read_robot, robot_file, selected, without_kinds
from elastocal.files.units import declared_units
from elastocal.model.descriptions import in_form
from elastocal.model.robot import RobotModel
from elastocal.spatial.entries import Array

FORMAT = "elastocal-plan/1"
CANDIDATES = {"contact": 400, "joint_torque": 150}
"""Configurations to draw where the file does not say: each becomes many contacts or sweeps."""
_START = f"a plan file starts with 'format: {FORMAT}'"


def is_plan(path: Path) -> bool:
    """Whether a YAML file says that it is a plan, and not a robot."""
    data = read_yaml(path, _START).data
    return isinstance(data, dict) and str(data.get("format", "")).startswith("elastocal-plan/")


def read_plan_file(path: Path) -> PlanFile:
    """A plan file with its robot; other files are looked for from its folder."""
    located = read_yaml(path, _START)
    check_format(located, FORMAT, "a plan file")
    units = declared_units(located)
    e = schema.construct(PlanEntry, located, (), located.data, units)
    robot = read_robot(e.robot, e.tool, path.parent)
    model = in_form(without_kinds(robot, listed(e.without)), e.form or "beam")
    for key, words in (("seek", e.seek), ("hold", e.hold)):
        for word in listed(words):
            _check_pattern(located, key, model, word)
    _check_numbers(located, e)
    method = read_method(located, e, units, model)
    frame = method.frame if isinstance(method, Touching) else e.load_frame or model.tool
    check_frame(located, ("load_frame",), model, frame)
    tests, over, read = read_tests(located, e, units, model)
    around, more = read_around(located, e, units, model)
    hold = tuple(model.parameters.names[i] for i in model.parameters.select(listed(e.hold))) if e.hold else ()
    if method.kind == "joint_torque" and e.seek is None:
        hold += tuple(p.name for p in model.parameters if p.kind == "payload")
    seek = None if e.seek is None else listed(e.seek)
    task = PlanTask(
        model, method, seek, hold,
        read_kinds(located, units, "loads", "a load", e.loads, loading_kinds(), model), frame,
        Draw(e.candidates or CANDIDATES.get(e.measurement, Draw.count), around),
        read_plan_cell(located, e, units, model, method),
        read_kinds(located, units, "feasible", "a filter", e.feasible, filter_kinds(), model),
        e.poses, e.repeats, e.may_repeat, _weights(located, e), over,
    )  # fmt: skip
    own = robot_file(e.robot)
    files = (path, *(() if own is None else (path.parent / own,)), *read, *more)
    notes = (*robot.notes, *nothing_said(located.data))
    return PlanFile(
        e.name, e.robot, task, tests, _speeds(located, e, model), e.change, seek, e.form, e.tool, listed(e.without),
        notes, files, located,
    )  # fmt: skip


def _check_numbers(located: Located, e: PlanEntry) -> None:
    for key in ("poses", "repeats", "candidates"):
        given = getattr(e, key)
        if given is not None and not 1 <= given <= MOST[key]:
            raise located.error((key,), f"{given} must be from 1 to {MOST[key]}")
    if e.change is not None and e.change < 0:
        raise located.error(("change",), "the time of a change of load must not be negative")


def _check_pattern(located: Located, key: str, model: RobotModel, word: str) -> None:
    try:
        selected(model, (word,))
    except InputError as error:
        raise located.error((key,), str(error)) from None


def _weights(located: Located, e: PlanEntry) -> dict[str, float]:
    weights = {e.criterion: 1.0} if isinstance(e.criterion, str) else dict(e.criterion)
    valid = criterion_kinds()
    for kind, weight in weights.items():
        if kind not in valid:
            raise UnknownNameError("criterion", kind, valid, located.where(("criterion",)))
        if not weight > 0:
            raise located.error(("criterion",), f"the weight of {kind} must be positive")
    if not weights:
        raise located.error(("criterion",), f"names nothing; write one of {', '.join(valid)}")
    return weights


def _speeds(located: Located, e: PlanEntry, model: RobotModel) -> Array:
    """Of the controller's axes in rad/s or m/s; nan where none is given."""
    check_axes(located, (), "speeds", model)
    for axis, speed in e.speeds.items():
        if axis not in model.controller.axes:
            raise UnknownNameError("axis", axis, model.controller.axes, located.where(("speeds",)))
        if not speed > 0:
            raise located.error(("speeds",), f"the speed of {axis} must be positive")
    return np.array([e.speeds.get(a, np.nan) for a in model.controller.axes])
