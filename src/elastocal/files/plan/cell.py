"""The cell of a plan file: entries with a kind, the robot's body, obstacles (also as STL in mm), the tracker."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from elastocal.design.cell import Cell, Link, links_of
from elastocal.design.method import Measuring, Method
from elastocal.design.obstacles.obstacle import obstacle_kinds
from elastocal.errors import ConflictError, FormatError, NumberError, RangeError, UnitError
from elastocal.files import schema
from elastocal.files.located import Located, Path_
from elastocal.files.opened import existing, read_bytes
from elastocal.files.plan.file import LinkEntry, PlanEntry
from elastocal.files.schema import Units, chosen
from elastocal.measure.sources.tracker import Tracker
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array
from elastocal.untrusted import LARGEST


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
    kinds = dict(zip(model.controller.axes, (m.kind for m in model.motions), strict=True))
    for key in (k for k in entry if str(k).startswith(f"{name}_")):
        turning = str(key).removeprefix(f"{name}_").startswith(("deg", "rad"))
        for axis in entry[key]:
            if kinds.get(axis, "revolute" if turning else "prismatic") != ("revolute" if turning else "prismatic"):
                does = "slides, which is not measured in degrees" if turning else "turns, which is not measured in mm"
                raise located.error((*path, key), f"{axis} {does}; take it out of this entry", UnitError)


def _triangles(located: Located, path: Path_, word: Any) -> Any:
    from elastocal.files.plan.cell import read_stl

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
