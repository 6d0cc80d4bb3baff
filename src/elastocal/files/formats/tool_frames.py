"""Which frame of a robot a tool is, by its place on the flange."""

from __future__ import annotations

import numpy as np

from elastocal.errors import InputError, UnknownNameError
from elastocal.files.formats.format import Asked
from elastocal.model.kinematics import kinematics
from elastocal.spatial.entries import Array

NEAR = 1e-3
"""m: a frame this close to a tool is meant by it."""


def frame_of_tool(asked: Asked, flange: str, place: Array, where: str) -> tuple[str, float]:
    """The frame nearest to ``place`` (m) among those that move with the flange, and how far it is off."""
    robot = asked.robot
    assert robot is not None
    if flange not in robot.tree.names:
        raise UnknownNameError("frame", flange, robot.tree.names, asked.where("flange"))
    q = np.stack([np.zeros(robot.n), np.full(robot.n, 0.3)])
    hand = kinematics(robot, q, flange)
    off: dict[str, float] = {}
    for name in robot.tree.names:
        from_hand = np.einsum("nji,nj->ni", hand.rotation, kinematics(robot, q, name).position - hand.position)
        if np.allclose(from_hand[0], from_hand[1], atol=1e-9):
            off[name] = float(np.linalg.norm(from_hand[0] - place))
    best = min(off, key=off.__getitem__)
    if off[best] > NEAR:
        x, y, z = (f"{1e3 * float(v):g}" for v in place)
        raise InputError(
            f"{where}: no frame of {robot.name} is at this tool; the nearest, {best}, is {1e3 * off[best]:.3g} mm off; "
            f"add a frame {{name: ..., parent: {flange}, xyz_mm: [{x}, {y}, {z}]}} to the robot file"
        )
    return best, off[best]
