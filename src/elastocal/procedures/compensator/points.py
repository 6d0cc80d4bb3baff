"""Tracked points and the axis they turn about, as all fits take them.

Points are checked arrays, one row per pose, a row of nan where a marker was not seen.  An ``AxisFrame`` is a place on
the axis with the plane across it: local coordinates, and small moves of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from elastocal.errors import (
    ConflictError,
    ImplausibleError,
    MissingError,
    NumberError,
    RangeError,
    ShapeError,
    TooFewError,
)
from elastocal.spatial.entries import Array, Ints
from elastocal.spatial.rotation import rotations
from elastocal.values import dataclass

COORDINATES = ("x", "y", "z")
STRAIGHT = 1e-9
"""Points whose spread across a line is below this part of the spread along it lie on the line."""


@dataclass(frozen=True, eq=False)
class Markers:
    """All seen points of k markers: ``points`` (M, d), and for each its ``marker`` and ``pose`` (M,)."""

    points: Array
    marker: Ints
    pose: Ints
    count: int
    poses: int

    @property
    def dimension(self) -> int:
        return int(self.points.shape[1])

    def of(self, marker: int) -> Array:
        return np.asarray(self.points[self.marker == marker])


def as_points(points: ArrayLike, what: str) -> Array:
    """(m, 2) or (m, 3) numbers; a row is all numbers, or all nan where nothing was seen."""
    out = np.asarray(points, dtype=np.float64)
    if out.ndim != 2 or out.shape[1] not in (2, 3):
        raise ShapeError(
            f"{what}: points must be rows of two or three coordinates, not an array of shape {out.shape}",
            value=out.shape,
        )
    odd = np.flatnonzero(np.isinf(out).any(axis=1) | (np.isnan(out).any(axis=1) & ~np.isnan(out).all(axis=1)))
    if len(odd):
        raise NumberError(
            f"{what}, point {odd[0] + 1}: a coordinate is missing or not finite; give all or leave it out",
            value=odd[0] + 1,
        )
    return out


def as_noise(noise: float | None) -> float | None:
    """Standard deviation of one coordinate in metres, or None to take it from the residuals."""
    if noise is not None and not (np.isfinite(noise) and noise > 0):
        raise RangeError(
            f"the noise of a coordinate must be a positive number, not {noise}; leave it out if unknown", value=noise
        )
    return None if noise is None else float(noise)


def as_markers(markers: Sequence[ArrayLike], *, same_poses: bool = False) -> Markers:
    """Markers as a list of point sets, each of any length; of one length where row i is pose i for all of them."""
    sets = [as_points(p, f"marker {j + 1}") for j, p in enumerate(markers)]
    if not sets:
        raise MissingError("there is no marker; give the points of at least one", code="no-markers")
    if len({p.shape[1] for p in sets}) > 1:
        raise ConflictError(
            "some markers have two coordinates and others three; give all of them the same", code="mixed-dimensions"
        )
    lengths = [len(p) for p in sets]
    if same_poses and len(set(lengths)) > 1:
        raise ShapeError(
            f"the markers have {', '.join(map(str, lengths))} poses, but row i of each must be pose i; "
            "fill rows that were not seen with nan",
            value=tuple(lengths),
        )
    seen = [np.flatnonzero(~np.isnan(p[:, 0])) for p in sets]
    for j, rows in enumerate(seen):
        if len(rows) < 2:
            raise TooFewError(
                f"marker {j + 1} was seen {len(rows)} times and draws no arc; measure it in more poses",
                value=(j + 1, len(rows)),
            )
    return Markers(
        points=np.concatenate([p[rows] for p, rows in zip(sets, seen, strict=True)]),
        marker=np.repeat(np.arange(len(sets)), [len(r) for r in seen]),
        pose=np.concatenate(seen),
        count=len(sets),
        poses=max(lengths),
    )


def refuse_straight(spread: Array, what: str) -> None:
    """``spread``: singular values of points about their mean, largest first; needs a second direction."""
    if not spread[0] > 0:
        raise ImplausibleError(
            f"{what}: all points are the same; nothing has moved between the poses", code="no-motion"
        )
    if spread[1] <= STRAIGHT * spread[0]:
        raise ImplausibleError(
            f"{what}: the points lie on a straight line, which has no centre; measure a longer arc",
            code="straight-line",
        )


def centred(markers: Markers) -> Array:
    """Points minus the mean of their own marker (000 eq. 22)."""
    out = markers.points.copy()
    for j in range(markers.count):
        out[markers.marker == j] -= markers.of(j).mean(axis=0)
    return out


@dataclass(frozen=True, eq=False)
class AxisFrame:
    """``origin`` (d,) on the axis and ``matrix`` (d, d): two columns in the plane, in 3-D the axis as the third.

    Local coordinates of a point p are matrix^T (p - origin): two in the plane and, in 3-D, the height.
    """

    origin: Array
    matrix: Array

    @property
    def spatial(self) -> bool:
        return len(self.origin) == 3

    @property
    def plane(self) -> Array:
        """(d, 2): the directions in the plane."""
        return self.matrix[:, :2]

    @property
    def axis(self) -> Array:
        """The unit vector of the axis; in 2-D it is out of the page."""
        return self.matrix[:, 2] if self.spatial else np.array([0.0, 0.0, 1.0])

    def local(self, points: Array) -> Array:
        return np.asarray((points - self.origin) @ self.matrix)

    def shifted(self, local: Array) -> Self:
        """With the origin moved by local coordinates (d,) or, within the plane, (2,)."""
        return type(self)(self.origin + self.matrix[:, : len(local)] @ local, self.matrix)

    def turned(self, angle: float) -> Self:
        """Turned in its plane."""
        c, s = np.cos(angle), np.sin(angle)
        turn = np.eye(len(self.origin))
        turn[:2, :2] = [[c, -s], [s, c]]
        return type(self)(self.origin, self.matrix @ turn)

    def at_mean(self, heights: Array) -> tuple[Self, Array]:
        """With the origin at the mean of some heights, and the heights from there; in the plane nothing changes."""
        if not self.spatial:
            return self, heights
        mean = float(heights.mean())
        return self.shifted(np.array([0.0, 0.0, mean])), heights - mean

    def tilted(self, tilt: Array) -> Self:
        """With the axis moved towards the plane's directions by angles (2,): n + t_1 e_1 + t_2 e_2 to first order."""
        turn = rotations(np.array([[-tilt[1]], [tilt[0]], [0.0]]))[:, :, 0]
        return type(self)(self.origin, self.matrix @ turn)


def plane_frame(points: Array, spread: Array) -> AxisFrame:
    """Origin at the mean of ``points``; in 3-D the axis is the direction in which ``spread`` (M, 3) is least (eq. 30).

    The sign of the axis is the one whose largest component is positive, so that it does not depend on the data.
    """
    origin = points.mean(axis=0)
    if points.shape[1] == 2:
        return AxisFrame(origin, np.eye(2))
    directions = np.linalg.svd(spread, full_matrices=True)[2]
    axis = directions[2] * np.sign(directions[2][np.argmax(np.abs(directions[2]))])
    first = directions[0] * np.sign(directions[0][np.argmax(np.abs(directions[0]))])
    return AxisFrame(origin, np.column_stack([first, np.cross(axis, first), axis]))
