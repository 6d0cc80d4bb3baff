"""Accuracy of an arc with known angles before it is measured: the exact covariance of Algorithm 1 at planned angles.

With S = |sum exp(i q)| and B = sum of v v^T, v = (1, cos q, sin q):

    var L = var x_0 = var y_0 = sigma^2 / (m - S^2 / m),   var psi = var L / L^2
    var z_0 = sigma^2 (B^-1)_00,   var of the axis' two tilts = sigma^2 ((B^-1)_11, (B^-1)_22) / L^2

000 eq. (32) is this var L, with m - S^2 / m as sum |u^|^2; but the text below it takes that sum for m, and so misses
that the radius depends on the angles too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from elastocal.arcs.angle_checks import distinct_angles
from elastocal.arcs.procrustes import procrustes, unit_directions
from elastocal.errors import InputError
from elastocal.spatial.entries import Array


@dataclass(frozen=True)
class ExpectedArc:
    """Standard deviations of an arc with known angles, in m and rad; those of height and axis hold in space only.

    ``other_sense``: residual standard deviation that the wrong sense of rotation would leave, in m; below some five
    times the noise the plan cannot tell the sense.
    """

    radius_sd: float
    centre_sd: float
    turn_sd: float
    height_sd: float
    axis_sd: float
    other_sense: float
    paper_radius_sd: float


def expected_arc(angles: ArrayLike, radius: float, noise: float) -> ExpectedArc:
    """``centre_sd`` is that of each coordinate in the plane, ``axis_sd`` that of both tilts of the axis together."""
    q = np.asarray(angles, dtype=np.float64)
    check_plan(q)
    if not (radius > 0 and noise > 0):
        raise InputError("the radius and the noise of a plan must be positive numbers in metres")
    m = len(q)
    spread = noise / np.sqrt(m - imbalance(q) / m)
    inverse = np.linalg.inv(height_information(q))
    wrong = procrustes(unit_directions(q, 1, 2), unit_directions(q, -1, 2))[2]
    return ExpectedArc(
        radius_sd=float(spread),
        centre_sd=float(spread),
        turn_sd=float(spread / radius),
        height_sd=float(noise * np.sqrt(inverse[0, 0])),
        axis_sd=float(noise / radius * np.sqrt(inverse[1, 1] + inverse[2, 2])),
        other_sense=float(radius * np.sqrt(wrong / (2 * m - 4))),
        paper_radius_sd=float(noise / np.sqrt(m)),
    )


def check_plan(angles: Array) -> None:
    """Refuse plans that cannot tell the sense of rotation."""
    if angles.ndim != 1 or not np.all(np.isfinite(angles)):
        raise InputError("the angles of a plan must be a list of finite numbers in rad")
    if distinct_angles(angles) < 3:
        raise InputError(
            f"the plan has {distinct_angles(angles)} distinct angles, but two fit either sense of rotation equally "
            "well; plan at least three"
        )


def imbalance(angles: Array) -> float:
    """(sum cos)^2 + (sum sin)^2, the objective of 000 eq. (35) and (36)."""
    return float(np.abs(np.sum(np.exp(1j * angles))) ** 2)


def height_information(angles: Array) -> Array:
    """B (3, 3) of heights above a plane that may be shifted and tilted; angles (..., m) give (..., 3, 3)."""
    v = np.stack([np.ones_like(angles), np.cos(angles), np.sin(angles)], axis=-1)
    return np.asarray(np.swapaxes(v, -1, -2) @ v)
