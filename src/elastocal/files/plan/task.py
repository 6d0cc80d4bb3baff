"""The task of a plan file: test poses, and the part of the workspace that candidates are drawn from.

Both may come from a CSV file of axes of the controller, or of places of the tool, each with its load if any:

    A1_deg,...,A6_deg[,fx_N,...,mz_Nm]        or        x_mm,y_mm,z_mm[,fx_N,...,mz_Nm]

Axes may be given by their motors: A1_counts, A1_motor_deg.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from elastocal.design.criteria.criterion import Over
from elastocal.design.poses import Poses, Region
from elastocal.design.task import MOST, TestPlan
from elastocal.errors import ConflictError, InputError, MissingError, RangeError, ShapeError
from elastocal.files import schema
from elastocal.files.located import Located, Path_
from elastocal.files.opened import existing
from elastocal.files.plan.cell import check_frame
from elastocal.files.plan.file import AroundEntry, PlanEntry, TestEntry
from elastocal.files.schema import Units
from elastocal.files.tables.configurations import NAME, WRENCH, configurations
from elastocal.files.tables.csv_file import read_csv
from elastocal.files.tables.raw import Field, add_once, understood
from elastocal.files.units import FORCE, LENGTH, MOMENT
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

PLACE = ("x", "y", "z")


@dataclass(frozen=True, eq=False)
class PathTable:
    """Joint values (T, n) or, where the table has places, points (T, 3); wrenches (T, 6) if it has any."""

    q: Array | None
    points: Array | None
    wrenches: Array | None


def read_path(path: Path, model: Robot) -> PathTable:
    raw = read_csv(path)
    axes = dict(zip(model.controller.axes, (m.kind for m in model.motions), strict=True))
    stems = {c.rpartition("_")[0] for c in raw.header}
    if not (stems & set(PLACE)) or stems & set(axes):
        from elastocal.files.tables.configurations import read_configurations

        table = read_configurations(path, axes, model.controller.drives)
        return PathTable(model.controller.to_joints(table.values), None, table.wrenches)
    units = {**dict.fromkeys(PLACE, LENGTH), **{w: FORCE if w[0] == "f" else MOMENT for w in WRENCH}}
    fields: dict[str, Field] = {}
    for place, column in enumerate(raw.header):
        known = (NAME, 1.0) if column == NAME else understood(raw, column, units, (NAME,))
        add_once(raw, fields, known[0], Field(place, known[1]))
    table = configurations(raw, fields, dict.fromkeys(PLACE, "prismatic"))
    return PathTable(None, np.asarray(table.values), table.wrenches)


def read_tests(
    located: Located, e: PlanEntry, units: Units, model: Robot
) -> tuple[TestPlan | None, Over, tuple[Path, ...]]:
    if e.test is None:
        return None, "mean", ()
    t = schema.construct(TestEntry, located, ("test",), e.test, units)
    frame = t.frame or model.tool
    check_frame(located, ("test",), model, frame)
    if (t.table is None) == (t.low is None or t.high is None):
        raise located.error(("test",), "give a table, or the corners low and high of a box", MissingError)
    fixed = np.array([[*(t.force or (0.0,) * 3), *(t.moment or (0.0,) * 3)]]) if t.force or t.moment else None
    near = _near(located, t, model)
    if t.table is None:
        assert t.low is not None
        assert t.high is not None
        if not 1 <= t.count <= MOST["candidates"]:
            raise located.error(("test", "count"), f"{t.count} must be from 1 to {MOST['candidates']}", RangeError)
        box = _box(located, ("test",), t.low, t.high)
        return TestPlan(frame, f"{t.count} points of a box", None, None, box, t.count, near, fixed), t.over, ()
    file = existing(located, ("test", "table"), t.table)
    table = read_path(file, model)
    if table.wrenches is not None and fixed is not None:
        given = "force" if t.force else "moment"
        raise located.error(
            ("test", given), "the table has columns of the load too; keep one of the two", ConflictError
        )
    wrenches = fixed if table.wrenches is None else table.wrenches
    words = f"{len(table.points if table.q is None else table.q)} poses of {t.table}"  # type: ignore[arg-type]
    return TestPlan(frame, words, table.q, table.points, None, 0, near, wrenches), t.over, (file,)


def read_around(
    located: Located, e: PlanEntry, units: Units, model: Robot
) -> tuple[tuple[Region, ...], tuple[Path, ...]]:
    if e.around is None:
        return (), ()
    a = schema.construct(AroundEntry, located, ("around",), e.around, units)
    if a.low is not None and a.high is not None and a.table is None:
        return (_box(located, ("around",), a.low, a.high),), ()
    if a.table is None or a.low is not None or a.high is not None:
        raise located.error(("around",), "give low and high of a box, or a table of a path", MissingError)
    file = existing(located, ("around", "table"), a.table)
    table = read_path(file, model)
    points = table.points
    if points is None:
        assert table.q is not None
        points = Poses(model, table.q).origin(model.tool)
    if not a.room > 0:
        raise located.error(("around", "room"), "must be positive", RangeError)
    lows, highs = points - a.room, points + a.room
    return tuple(Region(tuple(lo), tuple(hi)) for lo, hi in zip(lows.tolist(), highs.tolist(), strict=True)), (file,)


def _near(located: Located, t: TestEntry, model: Robot) -> Array | None:
    """Joint values (1, n) to reach places from, out of angles and lengths of the controller's axes in their order."""
    if t.near is None and t.near_slides is None:
        return None
    slides = np.array([m.kind == "prismatic" for m in model.motions])
    axes = np.array(model.controller.axes)
    out = np.empty((1, model.n))
    for key, given, which in (("near", t.near, ~slides), ("near_slides", t.near_slides, slides)):
        if len(given or ()) != which.sum():
            does = "slides" if which is slides else "turns"
            raise located.error(
                ("test", key),
                f"{which.sum()} controller values are needed, one for each axis that {does} "
                f"({', '.join(axes[which]) or 'there is none'}), but {len(given or ())} were given",
                ShapeError,
            )
        out[0, which] = given or ()
    return np.asarray(model.controller.to_joints(out))


def _box(located: Located, path: Path_, low: Any, high: Any) -> Region:
    try:
        return Region(low, high)
    except InputError as error:
        raise located.error(path, str(error), error) from None
