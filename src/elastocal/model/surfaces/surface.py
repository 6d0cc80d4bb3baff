"""An object of known shape by its signed distance: what a contact and its derivatives need.

    phi(x) > 0 outside,   n = grad phi of length one, outwards,   H = grad n, the curvature

Few numbers s describe the shape: a centre, an axis, a radius.  Distance and normal are functions of x and s, each
kind's own; s is a function of the object's parameters, so that its place and size can be nuisance parameters of a fit:

    dphi/dpi = dphi/ds ds/dpi,   dn/dpi = dn/ds ds/dpi

All in the base frame and SI.  A direction may lean: a = (a0 + t_u u + t_v v) / |...| with u, v, a0 at right angles, t
the slopes.

``Touches`` says which frame touches which object, for N contacts: objects of one kind are worked on together.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cache, cached_property
from typing import ClassVar, NamedTuple, Self

import numpy as np

from elastocal.errors import DuplicateError, NumberError, RangeError
from elastocal.kinds import kinds_in
from elastocal.model.parameters import Parameter
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.spatial.rotation import align_z
from elastocal.values import dataclass

Vector = tuple[float, float, float]
Pair = tuple[float, float]


def unit(label: str, what: str, direction: Vector) -> Array:
    """The direction at length one."""
    array = np.array(direction, dtype=np.float64)
    length = float(np.linalg.norm(array))
    if not np.isfinite(length) or length < 1e-9:
        raise RangeError(f"{label}: {what} {direction} has no direction; give a non-zero vector", code="no-direction")
    return np.asarray(array / length)


def perpendiculars(direction: Array) -> Array:
    """u and v (3, 2), at right angles to the unit vector and to each other."""
    return align_z(direction)[:, :2]


def leaning(direction: Array, tilt: Pair) -> tuple[Array, Array]:
    """The unit vector (3,) after leaning by the slopes, and its derivative (3, 2) by them."""
    sides = perpendiculars(direction)
    long = direction + sides @ np.array(tilt)
    length = float(np.linalg.norm(long))
    new = long / length
    return new, (sides - np.outer(new, new @ sides)) / length


class Near(NamedTuple):
    """Signed distance (N,), unit outward normal (3, N) and Hessian of the distance (3, 3, N) at N points."""

    distance: Array
    normal: Array
    hessian: Array


@dataclass(frozen=True, kw_only=True)
class Surface(ABC):
    """``name`` stands in messages and before the parameters: ``ball.radius``."""

    kind: ClassVar[str]
    name: str = ""
    source: str = ""

    @property
    def label(self) -> str:
        return f"{self.kind} {self.name}" if self.name else self.kind

    @abstractmethod
    def shape(self) -> Array:
        """The numbers s (s,)."""

    @abstractmethod
    def slope(self) -> Array:
        """ds/dpi (s, p)."""

    @abstractmethod
    def parameters(self) -> tuple[Parameter, ...]:
        """Place and size with unit, value and scale."""

    @abstractmethod
    def with_values(self, values: Sequence[float]) -> Self:
        """The same object elsewhere or of another size, in the order of ``parameters``."""

    @staticmethod
    @abstractmethod
    def near(shape: Array, x: Array) -> Near:
        """Distance, normal and curvature at points x (3, N) of objects of shapes (s, N)."""

    @staticmethod
    @abstractmethod
    def by_shape(shape: Array, x: Array) -> tuple[Array, Array]:
        """dphi/ds (s, N) and dn/ds (3, s, N) at fixed points x (3, N)."""

    def at(self, points: object) -> Near:
        """Distance, normal and curvature of this object at points (N, 3); configurations last."""
        x = np.ascontiguousarray(np.atleast_2d(np.asarray(points, dtype=np.float64)).T)
        return self.near(np.repeat(self.shape()[:, None], x.shape[1], axis=1), x)

    def parameter(self, symbol: str, unit: str, value: float, scale: float = 1e-3) -> Parameter:
        return Parameter(f"{self.name or self.kind}.{symbol}", unit, float(value), scale, self.kind, self.source)

    def refuse_unless_finite(self, *values: float | Sequence[float]) -> None:
        if not all(np.all(np.isfinite(v)) for v in values):
            raise NumberError(f"{self.label}: every number must be finite", code="not-finite")

    def refuse_unless_positive(self, radius: float) -> None:
        if not radius > 0:
            raise RangeError(f"{self.label}: radius {radius:g} m must be positive", value=radius)


@cache
def surface_kinds() -> dict[str, type[Surface]]:
    """Every object by its kind."""
    from elastocal.model import surfaces

    return kinds_in(surfaces, Surface)


@dataclass(frozen=True, eq=False)
class Touches:
    """Contact i is between ``frame`` (the tip is its origin) and ``surfaces[which[i]]``."""

    frame: str
    surfaces: tuple[Surface, ...]
    which: Ints

    def __post_init__(self) -> None:
        object.__setattr__(self, "which", np.asarray(self.which, dtype=np.int64).reshape(-1))
        names = [p.name for p in self.parameters]
        twice = sorted({n for n in names if names.count(n) > 1})
        if twice:
            raise DuplicateError(
                f"two objects have the same parameter {twice[0]}; give each object a name of its own", value=twice[0]
            )
        bad = np.flatnonzero((self.which < 0) | (self.which >= len(self.surfaces)))
        if len(bad):
            raise RangeError(
                f"contact {bad[0] + 1} names object {self.which[bad[0]] + 1}, but there are {len(self.surfaces)}",
                value=(bad[0] + 1, self.which[bad[0]] + 1, len(self.surfaces)),
            )

    @classmethod
    def one(cls, frame: str, surface: Surface, count: int) -> Touches:
        """All contacts with one object."""
        return cls(frame, (surface,), np.zeros(count, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.which)

    def rows(self, chosen: slice | Ints | Bools) -> Touches:
        return Touches(self.frame, self.surfaces, self.which[chosen])

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """Of all objects, one after the other."""
        return tuple(p for s in self.surfaces for p in s.parameters())

    def with_values(self, values: Sequence[float]) -> Touches:
        """Other places and sizes, in the order of ``parameters``."""
        out, first = [], 0
        for surface in self.surfaces:
            count = len(surface.parameters())
            out.append(surface.with_values(values[first : first + count]))
            first += count
        return Touches(self.frame, tuple(out), self.which)

    @cached_property
    def _groups(self) -> tuple[tuple[type[Surface], Ints | None, Array], ...]:
        """A kind, its rows (None: all) and their shapes (s, rows), for every way to compute a distance."""
        ways = [type(s).near for s in self.surfaces]
        used = list(dict.fromkeys(ways[i] for i in np.unique(self.which)))
        out: list[tuple[type[Surface], Ints | None, Array]] = []
        for way in used:
            mine = [i for i, w in enumerate(ways) if w is way]
            table = np.zeros((len(self.surfaces), len(self.surfaces[mine[0]].shape())))
            for i in mine:
                table[i] = self.surfaces[i].shape()
            rows = None if len(used) == 1 else np.flatnonzero(np.isin(self.which, mine))
            which = self.which if rows is None else self.which[rows]
            out.append((type(self.surfaces[mine[0]]), rows, np.ascontiguousarray(table[which].T)))
        return tuple(out)

    def near(self, x: Array) -> Near:
        """Distance, normal and curvature of each contact's object at the points x (3, N)."""
        if len(self._groups) == 1:
            kind, _, shape = self._groups[0]
            return kind.near(shape, x)
        count = x.shape[1]
        out = Near(np.empty(count), np.empty((3, count)), np.empty((3, 3, count)))
        for kind, rows, shape in self._groups:
            part = kind.near(shape, x[:, rows])
            out.distance[rows], out.normal[:, rows], out.hessian[:, :, rows] = part
        return out

    def by_parameters(self, x: Array) -> tuple[Array, Array]:
        """dphi/dpi (p, N) and dn/dpi (3, p, N) by the parameters of all objects; zero for the objects not touched."""
        distance = np.zeros((len(self.parameters), x.shape[1]))
        normal = np.zeros((3, *distance.shape))
        first = 0
        for i, surface in enumerate(self.surfaces):
            slope = surface.slope()
            mine = slice(first, first + slope.shape[1])
            first = mine.stop
            rows = np.flatnonzero(self.which == i)
            if len(rows):
                shape = np.repeat(surface.shape()[:, None], len(rows), axis=1)
                by_distance, by_normal = surface.by_shape(shape, x[:, rows])
                distance[mine, rows] = np.einsum("sn,sp->pn", by_distance, slope)
                normal[:, mine, rows] = np.einsum("isn,sp->ipn", by_normal, slope)
        return distance, normal
