"""Robot files: YAML that a metrology engineer can write by hand.  The format is described in docs/robots.md."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import hypot
from typing import Any, get_args

import numpy as np

from elastocal.errors import InputError, UnknownNameError
from elastocal.files import schema
from elastocal.files.located import Located, Path_, check_format, check_tree
from elastocal.files.robot.plausible import size_of, wrong_centre, wrong_gravity, wrong_length, wrong_mass, wrong_number
from elastocal.files.robot.sections import (
    NO_SOURCE,
    JointEntry,
    RobotFile,
    check_given_once,
    read_elements,
    read_transmission,
)
from elastocal.files.schema import Units
from elastocal.files.units import Keys, check_limits, check_unit, declared_units, refuse
from elastocal.model.elements import Element
from elastocal.model.frames import BASE, Convention, DHRow, Frame, FrameTree, JointMotion, Shape, dh_frames
from elastocal.model.loads.link_mass import LinkMass
from elastocal.model.parameters import Status
from elastocal.model.robot import Robot
from elastocal.spatial.pose import Pose

FORMAT = "elastocal-robot/1"
Placed = tuple[Path_, Frame]


def build_robot(located: Located) -> Robot:
    check_format(located, FORMAT, "a robot file")
    units = declared_units(located)
    top = schema.construct(RobotFile, located, (), located.data, units)
    placed = tuple(_placed_frames(located, top, units))
    if complaint := wrong_number(len(placed)):
        raise located.error((), complaint)
    check_tree(located, [(path, f.name, f.parent) for path, f in placed], BASE)
    _check_leaders(located, placed)
    names = [frame.name for _, frame in placed]
    if top.tool and top.tool not in (BASE, *names):
        raise UnknownNameError("frame", top.tool, (BASE, *names), located.where(("tool",)))
    tool = top.tool or (names[-1] if names else BASE)
    try:
        tree = FrameTree(tuple(frame for _, frame in placed))
        elements = read_elements(located, top, tree, units)
        try:
            model = _model(located, top, tree, tool, elements, units)
        except InputError:
            check_given_once(located, elements, tree)
            raise
        model.chain  # noqa: B018  all that moves must form one chain
        _check_plausible(located, placed, model)
        return model
    except InputError as error:
        if str(error).startswith(located.file):
            raise
        quoted = re.findall(r"'([^']+)'", str(error))
        owner: Path_ = ("controller",) if str(error).startswith("controller: ") else ()
        where = next((p for name in quoted for p, f in placed if f.name == name), owner)
        raise located.error(where, str(error).removeprefix("controller: "), error) from None


def _model(
    located: Located, top: RobotFile, tree: FrameTree, tool: str, elements: tuple[Element, ...], units: Units
) -> Robot:
    transmission = read_transmission(located, top, tree, units)
    title, serial = top.title or top.name, str(top.serial)
    return Robot(
        top.name, tree, tool, elements, np.array(top.gravity), transmission, title, top.source, serial, top.status,
        shapes=tuple(_shapes(located, top, tree, units)), rated_payload=top.rated_payload,
    )  # fmt: skip


def _shapes(located: Located, top: RobotFile, tree: FrameTree, units: Units) -> Iterator[Shape]:
    """The room that links take."""
    for i, entry in enumerate(top.shapes):
        shape = schema.construct(Shape, located, ("shapes", i), entry, units)
        if shape.frame not in tree.names:
            raise UnknownNameError("frame", shape.frame, tree.names, located.where(("shapes", i)))
        if not shape.radius > 0:
            raise located.error(("shapes", i), "its radius must be positive")
        yield shape


def _check_plausible(located: Located, placed: Sequence[Placed], model: Robot) -> None:
    """Masses, centres of mass, lengths and gravity that a robot can have."""
    for path, frame in placed:
        if complaint := wrong_length(frame.pose.translation):
            raise located.error(path, f"{frame.name} {complaint}")
    if complaint := wrong_gravity(model.gravity):
        raise located.error(tuple(k for k in located.data if str(k).startswith("gravity"))[:1], complaint)
    size = size_of([frame.pose.translation for _, frame in placed])
    for i, load in enumerate(model.elements):
        if isinstance(load, LinkMass):
            complaint = wrong_mass(load.mass)
            centre = np.array(load.moment) / load.mass if load.mass > 0 else np.zeros(3)
            if complaint := complaint or wrong_centre(centre, size):
                raise located.error(("elements", i), complaint)


def _placed_frames(located: Located, top: RobotFile, units: Units) -> Iterator[Placed]:
    if top.dh is not None and top.joints:
        raise located.error(("dh",), "a robot has joints or a dh table, not both; add fixed frames under frames")
    before = BASE
    for path, frame in _dh(located, top, units) if top.dh is not None else ():
        before = frame.name
        yield path, frame
    for section, entries in (("joints", top.joints), ("frames", top.frames)):
        for i, entry in enumerate(entries):
            frame = _frame(located, (section, i), entry, before, top, units)
            before = frame.name
            yield (section, i), frame


def _dh(located: Located, top: RobotFile, units: Units) -> Iterator[Placed]:
    table = top.dh or {}
    keys = Keys(located, ("dh",), dict.fromkeys(("convention", "rows", "source", "status")), {})
    for key in table:
        keys.match(key, None)
    if table.get("convention") not in get_args(Convention):
        message = repr(table["convention"]) if "convention" in table else "is missing; it"
        raise located.error(("dh", "convention"), f"{message} must be one of {', '.join(get_args(Convention))}")
    if not isinstance(table.get("rows"), list):
        raise located.error(("dh", "rows"), "must be a list with one row for each joint")
    status = table.get("status", "")
    if status not in get_args(Status):
        raise located.error(
            ("dh", "status"), f"{status!r} must be one of {', '.join(s for s in get_args(Status) if s)}"
        )
    source, status = top.origin(table.get("source", ""), status)
    if not source:
        raise located.error(("dh",), NO_SOURCE)
    parent = BASE
    for i, entry in enumerate(table["rows"]):
        path: Path_ = ("dh", "rows", i)
        row = _dh_row(located, path, entry, table["convention"], units)
        for frame in dh_frames([row], table["convention"], parent, source, status):
            parent = frame.name
            yield path, frame


def _dh_row(located: Located, path: Path_, entry: Any, convention: Convention, units: Units) -> DHRow:
    kind = str(entry.get("type", "revolute")) if isinstance(entry, dict) else None
    fields = schema.read_fields(DHRow, located, path, entry, units, kind)
    row = schema.validated(DHRow, located, path, fields)
    check_unit(located, path, fields, "limits", row.type)
    check_limits(located, path, fields)
    if convention == "modified" and row.beta is not None:
        raise located.error((*path, fields.keys["beta"]), "belongs to the hayati form; use convention: hayati")
    if row.d != 0 and (convention == "hayati" or row.beta is not None):
        raise located.error((*path, fields.keys["d"]), f"{fields.raw['d']}: a hayati row has no d; set it to zero")
    return row


def _frame(located: Located, path: Path_, entry: Any, before: str, top: RobotFile, units: Units) -> Frame:
    kind = str(entry.get("type")) if isinstance(entry, dict) else None
    fields = schema.read_fields(JointEntry, located, path, entry, units, kind)
    e = schema.validated(JointEntry, located, path, fields)
    source, status = top.origin(e.source, e.status)
    if not source:
        raise located.error(path, NO_SOURCE)
    motion = None
    if e.type == "fixed":
        refuse(located, path, fields, ("axis", "limits", "follows"), "belongs to a joint; this frame is fixed")
    else:
        check_unit(located, path, fields, "limits", e.type)
        check_unit(located, path, fields, "offset", e.type)
        check_limits(located, path, fields)
        if e.axis is None:
            raise located.error(path, f"{e.type} joint {e.name!r} needs an axis, for example axis: [0, 0, 1]")
        if hypot(*e.axis) < 1e-9:
            raise located.error((*path, "axis"), f"{fields.raw['axis']} has no direction; give a non-zero vector")
        motion = JointMotion(e.type, e.axis, e.limits, e.follows, e.ratio, e.offset)
    if e.follows is None:
        refuse(located, path, fields, ("ratio", "offset"), "belongs to a joint that follows another; add follows")
    return Frame(e.name, e.parent or before, Pose.from_xyz_rpy(e.xyz, e.rpy), motion, source, status)


def _check_leaders(located: Located, placed: Sequence[Placed]) -> None:
    leaders = [f.name for _, f in placed if f.joint is not None and f.joint.follows is None]
    for path, frame in placed:
        if frame.joint is not None and frame.joint.follows not in (None, *leaders):
            where = located.where((*path, "follows"))
            raise UnknownNameError("joint with a value of its own", str(frame.joint.follows), leaders, where)
