"""The list ``objects`` of a campaign file: what is touched, where it is and how large."""

from __future__ import annotations

from typing import Any

from elastocal.files import schema
from elastocal.files.by_kind import chosen
from elastocal.files.located import Located, Path_
from elastocal.files.schema import Units
from elastocal.model.surfaces.surface import Surface, surface_kinds

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
