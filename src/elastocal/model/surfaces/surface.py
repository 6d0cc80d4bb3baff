"""An object of known shape by its signed distance: what a contact and its derivatives need.

    phi(x) > 0 outside,   n = grad phi of length one, outwards,   H = grad n, the curvature

Few numbers s describe the shape: a centre, an axis, a radius.  Distance and normal are functions of x and s, each
kind's own; s is a function of the object's parameters, so that its place and size can be nuisance parameters of a fit:

    dphi/dpi = dphi/ds ds/dpi,   dn/dpi = dn/ds ds/dpi

All in the base frame and SI.  A direction may lean: a = (a0 + t_u u + t_v v) / |...| with u, v, a0 at right angles, t
the slopes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cache
from typing import ClassVar, NamedTuple, Self

import numpy as np

from elastocal.errors import NumberError, RangeError
from elastocal.kinds import kinds_in
from elastocal.model.parameters import Parameter
from elastocal.spatial.entries import Array
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
