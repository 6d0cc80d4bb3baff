"""What can be done at a configuration: a load put on, an object pressed, a joint swept."""

from __future__ import annotations

from abc import ABC

import numpy as np

from elastocal.design.poses import Poses
from elastocal.spatial.entries import Array, Bools


class Choice(ABC):
    """``name`` in words; ``point`` is the frame that its force acts at."""

    name: str
    point: str

    def forces(self, poses: Poses) -> Array:
        """On the robot in base axes, (C, 3)."""
        return np.zeros((len(poses), 3))

    def possible(self, poses: Poses) -> Bools:
        """(C,)"""
        return np.ones(len(poses), dtype=bool)
