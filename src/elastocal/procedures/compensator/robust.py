"""Robust fits of arcs: with and without outliers, and each outlier by marker, pose, coordinate and prediction.

Which points are outliers is decided in ``outliers``, from the closed-form fits of ``starts``.  An outlier has a
component (a coordinate, or radius or height) of its own where without it the others agree with the prediction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from elastocal.errors import InputError
from elastocal.procedures.compensator.concentric import ConcentricArcs, Method, algebraic, concentric_of, fit_concentric
from elastocal.procedures.compensator.known_angle_arc import KnownAngleArc, KnownAngleProblem, arc_of_sense
from elastocal.procedures.compensator.known_angles import fit_known_angles, refuse_units, seen_points
from elastocal.procedures.compensator.least_squares import ArcProblem
from elastocal.procedures.compensator.outliers import LEVEL, Deviation, ScreenedPoints, deviations, screen
from elastocal.procedures.compensator.points import as_markers, as_noise
from elastocal.procedures.compensator.rigid_body import RigidBody, fit_common_rotation, rigid_start
from elastocal.procedures.compensator.starts import axis_starts, body_starts, known_angle_starts
from elastocal.quantities import probability
from elastocal.spatial.entries import Array

ALONE = 1e-3
"""Level of the F test by which the other components of an outlier agree with the prediction."""
F = TypeVar("F", KnownAngleArc, ConcentricArcs, RigidBody)


@dataclass(frozen=True, eq=False)
class Outlier:
    """A point that the others contradict; ``marker`` and ``pose`` count from 0.

    ``components`` names what was read (coordinates, or radius and height), ``value`` and ``predicted`` are those
    numbers as read and as the rest has them.  ``component`` is the one that explains it alone, None where several or
    none would.  ``instead`` lists points of which one may as well be the outlier.  ``angle``: the joint angle in rad at
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
            f"probability {probability(self.probability)} for any point)" + self._doubt()
        )

    def _doubt(self) -> str:
        others = " or ".join(f"marker {j + 1}, pose {i + 1}" for j, i in self.instead)
        return f"; it may as well be {others}, read it again" if others else ""


def named_outliers(screening: ScreenedPoints) -> tuple[Outlier, ...]:
    """Names and predictions, the worst first."""
    state = screening.state
    out = []
    for g in np.flatnonzero(~screening.kept):
        d, (marker, pose) = screening.deviations[g], state.labels[g]
        value = state.readings[g]
        out.append(
            Outlier(
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


@dataclass(frozen=True, eq=False)
class RobustFit(Generic[F]):
    """``fit``: without outliers; ``all_points``: with them, the same object where there are none.

    ``all_points`` is None where outliers leave no arc on which a search could converge.
    """

    all_points: F | None
    fit: F
    outliers: tuple[Outlier, ...]

    def sentences(self) -> tuple[str, ...]:
        """The outliers and what they do to the fit, lengths in mm."""
        if not self.outliers:
            return ("No outliers.",)
        before, after = self.all_points, self.fit
        if before is None:
            return (*(b.text() for b in self.outliers), "All points together give no arc.")
        moved = 1e3 * (after.centre - before.centre)
        return (
            *(b.text() for b in self.outliers),
            f"Without {'it' if len(self.outliers) == 1 else 'them'} the centre moves by "
            f"({', '.join(f'{m:.3f}' for m in moved)}) mm and the residuals fall from "
            f"{1e3 * before.residual_sd:.3f} to {1e3 * after.residual_sd:.3f} mm.",
        )


def robust_known_angles(
    points: ArrayLike, angles: ArrayLike, *, noise: float | None = None, sense: int | None = None,
    axis: ArrayLike | None = None, level: float = LEVEL,
) -> RobustFit[KnownAngleArc]:  # fmt: skip
    """Algorithm 1 without outliers; arguments as in ``fit_known_angles``.

    The sense of rotation is that of the others; ``all_points`` is fitted with it, whatever the outliers say.
    """
    p, q, seen = seen_points(points, angles)
    refuse_units(p, q)
    screening = screen(known_angle_starts(p, q, seen), as_noise(noise), level)
    fit = fit_known_angles(_masked([points], screening)[0], angles, noise=noise, sense=sense, axis=axis)
    if screening.kept.all():
        return RobustFit(fit, fit, ())
    all_points = arc_of_sense(p, q, seen, fit.sense, noise)
    outliers = tuple(replace(b, angle=_angle_instead(screening, b, fit, q, noise)) for b in named_outliers(screening))
    return RobustFit(all_points, fit, outliers)


def _angle_instead(
    screening: ScreenedPoints, outlier: Outlier, fit: KnownAngleArc, angles: Array, noise: float | None
) -> float | None:
    """The angle with which the others agree with the point, if any: it lies on the circle, only elsewhere."""
    state = screening.state
    assert isinstance(state, KnownAngleProblem)
    g = state.labels.index((0, outlier.pose))
    place = state.frame.local(state.points[[g]])[0, :2]
    u = state.directions.copy()
    u[g, :2] = place / np.linalg.norm(place)
    if not deviations(replace(state, directions=u), screening.kept, as_noise(noise))[g].probability > ALONE:
        return None
    own = fit.problem.frame.local(state.points[[g]])[0]
    turn = fit.sense * np.arctan2(own[1], own[0]) - angles[g]
    return float(angles[g] + (turn + np.pi) % (2 * np.pi) - np.pi)


def robust_concentric(
    markers: Sequence[ArrayLike], *, noise: float | None = None, method: Method = "algebraic"
) -> RobustFit[ConcentricArcs]:
    """Algorithm 2 without outliers; the search is that of the geometric form."""
    starts = [start for start, _ in axis_starts(as_markers(markers))]
    screening = screen(starts or [algebraic(as_markers(markers))], as_noise(noise), LEVEL)
    fit = fit_concentric(_masked(markers, screening), noise=noise, method=method)
    if screening.kept.all():
        return RobustFit(fit, fit, ())
    all_points = _if_converged(lambda: concentric_of(markers, noise=noise, method=method))
    return RobustFit(all_points, fit, named_outliers(screening))


def robust_common_rotation(markers: Sequence[ArrayLike], *, noise: float | None = None) -> RobustFit[RigidBody]:
    """The rigid body without outliers.  The other markers predict the whole point, so a coordinate is named."""
    start = rigid_start(markers)
    screening = screen([start, *body_starts(start)], as_noise(noise), LEVEL)
    fit = fit_common_rotation(_masked(markers, screening), noise=noise)
    if screening.kept.all():
        return RobustFit(fit, fit, ())
    all_points = _if_converged(lambda: fit_common_rotation(markers, noise=noise))
    return RobustFit(all_points, fit, named_outliers(screening))


def _if_converged(fit: Callable[[], F]) -> F | None:
    try:
        return fit()
    except InputError:
        return None


def _masked(markers: Sequence[ArrayLike], screening: ScreenedPoints) -> list[Array]:
    """The data with outliers as not seen."""
    out = [np.array(m, dtype=np.float64) for m in markers]
    for (marker, pose), keep in zip(screening.state.labels, screening.kept, strict=True):
        if not keep:
            out[marker][pose] = np.nan
    return out
