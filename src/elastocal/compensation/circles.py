"""Arcs through three places, as controllers go along them.

    u = p_via - p_start,  v = p_end - p_start,  n = u x v
    c = p_start + ((n x u) |v|^2 + (v x n) |u|^2) / (2 |n|^2)
    p(s) = c + Rot(n, s angle) (p_start - c)

Three places on a line have no circle: the way is that line.
"""

from __future__ import annotations

import numpy as np

from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass

FLAT = 1e-6
"""Sine of the angle between the ways to the second and the third place from which they make a circle."""


@dataclass(frozen=True, eq=False)
class Circles:
    """K arcs: ``start``, ``centre`` and unit ``axis`` (K, 3), the ``angle`` (K,) turned about it in rad from start to
    end, and the share of it, ``bend`` (K,), at which the place between lies.  ``chord`` (K, 3) leads from start to end.
    """

    start: Array
    chord: Array
    centre: Array
    axis: Array
    angle: Array
    bend: Array
    round: Bools

    @classmethod
    def through(cls, start: Array, via: Array, end: Array) -> Circles:
        u, v = via - start, end - start
        normal = np.cross(u, v)
        size, lengths = np.einsum("ki,ki->k", normal, normal), [np.einsum("ki,ki->k", w, w) for w in (u, v)]
        circle = (size > FLAT**2 * lengths[0] * lengths[1]) & (size > 0)
        safe = np.where(circle, size, 1.0)[:, None]
        centre = (np.cross(normal, u) * lengths[1][:, None] + np.cross(v, normal) * lengths[0][:, None]) / (2 * safe)
        axis = normal / np.sqrt(safe)
        to_via, angle = (_turn(axis, -centre, w - centre) for w in (u, v))
        straight = np.sqrt(np.divide(lengths[0], lengths[1], out=np.full_like(size, 0.25), where=lengths[1] > 0))
        bend = np.where(circle, to_via / np.where(circle, angle, 1.0), straight)
        return cls(start, v, centre + start, axis, angle, bend, circle)

    def picked(self, rows: Ints) -> Circles:
        return Circles(
            self.start[rows], self.chord[rows], self.centre[rows], self.axis[rows], self.angle[rows], self.bend[rows],
            self.round[rows],
        )  # fmt: skip

    @property
    def radius(self) -> Array:
        """(K,) in m; of lines infinite."""
        return np.where(self.round, np.linalg.norm(self.start - self.centre, axis=1), np.inf)

    @property
    def length(self) -> Array:
        """(K,) in m."""
        return np.where(self.round, np.linalg.norm(self.start - self.centre, axis=1) * self.angle, _size(self.chord))

    def at(self, share: Array) -> Array:
        """Places (K, 3) at shares (K,) of the arcs."""
        out, turn = self.start - self.centre, (share * self.angle)[:, None]
        arc = self.centre + np.cos(turn) * out + np.sin(turn) * np.cross(self.axis, out)
        return np.where(self.round[:, None], arc, self.start + share[:, None] * self.chord)

    def heading(self, place: Array) -> Array:
        """Directions (K, 3) of the way at places (K, 3) of it."""
        return np.where(self.round[:, None], np.cross(self.axis, place - self.centre), self.chord)

    def off(self, place: Array) -> Array:
        """Distances (K,) of places (K, 3) from the circles."""
        out = place - self.centre
        height = np.einsum("ki,ki->k", out, self.axis)
        flat = np.linalg.norm(out - height[:, None] * self.axis, axis=1)
        unit = self.chord / np.maximum(_size(self.chord), np.finfo(float).tiny)[:, None]
        beside = place - self.start
        beside = beside - np.einsum("ki,ki->k", beside, unit)[:, None] * unit
        return np.where(self.round, np.hypot(flat - np.where(self.round, self.radius, 0.0), height), _size(beside))

    def share(self, part: Array) -> Array:
        """Shares (K,) of the arcs at parts (K,) of a way whose half is the place between."""
        return np.where(part < 0.5, 2 * part * self.bend, self.bend + (2 * part - 1) * (1 - self.bend))

    def part(self, share: Array) -> Array:
        """The parts (K,) at shares (K,)."""
        first = share / np.where(self.bend > 0, 2 * self.bend, 1.0)
        rest = (share - self.bend) / np.where(self.bend < 1, 2 * (1 - self.bend), 1.0)
        return np.where(share < self.bend, first, 0.5 + rest)


def _size(vectors: Array) -> Array:
    return np.asarray(np.linalg.norm(vectors, axis=1))


def _turn(axis: Array, first: Array, last: Array) -> Array:
    """Angles (K,) from 0 to a whole turn."""
    sine = np.einsum("ki,ki->k", axis, np.cross(first, last))
    return np.asarray(np.arctan2(sine, np.einsum("ki,ki->k", first, last)) % (2 * np.pi))
