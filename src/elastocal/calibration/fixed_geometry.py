"""The constant geometry that predicts best by itself, for files that hold nothing else.

In a calibrated robot geometry is what is left once weight, gears and loads have their part: alone it predicts worse
than geometry that was estimated alone and stands for their mean as well.  So it is estimated again, from what the
calibrated robot predicts at poses that the calibration has seen and at others within their range: readings without
noise, as many as wanted.  How far that is from the calibrated robot is its leave-one-out error, stations and markers
fitted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elastocal.calibration.campaign import Campaign
from elastocal.calibration.placing import placed
from elastocal.design.sobol import sobol
from elastocal.findings import Finding
from elastocal.model.kinematics import kinematics
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array

if TYPE_CHECKING:
    from elastocal.calibration.calibration import Calibration

CONSTANT = ("frame_error", "joint_offset")
"""Kinds of effects that fixed origins hold."""
SEEN, OTHERS = 150, 8
"""Poses of the calibration, and of how many others in their range the logarithm to base 2, that the geometry is fitted
to."""
NOTHING = 1e-6
"""m below which a prediction is that of the constant geometry."""


def fixed_geometry(c: Calibration) -> tuple[Robot, tuple[Finding, ...]]:
    """The robot with constant geometry alone, and how well it predicts where that is less than the calibration does."""
    from elastocal.calibration.run import calibrate

    own = c.robot.without(*{e.kind for e in c.robot.elements if e.kind not in CONSTANT})
    if not c.placed:
        return own, ()
    q = _poses(c)
    prediction = c.predict_joints(q)
    at = kinematics(own, q)
    station = np.zeros(len(q), dtype=np.int64)
    off = np.linalg.norm(placed(c.placing, at.position, at.rotation, station) - prediction.position, axis=2)
    if np.nanmax(off) < NOTHING:
        return own, ()
    data = Campaign(
        q=c.robot.controller.to_controller(q), position=prediction.position, markers=c.markers,
        orientation=prediction.orientation if "orientation" in c.noise else None, length="m", angle="rad",
    )  # fmt: skip
    alone = calibrate(c.nominal, data, ["geometry"], outliers=False)
    return alone.robot, (_finding(c, alone, len(q)),)


def _poses(c: Calibration) -> Array:
    """(N, n): some that were read, and some spread between the least and the largest joint values of all."""
    seen = c.residuals.q
    some = seen[np.linspace(0, len(seen) - 1, min(SEEN, len(seen))).astype(np.int64)]
    low, high = seen.min(axis=0), seen.max(axis=0)
    return np.concatenate([some, low + (high - low) * sobol(seen.shape[1], OTHERS)])


def _finding(c: Calibration, alone: Calibration, poses: int) -> Finding:
    left, nominal, own = alone.leave_one_out.mean, alone.before.mean, c.claim.mean
    text = (
        f"Fixed origins cannot hold all of the calibration: {1e3 * left:.3f} mm are left of what it predicts (mean "
        f"over {poses} poses of its range, base and markers fitted), {1e3 * nominal:.3f} mm by the nominal robot; the "
        f"calibration itself predicts to {1e3 * own:.3f} mm. The geometry was fitted to predict best alone and is not "
        "that of the calibration; correct programs with the calibration where the rest matters."
    )
    data = {"left_m": left, "nominal_m": nominal, "calibration_m": own, "poses": poses}
    return Finding("fixed-geometry", "warning", text, data)
