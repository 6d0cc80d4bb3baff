"""The list ``elements`` of a robot file: one effect per entry."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from elastocal.errors import InputError
from elastocal.files import schema
from elastocal.files.by_kind import chosen
from elastocal.files.keys import Fields, check_unit
from elastocal.files.located import Located, Path_, check_once
from elastocal.files.robot.entry import NO_SOURCE, RobotFile
from elastocal.files.schema import Units
from elastocal.model.elements import CompliantCoordinate, Element, element_kinds
from elastocal.model.frames import FrameTree

KEY = "elements"


def read_elements(located: Located, top: RobotFile, tree: FrameTree, units: Units) -> tuple[Element, ...]:
    """The effects of a robot, none given twice."""
    elements = tuple(_element(located, (KEY, i), entry, top, tree, units) for i, entry in enumerate(top.elements))
    check_once(located, _given(elements, tree))
    return elements


def _element(located: Located, path: Path_, entry: Any, top: RobotFile, tree: FrameTree, units: Units) -> Element:
    cls, data = chosen(located, path, "an element", entry, element_kinds())
    joints = {f.name: f.joint.kind for f in tree.frames if f.joint}
    fields = schema.read_fields(cls, located, path, data, units, joints.get(str(entry.get("joint"))))
    if not (fields.values.get("source") or top.source):
        raise located.error(path, NO_SOURCE)
    try:
        given = schema.validated(cls, located, path, schema.expanded(cls, located, path, fields))
        source, status = top.origin(given.source, given.status)
        element = dataclasses.replace(given, source=source, status=status)
        for name in [getattr(element, "joint", None), *getattr(element, "joints", ())]:
            for quantity in fields.units if name is not None else ():
                if (schema.dimensions_of(cls)[quantity] or "").startswith("joint "):
                    check_unit(located, path, fields, quantity, tree.joint(name).kind)
        element.check(tree)
        _check_physics(located, path, fields, element)
    except InputError as error:
        if str(error).startswith(located.file):
            raise
        culprit = [fields.keys[n] for n, v in fields.raw.items() if _names(v, getattr(error, "name", None))]
        raise located.error((*path, *culprit[:1]), str(error)) from None
    return element


def _names(value: Any, name: str | None) -> bool:
    return name is not None and (value == name or (isinstance(value, (list, dict)) and name in value))


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
