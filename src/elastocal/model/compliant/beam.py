"""The compliance of a link from its section and material: a cantilever along x, loaded at its end.

With bending stiffness E I, torsion stiffness G J, axial stiffness E A and length l (the pattern of 003 eq. 24):

    k11 = l/(E A)        k44 = l/(G J)
    k22 = l^3/(3 E Iz) + l/(kappa_y G A)    k26 = k62 =  l^2/(2 E Iz)    k66 = l/(E Iz)
    k33 = l^3/(3 E Iy) + l/(kappa_z G A)    k35 = k53 = -l^2/(2 E Iy)    k55 = l/(E Iy)

Robot links are stubby, so shear (Timoshenko) is included; kappa A is the shear area.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import pi
from typing import ClassVar

import numpy as np

from elastocal.errors import RangeError
from elastocal.model.parameters import quantity
from elastocal.spatial.entries import Array
from elastocal.values import dataclass


@dataclass(frozen=True, kw_only=True)
class CrossSection(ABC):
    """Cross-section in the y-z plane: ``area``, ``iy``, ``iz``, ``torsion`` (J), shear areas along y and z."""

    shape: ClassVar[str]

    @property
    @abstractmethod
    def properties(self) -> tuple[float, float, float, float, float, float]:
        """Area, Iy, Iz, J, shear area y, shear area z; m^2 and m^4."""


@dataclass(frozen=True, kw_only=True)
class Rectangle(CrossSection):
    """Full rectangle: width along y, height along z; J by the series' usual fit (Roark), kappa = 5/6."""

    shape: ClassVar[str] = "rectangle"
    width: float = quantity("length")
    height: float = quantity("length")

    @property
    def properties(self) -> tuple[float, float, float, float, float, float]:
        b, h = self.width, self.height
        _positive(self, b, h)
        long, short = max(b, h), min(b, h)
        ratio = short / long
        torsion = long * short**3 * (1 / 3 - 0.21 * ratio * (1 - ratio**4 / 12))
        return b * h, b * h**3 / 12, h * b**3 / 12, torsion, 5 / 6 * b * h, 5 / 6 * b * h


@dataclass(frozen=True, kw_only=True)
class HollowRectangle(CrossSection):
    """Hollow rectangle of even wall: J by Bredt's formula, shear carried by the walls along it."""

    shape: ClassVar[str] = "box"
    width: float = quantity("length")
    height: float = quantity("length")
    wall: float = quantity("length")

    @property
    def properties(self) -> tuple[float, float, float, float, float, float]:
        b, h, t = self.width, self.height, self.wall
        _positive(self, b, h, t)
        if 2 * t >= min(b, h):
            raise RangeError(f"box section: wall {t} m fills the section {b} x {h} m; use a rectangle")
        bi, hi = b - 2 * t, h - 2 * t
        bm, hm = b - t, h - t
        torsion = 2 * t * bm**2 * hm**2 / (bm + hm)
        area = b * h - bi * hi
        return area, (b * h**3 - bi * hi**3) / 12, (h * b**3 - hi * bi**3) / 12, torsion, 2 * t * bm, 2 * t * hm


@dataclass(frozen=True, kw_only=True)
class Circle(CrossSection):
    """Full circle; kappa = 6/7 (0.9 in older books)."""

    shape: ClassVar[str] = "circle"
    diameter: float = quantity("length")

    @property
    def properties(self) -> tuple[float, float, float, float, float, float]:
        _positive(self, self.diameter)
        r = self.diameter / 2
        area, i = pi * r**2, pi * r**4 / 4
        return area, i, i, 2 * i, 6 / 7 * area, 6 / 7 * area


@dataclass(frozen=True, kw_only=True)
class Tube(CrossSection):
    """Hollow circle; kappa = 1/2, the thin-walled value."""

    shape: ClassVar[str] = "tube"
    diameter: float = quantity("length")
    wall: float = quantity("length")

    @property
    def properties(self) -> tuple[float, float, float, float, float, float]:
        _positive(self, self.diameter, self.wall)
        outer, inner = self.diameter / 2, self.diameter / 2 - self.wall
        if inner <= 0:
            raise RangeError(f"tube section: wall {self.wall} m fills diameter {self.diameter} m; use a circle")
        area, i = pi * (outer**2 - inner**2), pi * (outer**4 - inner**4) / 4
        return area, i, i, 2 * i, area / 2, area / 2


SECTIONS: dict[str, type[CrossSection]] = {s.shape: s for s in (HollowRectangle, Circle, Rectangle, Tube)}


@dataclass(frozen=True, kw_only=True)
class Beam:
    """A straight link of constant section; ``E`` Young's modulus in Pa, ``nu`` Poisson's ratio."""

    section: CrossSection
    length: float = quantity("length")
    E: float = quantity("pressure")
    nu: float = quantity("number")

    def compliance(self) -> Array:
        """The 6x6 matrix k of its loaded end, x along the beam, translation first, SI."""
        if not self.length > 0 or not self.E > 0 or not -1 < self.nu <= 0.5:
            raise RangeError(
                f"beam: length {self.length} m and E {self.E} Pa must be positive, nu {self.nu} in (-1, 0.5]"
            )
        area, iy, iz, torsion, shear_y, shear_z = self.section.properties
        length, e = self.length, self.E
        g = e / (2 * (1 + self.nu))
        k = np.diag(
            [
                length / (e * area),
                length**3 / (3 * e * iz) + length / (g * shear_y),
                length**3 / (3 * e * iy) + length / (g * shear_z),
                length / (g * torsion),
                length / (e * iy),
                length / (e * iz),
            ]
        )
        k[1, 5] = k[5, 1] = length**2 / (2 * e * iz)
        k[2, 4] = k[4, 2] = -(length**2) / (2 * e * iy)
        return k


def _positive(section: CrossSection, *sizes: float) -> None:
    if not all(s > 0 for s in sizes):
        raise RangeError(f"{section.shape} section: every size must be positive, got {section}")
