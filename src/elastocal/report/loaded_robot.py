"""One pose of a robot under a load, as a picture and tables."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from elastocal.model.statics.equilibrium import Status
from elastocal.report.blocks import Block, Cell, Column, Scene, Table, Unknown
from elastocal.report.parts import Ellipsoids, Part
from elastocal.report.robot_scene import (
    LONGEST,
    UNIT,
    arm_parts,
    enlargement,
    floor_part,
    force_arrows,
    load_forces,
    points,
    robot_parts,
    times,
)
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.model.statics.loaded_arm import LoadedPose

LONGER = 2.0
"""Longest arrow of a load over that of the force that bends the robot visibly."""


@dataclass(frozen=True)
class Posed:
    """A robot under a load; the force is drawn, and pulled, at ``tool`` (m) with ``scale`` m of picture per N."""

    scene: Scene
    tables: tuple[Block, ...]
    tool: tuple[float, ...]
    scale: float


def shown_pose(pose: LoadedPose, visible: float, around: tuple[Part, ...] = ()) -> Posed:
    """``visible`` is a force in N that bends the robot visibly, and ``around`` what stands near it."""
    largest = max(visible, float(np.linalg.norm(pose.load.wrench[0, :3])) / LONGER)
    scale = LONGEST * pose.rigid.extent / largest
    start = load_forces(pose.model, pose.q[None], pose.load)[0][0]
    return Posed(_scene(pose, scale, around), (_deflection(pose), _holding(pose)), tuple(map(float, start)), scale)


def _scene(pose: LoadedPose, scale: float, around: tuple[Part, ...]) -> Scene:
    parts: list[Part] = [*floor_part(pose.model, pose.rigid.line), *robot_parts(pose.model, pose.q), *around]
    notes: list[str] = []
    if np.isfinite(pose.moved.distance[0]) and pose.load.wrench.any():
        most = float(np.nanmax(np.linalg.norm(pose.bent.line - pose.rest.line, axis=2), initial=0.0))
        factor = enlargement(pose.rest.extent, most)
        parts += arm_parts(pose.rest.enlarged(pose.bent, factor), f"bent, {times(factor)}", "", "after")
        starts, forces = load_forces(pose.model, pose.q[None], pose.load)
        parts += [force_arrows(starts, forces, scale)] if forces.any() else []
        notes += [f"The deflection by the load is drawn {times(factor)}, 100 mm of arrow are {0.1 / scale:.3g} N."]
    if pose.give[0] > 0:
        parts.append(_ellipsoid(pose))
        notes.append("The ellipsoid shows how far a force of one size moves the tool in every direction.")
    return Scene("robot", "", UNIT, tuple(parts), tuple(notes))


def _ellipsoid(pose: LoadedPose) -> Ellipsoids:
    """Its longest half axis takes as much of the picture as a large deflection."""
    (centre,) = points(pose.rigid.tip[:1])
    a, b, c = points((LONGEST * pose.rigid.extent / pose.give[0]) * (pose.directions * pose.give).T)
    soft, stiff = 1e6 * float(pose.give[0]), 1e6 * float(pose.give[-1])
    words = (f"{soft:.3g} um/N along the softest direction, {stiff:.3g} along the stiffest",)
    return Ellipsoids("compliance of the tool", (centre,), ((a, b, c),), words)


def _deflection(pose: LoadedPose) -> Table:
    moved = pose.moved
    why = Status(int(moved.status[0])).text

    def known(value: float) -> Cell:
        return 1e3 * float(value) if isfinite(value) else Unknown(why)

    return Table(
        "deflection", "Deflection of the tool by the load",
        (Column("what", ""), *(Column(c, c, "", 4) for c in ("x", "y", "z", "size")), Column("unit", "unit")),
        (
            ("shift", *map(known, moved.translation[0]), known(moved.distance[0]), "mm"),
            ("turn", *map(known, moved.rotation[0]), known(moved.angle[0]), "mrad"),
        ),
    )  # fmt: skip


def _holding(pose: LoadedPose) -> Table:
    units = ["N m" if m.kind == "revolute" else "N" for m in pose.model.motions]
    notes: tuple[str, ...] = ("Against weights, springs and the load.",)
    if pose.weightless:
        notes += ("The robot file states no masses: its own weight is not in them.",)
    return Table(
        "holding", "Holding torques",
        (Column("axis", "axis"), Column("torque", "torque", "", 2), Column("unit", "unit")),
        tuple((a, float(v), u) for a, v, u in zip(pose.model.controller.axes, pose.torques, units, strict=True)),
        notes,
    )  # fmt: skip
