"""Do markers turn about one axis?  A common axis tested against an axis for each marker."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from elastocal.arcs.axis_problem import AxisProblem
from elastocal.arcs.concentric import ConcentricArcs, algebraic
from elastocal.arcs.estimate import FitQuality
from elastocal.arcs.points import Markers
from elastocal.arcs.problem import minimise
from elastocal.errors import InputError


def own_axes(common: ConcentricArcs) -> FitQuality:
    """What is left when every marker has the circle nearest to its own points.

    A marker seen three times or less lies on a circle of its own whatever its points are.  There is no covariance.
    """
    data = common.problem.markers
    squares, freedom = 0.0, 0
    for j in range(data.count):
        rows = data.marker == j
        if np.sum(rows) <= 3:
            continue
        one = Markers(data.points[rows], np.zeros(np.sum(rows), dtype=np.int64), data.pose[rows], 1, data.poses)
        shared = replace(common.problem, radii=common.radii[[j]], heights=common.heights[[j]], markers=one)
        squares += _least(one, shared)
        freedom += (data.dimension - 1) * (int(np.sum(rows)) - 3)
    return FitQuality(np.zeros((0, 0)), squares, freedom, data.points.size, common.estimate.noise)


def _least(one: Markers, shared: AxisProblem) -> float:
    """The lower of the minima reached from the marker's own algebraic circle and from the common axis."""
    left = []
    for start in (algebraic, lambda _: shared):
        try:
            left.append(float(np.sum(minimise(start(one)).residuals() ** 2)))
        except InputError:
            continue
    if not left:
        raise InputError("a marker has no circle of its own; measure a longer arc")
    return min(left)
