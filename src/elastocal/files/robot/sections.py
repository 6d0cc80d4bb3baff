"""The keys of a robot file, and its sections ``controller`` (axes, drives) and ``elements`` (one effect per entry)."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, Literal

import numpy as np

from elastocal.errors import InputError, UnknownNameError
from elastocal.files import schema
from elastocal.files.located import Located, Path_, check_once
from elastocal.files.schema import Units, chosen
from elastocal.files.units import Fields, check_unit
from elastocal.model.elements import CompliantCoordinate, Element, element_kinds
from elastocal.model.frames import FrameTree
from elastocal.model.parameters import Status, quantity
from elastocal.model.transmission import Drives, Language, Transmission, sum_of_joints
from elastocal.values import dataclass

Vector = tuple[float, float, float]
NO_SOURCE = "has numbers without a source; add 'source:' here or at the top (data sheet, measurement, assumption)"


@dataclass(frozen=True, kw_only=True)
class RobotFile:
    """Top level of a robot file."""

    format: str
    name: str
    title: str = ""
    serial: str | int = ""
    source: str = ""
    status: Status = ""
    units: dict[str, str] = field(default_factory=dict)
    gravity: Vector = quantity("acceleration", default=(0.0, 0.0, -9.80665))
    rated_payload: float | None = quantity("mass", default=None)
    joints: list[Any] = field(default_factory=list)
    dh: dict[str, Any] | None = None
    frames: list[Any] = field(default_factory=list)
    tool: str = ""
    controller: dict[str, Any] = field(default_factory=dict)
    elements: list[Any] = field(default_factory=list)
    shapes: list[Any] = field(default_factory=list)

    def origin(self, source: str, status: Status) -> tuple[str, Status]:
        """Source and status of an entry: without a source of its own it has those of the file."""
        return (source, status) if source else (self.source, status or self.status)


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
    status: Status = ""


@dataclass(frozen=True, kw_only=True)
class ControllerEntry:
    """How pendant values map to joint values."""

    axes: tuple[str, ...] | None = None
    language: Language = ""
    sign: dict[str, float] = quantity("number", default_factory=dict)
    zero: dict[str, float] = quantity("joint value", default_factory=dict)
    couplings: tuple[dict[str, Any], ...] = ()
    coupled: tuple[str, ...] = ()
    structure: tuple[tuple[float, ...], ...] = quantity("number", default=())
    counts_per_turn: dict[str, float] = quantity("number", default_factory=dict)
    counts_at_zero: dict[str, float] = quantity("number", default_factory=dict)
    pulses_per_degree: dict[str, float] = quantity("number", default_factory=dict)
    source: str = ""
    status: Status = ""


def read_transmission(located: Located, top: RobotFile, tree: FrameTree, units: Units) -> Transmission | None:
    """The map from controller values to joints; None where the file has no such section."""
    if not top.controller:
        return None
    path: Path_ = ("controller",)
    fields = schema.read_fields(ControllerEntry, located, path, top.controller, units)
    e = schema.validated(ControllerEntry, located, path, fields)
    if not (e.source or top.source):
        raise located.error(path, NO_SOURCE)
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
        check_unit(located, path, fields, "zero", kind)
        zero[at[axis]] = value
    for i, coupling in enumerate(e.couplings):
        where = (*path, "couplings", i)
        if set(coupling) != {"joint", "axis", "ratio"}:
            raise located.error(where, "needs joint, axis and ratio")
        joint, axis = str(coupling["joint"]), str(coupling["axis"])
        _known(located, where, {axis: 0.0}, at)
        if joint not in joints:
            raise UnknownNameError("joint", joint, joints, located.where(where))
        row, column = joints.index(joint), at[axis]
        if row == column:
            raise located.error(where, f"axis {axis} moves joint {joint} anyway; a coupling is to another axis")
        if matrix[row, column] != 0:
            raise located.error(where, f"couples {joint} to {axis} a second time; keep one")
        matrix[row, column] = schema.in_si(coupling["ratio"], 1.0, located, (*where, "ratio"))
    for i, text in enumerate(e.coupled):
        with located.at((*path, "coupled", i)):
            sum_of_joints(text, joints)
    return Transmission(tuple(axes), matrix, zero, _drives(located, path, e, at), e.language, e.coupled)


def _drives(located: Located, path: Path_, e: ControllerEntry, at: Mapping[str, int]) -> Drives | None:
    pulses = _known(located, (*path, "pulses_per_degree"), e.pulses_per_degree, at)
    if pulses and (e.structure or e.counts_per_turn):
        message = "says what structure and counts_per_turn say; keep one of the two"
        raise located.error((*path, "pulses_per_degree"), message)
    if pulses:
        zero = [a for a, v in pulses.items() if not v][:1]
        if zero or len(pulses) != len(at):
            message = f"must have a number other than 0 for each of {', '.join(at)}"
            raise located.error((*path, "pulses_per_degree", *zero), message)
        per_turn = 360.0 * np.array([pulses[a] for a in at])
        return Drives(np.eye(len(at)), per_turn, np.array([e.counts_at_zero.get(a, 0.0) for a in at]))
    for key in ("counts_per_turn", "counts_at_zero"):
        if getattr(e, key) and not e.structure:
            raise located.error((*path, key), "belongs to motors; add structure, their turns per turn of each axis")
        _known(located, (*path, key), getattr(e, key), at)
    if not e.structure:
        return None
    wrong = next((i for i, row in enumerate(e.structure) if len(row) != len(at)), None)
    if wrong is not None or len(e.structure) != len(at):
        where = (*path, "structure") if wrong is None else (*path, "structure", wrong)
        raise located.error(where, f"must have {len(at)} rows of {len(at)} numbers: motors by axes")
    per_turn = np.array([e.counts_per_turn.get(a, np.nan) for a in at])
    return Drives(np.array(e.structure), per_turn, np.array([e.counts_at_zero.get(a, 0.0) for a in at]))


def _known(located: Located, path: Path_, values: Mapping[str, float], at: Mapping[str, int]) -> Mapping[str, float]:
    for axis in values:
        if axis not in at:
            raise UnknownNameError("controller axis", str(axis), at, located.where(path))
    return values


KEY = "elements"


def read_elements(located: Located, top: RobotFile, tree: FrameTree, units: Units) -> tuple[Element, ...]:
    """The effects of a robot."""
    kinds, joints = element_kinds(), {f.name: f.joint.kind for f in tree.frames if f.joint}
    return tuple(
        _element(located, (KEY, i), top, tree, units, *chosen(located, (KEY, i), "an element", entry, kinds), joints)
        for i, entry in enumerate(top.elements)
    )


def check_given_once(located: Located, elements: Sequence[Element], tree: FrameTree) -> None:
    """No parameter and no compliance is given by two elements.  A robot refuses that too, but knows no lines."""
    check_once(located, _given(elements, tree))


def _element(
    located: Located, path: Path_, top: RobotFile, tree: FrameTree, units: Units, cls: type[Element],
    data: dict[str, Any], joints: Mapping[str, str],
) -> Element:  # fmt: skip
    fields = schema.read_fields(cls, located, path, data, units, joints.get(str(data.get("joint"))))
    if not (fields.values.get("source") or top.source):
        raise located.error(path, NO_SOURCE)
    try:
        given = schema.validated(cls, located, path, schema.expanded(cls, located, path, fields))
        source, status = top.origin(given.source, given.status)
        own = (source, status) == (given.source, given.status)
        element = given if own else dataclasses.replace(given, source=source, status=status)
        for name in [getattr(element, "joint", None), *getattr(element, "joints", ())]:
            for quantity in fields.units if name is not None else ():
                if (schema.dimensions_of(cls)[quantity] or "").startswith("joint "):
                    check_unit(located, path, fields, quantity, tree.joint(name).kind)
        element.check(tree)
        _check_physics(located, path, fields, element)
    except InputError as error:
        if str(error).startswith(located.file):
            raise
        culprit = [fields.keys[n] for n, v in fields.raw.items() if _names(v, error.value)]
        raise located.error((*path, *culprit[:1]), str(error), error) from None
    return element


def _names(value: Any, name: Any) -> bool:
    return isinstance(name, str) and (value == name or (isinstance(value, (list, dict)) and name in value))


def _check_physics(located: Located, path: Path_, fields: Fields, element: Element) -> None:
    """A negative value that would be right without its sign is named by its key, as it was written."""
    try:
        element.check_physics()
    except InputError:
        for name, key in fields.keys.items():
            value = getattr(element, name, None)
            if isinstance(value, (float, tuple)) and fields.units[name] and np.ndim(value) < 2:
                change: dict[str, Any] = {name: abs(value) if isinstance(value, float) else tuple(map(abs, value))}
                if _possible(dataclasses.replace(element, **change)):
                    raise located.error((*path, key), f"{fields.raw[name]} must not be negative") from None
        raise


def _possible(element: Element) -> bool:
    try:
        element.check_physics()
    except InputError:
        return False
    return True


def _given(elements: Sequence[Element], tree: FrameTree) -> Iterator[tuple[Path_, str]]:
    """Parameters, and coordinates with a compliance, that each element gives."""
    for i, element in enumerate(elements):
        for parameter in element.parameters(tree):
            yield (KEY, i), parameter.name
        if isinstance(element, CompliantCoordinate) and np.any(element.compliance()):
            for dof in element.dofs():
                yield (KEY, i), f"the compliance of {dof}"
