"""What was watched and where: markers, joint values and load of the readings."""

from __future__ import annotations

from elastocal.errors import InputError, UnknownNameError
from elastocal.files.campaign.entry import CampaignKeys
from elastocal.files.campaign.load import read_load
from elastocal.files.campaign.readings import Readings
from elastocal.files.campaign.readings_entry import listed
from elastocal.files.campaign.table import CampaignTable
from elastocal.files.located import Path_
from elastocal.measure.setup import Setup
from elastocal.model.limits import limit_text, moved_by
from elastocal.model.robot import RobotModel
from elastocal.model.statics.observation import Marker


def chosen_markers(
    given: CampaignKeys, tables: tuple[CampaignTable, ...], model: RobotModel
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The markers in order of the robot's frames (or as listed), and what is to be said of the choice."""
    located, entry = given.located, given.entry
    named = {m for table in tables for m in table.markers}
    there = tuple(f for f in model.tree.names if f in named)
    asked = listed(entry.markers)
    for i, marker in enumerate(asked):
        place: Path_ = ("markers",) if isinstance(entry.markers, str) else ("markers", i)
        if marker not in (there or model.tree.names):
            raise UnknownNameError("marker", marker, there or model.tree.names, located.where(place))
        if marker in asked[:i]:
            raise located.error(place, f"{marker!r} stands twice; keep one")
    if there:
        unused = ", ".join(m for m in there if asked and m not in asked)
        note = f"Readings of {unused} are left out: 'markers' does not name them."
        return asked or there, ((note,) if unused else ())
    if len(asked) > 1 and tables[0].columns.readings:
        raise located.error(
            ("markers",),
            f"{', '.join(asked)}: the table does not say which reading is whose; name the columns {asked[0]}.dx_mm, or "
            "add a column marker",
        )
    return asked or (model.tool,), (() if asked else (f"No marker is named: readings are of frame {model.tool!r}.",))


def read_setup(given: CampaignKeys, model: RobotModel, found: Readings) -> tuple[Setup, tuple[str, ...]]:
    """Joint values within their limits, load and markers, and what is to be said of them."""
    q = model.controller.to_joints(found.values)
    notes: tuple[str, ...] = ()
    if beyond := model.beyond_limits(q):
        row, joint, value = beyond[0]
        if given.entry.limits == "apply":
            what = limit_text(model, joint, value)
            mover = moved_by(model, joint)
            spot = found.spot(row) if mover is None else found.axis_spot(row, mover)
            raise InputError(f"{spot}: {what}; change it or write 'limits: ignore' in {given.located.file}")
        rows = len({row for row, _, _ in beyond})
        notes = (f"{rows} of {len(q)} readings lie beyond the joint limits and are used all the same.",)
    load, said = read_load(given, model, found)
    markers = tuple(Marker(m, "pose" if p else "position") for m, p in zip(found.markers, found.posed, strict=True))
    return Setup(q, load, markers), (*notes, *said)
