"""Capsules: distances between points, segments and boxes, and capsules that cover a surface of triangles.

Distances are of a batch: any leading shapes that broadcast, coordinates last.  A segment from a to b is
a + t (b - a) with t from 0 to 1; one of no length is a point.

What lies inside of all covering capsules together is no less than the surface.  A capsule is convex, so that it
holds a triangle where it holds its corners.  The smallest one of a set of points is sought along its principal axes
and those it is given in: a circle round the points seen along the axis gives the radius, and the ends are moved in
as far as the round caps allow.  The largest capsule is cut in two again and again, and as few are taken as make the
room of all small.
"""

from __future__ import annotations

import numpy as np

from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.spatial.rotation import align_z
from elastocal.values import dataclass


def point_segment(point: Array, a: Array, b: Array) -> Array:
    """From points to segments: the foot of the perpendicular, held between the ends."""
    along = b - a
    square = _dot(along, along)
    t = _held(_dot(point - a, along), np.where(square > 0, square, 1.0))
    return length(point - a - t[..., None] * along)


def segment_segment(a: Array, b: Array, c: Array, d: Array) -> Array:
    """Between segments a-b and c-d.

    The square of the distance is convex in both parameters.  From where the lines are nearest, s held between the ends
    (any s where they are parallel), the best t for this s and then the best s for that t are those of the segments.
    The first s is by the parts of u and w across v: differences of products cancel where they are nearly parallel.
    """
    u, v, w = b - a, d - c, a - c
    uu, uv, vv, uw, vw = _dot(u, u), _dot(u, v), _dot(v, v), _dot(u, w), _dot(v, w)
    square = np.where(vv > 0, vv, 1.0)
    across, apart = u - (uv / square)[..., None] * v, w - (vw / square)[..., None] * v
    width = _dot(across, across)
    skew = width > 1e-28 * uu
    s = np.where(skew, _held(-_dot(across, apart), np.where(skew, width, 1.0)), 0.0)
    t = _held(uv * s + vw, square)
    s = _held(uv * t - uw, np.where(uu > 0, uu, 1.0))
    return length(w + s[..., None] * u - t[..., None] * v)


def segments_nearer(one: tuple[Array, Array], other: tuple[Array, Array], least: float) -> Bools:
    """(N,) where segments are nearer than ``least``, ends (N, 3) or of all (3,); first by the balls round both."""
    (a, b), (c, d) = one, other
    near = length((a + b) - (c + d)) / 2 < (length(b - a) + length(d - c)) / 2 + least
    some = np.flatnonzero(near)
    near[some] = segment_segment(*(x if x.ndim == 1 else picked(x, some) for x in (a, b, c, d))) < least
    return np.asarray(near)


def picked(points: Array, rows: Ints) -> Array:
    """Some of (N, 3), in the layout that coordinates of many points have: one after the other."""
    return np.asarray(points.T[:, rows].T)


def segment_box(a: Array, b: Array, half: Array) -> Array:
    """From segments to the box |x_i| <= half_i in whose axes they are given; zero where they meet.

    f(t) = |x(t) - nearest point of the box|^2 is convex, and its slope is linear between the values of t where a
    coordinate passes a face: the zero of the slope is found on the piece where it changes sign.
    """
    a, b = np.broadcast_arrays(a, b)
    along = b - a
    moving = np.where(np.abs(along) > 0, along, np.inf)
    passes = np.concatenate([(-half - a) / moving, (half - a) / moving], axis=-1)
    ends = np.zeros((*a.shape[:-1], 1))
    t = np.sort(np.clip(np.concatenate([ends, passes, ends + 1], axis=-1), 0.0, 1.0), axis=-1)
    x = a[..., None, :] + t[..., None] * along[..., None, :]
    slope = np.sum((x - np.clip(x, -half, half)) * along[..., None, :], axis=-1)
    last = np.clip(np.sum(slope < 0, axis=-1) - 1, 0, t.shape[-1] - 2)[..., None]
    t0, t1 = (np.take_along_axis(t, last + i, axis=-1)[..., 0] for i in (0, 1))
    g0, g1 = (np.take_along_axis(slope, last + i, axis=-1)[..., 0] for i in (0, 1))
    rise = np.where(g1 > g0, g1 - g0, 1.0)
    best = t0 + (t1 - t0) * np.clip(-g0 / rise, 0.0, 1.0)
    best = np.where(np.all(slope < 0, axis=-1), 1.0, np.where(slope[..., 0] >= 0, 0.0, best))
    at = a + best[..., None] * along
    return length(at - np.clip(at, -half, half))


