"""Are the joint's axis (through P2) and the axis of the spring's body (through P0) parallel?

The model of the compensator is plane.  With n_2, n_0 the axes and d = n_2 - n_0 across them, both measured apart,

    chi^2 = d^T (C_2 + C_0)^-1 d   on 2, in the plane across n_2,

tests whether they are.  If not, where P0 is depends on the height at which it is taken: the markers' own, as in
``compensator_geometry``, or that of the plane in which P1 moves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.arcs.concentric import ConcentricArcs
from elastocal.arcs.known_angle_arc import KnownAngleArc
from elastocal.spatial.entries import Array

UNLIKELY = 0.0027
"""Probability of three standard deviations."""
FAR = np.radians(1.0)


@dataclass(frozen=True)
class AxesAngle:
    """``angle`` in rad between the axes, ``probability`` of more if they are parallel.

    ``a`` and ``phi0``: change in m and rad if P0 is taken in the plane of P1, ``height`` m from the markers' mean.
    """

    angle: float
    probability: float
    height: float
    a: float
    phi0: float

    def words(self) -> tuple[str, ...]:
        if self.probability >= UNLIKELY:
            return ()
        degrees = f"The axes through P0 and P2 are {np.degrees(self.angle):.3g} deg apart"
        if self.angle < FAR:
            return (f"{degrees}, more than their accuracy explains (probability {self.probability:.2g}).",)
        return (
            f"{degrees}, but the model is plane and takes them as parallel. P0 is taken at the mean height of its "
            f"markers; in the plane of P1, {1e3 * abs(self.height):.4g} mm away, a would change by {1e3 * self.a:.3g} "
            f"mm and phi0 by {np.degrees(self.phi0):.3g} deg, far more than their standard deviations tell. Check the "
            "markers, or put them into the plane of P1.",
        )


def axes_angle(arc: KnownAngleArc, pivot: ConcentricArcs) -> AxesAngle | None:
    """None in the plane, where there is nothing to compare."""
    from scipy.special import chdtrc

    if arc.dimension == 2:
        return None
    normal, other = arc.axis, pivot.axis * np.sign(pivot.axis @ arc.axis)
    plane = arc.problem.frame.plane
    apart = plane.T @ (normal - other)
    spread = plane.T @ (arc.axis_covariance + pivot.axis_covariance) @ plane
    value = float(apart @ np.linalg.solve(spread, apart))
    height = float(normal @ (arc.centre - pivot.centre))
    there = pivot.centre + other * height / float(normal @ other)
    before, after = (plane.T @ (arc.centre - p) for p in (pivot.centre, there))
    turn = _angle(after) - _angle(before)
    return AxesAngle(
        float(np.arccos(min(1.0, float(normal @ other)))),
        float(chdtrc(2, value)),
        height,
        float(np.linalg.norm(after) - np.linalg.norm(before)),
        float(arc.sense * ((turn + np.pi) % (2 * np.pi) - np.pi)),
    )


def _angle(v: Array) -> float:
    return float(np.arctan2(v[1], v[0]))
