"""Robust arcs: fits with and without the points that the others contradict, and the name of each such point."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from elastocal.arcs.concentric import ConcentricArcs, Method, algebraic, concentric_of, fit_concentric
from elastocal.arcs.known_angles import KnownAngleArc, arc_of_sense, fit_known_angles, seen_points
from elastocal.arcs.points import as_markers, as_noise
from elastocal.arcs.problem import Problem
from elastocal.arcs.rigid import RigidBody, fit_common_rotation, rigid_start
from elastocal.arcs.screen import LEVEL, Deviation, Screening, screen
from elastocal.arcs.starts import axis_starts, body_starts, known_angle_starts
from elastocal.errors import InputError
from elastocal.spatial.entries import Array

ALONE = 1e-3
F = TypeVar("F", KnownAngleArc, ConcentricArcs, RigidBody)


@dataclass(frozen=True, eq=False)
class BadPoint:
    """A point that the rest contradicts; ``marker`` and ``pose`` count from 0.

    ``components`` names what was read (coordinates, or radius and height), ``value`` and ``predicted`` are those
    numbers as read and as the rest has them.  ``component`` is the one that explains it alone, None where several or
    none would.  ``instead`` lists points of which one may as well be the bad one.
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

    def text(self) -> str:
        shown = [i for i, c in enumerate(self.components) if self.component in (None, c)]
        parts = [
            f"{self.components[i]} {1e3 * self.value[i]:.3f} where the rest predicts {1e3 * self.predicted[i]:.3f} mm"
            for i in shown
        ]
        return (
            f"marker {self.marker + 1}, pose {self.pose + 1}: {', '.join(parts)} "
            f"(F = {self.statistic:.3g} on {self.freedom[0]} and {self.freedom[1]}, "
            f"probability {self.probability:.1g} for any point)" + self._doubt()
        )

    def _doubt(self) -> str:
        others = " or ".join(f"marker {j + 1}, pose {i + 1}" for j, i in self.instead)
        return f"; it may as well be {others}, read it again" if others else ""


@dataclass(frozen=True, eq=False)
class RobustFit(Generic[F]):
    """``everything``: the fit of all points; ``rest``: without the bad ones, the same object where there are none.

    ``everything`` is None where bad points leave no arc on which a search could settle.
    """

    everything: F | None
    rest: F
    bad: tuple[BadPoint, ...]

    def words(self) -> tuple[str, ...]:
        """What was found, lengths in mm."""
        if not self.bad:
            return ("No point is contradicted by the others.",)
        before, after = self.everything, self.rest
        if before is None:
            return (*(b.text() for b in self.bad), "All points together give no arc.")
        moved = 1e3 * (after.centre - before.centre)
        return (
            *(b.text() for b in self.bad),
            f"Without {'it' if len(self.bad) == 1 else 'them'} the centre moves by "
            f"({', '.join(f'{m:.3f}' for m in moved)}) mm and the residuals fall from "
            f"{1e3 * before.residual_sd:.3f} to {1e3 * after.residual_sd:.3f} mm.",
        )


def robust_known_angles(
    points: ArrayLike, angles: ArrayLike, *, noise: float | None = None, sense: int | None = None,
    axis: ArrayLike | None = None, level: float = LEVEL,
) -> RobustFit[KnownAngleArc]:  # fmt: skip
    """Algorithm 1 with bad points left out; arguments as in ``fit_known_angles``.

    The sense of rotation is that of the rest; ``everything`` is fitted with it, whatever the bad points say.
    """
    p, q, seen = seen_points(points, angles)
    screening = screen(known_angle_starts(p, q, seen), as_noise(noise), level)
    rest = fit_known_angles(_masked([points], screening)[0], angles, noise=noise, sense=sense, axis=axis)
    if screening.kept.all():
        return RobustFit(rest, rest, ())
    return RobustFit(arc_of_sense(p, q, seen, rest.sense, noise), rest, bad_points(screening))


def robust_concentric(
    markers: Sequence[ArrayLike], *, noise: float | None = None, method: Method = "algebraic", level: float = LEVEL
) -> RobustFit[ConcentricArcs]:
    """Algorithm 2 with bad points left out; the search is that of the geometric form."""
    starts = [start for start, _ in axis_starts(as_markers(markers))]
    screening = screen(starts or [algebraic(as_markers(markers))], as_noise(noise), level)
    rest = fit_concentric(_masked(markers, screening), noise=noise, method=method)
    if screening.kept.all():
        return RobustFit(rest, rest, ())
    everything = _if_settled(lambda: concentric_of(markers, noise=noise, method=method))
    return RobustFit(everything, rest, bad_points(screening))


def robust_common_rotation(
    markers: Sequence[ArrayLike], *, noise: float | None = None, level: float = LEVEL
) -> RobustFit[RigidBody]:
    """The rigid body with bad points left out.  The other markers predict the whole point, so a coordinate is named."""
    start = rigid_start(markers)
    screening = screen([start, *body_starts(start)], as_noise(noise), level)
    rest = fit_common_rotation(_masked(markers, screening), noise=noise)
    if screening.kept.all():
        return RobustFit(rest, rest, ())
    everything = _if_settled(lambda: fit_common_rotation(markers, noise=noise))
    return RobustFit(everything, rest, bad_points(screening))


def _if_settled(fit: Callable[[], F]) -> F | None:
    try:
        return fit()
    except InputError:
        return None


def _masked(markers: Sequence[ArrayLike], screening: Screening) -> list[Array]:
    """The data with bad points as not seen."""
    out = [np.array(m, dtype=np.float64) for m in markers]
    for (marker, pose), keep in zip(screening.state.labels, screening.kept, strict=True):
        if not keep:
            out[marker][pose] = np.nan
    return out


def bad_points(screening: Screening) -> tuple[BadPoint, ...]:
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


def _alone(d: Deviation, state: Problem) -> str | None:
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
