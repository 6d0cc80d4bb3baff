"""Simple bodies that a robot file draws its links with.  They have no mass and no stiffness: they are for pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from elastocal.spatial.entries import Array, Ints
from elastocal.spatial.pose import Pose


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
