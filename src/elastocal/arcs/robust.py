"""Robust arcs: fits with and without the points that the others contradict, and the name of each such point."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from elastocal.arcs.bad_points import ALONE, BadPoint, bad_points
from elastocal.arcs.concentric import ConcentricArcs, Method, algebraic, concentric_of, fit_concentric
from elastocal.arcs.deviations import deviations
from elastocal.arcs.known_angle_arc import KnownAngleArc, arc_of_sense
from elastocal.arcs.known_angles import fit_known_angles, refuse_units, seen_points
from elastocal.arcs.points import as_markers, as_noise
from elastocal.arcs.procrustes import KnownAngleProblem
from elastocal.arcs.rigid import RigidBody, fit_common_rotation, rigid_start
from elastocal.arcs.screen import LEVEL, ScreenedPoints, screen
from elastocal.arcs.starts import axis_starts, body_starts, known_angle_starts
from elastocal.errors import InputError
from elastocal.spatial.entries import Array

F = TypeVar("F", KnownAngleArc, ConcentricArcs, RigidBody)


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
    refuse_units(p, q)
    screening = screen(known_angle_starts(p, q, seen), as_noise(noise), level)
    rest = fit_known_angles(_masked([points], screening)[0], angles, noise=noise, sense=sense, axis=axis)
    if screening.kept.all():
        return RobustFit(rest, rest, ())
    everything = arc_of_sense(p, q, seen, rest.sense, noise)
    bad = tuple(replace(b, angle=_angle_instead(screening, b, rest, q, noise)) for b in bad_points(screening))
    return RobustFit(everything, rest, bad)


def _angle_instead(
    screening: ScreenedPoints, bad: BadPoint, rest: KnownAngleArc, angles: Array, noise: float | None
) -> float | None:
    """The angle with which the others agree with the point, if any: it lies on the circle, only elsewhere."""
    state = screening.state
    assert isinstance(state, KnownAngleProblem)
    g = state.labels.index((0, bad.pose))
    place = state.frame.local(state.points[[g]])[0, :2]
    u = state.directions.copy()
    u[g, :2] = place / np.linalg.norm(place)
    if not deviations(replace(state, directions=u), screening.kept, as_noise(noise))[g].probability > ALONE:
        return None
    own = rest.problem.frame.local(state.points[[g]])[0]
    turn = rest.sense * np.arctan2(own[1], own[0]) - angles[g]
    return float(angles[g] + (turn + np.pi) % (2 * np.pi) - np.pi)


def robust_concentric(
    markers: Sequence[ArrayLike], *, noise: float | None = None, method: Method = "algebraic"
) -> RobustFit[ConcentricArcs]:
    """Algorithm 2 with bad points left out; the search is that of the geometric form."""
    starts = [start for start, _ in axis_starts(as_markers(markers))]
    screening = screen(starts or [algebraic(as_markers(markers))], as_noise(noise), LEVEL)
    rest = fit_concentric(_masked(markers, screening), noise=noise, method=method)
    if screening.kept.all():
        return RobustFit(rest, rest, ())
    everything = _if_settled(lambda: concentric_of(markers, noise=noise, method=method))
    return RobustFit(everything, rest, bad_points(screening))


def robust_common_rotation(markers: Sequence[ArrayLike], *, noise: float | None = None) -> RobustFit[RigidBody]:
    """The rigid body with bad points left out.  The other markers predict the whole point, so a coordinate is named."""
    start = rigid_start(markers)
    screening = screen([start, *body_starts(start)], as_noise(noise), LEVEL)
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


def _masked(markers: Sequence[ArrayLike], screening: ScreenedPoints) -> list[Array]:
    """The data with bad points as not seen."""
    out = [np.array(m, dtype=np.float64) for m in markers]
    for (marker, pose), keep in zip(screening.state.labels, screening.kept, strict=True):
        if not keep:
            out[marker][pose] = np.nan
    return out
