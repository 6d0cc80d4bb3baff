"""Calibration by touching known objects, from arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from elastocal.measure.campaign import Campaign
from elastocal.measure.contact_force import ContactForce
from elastocal.measure.sources.source import ErrorSource
from elastocal.model.robot import Robot
from elastocal.model.surfaces.touches import Touches
from elastocal.reduction.study import Study, study
from elastocal.spatial.entries import Array


def contact(
    robot: Robot,
    q: Array,
    touches: Touches,
    forces: Array,
    seek: Sequence[str] | None = None,
    *,
    sources: Sequence[ErrorSource] = (),
    axes: str = "xyz",
    seed: int = 1,
) -> Study:
    """Parameters ``seek`` (patterns) from forces (N, len(axes)) in N felt when the arm presses on known objects.

    ``q`` (N, n) are controller values in rad and m, ``touches`` say which frame presses on which surface.
    """
    kind = ContactForce(robot.joint_values(robot.controller.to_joints(np.atleast_2d(q))), touches, axes)
    return study(
        robot, Campaign(kind, np.asarray(forces, dtype=float), tuple(sources)), seek, rng=np.random.default_rng(seed)
    )
