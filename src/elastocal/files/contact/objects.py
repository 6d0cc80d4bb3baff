"""The list ``objects`` of a campaign file: what is touched, where it is and how large."""

from __future__ import annotations

from typing import Any

import numpy as np

from elastocal.files import schema
from elastocal.files.by_kind import chosen
from elastocal.files.located import Located, Path_
from elastocal.files.schema import Units
from elastocal.model.configurations import middle
from elastocal.model.frames import BASE
from elastocal.model.kinematics import kinematics
from elastocal.model.robot import RobotModel
from elastocal.model.surfaces.surface import Surface, surface_kinds
from elastocal.model.surfaces.touches import Touches
from elastocal.spatial.entries import Array

KEY = "objects"


def read_objects(located: Located, entries: list[Any], units: Units) -> tuple[Surface, ...]:
    """The objects, each with a name of its own that the table uses."""
    if not entries:
        raise located.error((KEY,), "names nothing to touch; add an object such as {kind: disc, name: disc1, ...}")
    found: dict[str, Surface] = {}
    for i, entry in enumerate(entries):
        surface = _object(located, (KEY, i), entry, units)
        if surface.name in found:
            raise located.error((KEY, i, "name"), f"{surface.name!r} is the name of another object; choose one")
        found[surface.name] = surface
    return tuple(found.values())


def _object(located: Located, path: Path_, entry: Any, units: Units) -> Surface:
    cls, data = chosen(located, path, "an object", entry, surface_kinds())
    if not data.get("name"):
        raise located.error(path, "an object needs a name, which the table says in its column 'object'; add it")
    fields = schema.read_fields(cls, located, path, data, units)
    radius = fields.values.get("radius")
    if isinstance(radius, float) and not radius > 0:
        raise located.error((*path, fields.keys["radius"]), f"{fields.raw['radius']} is no size; it must be positive")
    return schema.validated(cls, located, path, fields)


def check_objects(located: Located, touches: Touches, model: RobotModel) -> None:
    """No round object holds the foot of the arm, which stays where it is."""
    foot = _foot(model)
    for i, surface in enumerate(touches.surfaces):
        if not hasattr(surface, "radius"):
            continue
        inside = Touches.one(touches.frame, surface, len(foot)).near(np.ascontiguousarray(foot.T)).distance < 0
        if inside.any():
            raise located.error(
                (KEY, i),
                f"object inside the arm: the robot itself stands in {surface.label}, at "
                f"({', '.join(f'{1e3 * v:.0f}' for v in foot[inside][0])}) mm; check its place, size and units",
            )


def _foot(model: RobotModel) -> Array:
    """Origins (k, 3) of the base and of the first joints, which no joint moves."""
    joined = [f.name for f in model.tree.frames if f.joint is not None and _fixed(model, f.parent)]
    return np.concatenate([kinematics(model, middle(model), name).position for name in (BASE, *joined)])


def _fixed(model: RobotModel, frame: str) -> bool:
    return frame == BASE or (model.tree.frame(frame).joint is None and _fixed(model, model.tree.frame(frame).parent))
