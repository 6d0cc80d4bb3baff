"""Outliers of arcs: the search for them starts from closed-form fits of a few poses, of which some hold no outlier.

One outlier moves a fit of all points as far as it likes, and a search from there settles where it is wrong.  So
many small sets of poses are fitted in closed form (Algorithm 1, Algorithm 2), each start is judged by the median
residual of all points (least median of squares), and only the best are refined; see ``outliers.screen``.
The sets are all triples of poses, or so many evenly chosen ones, and all poses but one; nothing depends on chance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from elastocal.errors import InputError, MissingError
from elastocal.procedures.compensator.arc_problem import AxisFrame, Markers, as_markers, as_noise
from elastocal.procedures.compensator.concentric import STRAIGHT, ConcentricProblem, algebraic, fit_concentric
from elastocal.procedures.compensator.known_angle_arc import (
    KnownAngleArc,
    KnownAngleProblem,
    arc_of_sense,
    procrustes,
    unit_directions,
)
from elastocal.procedures.compensator.known_angles import fit_known_angles, refuse_units, seen_points
from elastocal.procedures.compensator.outliers import ALONE, LEVEL, ArcJudge, Outlier, named_outliers, screen
from elastocal.procedures.compensator.rigid_body import (
    BodyProblem,
    arms_of,
    common_angles,
    fit_common_rotation,
    rigid_start,
)
from elastocal.spatial.entries import Array, Ints
from elastocal.values import dataclass

MOST = 120
"""Triples tried at most."""


@dataclass(frozen=True, eq=False)
class RobustArc:
    """``fit``: without outliers; ``all_points``: with them, the same object where there are none."""

    all_points: KnownAngleArc
    fit: KnownAngleArc
    outliers: tuple[Outlier, ...]


def robust_known_angles(
    points: ArrayLike, angles: ArrayLike, *, noise: float | None = None, sense: int | None = None,
    axis: ArrayLike | None = None, level: float = LEVEL,
) -> RobustArc:  # fmt: skip
    """Algorithm 1 without outliers; arguments as in ``fit_known_angles``.

    The sense of rotation is that of the others; ``all_points`` is fitted with it, whatever the outliers say.
    """
    p, q, seen = seen_points(points, angles)
    refuse_units(p, q)
    judge = screen(known_angle_starts(p, q, seen), as_noise(noise), level)
    fit = fit_known_angles(_masked([points], judge)[0], angles, noise=noise, sense=sense, axis=axis)
    if judge.kept.all():
        return RobustArc(fit, fit, ())
    all_points = arc_of_sense(p, q, seen, fit.sense, noise)
    named = named_outliers(judge, level)
    outliers = tuple(replace(b, angle=_angle_instead(judge, b, fit, q)) for b in named)
    return RobustArc(all_points, fit, outliers)


def _angle_instead(judge: ArcJudge, outlier: Outlier, fit: KnownAngleArc, angles: Array) -> float | None:
    """The angle with which the others agree with the point, if any: it lies on the circle, only elsewhere."""
    state = judge.state
    assert isinstance(state, KnownAngleProblem)
    g = state.labels.index((0, outlier.pose))
    place = state.frame.local(state.points[[g]])[0, :2]
    u = state.directions.copy()
    u[g, :2] = place / np.linalg.norm(place)
    if not replace(judge, state=replace(state, directions=u)).probability(g) > ALONE:
        return None
    own = fit.problem.frame.local(state.points[[g]])[0]
    turn = fit.sense * np.arctan2(own[1], own[0]) - angles[g]
    return float(angles[g] + (turn + np.pi) % (2 * np.pi) - np.pi)


def outliers_of_arcs(markers: Sequence[ArrayLike], noise: float | None = None) -> tuple[Outlier, ...]:
    """Points that do not lie on concentric arcs with the others; refused where the others give none."""
    starts = [start for start, _ in axis_starts(as_markers(markers))]
    judge = screen(starts or [algebraic(as_markers(markers))], as_noise(noise), LEVEL)
    fit_concentric(_masked(markers, judge), noise=noise, method="geometric")
    return named_outliers(judge)


def outliers_of_body(markers: Sequence[ArrayLike], noise: float | None = None) -> tuple[Outlier, ...]:
    """Points that are not on one rigid body with the others; refused where the others give none.

    The other markers predict the whole point, so a coordinate is named.
    """
    start = rigid_start(markers)
    judge = screen([start, *body_starts(start)], as_noise(noise), LEVEL)
    fit_common_rotation(_masked(markers, judge), noise=noise)
    return named_outliers(judge)


def _masked(markers: Sequence[ArrayLike], judge: ArcJudge) -> list[Array]:
    """The data with outliers as not seen."""
    out = [np.array(m, dtype=np.float64) for m in markers]
    for (marker, pose), keep in zip(judge.state.labels, judge.kept, strict=True):
        if not keep:
            out[marker][pose] = np.nan
    return out


def pose_sets(poses: Ints) -> Iterator[Ints]:
    """Triples of poses, and all but one."""
    triples = np.array(list(combinations(range(len(poses)), 3)), dtype=np.int64).reshape(-1, 3)
    if len(triples) > MOST:
        triples = triples[np.round(np.linspace(0, len(triples) - 1, MOST)).astype(np.int64)]
    yield from poses[triples]
    if len(poses) > 4:
        yield from (np.delete(poses, i) for i in range(len(poses)))


def known_angle_starts(points: Array, angles: Array, seen: Ints) -> list[KnownAngleProblem]:
    """Algorithm 1 for sets of the points (m, d), in both senses of rotation."""
    d, poses, out = points.shape[1], tuple(int(i) for i in seen), []
    for sense in (1, -1) if d == 2 else (1,):
        u = unit_directions(angles, sense, d)
        for rows in (np.arange(len(points)), *pose_sets(np.arange(len(points)))):
            if not _straight(points[rows]) and not _straight(u[rows, :2]):
                frame, radius, _ = procrustes(points[rows], u[rows])
                out.append(KnownAngleProblem(frame, radius, u, points, poses))
    return out


def _straight(points: Array) -> bool:
    spread = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    return bool(spread[1] <= max(STRAIGHT * spread[0], np.finfo(float).tiny))


def axis_starts(markers: Markers) -> list[tuple[ConcentricProblem, Ints]]:
    """Algorithm 2 for sets of poses, radii and heights of every marker being medians; and the poses used."""
    out = []
    for poses in (np.unique(markers.pose), *pose_sets(np.unique(markers.pose))):
        try:
            frame = algebraic(_only(markers, poses)).frame
        except InputError:
            continue
        out.append((_medians(frame, markers), poses))
    return out


def _only(markers: Markers, poses: Ints) -> Markers:
    """The markers that these poses see twice or more, counted anew."""
    rows = np.flatnonzero(np.isin(markers.pose, poses))
    often = np.flatnonzero(np.bincount(markers.marker[rows], minlength=markers.count) > 1)
    rows = rows[np.isin(markers.marker[rows], often)]
    if not len(often):
        raise MissingError("no marker was seen twice in these poses")
    place = np.searchsorted(often, markers.marker[rows])
    return Markers(markers.points[rows], place, markers.pose[rows], len(often), markers.poses)


def _medians(frame: AxisFrame, markers: Markers) -> ConcentricProblem:
    local = frame.local(markers.points)
    radii = markers.each(np.hypot(*local[:, :2].T), np.median)
    heights = markers.each(local[:, 2], np.median) if frame.spatial else np.zeros(markers.count)
    return ConcentricProblem(frame, radii, heights, markers)


def body_starts(problem: BodyProblem) -> list[BodyProblem]:
    """The rigid body on each axis of Algorithm 2: its shape from the poses used, then the turn of every pose."""
    data, out = problem.markers, []
    for start, poses in axis_starts(data):
        part = _only(data, poses)
        if part.count < data.count:
            continue
        numbers, pose = np.unique(part.pose, return_inverse=True)
        small = replace(start, markers=replace(part, pose=pose, poses=len(numbers)))
        try:
            arms = arms_of(small, common_angles(small))
        except InputError:
            continue
        turns = _turns(start, arms)
        out.append(replace(problem, frame=start.frame, arms=arms, heights=start.heights, turns=turns))
    return out


def _turns(start: ConcentricProblem, arms: Array) -> Array:
    """(poses,): of the turns that put one marker in its place, the one with the least sum of distances."""
    data = start.markers
    local, arm = start.frame.local(data.points)[:, :2] @ [1, 1j], arms @ [1, 1j]
    out = np.zeros(data.poses)
    for i in range(data.poses):
        rows = data.pose == i
        z, b = local[rows], arm[data.marker[rows]]
        trials = np.angle(z / b)
        out[i] = trials[np.argmin(np.sum(np.abs(z - b * np.exp(1j * trials[:, None])), axis=1))]
    return out
