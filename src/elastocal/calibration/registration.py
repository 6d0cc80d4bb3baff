"""The calibrated robot with its base as the instrument was registered to it and its tool as its markers show it.

Readings tell neither where the controller's base frame lies nor where its tool frame sits: every error of theirs goes
into stations and markers as well, and priors alone share it out.  A program that is run in a base and with a tool that
were measured with the robot does not suffer from it.  So the error of a corrected target is

    dx  =  station error  +  robot error  +  marker error

with all their correlations: errors of the base and of the flange, of no size or added to those that these frames have,
carry those of stations and markers.

    base    e_r = R_s^T w,   e_t = R_s^T (d + w x (t_s - c_s))        station s: moved by d, turned by w about c_s
    tool    the motion a + b x m that fits the errors of the markers best; b by three markers or by orientations read
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from elastocal.model.chain import AXES
from elastocal.model.compliant.frame_error import FrameError
from elastocal.model.frames import BASE
from elastocal.model.kinematics import kinematics
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array
from elastocal.spatial.rotation import cross_matrices

if TYPE_CHECKING:
    from elastocal.calibration.calibration import Calibration

SPREAD = 0.02
"""m that three markers must be apart across the longest line between them to tell how the tool is turned."""


def registered(c: Calibration, flange: str) -> tuple[Robot, tuple[str, ...], Array]:
    """The robot with errors of base and flange, and names and covariance of all that is estimated of them.

    A calibration by deflections alone knows neither: there it is the robot as it stands.
    """
    robot, covariance = c.robot, c.inflation**2 * c.covariance  # as intervals of predictions count it
    if not c.placed:
        return robot, c.names, covariance[: len(c.names), : len(c.names)]
    moves = dict(zip(_motions(BASE), _base_rows(c), strict=True))
    moves |= dict(zip(_motions(flange), _flange_rows(c, flange), strict=True))
    robot = _with_motions(_with_motions(robot, BASE), flange)
    names = (*c.names, *(n for n in moves if n not in c.names))
    rows = np.eye(len(names), len(covariance))
    rows[len(c.names) :] = 0.0
    for name, row in moves.items():  # a frame may have errors of its own: these are moved, whatever its name
        rows[names.index(name)] += row
    return robot, names, rows @ covariance @ rows.T


def _motions(frame: str) -> list[str]:
    return [f"{frame}.{a}" for a in AXES]


def _with_motions(robot: Robot, frame: str) -> Robot:
    """The robot with errors of a frame along and about all axes; those that it lacks are of no size."""
    lacking: dict[str, Any] = {a: 0.0 for a in AXES if f"{frame}.{a}" not in robot.parameters.names}
    return robot.with_elements(FrameError(frame=frame, **lacking)) if lacking else robot


def skew(vector: Array) -> Array:
    """(3, 3): ``skew(a) @ b`` is a x b."""
    return np.asarray(cross_matrices(vector[:, None])[:, :, 0])


def _base_rows(c: Calibration) -> Array:
    """(6, unknowns): error of the base by that of the first station."""
    out, first = np.zeros((6, len(c.covariance))), len(c.names)
    back = c.placing.turn[0].T
    out[:3, first : first + 3] = back
    out[:3, first + 3 : first + 6] = -back @ skew(c.placing.shift[0] - c.placing.centres[0])
    out[3:, first + 3 : first + 6] = back
    return out


def _flange_rows(c: Calibration, flange: str) -> Array:
    """(6, unknowns): error of the flange by those of markers, and of the tool's turn where that was read."""
    spots, extra = c.placing.markers, np.zeros((6, len(c.covariance)))
    count, first = len(spots), len(c.names) + 6 * len(c.stations)
    centre = spots.mean(axis=0)
    mean = np.tile(np.eye(3) / count, (1, count))
    turn = np.zeros((3, 3 * count))
    last = first + 3 * count
    if "orientation" in c.noise:
        extra[3:, last : last + 3] = c.placing.tool_turn
    elif count >= 3 and np.linalg.svd(spots - centre, compute_uv=False)[1] > SPREAD:
        lever = np.concatenate([-skew(m - centre) for m in spots])  # dm = a + b x (m - centre)
        turn = np.linalg.pinv(lever) @ (np.eye(3 * count) - np.tile(mean, (count, 1)))
    extra[3:, first:last] = turn
    extra[:3, first:last] = mean
    extra[:3] += skew(centre) @ extra[3:]  # at the tool's origin: a - b x centre
    at = kinematics(c.nominal, np.zeros((1, c.robot.n)))
    hand = kinematics(c.nominal, np.zeros((1, c.robot.n)), flange)
    turned = hand.rotation[0].T @ at.rotation[0]
    arm = hand.rotation[0].T @ (at.position - hand.position)[0]
    out = np.empty_like(extra)
    out[3:] = turned @ extra[3:]
    out[:3] = turned @ extra[:3] + skew(arm) @ out[3:]  # v at the flange: v_tool - w x arm
    return out
