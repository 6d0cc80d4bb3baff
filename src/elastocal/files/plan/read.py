"""Plan files: a robot in its cell, how it can be loaded and measured, and what is wanted.  See docs/planning.md."""

from __future__ import annotations

from dataclasses import fields, replace
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from elastocal.design.candidates import Draw
from elastocal.design.cell import Safety
from elastocal.design.criteria.criterion import criterion_kinds
from elastocal.design.feasibility.filter import filter_kinds
from elastocal.design.loading import loading_kinds
from elastocal.design.method import Measuring, Method
from elastocal.design.sweeping import Sweeping
from elastocal.design.task import MOST, PlanTask
from elastocal.design.touching import Touching
from elastocal.errors import ConflictError, DuplicateError, MissingError, RangeError, TooFewError, UnsupportedError
from elastocal.files import schema
from elastocal.files.campaign.file import listed
from elastocal.files.campaign.requests import check_sources, read_sources
from elastocal.files.contact.objects import read_objects
from elastocal.files.located import Located, read_formatted, read_yaml
from elastocal.files.plan.file import PlanEntry, PlanFile, SweepEntry, nothing_said
from elastocal.files.plan.task import check_axes, check_frame, read_around, read_kinds, read_plan_cell, read_tests
from elastocal.files.robot.read import read_robot, robot_file, selected, without_kinds
from elastocal.files.schema import Units
from elastocal.files.units import declared_units
from elastocal.measure.contacts import ContactForce
from elastocal.measure.joints import JointTorque
from elastocal.model.descriptions import in_form
from elastocal.model.limits import limit_text
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import Robot
from elastocal.model.start_values import bending
from elastocal.model.statics.observation import Marker
from elastocal.model.surfaces.disc import Disc
from elastocal.model.surfaces.surface import Touches
from elastocal.spatial.entries import Array

FORMAT = "elastocal-plan/1"
CANDIDATES = {"contact": 400, "joint_torque": 150}
"""Configurations to draw where the file does not say: each becomes many contacts or sweeps."""
_START = f"a plan file starts with 'format: {FORMAT}'"


def is_plan(path: Path) -> bool:
    """Whether a YAML file says that it is a plan, and not a robot."""
    data = read_yaml(path, _START).data
    return isinstance(data, dict) and str(data.get("format", "")).startswith("elastocal-plan/")


def plans_arcs(path: Path) -> bool:
    """Whether a plan file is about arcs."""
    data = read_yaml(path, _START).data
    return isinstance(data, dict) and data.get("measurement") == "arcs"


def read_plan_file(path: Path) -> PlanFile:
    """A plan file with its robot; other files are looked for from its folder."""
    located = read_formatted(path, FORMAT, "a plan file")
    units = declared_units(located)
    e = schema.construct(PlanEntry, located, (), _wider(located.data), units)
    robot = read_robot(e.robot, e.tool, path.parent)
    robot = bending(robot) if e.measurement == "deflection" else robot
    model = in_form(without_kinds(robot, listed(e.without)), e.form or "beam")
    for key, words in (("seek", e.seek), ("hold", e.hold)):
        with located.at((key,)):
            for word in listed(words):
                selected(model, (word,))
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
        safety=_safety(located, e), home=_home(located, e, model),
    )  # fmt: skip
    own = robot_file(e.robot)
    files = (path, *(() if own is None else (path.parent / own,)), *read, *more)
    notes = (*robot.notes, *nothing_said(located.data))
    return PlanFile(
        e.name, e.robot, task, tests, _speeds(located, e, model), e.change, seek, e.form, e.tool, listed(e.without),
        notes, files, located, e.model,
    )  # fmt: skip


def _wider(data: Any) -> Any:
    """``floor: none`` and the like, which ask for a wider cell, without a unit."""
    words = {"floor": "floor_mm", "keep_out": "keep_out_mm", "most_turn": "most_turn_deg"}
    if not isinstance(data, dict):
        return data
    out = {words.get(k, k) if v == "none" else k: None if v == "none" and k in words else v for k, v in data.items()}
    return {k: False if k == "self_collision" and v == "none" else v for k, v in out.items()}


def _safety(located: Located, e: PlanEntry) -> Safety:
    for name in ("keep_out", "most_turn"):
        value = getattr(e, name)
        if isinstance(value, float) and not value > 0:
            raise located.error((name,), f"must be positive; write {name}: none for a wider cell", RangeError)
    return Safety(e.floor, e.keep_out, e.self_collision, e.most_turn)


def _home(located: Located, e: PlanEntry, model: Robot) -> tuple[float, ...] | None:
    """Joint values from values of axes; those that are not named stand at zero."""
    if not e.home:
        return None
    check_axes(located, (), "home", model)
    for axis in e.home:
        if axis not in model.controller.axes:
            raise located.unknown(("home",), "axis", axis, model.controller.axes)
    q = model.controller.to_joints(np.array([[e.home.get(a, 0.0) for a in model.controller.axes]]))
    beyond = model.beyond_limits(q)
    if beyond:
        raise located.error(("home",), f"{limit_text(model, *beyond[0][1:])}; change it", RangeError)
    return tuple(float(v) for v in q[0])


def _check_numbers(located: Located, e: PlanEntry) -> None:
    for key in ("poses", "repeats", "candidates"):
        given = getattr(e, key)
        if given is not None and not 1 <= given <= MOST[key]:
            raise located.error((key,), f"{given} must be from 1 to {MOST[key]}", RangeError)
    if e.change is not None and e.change < 0:
        raise located.error(("change",), "the time of a change of load must not be negative", RangeError)


