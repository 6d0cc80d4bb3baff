"""Objects to touch, in and out, and contacts written as a campaign file and a table that read back the same."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from elastocal.errors import DuplicateError, ImplausibleError, MissingError, RangeError
from elastocal.files import schema
from elastocal.files.campaign.file import FORMAT, CampaignFile, Requests, robot_seen_from
from elastocal.files.campaign.requests import campaign_yaml
from elastocal.files.located import Located, Path_
from elastocal.files.schema import Units, chosen, dimensions_of
from elastocal.files.text import (
    Column,
    FlowList,
    Map,
    column_texts,
    csv_text,
    digits,
    quantity_text,
    shown_joint_columns,
)
from elastocal.measure.contacts import ContactForce, contacts_of
from elastocal.measure.measured import Measured
from elastocal.model.frames import BASE
from elastocal.model.kinematics import kinematics
from elastocal.model.limits import middle
from elastocal.model.robot import Robot
from elastocal.model.surfaces.surface import Surface, Touches, surface_kinds
from elastocal.spatial.entries import Array

KEY = "objects"


def read_objects(located: Located, entries: list[Any], units: Units) -> tuple[Surface, ...]:
    """The objects, each with a name of its own that the table uses."""
    if not entries:
        raise located.error(
            (KEY,), "names nothing to touch; add an object such as {kind: disc, name: disc1, ...}", MissingError
        )
    objects: dict[str, Surface] = {}
    for i, entry in enumerate(entries):
        surface = _object(located, (KEY, i), entry, units)
        if surface.name in objects:
            raise located.error(
                (KEY, i, "name"), f"{surface.name!r} is the name of another object; choose one", DuplicateError
            )
        objects[surface.name] = surface
    return tuple(objects.values())


def _object(located: Located, path: Path_, entry: Any, units: Units) -> Surface:
    cls, data = chosen(located, path, "an object", entry, surface_kinds())
    if not data.get("name"):
        raise located.error(
            path, "an object needs a name, which the table says in its column 'object'; add it", MissingError
        )
    fields = schema.read_fields(cls, located, path, data, units)
    radius = fields.values.get("radius")
    if isinstance(radius, float) and not radius > 0:
        raise located.error(
            (*path, fields.keys["radius"]), f"{fields.raw['radius']} is no size; it must be positive", RangeError
        )
    return schema.validated(cls, located, path, fields)


def check_objects(located: Located, touches: Touches, model: Robot) -> None:
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
                ImplausibleError,
            )


def _foot(model: Robot) -> Array:
    """Origins (k, 3) of the base and of the first joints, which no joint moves."""
    joined = [f.name for f in model.tree.frames if f.joint is not None and _fixed(model, f.parent)]
    return np.concatenate([kinematics(model, middle(model), name).position for name in (BASE, *joined)])


def _fixed(model: Robot, frame: str) -> bool:
    return frame == BASE or (model.tree.frame(frame).joint is None and _fixed(model, model.tree.frame(frame).parent))


def contact_texts(plan: CampaignFile, campaign: Measured, folder: Path, table: str) -> tuple[str, str]:
    """Campaign file and table for a folder: the plan with what was read at its contacts."""
    kind = contacts_of(campaign.measurement)
    head = {"name": plan.name, "robot": robot_seen_from(plan, folder)}
    head |= {k: plan.words[k] for k in ("tool", "without") if k in plan.words}
    text = contact_text(campaign, kind, plan.model, head, table, plan.requests)
    return text, contact_table_text(campaign, kind, plan.model, plan.names)


def contact_text(
    campaign: Measured, kind: ContactForce, model: Robot, head: Mapping[str, Any], table: str, requests: Requests
) -> str:
    """The campaign file; ``head`` has its name and the words that give ``model``."""
    out: dict[str, Any] = {"format": FORMAT, **head}
    out |= {"table": table, "measurement": "contact", "frame": kind.touches.frame}
    out["objects"] = [object_text(s) for s in kind.touches.surfaces]
    out["force"] = "on_robot"
    return campaign_yaml(out, campaign, bool(model.beyond_limits(kind.q)), requests)


def contact_table_text(campaign: Measured, kind: ContactForce, model: Robot, words: Sequence[str] = ()) -> str:
    """``words`` name the contacts, one each."""
    named = [("name", words)] if words else []
    names = [kind.touches.surfaces[i].name for i in kind.touches.which]
    felt: list[Column] = [(f"f{a}", campaign.readings[:, i], "force") for i, a in enumerate(kind.axes)]
    return csv_text([*named, ("object", names), *column_texts(shown_joint_columns(model, kind.q)), *column_texts(felt)])


def object_text(surface: Surface) -> Map:
    """An object on one line, in usual units."""
    out = Map(kind=surface.kind, name=surface.name)
    dimensions = dimensions_of(type(surface))
    for field in dataclasses.fields(surface):
        value, dimension = getattr(surface, field.name), dimensions[field.name]
        if field.name == "name" or value == field.default:
            continue
        if dimension:
            out |= quantity_text(field.name, dimension, value)
        else:
            out[field.name] = FlowList(float(digits(v)) for v in value) if isinstance(value, tuple) else value
    return out
