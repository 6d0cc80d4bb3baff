"""Distances between points, segments and boxes, for a batch: any leading shapes that broadcast, coordinates last.

A segment from a to b is a + t (b - a) with t from 0 to 1; one of no length is a point.
"""

from __future__ import annotations

import numpy as np

from elastocal.spatial.entries import Array, Bools, Ints


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
