"""Start values of stations, markers and the tool's turn from nothing, whatever was read.

Points: ``placing.robust_start``.  Orientations Y_i = R_s A_i X, A_i the tool's turn in base axes (Park and Martin, IEEE
Trans. Robotics and Automation 10, 1994, 717-721): a turn between two poses is the same on both sides but for its axes,

    Y_i^T Y_j = X^T (A_i^T A_j) X,    log(Y_i^T Y_j) = X^T log(A_i^T A_j),    R_s = mean Y_i X^T A_i^T       (turns)

so that X is the rotation between two sets of vectors; pairs whose angles differ have an outlier in them.  Distances
d_i = |o_i + A_i m - c| from a point c in base axes are linear in what is unknown once they are squared,

    d^2 = |o|^2 + 2 o.A m - 2 o.c - 2 c.A m + (|m|^2 + |c|^2)                                             (distances)

with the nine products c_a m_b as unknowns of their own where there are poses enough, else for markers at start values.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from elastocal.calibration.placing import KEPT, STARTS, Placing, robust_start, tool_points
from elastocal.calibration.sight import Sight
from elastocal.model.kinematics import kinematics
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.spatial.rotation import nearest_rotation, turns_between

SPANS = (1, 2, 3, 5, 8, 13)
"""How far apart in their order the poses of a pair are."""
NEAR_HALF_TURN = 2.8
"""Angle in rad beyond which the axis of a turn is badly known."""


def start_placing(robot: Robot, sight: Sight) -> Placing:
    """Stations, markers and the tool's turn; deflections alone need the markers of the robot file."""
    s = sight.states
    placing = Placing.none(sight.centres, s.points)
    if not sight.placed:
        return replace(placing, markers=_known_markers(robot, s.frames))
    at = sight.tool(robot.nominal, ()).states(np.zeros(0))
    seen: Bools = np.zeros(len(s.stations), dtype=bool)
    known: Bools = np.zeros(s.points, dtype=bool)
    if s.position is not None:
        placing = robust_start(at.origin, at.turn, s.station, sight.centres, s.position)
        read = np.asarray(np.isfinite(s.position).all(axis=2))
        seen = np.array([read[s.station == i].sum() >= 3 for i in range(len(seen))])
        known = np.asarray(read.any(axis=0))
    if s.orientation is not None:
        placing = start_turns(placing, at.turn, s.station, s.orientation, seen)
    if s.distance is not None and not seen.all():
        mine = np.where((~seen[s.station])[:, None], s.distance, np.nan)
        placing = start_distances(placing, at.origin, at.turn, s.station, mine, known)
    return placing


def _known_markers(robot: Robot, frames: tuple[str, ...]) -> Array:
    """Places of frames of the robot file in the tool's frame."""
    nominal, q = robot.nominal, np.zeros((1, robot.n))
    tool = kinematics(nominal, q)
    return np.stack([tool.rotation[0].T @ (kinematics(nominal, q, f).position - tool.position)[0] for f in frames])


def start_turns(placing: Placing, turn: Array, station: Ints, read: Array, seen: Bools) -> Placing:
    """The tool's turn, and those of stations that no points have placed (``seen``), from orientations (M, 3, 3)."""
    known = np.all(np.isfinite(read), axis=(1, 2))
    if np.any(seen[station] & known):
        fixed = seen[station] & known
        x = _robust_mean(np.einsum("nji,njk->nik", placing.turn[station] @ turn, read)[fixed])
    else:
        x = _turn_of_pairs(turn[known], read[known], station[known])
    turns = placing.turn.copy()
    for s in np.flatnonzero(~seen):
        mine = known & (station == s)
        if mine.any():
            turns[s] = _robust_mean(read[mine] @ x.T @ turn[mine].transpose(0, 2, 1))
    if not np.any(seen[station] & known):  # poses, not pairs, have the last word
        x = _robust_mean(np.einsum("nji,njk->nik", turns[station] @ turn, read)[known])
    return replace(placing, turn=turns, tool_turn=x)


def _turn_of_pairs(turn: Array, read: Array, station: Ints) -> Array:
    """X by ``turns``, on the pairs of one station whose angles agree best."""
    order = np.arange(len(turn))
    apart = [np.column_stack([order[:-k], order[k:]]) for k in SPANS if k < len(order)]
    pairs = np.concatenate([*apart, np.zeros((0, 2), dtype=np.int64)])
    pairs = pairs[station[pairs[:, 0]] == station[pairs[:, 1]]]
    if not len(pairs):
        return np.eye(3)
    a, b = (turns_between(m, pairs) for m in (turn, read))
    sizes = np.linalg.norm(a, axis=1), np.linalg.norm(b, axis=1)
    off = np.where(np.maximum(*sizes) < NEAR_HALF_TURN, np.abs(sizes[0] - sizes[1]), np.inf)
    keep = off <= np.quantile(off, KEPT**2)  # of two poses, both are good
    x = np.eye(3)
    for _ in range(20):
        x = nearest_rotation(a[keep].T @ b[keep])
        miss = np.where(np.isfinite(off), np.linalg.norm(b - a @ x, axis=1), np.inf)
        new = miss <= np.quantile(miss, KEPT**2)
        if np.array_equal(new, keep):
            break
        keep = new
    return x


