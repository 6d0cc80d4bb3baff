"""Cell and task of a plan file: the robot's body, obstacles (also as STL in mm), the tracker; test poses, and the part
of the workspace that candidates are drawn from.

The last two may come from a CSV file of axes of the controller, or of places of the tool, each with its load if any:

    A1_deg,...,A6_deg[,fx_N,...,mz_Nm]        or        x_mm,y_mm,z_mm[,fx_N,...,mz_Nm]

Axes may be given by their motors: A1_counts, A1_motor_deg.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from elastocal.design.candidates import Poses, Region
from elastocal.design.cell import Cell, Link, links_of
from elastocal.design.criteria.criterion import Over
from elastocal.design.method import Measuring, Method
from elastocal.design.obstacles import obstacle_kinds
from elastocal.design.task import MOST, TestPlan
from elastocal.errors import ConflictError, FormatError, MissingError, NumberError, RangeError, ShapeError, UnitError
from elastocal.files import schema
from elastocal.files.located import Located, Path_
from elastocal.files.opened import existing, read_bytes
from elastocal.files.plan.file import AroundEntry, LinkEntry, PlanEntry, TestEntry
from elastocal.files.schema import Units, chosen
from elastocal.files.tables.configurations import NAME, WRENCH, configurations
from elastocal.files.tables.csv_file import read_csv
from elastocal.files.tables.raw import columns_of
from elastocal.files.units import FORCE, LENGTH, MOMENT
from elastocal.measure.sources.instrument import Tracker
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array
from elastocal.untrusted import LARGEST
from elastocal.values import dataclass


def read_kinds(
    located: Located, units: Units, key: str, what: str, entries: list[Any], kinds: Mapping[str, Any], model: Robot
) -> tuple[Any, ...]:
    """Entries with a ``kind`` made into values of their classes; frames that they name must exist."""
    out = []
    for i, entry in enumerate(entries):
        path: Path_ = (key, i)
        cls, data = chosen(located, path, what, entry, kinds)
        if "file" in data:
            data["triangles"] = _triangles(located, (*path, "file"), data.pop("file"))
        made = schema.construct(cls, located, path, data, units)
        if hasattr(made, "axes"):
            check_axes(located, path, "axes", model)
        for frame in (*getattr(made, "points", ()), getattr(made, "frame", None), getattr(made, "about", None)):
            if frame is not None:
                check_frame(located, path, model, frame)
        out.append(made)
    return tuple(out)


def check_axes(located: Located, path: Path_, name: str, model: Robot) -> None:
    """Values by axis under ``name`` of the place: degrees are of axes that turn, millimetres of those that slide."""
    entry = located.data
    for key in path:
        entry = entry[key]
    for key in (k for k in entry if str(k).startswith(f"{name}_")):
        turning = str(key).removeprefix(f"{name}_").startswith(("deg", "rad"))
        for axis in entry[key]:
            if model.axis_kinds.get(axis, "revolute" if turning else "prismatic") != (
                "revolute" if turning else "prismatic"
            ):
                does = "slides, which is not measured in degrees" if turning else "turns, which is not measured in mm"
                raise located.error((*path, key), f"{axis} {does}; take it out of this entry", UnitError)


def _triangles(located: Located, path: Path_, word: Any) -> Any:
    return read_stl(existing(located, path, str(word))).tolist()


def check_frame(located: Located, path: Path_, model: Robot, frame: str) -> None:
    if frame not in model.tree.names:
        raise located.unknown(path, "frame", frame, model.tree.names)


def read_plan_cell(located: Located, e: PlanEntry, units: Units, model: Robot, method: Method) -> Cell:
    """The tracker stands where the plan file says, else where its error source does."""
    links: list[Link] = []
    for i, entry in enumerate(e.links):
        link = schema.construct(LinkEntry, located, ("links", i), entry, units)
        for frame in link.between:
            check_frame(located, ("links", i), model, frame)
        if not link.radius > 0:
            raise located.error(("links", i, "radius"), "must be positive", RangeError)
        links.append(Link(*link.between, link.radius))
    if e.link_radius is not None and not e.link_radius > 0:
        raise located.error(("link_radius",), "must be positive", RangeError)
    if e.link_radius is not None and links:
        raise located.error(("links",), "links and link_radius both give the robot's body; keep one", ConflictError)
    body = links_of(model, e.link_radius) if e.link_radius is not None else tuple(links)
    obstacles = read_kinds(located, units, "obstacles", "an obstacle", e.obstacles, obstacle_kinds(), model)
    tracker = e.tracker or next((s.at for s in method.sources if isinstance(s, Tracker)), None)
    markers = tuple(m.frame for m in method.markers) if isinstance(method, Measuring) else ()
    return Cell(body, obstacles, tracker, markers)


HEADER, RECORD = 84, 50


def read_stl(path: Path) -> Array:
    """(T, 3, 3) corners in m."""
    raw = read_bytes(path)
    count = int.from_bytes(raw[80:HEADER], "little") if len(raw) >= HEADER else 0
    if count and len(raw) == HEADER + RECORD * count:
        records = np.frombuffer(raw, np.uint8, RECORD * count, HEADER).reshape(count, RECORD)
        corners = records[:, 12:48].copy().view("<f4").reshape(count, 3, 3).astype(np.float64)
    else:
        matches = re.findall(rb"vertex\s+(\S+)\s+(\S+)\s+(\S+)", raw)
        if not matches or len(matches) % 3:
            raise FormatError(f"{path}: is no STL file, or is cut off; export it again", code="not-stl")
        try:
            corners = np.array([[float(v) for v in corner] for corner in matches]).reshape(-1, 3, 3)
        except ValueError:
            raise FormatError(f"{path}: a corner is not made of numbers; export it again") from None
    if not np.all(np.abs(corners) <= LARGEST):
        raise NumberError(f"{path}: a corner is not finite; export it again")
    return np.asarray(1e-3 * corners)


PLACE = ("x", "y", "z")


@dataclass(frozen=True, eq=False)
class PathTable:
    """Joint values (T, n) or, where the table has places, points (T, 3); wrenches (T, 6) if it has any."""

    q: Array | None
    points: Array | None
    wrenches: Array | None


def read_path(path: Path, model: Robot) -> PathTable:
    raw = read_csv(path)
    axes = model.axis_kinds
    stems = {c.rpartition("_")[0] for c in raw.header}
    if not (stems & set(PLACE)) or stems & set(axes):
        from elastocal.files.tables.configurations import read_configurations

        table = read_configurations(path, axes, model.controller.drives)
        return PathTable(model.controller.to_joints(table.values), None, table.wrenches)
    units = {**dict.fromkeys(PLACE, LENGTH), **{w: FORCE if w[0] == "f" else MOMENT for w in WRENCH}}
    fields = columns_of(raw, units, (NAME,))
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
    with located.at(path):
        return Region(low, high)
