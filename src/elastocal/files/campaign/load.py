"""The load of a campaign: from the table's columns, or one for all rows from the campaign file."""

from __future__ import annotations

import numpy as np

from elastocal.errors import InputError, UnknownNameError
from elastocal.files import schema
from elastocal.files.campaign.entry import CampaignKeys, LoadEntry
from elastocal.files.campaign.readings import Readings
from elastocal.files.located import Located
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import RobotModel
from elastocal.spatial.entries import Ints

KEY = "load"


def read_load(given: CampaignKeys, model: RobotModel, found: Readings) -> tuple[AppliedWrenches, tuple[str, ...]]:
    """The wrenches of all readings, and what is assumed of them."""
    located, entry = given.located, given.entry
    keys = entry.load or {}
    e = schema.construct(LoadEntry, located, (KEY,), keys, given.units)
    frame = e.frame or model.tool
    if frame not in model.tree.names:
        raise UnknownNameError("frame", frame, model.tree.names, located.where((KEY, "frame")))
    if e.force is not None or e.moment is not None:
        key = next(k for k in keys if str(k).startswith("force" if e.force is not None else "moment"))
        if found.wrenches is not None:
            raise located.error((KEY, str(key)), "the table has columns of the load too; keep one of the two")
        zero = (0.0, 0.0, 0.0)
        wrenches = np.array([[*(e.force or zero), *(e.moment or zero)]])
    else:
        wrenches = np.zeros((1, 6)) if found.wrenches is None else found.wrenches
    idle = np.flatnonzero(~np.any(np.broadcast_to(wrenches, (len(found.values), 6)), axis=1))
    notes: tuple[str, ...] = (
        () if e.frame else (f"The load is taken to act at {frame!r} in {_axes(e.follows, frame)} axes.",)
    )
    if entry.measurement == "position" and len(idle) == len(found.values):
        return AppliedWrenches(frame, wrenches, e.follows), ("No load is given: the arm carries its own weight only.",)
    if entry.measurement == "deflection":
        notes += _idle(located, found, idle)
    return AppliedWrenches(frame, wrenches, e.follows), notes


def _axes(follows: bool, frame: str) -> str:
    return f"{frame}'s own" if follows else "base"


def _idle(located: Located, found: Readings, idle: Ints) -> tuple[str, ...]:
    """A deflection without a load is none."""
    if len(idle) == len(found.values):
        raise InputError(
            f"{located.where((KEY,)) if KEY in located.data else located.file}: the load is zero in every row, so that "
            "nothing bends; add columns such as fz_N to the table, or force_N to load"
        )
    if not len(idle):
        return ()
    first = ", ".join(found.places[i] for i in idle[:3]) + (", ..." if len(idle) > 3 else "")
    return (f"{len(idle)} of {len(found.values)} readings have no load and tell nothing of what bends ({first}).",)
