"""Points that the others contradict, by name: what was read, and what the rest predicts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.arcs.deviations import Deviation
from elastocal.arcs.problem import ArcProblem
from elastocal.arcs.screen import ScreenedPoints
from elastocal.spatial.entries import Array

ALONE = 1e-3


@dataclass(frozen=True, eq=False)
class BadPoint:
    """A point that the rest contradicts; ``marker`` and ``pose`` count from 0.

    ``components`` names what was read (coordinates, or radius and height), ``value`` and ``predicted`` are those
    numbers as read and as the rest has them.  ``component`` is the one that explains it alone, None where several or
    none would.  ``instead`` lists points of which one may as well be the bad one.  ``angle``: the joint angle in rad at
    which the point would be where the rest predicts it, None where none is or angles are not used.
    """

    marker: int
    pose: int
    component: str | None
    components: tuple[str, ...]
    value: Array
    predicted: Array
    statistic: float
    freedom: tuple[int, int]
    probability: float
    instead: tuple[tuple[int, int], ...]
    angle: float | None = None

    def text(self) -> str:
        shown = [i for i, c in enumerate(self.components) if self.component in (None, c)]
        parts = [
            f"{self.components[i]} {1e3 * self.value[i]:.3f} where the rest predicts {1e3 * self.predicted[i]:.3f} mm"
            for i in shown
        ]
        if self.angle is not None:
            parts.append(f"or the angle, which fits at {np.degrees(self.angle):.4f} deg")
        return (
            f"marker {self.marker + 1}, pose {self.pose + 1}: {', '.join(parts)} "
            f"(F = {self.statistic:.3g} on {self.freedom[0]} and {self.freedom[1]}, "
            f"probability {self.probability:.1g} for any point)" + self._doubt()
        )

    def _doubt(self) -> str:
        others = " or ".join(f"marker {j + 1}, pose {i + 1}" for j, i in self.instead)
        return f"; it may as well be {others}, read it again" if others else ""


def bad_points(screening: ScreenedPoints) -> tuple[BadPoint, ...]:
    """Names and predictions, the worst first."""
    state = screening.state
    out = []
    for g in np.flatnonzero(~screening.kept):
        d, (marker, pose) = screening.deviations[g], state.labels[g]
        value = state.readings[g]
        out.append(
            BadPoint(
                marker,
                pose,
                _alone(d, state),
                state.components,
                value,
                value - d.away,
                d.statistic,
                (d.basis.shape[1], d.freedom),
                d.probability * len(screening.kept),
                tuple(state.labels[h] for h in screening.instead[int(g)]),
            )
        )
    return tuple(sorted(out, key=lambda b: (b.probability, -b.statistic, b.marker, b.pose)))


def _alone(d: Deviation, state: ArcProblem) -> str | None:
    """The one component without which the others agree with the prediction (F test at 0.1 %), if there is only one."""
    from scipy.special import fdtrc

    n = len(d.away)
    if n == 1:
        return state.components[0]
    if d.basis.shape[1] < n:
        return None
    hits = []
    for i in range(n):
        others = [k for k in range(n) if k != i]
        block = d.covariance[np.ix_(others, others)]
        value = float(d.away[others] @ np.linalg.solve(block, d.away[others])) / len(others)
        if fdtrc(len(others), d.freedom, value) > ALONE:
            hits.append(state.components[i])
    return hits[0] if len(hits) == 1 else None