def _weights(located: Located, e: PlanEntry) -> dict[str, float]:
    weights = {e.criterion: 1.0} if isinstance(e.criterion, str) else dict(e.criterion)
    valid = criterion_kinds()
    for kind, weight in weights.items():
        if kind not in valid:
            raise located.unknown(("criterion",), "criterion", kind, valid)
        if not 0 < weight < inf:
            raise located.error(("criterion", kind), f"the weight of {kind} must be positive and finite", RangeError)
    if not weights:
        raise located.error(("criterion",), f"names nothing; write one of {', '.join(valid)}", MissingError)
    return weights


def _speeds(located: Located, e: PlanEntry, model: Robot) -> Array:
    """Of the controller's axes in rad/s or m/s; nan where none is given."""
    check_axes(located, (), "speeds", model)
    for axis, speed in e.speeds.items():
        if axis not in model.controller.axes:
            raise located.unknown(("speeds",), "axis", axis, model.controller.axes)
        if not speed > 0:
            raise located.error(("speeds", axis), f"the speed of {axis} must be positive", RangeError)
    return np.array([e.speeds.get(a, np.nan) for a in model.controller.axes])


LOADED = ("deflection", "position")
BELONGS = {
    **dict.fromkeys(("loads", "load_frame", "markers", "turns"), LOADED),
    "statics": ("deflection",),
    **dict.fromkeys(("frame", "objects", "forces", "standoff"), ("contact",)),
    "sweep": ("joint_torque",),
}
"""Keys that some kinds of measurement have."""


def read_method(located: Located, e: PlanEntry, units: Units, model: Robot) -> Method:
    for field in fields(PlanEntry):
        given = getattr(e, field.name) not in (field.default, [], {}, ())
        if given and e.measurement not in BELONGS.get(field.name, (e.measurement,)):
            kinds = " or ".join(BELONGS[field.name])
            raise located.error(
                (field.name,), f"belongs to measurement: {kinds}, not to {e.measurement}; leave it out", ConflictError
            )
    if e.measurement == "contact":
        return _touching(located, e, units, model)
    if e.measurement == "joint_torque":
        return _sweeping(located, e, units, model)
    return _measuring(located, e, units, model)


def _measuring(located: Located, e: PlanEntry, units: Units, model: Robot) -> Measuring:
    frame = e.load_frame or model.tool
    check_frame(located, ("load_frame",), model, frame)
    bare = Measuring(e.measurement, _markers(located, e, model), (), e.statics)
    example = bare.at(np.zeros((1, model.n)), AppliedWrenches(frame, np.zeros((1, 6))))
    return replace(bare, sources=read_sources(located, e.errors, units, example, model))


def _markers(located: Located, e: PlanEntry, model: Robot) -> tuple[Marker, ...]:
    names = listed(e.markers) or (model.tool,)
    for name in names:
        check_frame(located, ("markers",), model, name)
    if len(set(names)) < len(names):
        raise located.error(("markers",), "a marker stands twice; more readings of one are repeats", DuplicateError)
    if e.turns and e.measurement == "position":
        raise located.error(
            ("turns",), "orientations are planned for deflections only; leave the key out", UnsupportedError
        )
    return tuple(Marker(n, "pose" if e.turns else "position") for n in names)


def _touching(located: Located, e: PlanEntry, units: Units, model: Robot) -> Touching:
    frame = e.frame or model.tool
    check_frame(located, ("frame",), model, frame)
    surfaces = read_objects(located, e.objects, units)
    if not e.forces or not min(e.forces) > 0:
        raise located.error(
            ("forces",), "give one or more positive forces to press with, such as forces_N: [20, 40]", RangeError
        )
    if len(set(e.forces)) < len(e.forces):
        raise located.error(("forces",), "a force stands twice; name each once", DuplicateError)
    if not e.standoff > 0:
        raise located.error(
            ("standoff",), "the arm must start in front of the object: give a positive length", RangeError
        )
    if not e.errors:
        raise located.error(
            (), "contacts need errors, at least the force sensor's: {kind: force_sensor, sd_N: 0.1}", MissingError
        )
    axes = "xy" if all(isinstance(s, Disc) for s in surfaces) else "xyz"
    example = ContactForce(np.zeros((1, model.n)), Touches(frame, surfaces, np.zeros(1, dtype=np.int64)), axes)
    sources = read_sources(located, e.errors, units, example, model)
    check_sources(located, sources, example, model)
    return Touching(surfaces, e.forces, frame, axes, sources, e.standoff)


def _sweeping(located: Located, e: PlanEntry, units: Units, model: Robot) -> Sweeping:
    s = schema.construct(SweepEntry, located, ("sweep",), e.sweep, units)
    for joint in listed(s.joints):
        if joint not in model.joints:
            raise located.unknown(("sweep", "joints"), "joint", joint, model.joints)
        if model.motions[model.joints.index(joint)].kind != "revolute":
            raise located.error(
                ("sweep", "joints"), f"{joint} slides; sweeps are of joints that turn", UnsupportedError
            )
    for name in ("spans", "speeds"):
        values = getattr(s, name)
        if not values or not min(values) > 0 or len(set(values)) < len(values):
            raise located.error(("sweep",), f"{name}: give one or more positive numbers, none twice", RangeError)
    if s.samples < 3:
        raise located.error(("sweep",), "samples: three on each way are the least that show a sweep", TooFewError)
    if not e.errors:
        raise located.error(
            (), "sweeps need errors: {kind: reading, torque_sd_Nm: 1}, and {kind: friction}", MissingError
        )
    example = JointTorque.of(model, np.zeros((1, model.n)), np.ones((1, model.n)))
    sources = read_sources(located, e.errors, units, example, model)
    check_sources(located, sources, example, model)
    return Sweeping(s.spans, s.speeds, listed(s.joints), s.samples, sources)