def _held(numerator: Array, denominator: Array) -> Array:
    """A quotient, held between 0 and 1."""
    return np.asarray(np.minimum(np.maximum(numerator / denominator, 0.0), 1.0))


def length(a: Array) -> Array:
    return np.asarray(np.sqrt(_dot(a, a)))


def _dot(a: Array, b: Array) -> Array:
    return np.asarray(np.einsum("...i,...i->...", a, b))


MOST = 6
"""Capsules of one surface."""
ENOUGH = 1.1
"""The fewest capsules that take less room than this, compared with the least."""
GRID = 24
"""Points along every side of the grid that room is counted with."""
EDGE, FINE = 16, 5000
"""Edges are no longer than this part of a surface, as long as there are no more triangles."""
ROUNDS = 60
"""Of the search for the smallest circle; its radius is within two percent of the least one."""
ROUND = 24
"""Sides of the prism that stands for a cylinder."""


@dataclass(frozen=True)
class Capsule:
    """All points within ``radius`` of the segment from ``start`` to ``end``."""

    start: tuple[float, float, float]
    end: tuple[float, float, float]
    radius: float

    @property
    def volume(self) -> float:
        length = float(np.linalg.norm(np.subtract(self.end, self.start)))
        return float(np.pi * self.radius**2 * (length + 4 / 3 * self.radius))


def covering(triangles: Array) -> tuple[Capsule, ...]:
    """Capsules that hold triangles (T, 3, 3): as few as make the room that they take small."""
    first = smallest_capsule(triangles.reshape(-1, 3))
    pieces = [(first, _refined(triangles))]
    tried: list[tuple[Capsule, ...]] = [(first,)]
    while len(pieces) < MOST:
        pieces.sort(key=lambda p: p[0].volume)
        halves = _halves(pieces.pop()[1])
        pieces += [(smallest_capsule(h.reshape(-1, 3)), h) for h in halves]
        if len(halves) < 2:
            break
        tried.append(tuple(c for c, _ in pieces))
    room = _room(tried)
    return tried[int(np.argmax(room < ENOUGH * room.min()))]


def _room(sets: list[tuple[Capsule, ...]]) -> Array:
    """How many points of a grid round the first set each holds."""
    ends = np.array([c for k in sets[0] for c in (k.start, k.end)])
    low, high = ends.min(axis=0) - sets[0][0].radius, ends.max(axis=0) + sets[0][0].radius
    axes = [np.linspace(a, b, GRID) for a, b in zip(low, high, strict=True)]
    points = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 3)
    each = [[point_segment(points, np.array(c.start), np.array(c.end)) < c.radius for c in k] for k in sets]
    return np.array([np.sum(np.any(k, axis=0)) for k in each], dtype=np.float64)


def _refined(triangles: Array) -> Array:
    """The same surface in triangles that are small enough to be cut between: edges are halved."""
    long = np.ptp(triangles.reshape(-1, 3), axis=0).max() / EDGE
    while len(triangles) < FINE:
        edges = np.linalg.norm(np.roll(triangles, -1, axis=1) - triangles, axis=2)
        cut = edges.max(axis=1) > long
        if not cut.any():
            break
        some, first = triangles[cut], np.argmax(edges[cut], axis=1)
        a, b, c = (some[np.arange(len(some)), (first + k) % 3] for k in range(3))
        middle = (a + b) / 2
        both = [np.stack(t, axis=1) for t in ((a, middle, c), (middle, b, c))]
        triangles = np.concatenate([triangles[~cut], *both])
    return triangles


