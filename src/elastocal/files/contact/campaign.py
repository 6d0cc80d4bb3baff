"""Campaign files of contacts (002): a robot touches known objects, and joint values and forces are read."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np

from elastocal.errors import ConflictError, RangeError
from elastocal.files import schema
from elastocal.files.campaign.file import UNSTATED, CampaignFile, ReadingsEntry, all_files, named_robot, table_notes
from elastocal.files.campaign.requests import check_sources, read_requests, read_sources
from elastocal.files.contact.checks import (
    check_commanded,
    check_count,
    check_directions,
    check_felt,
    check_places,
    check_pressed,
    check_recorded,
)
from elastocal.files.contact.objects import check_objects, read_objects
from elastocal.files.contact.table import ContactColumns, ContactTable, read_contact_table
from elastocal.files.located import Located
from elastocal.files.tables.configurations import NAME
from elastocal.files.tables.named import read_tables_of
from elastocal.files.tables.raw import with_axis_titles
from elastocal.files.units import declared_units
from elastocal.measure.contacts import ContactForce
from elastocal.measure.measured import Measured
from elastocal.model.descriptions import in_form
from elastocal.model.limits import limit_text
from elastocal.model.robot import Robot
from elastocal.model.surfaces.disc import Disc
from elastocal.model.surfaces.surface import Surface, Touches
from elastocal.procedures.contact.plan import ContactPlan, as_measurement, on_objects, rest_height
from elastocal.reduction.identify import sought_names
from elastocal.spatial.entries import Array
from elastocal.values import dataclass


@dataclass(frozen=True, kw_only=True)
class ContactEntry(ReadingsEntry):
    """Top level of a campaign file with ``measurement: contact``."""

    measurement: Literal["contact"]
    frame: str | None = None
    objects: list[Any]
    force: Literal["on_robot", "by_robot"] = "on_robot"


@dataclass(frozen=True, eq=False)
class ContactRows:
    """The rows of all tables, one after the other."""

    tables: tuple[ContactTable, ...]

    def __post_init__(self) -> None:
        first = set(self.tables[0].fields)
        for table in self.tables[1:]:
            if odd := sorted(first ^ set(table.fields)):
                raise ConflictError(
                    f"{table.raw.top}: {odd[0]} stands in one of {self.tables[0].word} and {table.word} only; give all "
                    "tables of a campaign the same columns"
                )

    @property
    def rows(self) -> list[tuple[ContactTable, int]]:
        return [(t, i) for t in self.tables for i in range(len(t.objects))]

    def joined(self, name: str) -> Array | None:
        parts = [getattr(t, name) for t in self.tables]
        return None if parts[0] is None else np.concatenate(parts)


def read_contacts(path: Path, located: Located, plan: bool) -> CampaignFile:
    """A campaign of contacts; in a ``plan`` readings are nan, and joint values may follow from places and forces."""
    units = declared_units(located)
    entry = schema.construct(ContactEntry, located, (), located.data, units)
    model = named_robot(located, entry.robot, entry.tool, entry.without, path.parent)
    frame = entry.frame or model.tool
    if frame not in model.tree.names:
        raise located.unknown(("frame",), "frame", frame, model.tree.names)
    surfaces = read_objects(located, entry.objects, units)
    tables = read_tables_of(located, entry.table, model)
    raws = {word: with_axis_titles(raw, model.controller.axes) for word, raw in tables.items()}
    names = tuple(s.name for s in surfaces)
    skip = plan or entry.missing == "skip"
    wanted = ContactColumns(model.axis_kinds, names, plan, skip, model.controller.drives)
    rows = ContactRows(tuple(read_contact_table(raw, word, wanted) for word, raw in raws.items()))
    touches = Touches(frame, surfaces, np.array([names.index(t.objects[i]) for t, i in rows.rows]))
    check_objects(located, touches, model)
    kind, readings, places, own_notes = (_planned if plan else _read)(located, entry, model, touches, rows)
    sources = read_sources(located, entry.errors, units, kind, model)
    check_sources(located, sources, kind, model)
    campaign = Measured(kind, readings, sources, places)
    requests, asked = read_requests(located, entry, model, campaign, plan)
    sought = sought_names(kind, in_form(model, entry.form or "beam"), requests.seek, requests.hold)
    own_notes = (*own_notes, *check_directions(located, kind, model, readings, sought, plan))
    if not plan:
        check_count(located, campaign, sought)
    notes = (
        *model.notes,
        *table_notes(raws),
        *_frame(entry, frame),
        *own_notes,
        *(() if sources or plan else (UNSTATED,)),
        *asked,
    )
    files = all_files(path, entry.robot, raws)
    called = tuple(t.name(i) for t, i in rows.rows) if plan and NAME in rows.tables[0].fields else ()
    return CampaignFile(entry.name, entry.robot, model, campaign, requests, notes, files, located.data, called)


def _frame(entry: ContactEntry, frame: str) -> tuple[str, ...]:
    return () if entry.frame else (f"The origin of frame {frame!r} touches the objects.",)


def _read(
    located: Located, entry: ContactEntry, model: Robot, touches: Touches, contacts: ContactRows
) -> tuple[ContactForce, Array, tuple[str, ...], tuple[str, ...]]:
    """Contacts that were felt: joint values, force on the robot."""
    values, axes = contacts.joined("values"), contacts.tables[0].axes
    assert values is not None
    readings = _felt(entry, contacts, axes)
    kept, notes = check_felt(readings, contacts.rows, entry.missing == "skip")
    q = model.controller.to_joints(values)[kept]
    rows = [contacts.rows[i] for i in kept]
    notes = (*notes, *_limits(located, entry, model, q, rows))
    kind = ContactForce(q, touches.rows(kept), axes)
    check_pressed(located, entry.force, kind, readings[kept], model, rows)
    return kind, readings[kept], tuple(t.place(i) for t, i in rows), notes


def _felt(entry: ContactEntry, contacts: ContactRows, axes: str) -> Array:
    """Forces on the robot; nan where none was read."""
    felt = contacts.joined("felt")
    assert felt is not None
    return felt[:, ["xyz".index(a) for a in axes]] * (1.0 if entry.force == "on_robot" else -1.0)


def _planned(
    located: Located, entry: ContactEntry, model: Robot, touches: Touches, contacts: ContactRows
) -> tuple[ContactForce, Array, tuple[str, ...], tuple[str, ...]]:
    """Contacts to come, by joint values or by places and forces."""
    values = contacts.joined("values")
    axes = contacts.tables[0].axes or ("xy" if all(isinstance(s, Disc) for s in touches.surfaces) else "xyz")
    places = tuple(t.place(i) for t, i in contacts.rows)
    if values is not None:
        q = model.controller.to_joints(values)
        kind = ContactForce(q, touches, axes)
        notes = (*_limits(located, entry, model, q, contacts.rows), *check_commanded(kind, model, contacts.rows))
        check_recorded(located, entry.force, kind, _felt(entry, contacts, axes), model, contacts.rows)
    else:
        plan = _targets(model, touches, contacts, axes)
        kind, reached = as_measurement(model, plan)
        check_places(model, plan, reached, contacts.rows)
        notes = (
            "Joint values are those with which the robot as described presses as planned; of several, each contact "
            "takes those nearest to the contact before.",
        )
    return kind, np.full((kind.count, len(axes)), np.nan), places, notes


def _targets(model: Robot, touches: Touches, contacts: ContactRows, axes: str) -> ContactPlan:
    sizes, angles, points = (contacts.joined(n) for n in ("sizes", "angles", "points"))
    assert sizes is not None
    out = np.full((len(touches), 3), np.nan) if points is None else points.copy()
    if angles is not None:
        for i, (table, row) in enumerate(contacts.rows):
            out[i, :2] = _on_disc(touches.surfaces[touches.which[i]], angles[i], table.spot(row, "angle"))
    out[:, 2] = np.where(np.isnan(out[:, 2]), rest_height(model, touches.frame), out[:, 2])
    return ContactPlan(touches, on_objects(touches, out), sizes, axes)


def _on_disc(surface: Surface, angle: float, where: str) -> Array:
    if not isinstance(surface, Disc):
        raise ConflictError(
            f"{where}: an angle places a contact on a disc, and {surface.label} is none; give x_mm, y_mm, z_mm"
        )
    return np.asarray(surface.centre) + surface.radius * np.array([np.cos(angle), np.sin(angle)])


def _limits(
    located: Located, entry: ContactEntry, model: Robot, q: Array, rows: list[tuple[ContactTable, int]]
) -> tuple[str, ...]:
    beyond = model.beyond_limits(q)
    if not beyond:
        return ()
    row, joint, value = beyond[0]
    if entry.limits == "apply":
        what, (table, line) = limit_text(model, joint, value), rows[row]
        raise RangeError(f"{table.spot(line)}: {what}; change it or write 'limits: ignore' in {located.file}")
    count = len({r for r, _, _ in beyond})
    return (f"{count} of {len(q)} contacts lie beyond the joint limits and are used all the same.",)
