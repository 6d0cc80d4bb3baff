"""What was watched and where: markers, joint values and the load of the readings."""

from __future__ import annotations

import numpy as np

from elastocal.errors import ConflictError, DuplicateError, InputError, MissingError
from elastocal.files import schema
from elastocal.files.campaign.file import CampaignKeys, LoadEntry, listed
from elastocal.files.campaign.readings import Readings
from elastocal.files.campaign.table import CampaignTable
from elastocal.files.located import Located, Path_
from elastocal.files.tables.configurations import PAYLOAD
from elastocal.measure.setup import Setup
from elastocal.model.limits import limit_text, moved_by
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import Robot
from elastocal.model.statics.observation import Marker
from elastocal.spatial.entries import Array, Ints


def chosen_markers(
    given: CampaignKeys, tables: tuple[CampaignTable, ...], model: Robot, *, free: bool = False
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The markers in order of the robot's frames (or as listed), and what is to be said of the choice.

    ``free``: markers need not be frames of the robot, since their places are estimated.
    """
    located, entry = given.located, given.entry
    named = dict.fromkeys(m for table in tables for m in table.markers)
    there = (*(f for f in model.tree.names if f in named), *(m for m in named if m not in model.tree.names))
    asked = listed(entry.markers)
    for i, marker in enumerate(asked):
        place: Path_ = ("markers",) if isinstance(entry.markers, str) else ("markers", i)
        if marker not in (there or model.tree.names) and (there or not free):
            raise located.unknown(place, "marker", marker, there or model.tree.names)
        if marker in asked[:i]:
            raise located.error(place, f"{marker!r} stands twice; keep one", DuplicateError)
    if there:
        unused = ", ".join(m for m in there if asked and m not in asked)
        note = f"Readings of {unused} are left out: 'markers' does not name them."
        return asked or there, ((note,) if unused else ())
    if len(asked) > 1 and tables[0].columns.readings:
        raise located.error(
            ("markers",),
            f"{', '.join(asked)}: the table does not say which reading is whose; name the columns {asked[0]}.dx_mm, or "
            "add a column marker",
            MissingError,
        )
    return asked or (model.tool,), (() if asked else (f"No marker is named: readings are of frame {model.tool!r}.",))


def read_setup(given: CampaignKeys, model: Robot, readings: Readings) -> tuple[Setup, tuple[str, ...]]:
    """Joint values within their limits, load and markers, and what is to be said of them."""
    q, notes = joint_values(given, model, readings)
    load, load_notes = read_load(given, model, readings)
    markers = tuple(
        Marker(m, "pose" if p else "position") for m, p in zip(readings.markers, readings.posed, strict=True)
    )
    return Setup(q, load, markers), (*notes, *load_notes)


def joint_values(
    given: CampaignKeys, model: Robot, readings: Readings, slack: float = 0.0
) -> tuple[Array, tuple[str, ...]]:
    """Joint values (N, n), within their limits unless these are to be ignored, which is said.

    Beyond them by less than ``slack`` times the range is only said too: a robot stands where it was read.
    """
    q = model.controller.to_joints(readings.values)
    notes: tuple[str, ...] = ()
    if beyond := model.beyond_limits(q):
        row, joint, value = max(beyond, key=lambda b: _excess(model, b[1], b[2]))
        if given.entry.limits == "apply" and _excess(model, joint, value) > slack:
            row, joint, value = next(b for b in beyond if _excess(model, b[1], b[2]) > slack)
            what = limit_text(model, joint, value)
            mover = moved_by(model, joint)
            spot = readings.spot(row) if mover is None else readings.axis_spot(row, mover)
            degrees = None if mover is None else _degrees(model, readings, row, mover)
            radians = None if degrees else _radians(model, readings, row)
            unit = {"deg": degrees, "rad": radians}
            bare = not given.located.lines
            todo = (
                degrees
                or radians
                or (
                    "change it, or ignore the limits: a swapped column, a reversed axis or a moved zero is then named"
                    if bare
                    else f"change it or {IGNORE} {given.located.file}"
                )
            )
            raise InputError(
                f"{spot}: {what}; {todo}", code="limits", value=value, parameter="ignore_limits",
                suggested={"angle": tuple(u for u, word in unit.items() if word)},
            )  # fmt: skip
        rows = len({row for row, _, _ in beyond})
        notes = (f"{rows} of {len(q)} readings lie beyond the joint limits and are used all the same.",)
    return q, notes


def _excess(model: Robot, joint: str, value: float) -> float:
    """How far beyond its limits a joint is, as a share of its range."""
    low, high = model.tree.joint(joint).limits or (value, value)
    return max(low - value, value - high) / max(high - low, 1e-12)


IGNORE = "write 'limits: ignore' in"


def _degrees(model: Robot, readings: Readings, row: int, axis: str) -> str | None:
    """Advice where a column in radians holds degrees: all its values are within the limits then."""
    title = readings.title(row, axis)
    if not title.endswith("_rad"):
        return None
    number = list(model.controller.axes).index(axis)
    values = readings.values.copy()
    values[:, number] *= np.pi / 180
    joints = model.beyond_limits(model.controller.to_joints(values))
    if any(moved_by(model, joint) == axis for _, joint, _ in joints):
        return None
    return f"in degrees all are within the limits: was {title.removesuffix('_rad')}_deg meant?"


TURN = np.radians(2 * np.pi)
"""A turn in radians that was taken for degrees."""


def _radians(model: Robot, readings: Readings, row: int) -> str | None:
    """Advice where some rows of degrees hold radians: no angle of theirs is above a turn, and all are allowed then."""
    turning = [i for i, a in enumerate(model.controller.axes) if not readings.title(row, a).endswith(("_rad", "[rad]"))]
    turning = [i for i in turning if model.motions[i].kind == "revolute"] if len(model.motions) == len(turning) else []
    if not turning:
        return None
    small = np.all(np.abs(readings.values[:, turning]) <= TURN, axis=1)
    values = readings.values[small].copy()
    values[:, turning] *= 180 / np.pi
    if not small[row] or small.all() or model.beyond_limits(model.controller.to_joints(values)):
        return None
    return (
        f"in {int(small.sum())} of {len(small)} rows no angle is above {np.degrees(TURN):.3g} deg, and as radians all "
        "of these are within the limits: write all rows in one unit"
    )


KEY = "load"


def read_load(given: CampaignKeys, model: Robot, readings: Readings) -> tuple[AppliedWrenches, tuple[str, ...]]:
    """The wrenches of all readings, and what is assumed of them."""
    located, entry = given.located, given.entry
    keys = entry.load or {}
    e = schema.construct(LoadEntry, located, (KEY,), keys, given.units)
    frame = e.frame or model.tool
    if frame not in model.tree.names:
        raise located.unknown((KEY, "frame"), "frame", frame, model.tree.names)
    if e.follows and any(PAYLOAD in t.columns.fields for t in readings.cells.tables):
        message = "a payload hangs along gravity and does not turn with the tool; give forces as fx_N, fy_N, fz_N"
        raise located.error((KEY, "follows"), message, ConflictError)
    if e.force is not None or e.moment is not None:
        key = next(k for k in keys if str(k).startswith("force" if e.force is not None else "moment"))
        if readings.wrenches is not None:
            raise located.error(
                (KEY, str(key)), "the table has columns of the load too; keep one of the two", ConflictError
            )
        zero = (0.0, 0.0, 0.0)
        wrenches = np.array([[*(e.force or zero), *(e.moment or zero)]])
    else:
        wrenches = np.zeros((1, 6)) if readings.wrenches is None else readings.wrenches
    idle = np.flatnonzero(~np.any(np.broadcast_to(wrenches, (len(readings.values), 6)), axis=1))
    notes: tuple[str, ...] = (
        () if e.frame else (f"The load is taken to act at {frame!r} in {_axes(e.follows, frame)} axes.",)
    )
    deflected = readings.deflected or entry.measurement == "deflection"
    if not deflected and len(idle) == len(readings.values):
        return AppliedWrenches(frame, wrenches, e.follows), ("No load is given: the arm carries its own weight only.",)
    if deflected:
        bent = np.asarray(np.isfinite(readings.read["deflection"]).any(axis=(1, 2)) | given.plan)
        notes += _idle(located, readings, idle[bent[idle]], int(bent.sum()))
    return AppliedWrenches(frame, wrenches, e.follows), notes


def _axes(follows: bool, frame: str) -> str:
    return f"{frame}'s own" if follows else "base"


def _idle(located: Located, readings: Readings, idle: Ints, count: int) -> tuple[str, ...]:
    """A deflection without a load is none; ``count`` are those that were read."""
    if len(idle) == count:
        raise MissingError(
            f"{located.where((KEY,)) if KEY in located.data else located.file}: the load is zero in every row, so that "
            "nothing bends; add columns such as fz_N to the table, or force_N to load"
        )
    if not len(idle):
        return ()
    first = ", ".join(readings.places[i] for i in idle[:3]) + (", ..." if len(idle) > 3 else "")
    return (f"{len(idle)} of {count} readings have no load and tell nothing of what bends ({first}).",)
