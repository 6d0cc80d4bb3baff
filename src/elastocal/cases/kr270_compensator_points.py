"""Fig. 3 of Klimchik et al. 2013 (MIM) with the points of Table 1: markers, fitted arcs and node points, to scale."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.cases.kr270_compensator_arcs import TABLE_1
from elastocal.report.blocks import Lines, Series

if TYPE_CHECKING:
    from elastocal.cases.kr270_compensator_arcs import TableOne
    from elastocal.spatial.entries import Array


def points_drawn(found: TableOne) -> Lines:
    """All in mm, in the tracker's frame."""
    import numpy as np

    p1, p01, p02 = (np.array([row[i] for row in TABLE_1]) for i in (1, 2, 3))
    p2, p0 = 1e3 * found.gain.known.centre[:2], 1e3 * found.pivot.centre[:2]
    arcs = ((p1, p2, 1e3 * found.geometry.L), *zip((p01, p02), (p0, p0), 1e3 * found.pivot.radii, strict=True))
    series = (
        *(
            Series(f"{name} of Table 1", *_columns(points), points=True)
            for name, points in (("P1", p1), ("P01", p01), ("P02", p02))
        ),
        _joined("fitted arcs", [_arc(points, centre, float(radius)) for points, centre, radius in arcs]),
        _joined("spring P0 P1", [np.array([p0, p]) for p in p1]),
        Series("P2 (axis 2) and P0", *_columns(np.array([p2, p0])), points=True),
    )
    note = "As Fig. 3, which is a drawing, here with the measured points and what is fitted to them."
    return Lines("points", "Compensator as measured", "x", "mm", "y", "mm", series, (note,), equal=True)


def _columns(points: Array) -> tuple[tuple[float, ...], tuple[float, ...]]:
    return tuple(float(v) for v in points[:, 0]), tuple(float(v) for v in points[:, 1])


def _arc(points: Array, centre: Array, radius: float) -> Array:
    """The part of the circle that the points span."""
    import numpy as np

    off = points - centre
    angle = np.unwrap(np.arctan2(off[:, 1], off[:, 0]))
    turn = np.linspace(angle.min(), angle.max(), 60)
    return np.asarray(centre + radius * np.column_stack([np.cos(turn), np.sin(turn)]))


def _joined(name: str, lines: list[Array]) -> Series:
    """Several lines as one curve, parted by points without a height."""
    x, y = list[float](), list[float]()
    for line in lines:
        across, up = _columns(line)
        x += [*across, across[-1]]
        y += [*up, float("nan")]
    return Series(name, tuple(x), tuple(y))
