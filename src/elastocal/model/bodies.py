"""What the links of a robot look like, and which room they take.  Neither has a mass or bends.

Bodies are for pictures; shapes are for collisions.
"""

from __future__ import annotations

from typing import Literal

from elastocal.model.elements import quantity
from elastocal.spatial.entries import Array, Ints
from elastocal.spatial.pose import Pose
from elastocal.values import dataclass


@dataclass(frozen=True, eq=False)
class Body:
    """At ``pose`` in the axes of ``frame``: a box of three sides, a cylinder (radius, length along z), a sphere, m.

    A mesh has ``corners`` (V, 3) and ``faces`` (F, 3) in place of sizes.
    """

    frame: str
    pose: Pose
    kind: Literal["box", "cylinder", "sphere", "mesh"]
    sizes: tuple[float, ...]
    corners: Array | None = None
    faces: Ints | None = None


@dataclass(frozen=True, kw_only=True)
class Shape:
    """A capsule that a link fills: within ``radius`` of the line from ``start`` to ``end`` in axes of ``frame``."""

    frame: str
    start: tuple[float, float, float] = quantity("length")
    end: tuple[float, float, float] = quantity("length")
    radius: float = quantity("length")
