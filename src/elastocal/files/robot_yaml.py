"""Robot files: YAML that a metrology engineer can write by hand.  The format is described in docs/robots.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import Any, Literal

import numpy as np

from elastocal.errors import InputError, UnknownNameError
from elastocal.files.located import Located, Path_, parse_yaml, read_yaml
from elastocal.files.schema import Units, construct, dimensions_of, read_fields, scaled, validated
from elastocal.files.units import DIMENSIONS, PRISMATIC, REVOLUTE
from elastocal.model.dh import Convention, DHRow, dh_frames
from elastocal.model.elements import Element, element_class, quantity
from elastocal.model.frames import BASE, Frame, FrameTree, JointMotion
from elastocal.model.robot import RobotModel
from elastocal.model.transmission import Transmission
from elastocal.spatial.pose import Pose

FORMAT = "elastocal-robot/1"
Vector = tuple[float, float, float]


@dataclass(frozen=True, kw_only=True)
class RobotFile:
    """Top level of a robot file."""

    format: str
    name: str
    title: str = ""
    source: str = ""
    units: dict[str, str] = field(default_factory=dict)
    gravity: Vector = quantity("acceleration", default=(0.0, 0.0, -9.80665))
    joints: list[Any] = field(default_factory=list)
    dh: dict[str, Any] | None = None
    frames: list[Any] = field(default_factory=list)
    tool: str = ""
    controller: dict[str, Any] = field(default_factory=dict)
    elements: list[Any] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class JointEntry:
    """A joint or, with type fixed, a plain frame."""

    name: str
    type: Literal["revolute", "prismatic", "fixed"] = "fixed"
    parent: str | None = None
    xyz: Vector = quantity("length", default=(0.0, 0.0, 0.0))
    rpy: Vector = quantity("angle", default=(0.0, 0.0, 0.0))
    axis: Vector | None = quantity("number", default=None)
    limits: tuple[float, float] | None = quantity("joint value", default=None)
    follows: str | None = None
    ratio: float = quantity("number", default=1.0)
    offset: float = quantity("joint value", default=0.0)
    source: str = ""


@dataclass(frozen=True, kw_only=True)
class ControllerEntry:
    """How pendant values map to joint values."""

    axes: tuple[str, ...] | None = None
    sign: dict[str, float] = quantity("number", default_factory=dict)
    zero: dict[str, float] = quantity("joint value", default_factory=dict)
    couplings: tuple[dict[str, Any], ...] = ()
    source: str = ""


def shipped_robots() -> tuple[str, ...]:
    """Names of the robots in the package."""
    folder = resources.files("elastocal.robots")
    return tuple(sorted(f.name[:-5] for f in folder.iterdir() if f.name.endswith(".yaml")))


def read_robot(robot: str | Path) -> RobotModel:
    """A shipped robot by name, or a .yaml robot file by path."""
    text = str(robot)
    if isinstance(robot, str) and not text.endswith((".yaml", ".yml")):
        if text not in shipped_robots():
            raise UnknownNameError("robot", text, shipped_robots())
        source = resources.files("elastocal.robots").joinpath(f"{text}.yaml").read_text(encoding="utf-8")
        return build_robot(parse_yaml(source, f"{text}.yaml"))
    return build_robot(read_yaml(Path(robot)))


def build_robot(located: Located) -> RobotModel:
    data = located.data
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        said = data.get("format") if isinstance(data, dict) else data
        raise located.error(("format",), f"{said!r} is not a robot file; the first line must be 'format: {FORMAT}'")
    declared = data.get("units")
    top = construct(RobotFile, located, (), data, declared if isinstance(declared, dict) else {})
    for dimension, unit in top.units.items():
        if unit not in DIMENSIONS.get(dimension, {}):
            valid = ", ".join(DIMENSIONS.get(dimension, {})) or f"one of the dimensions {', '.join(DIMENSIONS)}"
            raise located.error(("units", dimension), f"{unit!r} is not known; use {valid}")
    units: dict[str, str] = dict(top.units)
    frames = _frames(located, top, units)
    tool = top.tool or (frames[-1].name if frames else BASE)
    try:
        tree = FrameTree(frames)
        elements = tuple(_element(located, i, entry, top, tree, units) for i, entry in enumerate(top.elements))
        transmission = _transmission(located, top, tree, units)
        return RobotModel(
            top.name, tree, tool, elements, np.array(top.gravity), transmission, top.title or top.name, top.source
        )
    except InputError as error:
        if str(error).startswith(located.file):
            raise
        raise InputError(f"{located.file}: {error}") from None


def _frames(located: Located, top: RobotFile, units: Units) -> tuple[Frame, ...]:
    if top.dh is not None and top.joints:
        raise located.error(("dh",), "a robot has joints or a dh table, not both; add fixed frames under frames")
    out: list[Frame] = []
    if top.dh is not None:
        out += _dh(located, top, units)
    for section, entries in (("joints", top.joints), ("frames", top.frames)):
        for i, entry in enumerate(entries):
            parent = out[-1].name if out else BASE
            out.append(_frame(located, (section, i), entry, parent, top.source, units))
    return tuple(out)


def _dh(located: Located, top: RobotFile, units: Units) -> tuple[Frame, ...]:
    table = top.dh or {}
    convention = table.get("convention")
    allowed: tuple[Convention, ...] = ("standard", "modified", "hayati")
    if convention not in allowed:
        raise located.error(("dh", "convention"), f"{convention!r} must be one of {', '.join(allowed)}")
    extra = set(table) - {"convention", "rows", "source"}
    if extra or not isinstance(table.get("rows"), list):
        raise located.error(("dh",), "takes convention, rows (a list) and source")
    rows = []
    for i, entry in enumerate(table["rows"]):
        fields = read_fields(DHRow, located, ("dh", "rows", i), entry, units)
        row = validated(DHRow, located, ("dh", "rows", i), fields)
        _fits(located, ("dh", "rows", i), fields.units.get("limits"), row.type, fields.keys.get("limits", ""))
        rows.append(row)
    source = table.get("source", "") or top.source
    if not source:
        raise located.error(("dh",), _NO_SOURCE)
    return dh_frames(rows, convention, source=source)


_NO_SOURCE = "has numbers without a source; add 'source:' here or at the top (data sheet, measurement, assumption)"


def _frame(located: Located, path: Path_, entry: Any, before: str, source: str, units: Units) -> Frame:
    fields = read_fields(JointEntry, located, path, entry, units)
    e = validated(JointEntry, located, path, fields)
    if not (e.source or source):
        raise located.error(path, _NO_SOURCE)
    motion = None
    if e.type == "fixed":
        for key in ("axis", "limits", "follows"):
            if key in fields.values:
                raise located.error((*path, fields.keys[key]), "belongs to a joint; this frame is fixed")
    else:
        _fits(located, path, fields.units.get("limits"), e.type, fields.keys.get("limits", ""))
        if e.axis is None:
            raise located.error(path, f"{e.type} joint {e.name!r} needs an axis, for example axis: [0, 0, 1]")
        motion = JointMotion(e.type, e.axis, e.limits, e.follows, e.ratio, e.offset)
    return Frame(e.name, e.parent or before, Pose.from_xyz_rpy(e.xyz, e.rpy), motion, e.source or source)


def _fits(located: Located, path: Path_, unit: str | None, kind: str, key: str) -> None:
    """A revolute joint takes angles, a prismatic one lengths."""
    wrong = PRISMATIC if kind == "revolute" else REVOLUTE
    if unit in wrong:
        raise located.error((*path, key), f"unit {unit} does not fit a {kind} joint")


def _element(located: Located, i: int, entry: Any, top: RobotFile, tree: FrameTree, units: Units) -> Element:
    path: Path_ = ("elements", i)
    if not isinstance(entry, dict) or "kind" not in entry:
        raise located.error(path, "an element needs a kind")
    try:
        cls = element_class(str(entry["kind"]))
    except UnknownNameError as error:
        raise located.error((*path, "kind"), str(error)) from None
    rest = {k: v for k, v in entry.items() if k != "kind"}
    fields = read_fields(cls, located, path, rest, units)
    if not (fields.values.get("source") or top.source):
        raise located.error(path, _NO_SOURCE)
    fields.values.setdefault("source", top.source)
    try:
        expanded = cls.expand(fields.values)
        element = validated(cls, located, path, replace(fields, values=expanded))
        for joint in [getattr(element, "joint", None), *getattr(element, "joints", ())]:
            if joint is not None:
                for name, unit in fields.units.items():
                    _fits(
                        located,
                        path,
                        unit if _joint_unit(cls, name) else None,
                        tree.joint(joint).kind,
                        fields.keys[name],
                    )
        element.check(tree)
        element.check_physics()
    except InputError as error:
        if str(error).startswith(located.file):
            raise
        raise located.error(path, str(error)) from None
    return element


def _joint_unit(cls: type[Element], name: str) -> bool:
    return (dimensions_of(cls).get(name) or "").startswith("joint ")


def _transmission(located: Located, top: RobotFile, tree: FrameTree, units: Units) -> Transmission | None:
    if not top.controller:
        return None
    path: Path_ = ("controller",)
    fields = read_fields(ControllerEntry, located, path, top.controller, units)
    e = validated(ControllerEntry, located, path, fields)
    if not (e.source or top.source):
        raise located.error(path, _NO_SOURCE)
    joints = tree.joint_names
    axes = e.axes or joints
    if len(axes) != len(joints):
        raise located.error((*path, "axes"), f"{len(axes)} axes for {len(joints)} joints")
    if len(set(axes)) != len(axes):
        raise located.error((*path, "axes"), "names an axis twice; every pendant axis needs a name of its own")
    at = {axis: i for i, axis in enumerate(axes)}
    matrix, zero = np.eye(len(axes)), np.zeros(len(axes))
    for axis, sign in _known(located, (*path, "sign"), e.sign, at).items():
        if sign not in (1.0, -1.0):
            raise located.error((*path, "sign", axis), f"{sign:g} must be 1 or -1")
        matrix[at[axis], at[axis]] = sign
    for axis, value in _known(located, (*path, "zero"), e.zero, at).items():
        kind = tree.joint(joints[at[axis]]).kind
        _fits(located, path, fields.units.get("zero"), kind, fields.keys["zero"])
        zero[at[axis]] = value
    for i, coupling in enumerate(e.couplings):
        where = (*path, "couplings", i)
        if set(coupling) != {"joint", "axis", "ratio"}:
            raise located.error(where, "needs joint, axis and ratio")
        _known(located, where, {coupling["axis"]: 0.0}, at)
        if coupling["joint"] not in joints:
            raise UnknownNameError("joint", str(coupling["joint"]), joints, located.where(where))
        ratio = scaled(coupling["ratio"], 1.0, located, (*where, "ratio"))
        matrix[joints.index(coupling["joint"]), at[coupling["axis"]]] += ratio
    return Transmission(tuple(axes), matrix, zero)


def _known(located: Located, path: Path_, values: Mapping[str, float], at: Mapping[str, int]) -> Mapping[str, float]:
    for axis in values:
        if axis not in at:
            raise UnknownNameError("controller axis", str(axis), at, located.where(path))
    return values
