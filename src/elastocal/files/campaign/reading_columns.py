"""The header of a table of readings: which column holds what of which marker.

deflection   dx dy dz [drx dry drz], or the positions x y z under load and x0 y0 z0 without
position     x y z
orientation  of the marker's frame: qx qy qz qw (quaternion), r11 ... r33 (matrix), rx ry rz (rotation vector), roll
             pitch yaw (about fixed x, y, z), phix phiy phiz, a b c, w p r or e1 e2 e3 (angles of any order);
             ``conventions`` has what three angles are
distance     distance, from a point that stands still

With several markers each row holds one, named in a column ``marker`` (long), or all of them, named in the columns
(wide): ``marker1.dx_mm``, or ``x1_mm`` for a marker of that number.  Titles such as ``X [mm]`` are taken as ``x_mm``,
and ``A1``, ``q1``, ``J1`` or ``Joint 1`` as the first axis.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from elastocal.files.tables.raw import Field
from elastocal.files.units import ANGLE, LENGTH

MARKER, STATION, TEMPERATURE = "marker", "station", "temperature"
SHIFT, TURN = ("dx", "dy", "dz"), ("drx", "dry", "drz")
LOADED, UNLOADED = ("x", "y", "z"), ("x0", "y0", "z0")
ORIENTATION = ("rx", "ry", "rz")
QUATERNION = ("qx", "qy", "qz", "qw")
MATRIX = tuple(f"r{i}{j}" for i in (1, 2, 3) for j in (1, 2, 3))
RPY = ("roll", "pitch", "yaw")
PHI = ("phix", "phiy", "phiz")
EULER = (("a", "b", "c"), ("w", "p", "r"), ("e1", "e2", "e3"))
ANGLES = (ORIENTATION, RPY, PHI, *EULER)
"""Three angles, of which titles do not tell for certain how a frame is turned by them."""
ORIENTATIONS = (ORIENTATION, QUATERNION, MATRIX, RPY, PHI, *EULER)
DISTANCE = ("distance",)
GROUPS: dict[str, tuple[tuple[str, ...], ...]] = {
    "deflection": (SHIFT, TURN, LOADED, UNLOADED),
    "position": (LOADED, *ORIENTATIONS, DISTANCE),
}
"""Columns that belong together, by kind of measurement."""
TURNS = (*TURN, *ORIENTATION)
NUMBERED = re.compile(r"(d?[xyz]|d?r[xyz]|phi[xyz]|q[xyzw]|distance)([1-9]\d{0,5})")
PLAIN: dict[str, float] = {}
"""Units of numbers that have none."""


def units_of(quantity: str) -> Mapping[str, float]:
    if quantity in (*QUATERNION, *MATRIX):
        return PLAIN
    return ANGLE if any(quantity in group for group in (TURN, *ANGLES)) else LENGTH


def wanted_groups(columns: Mapping[str, Field], kind: str | None) -> list[tuple[str, ...]]:
    """The groups that a marker has columns of, and those it must have."""
    started = [g for k in ((kind,) if kind else GROUPS) for g in GROUPS[k] if any(q in columns for q in g)]
    if any(q in columns for q in UNLOADED) or (kind == "deflection" and any(q in columns for q in LOADED)):
        started = [*started, LOADED, UNLOADED]
    if kind and not any(g in started for g in (SHIFT, LOADED, DISTANCE, *ORIENTATIONS)):
        started = [SHIFT if kind == "deflection" else LOADED, *started]
    return list(dict.fromkeys(started)) or [LOADED]