def smallest_capsule(points: Array) -> Capsule:
    """A capsule that holds points (N, 3), the smallest along six axes."""
    points = _outermost(points)
    centred = points - points.mean(axis=0)
    own = np.linalg.eigh(centred.T @ centred)[1].T
    return min((_along(points, axis) for axis in (*np.eye(3), *own)), key=lambda c: c.volume)


def _outermost(points: Array) -> Array:
    """The corners of their convex hull; all of them where they lie in a plane."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        return np.asarray(points[ConvexHull(points).vertices])
    except (QhullError, ValueError):
        return points


def _along(points: Array, axis: Array) -> Capsule:
    turn = align_z(axis / np.linalg.norm(axis))  # its columns are two directions across and the axis
    local = points @ turn
    centre = _circle(local[:, :2])
    off = np.linalg.norm(local[:, :2] - centre, axis=1)
    radius = float(off.max()) * (1 + 1e-9) + 1e-9
    cap = np.sqrt(np.maximum(radius**2 - off**2, 0.0))
    low, high = float(np.min(local[:, 2] + cap)), float(np.max(local[:, 2] - cap))
    low, high = (low, high) if low < high else ((low + high) / 2,) * 2
    a, b = (turn @ np.array([*centre, z]) for z in (low, high))
    return Capsule((float(a[0]), float(a[1]), float(a[2])), (float(b[0]), float(b[1]), float(b[2])), radius)


def _circle(points: Array) -> Array:
    """Centre (2,) of nearly the smallest circle round points: steps towards the farthest one, ever smaller."""
    centre = (points.min(axis=0) + points.max(axis=0)) / 2
    best, least = centre, np.inf
    for k in range(ROUNDS):
        away = np.sum((points - centre) ** 2, axis=1)
        far = int(np.argmax(away))
        if away[far] < least:
            best, least = centre, float(away[far])
        centre = centre + (points[far] - centre) / (k + 2)
    return np.asarray(best)


def _halves(triangles: Array) -> tuple[Array, ...]:
    """Cut across the longest principal extent."""
    corners = triangles.reshape(-1, 3)
    own = np.linalg.eigh(np.cov((corners - corners.mean(axis=0)).T))[1]
    axis = own[:, int(np.argmax(np.ptp(corners @ own, axis=0)))]
    place = triangles.mean(axis=1) @ axis
    low = place < (place.min() + place.max()) / 2
    return (triangles[low], triangles[~low]) if low.any() and not low.all() else (triangles,)


def box_triangles(sides: Array) -> Array:
    """The surface (12, 3, 3) of a box about the origin."""
    half, out = np.asarray(sides) / 2, []
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        for side in (-1.0, 1.0):
            corners = np.empty((4, 3))
            corners[:, i], corners[:, j], corners[:, k] = side, (-1, 1, 1, -1), (-1, -1, 1, 1)
            out += [corners[[0, 1, 2]] * half, corners[[0, 2, 3]] * half]
    return np.array(out)


def cylinder_triangles(radius: float, length: float) -> Array:
    """The surface (T, 3, 3) of a prism of ``ROUND`` sides round a cylinder about z at the origin."""
    angles = np.linspace(0, 2 * np.pi, ROUND + 1)
    ring = radius / np.cos(np.pi / ROUND) * np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1)
    up = np.array([0, 0, length / 2])
    a, b, c, d = ring[:-1] - up, ring[1:] - up, ring[1:] + up, ring[:-1] + up
    ends = [(a, b, np.broadcast_to(-up, a.shape)), (d, c, np.broadcast_to(up, a.shape))]
    return np.concatenate([np.stack(t, axis=1) for t in ((a, b, c), (a, c, d), *ends)])