def _robust_mean(turns: Array) -> Array:
    """Mean rotation of the 60 % that are nearest to it, from the turn that has the least median distance to others."""
    apart = np.linalg.norm(turns[:, None] - turns[None], axis=(2, 3))
    mean: Array = turns[int(np.argmin(np.median(apart, axis=1)))]
    for _ in range(10):
        off = np.linalg.norm(turns - mean, axis=(1, 2))
        mean = nearest_rotation(turns[off <= np.quantile(off, KEPT) + 1e-12].mean(axis=0))
    return mean


def start_distances(placing: Placing, origin: Array, turn: Array, station: Ints, read: Array, known: Bools) -> Placing:
    """Stations and markers that are not ``known`` from distances (M, m); what has none stays as it is."""
    starts = [np.zeros(3), *(STARTS * np.eye(3)), *(-STARTS * np.eye(3))] if not known.all() else [np.zeros(3)]
    trials = [np.where(known[:, None], placing.markers, start) for start in starts]
    if not known.any():
        trials += _products(origin, turn, station, read)
    best, least = None, np.inf
    for markers in trials:
        centres = np.stack(
            [
                _centre(origin, turn, markers, np.where((station == s)[:, None], read, np.nan))
                for s in range(len(placing.turn))
            ]
        )
        markers, centres, size = _refined(markers, centres, origin, turn, station, read, known)
        if size < least * (1 - 1e-6):
            best, least = (markers, centres), size
    if best is None:
        return placing
    markers, centres = best
    has = np.array([np.isfinite(read[station == s]).any() for s in range(len(placing.turn))])
    shift = np.where(has[:, None], -np.einsum("sij,sj->si", placing.turn, centres), placing.shift)
    return replace(placing, markers=markers, shift=shift)


def _centre(origin: Array, turn: Array, markers: Array, read: Array) -> Array:
    """c of |p - c| = d, linear in c and |c|^2; the mean of the points where too few were read."""
    points, known = tool_points(origin, turn, markers), np.isfinite(read)
    p, d = points[known], read[known]
    if len(p) < 4:
        return np.asarray(points.mean(axis=(0, 1)))
    rows = np.column_stack([-2 * p, np.ones(len(p))])
    return np.asarray(np.linalg.lstsq(rows, d**2 - np.sum(p**2, axis=1), rcond=None)[0][:3])


def _products(origin: Array, turn: Array, station: Ints, read: Array) -> list[Array]:
    """Markers by ``distances`` with the products as unknowns, from the station with most readings; none if too few."""
    counts = np.array([np.isfinite(read[station == s]).all(axis=1).sum() for s in range(int(station.max()) + 1)])
    mine = (station == int(np.argmax(counts)))[:, None] & np.isfinite(read)
    out = []
    for j in range(read.shape[1]):
        rows = np.flatnonzero(mine[:, j])
        if len(rows) < 20:
            return []
        o, a, d = origin[rows], turn[rows], read[rows, j]
        columns = [2 * np.einsum("nij,ni->nj", a, o), -2 * o, -2 * a.reshape(-1, 9), np.ones((len(rows), 1))]
        products = np.linalg.lstsq(np.concatenate(columns, axis=1), d**2 - np.sum(o**2, axis=1), rcond=None)[0]
        out.append(products[:3])
    return [np.stack(out)]


def _refined(
    markers: Array, centres: Array, origin: Array, turn: Array, station: Ints, read: Array, known: Bools
) -> tuple[Array, Array, float]:
    """Gauss-Newton on the nearest 60 % of the distances of every marker; and the median miss."""
    have, s, m = np.isfinite(read), len(centres), len(markers)
    free = np.repeat(~known, 3)
    keep, damping, size = have, 1e-3, np.inf
    for step in range(60):
        beam = tool_points(origin, turn, markers) - centres[station][:, None]
        reach = np.maximum(np.linalg.norm(beam, axis=2), 1e-9)
        off = np.where(have, read - reach, np.nan)
        if step > 3:
            away = np.abs(off)
            keep = have & (away <= np.nanquantile(away, KEPT, axis=0) + 1e-12)
        unit = beam / reach[:, :, None]
        rows = np.zeros((*read.shape, 3 * s + 3 * m))
        each = np.arange(len(read))
        for j in range(m):
            for i in range(3):
                rows[each, j, 3 * station + i] = -unit[:, j, i]
            rows[:, j, 3 * s + 3 * j : 3 * s + 3 * j + 3] = np.einsum("ni,nij->nj", unit[:, j], turn)
        rows[:, :, 3 * s :][:, :, ~free] = 0.0
        a, b = rows[keep], off[keep]
        change = np.linalg.solve(a.T @ a + damping * np.eye(a.shape[1]), a.T @ b)
        centres, markers = centres + change[: 3 * s].reshape(s, 3), markers + change[3 * s :].reshape(m, 3)
        new = float(np.sqrt(np.mean(b**2)))
        damping = max(1e-12, damping * (0.1 if new < size else 4.0))
        if step > 8 and np.abs(change).max() < 1e-8:
            break
        size = new
    return markers, centres, float(np.nanmedian(np.abs(off)))
