"""How a plan file says that it is measured: markers of a loaded arm, contacts with objects, or sweeps of joints."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np

from elastocal.design.method import Measuring, Method
from elastocal.design.sweeping import Sweeping
from elastocal.design.touching import Touching
from elastocal.errors import InputError, UnknownNameError
from elastocal.files import schema
from elastocal.files.campaign.errors import read_sources
from elastocal.files.campaign.readings_entry import listed
from elastocal.files.contact.objects import read_objects
from elastocal.files.located import Located
from elastocal.files.plan.cell import check_frame
from elastocal.files.plan.entry import PlanEntry, SweepEntry
from elastocal.files.schema import Units
from elastocal.measure.contact_force import ContactForce
from elastocal.measure.joint_torque import JointTorque
from elastocal.measure.kind import Measurement
from elastocal.measure.sources.source import ErrorSource
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import RobotModel
from elastocal.model.statics.observation import Marker
from elastocal.model.surfaces.disc import Disc
from elastocal.model.surfaces.touches import Touches

LOADED = ("deflection", "position")
BELONGS = {
    **dict.fromkeys(("loads", "load_frame", "markers", "turns"), LOADED),
    "statics": ("deflection",),
    **dict.fromkeys(("frame", "objects", "forces", "standoff"), ("contact",)),
    "sweep": ("joint_torque",),
}
"""Keys that some kinds of measurement have."""


def read_method(located: Located, e: PlanEntry, units: Units, model: RobotModel) -> Method:
    for field in fields(PlanEntry):
        given = getattr(e, field.name) not in (field.default, [], {}, ())
        if given and e.measurement not in BELONGS.get(field.name, (e.measurement,)):
            kinds = " or ".join(BELONGS[field.name])
            raise located.error((field.name,), f"belongs to measurement: {kinds}, not to {e.measurement}; leave it out")
    if e.measurement == "contact":
        return _touching(located, e, units, model)
    if e.measurement == "joint_torque":
        return _sweeping(located, e, units, model)
    return _measuring(located, e, units, model)


def _measuring(located: Located, e: PlanEntry, units: Units, model: RobotModel) -> Measuring:
    frame = e.load_frame or model.tool
    check_frame(located, ("load_frame",), model, frame)
    bare = Measuring(e.measurement, _markers(located, e, model), (), e.statics)
    example = bare.at(np.zeros((1, model.n)), AppliedWrenches(frame, np.zeros((1, 6))))
    return replace(bare, sources=read_sources(located, e.errors, units, example, model))


def _markers(located: Located, e: PlanEntry, model: RobotModel) -> tuple[Marker, ...]:
    names = listed(e.markers) or (model.tool,)
    for name in names:
        check_frame(located, ("markers",), model, name)
    if len(set(names)) < len(names):
        raise located.error(("markers",), "a marker stands twice; more readings of one are repeats")
    if e.turns and e.measurement == "position":
        raise located.error(("turns",), "orientations are planned for deflections only; leave the key out")
    return tuple(Marker(n, "pose" if e.turns else "position") for n in names)


def _touching(located: Located, e: PlanEntry, units: Units, model: RobotModel) -> Touching:
    frame = e.frame or model.tool
    check_frame(located, ("frame",), model, frame)
    surfaces = read_objects(located, e.objects, units)
    if not e.forces or not min(e.forces) > 0:
        raise located.error(("forces",), "give one or more positive forces to press with, such as forces_N: [20, 40]")
    if len(set(e.forces)) < len(e.forces):
        raise located.error(("forces",), "a force stands twice; name each once")
    if not e.standoff > 0:
        raise located.error(("standoff",), "the arm must start in front of the object: give a positive length")
    if not e.errors:
        raise located.error((), "contacts need errors, at least the force sensor's: {kind: force_sensor, sd_N: 0.1}")
    axes = "xy" if all(isinstance(s, Disc) for s in surfaces) else "xyz"
    example = ContactForce(np.zeros((1, model.n)), Touches(frame, surfaces, np.zeros(1, dtype=np.int64)), axes)
    sources = _sources(located, e, units, example, model)
    return Touching(surfaces, e.forces, frame, axes, sources, e.standoff)


def _sweeping(located: Located, e: PlanEntry, units: Units, model: RobotModel) -> Sweeping:
    s = schema.construct(SweepEntry, located, ("sweep",), e.sweep, units)
    for joint in listed(s.joints):
        if joint not in model.joints:
            raise UnknownNameError("joint", joint, model.joints, located.where(("sweep", "joints")))
        if model.motions[model.joints.index(joint)].kind != "revolute":
            raise located.error(("sweep", "joints"), f"{joint} slides; sweeps are of joints that turn")
    for name in ("spans", "speeds"):
        values = getattr(s, name)
        if not values or not min(values) > 0 or len(set(values)) < len(values):
            raise located.error(("sweep",), f"{name}: give one or more positive numbers, none twice")
    if s.samples < 3:
        raise located.error(("sweep",), "samples: three on each way are the least that show a sweep")
    if not e.errors:
        raise located.error((), "sweeps need errors: {kind: reading, torque_sd_Nm: 1}, and {kind: friction}")
    example = JointTorque.of(model, np.zeros((1, model.n)), np.ones((1, model.n)))
    sources = _sources(located, e, units, example, model)
    return Sweeping(s.spans, s.speeds, listed(s.joints), s.samples, sources)


def _sources(
    located: Located, e: PlanEntry, units: Units, example: Measurement, model: RobotModel
) -> tuple[ErrorSource, ...]:
    """Each is asked how it moves the readings: what is of markers or loads does not fit."""
    sources = read_sources(located, e.errors, units, example, model)
    for i, source in enumerate(sources):
        try:
            source.columns(example, model)
        except InputError as error:
            raise located.error(("errors", i), str(error)) from None
    return sources
