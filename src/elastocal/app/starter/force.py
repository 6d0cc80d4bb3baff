"""A force that bends a robot visibly: about a millimetre at the tool, less for a thing that is hardly larger."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from elastocal.model.robot import RobotModel

VISIBLE = 1e-3
SMALL = 0.02
MOST = 3000.0
CAREFUL = 100.0
"""In N, for a robot that is rigid by its file: how it bends, and so how much shows, is not known."""
DIRECTIONS = ((1, 0, 0), (0, 1, 0), (0, 0, -1))
_STIFF = 1e-3
_PLACES = 50


def softness(model: RobotModel) -> tuple[float, float, float]:
    """Compliance of the tool along x, y and z in m/N: medians over configurations of the whole joint space."""
    from elastocal.model.configurations import spread_configurations
    from elastocal.model.statics.stiffness import stiffness

    found = stiffness(model, spread_configurations(model, _PLACES)).compliance
    x, y, z = (float(np.median(found[:, i, i])) for i in range(3))
    return x, y, z


def visible_bend(model: RobotModel) -> float:
    """In m; no more than a SMALL part of the robot's size."""
    return min(VISIBLE, SMALL * model.size)


def visible_force(model: RobotModel) -> float:
    """In N, with one digit: the bend over the softness of the softest direction, not above MOST, or CAREFUL."""
    soft = max(softness(model))
    return float(f"{min(visible_bend(model) / soft, MOST):.0e}") if soft > 0 else CAREFUL


def soft_directions(model: RobotModel) -> tuple[tuple[int, int, int], ...]:
    """Directions of a force, in base axes, that the robot yields to."""
    soft = softness(model)
    return tuple(d for d, k in zip(DIRECTIONS, soft, strict=True) if k > _STIFF * max(soft)) or DIRECTIONS
