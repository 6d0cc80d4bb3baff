"""What a picture in three dimensions is made of: named parts with coordinates in base axes, in the scene's unit."""

from __future__ import annotations

from typing import Literal

from elastocal.values import dataclass

Point = tuple[float, float, float]
Look = Literal[
    "plain", "arm", "faint", "joint", "cell", "floor", "warning", "before", "after", "expected", "outlier", "read",
    "load", "program",
]  # fmt: skip
"""``plain`` takes the next colour; the others are drawn alike in every picture: a robot, what stands behind it, its
joints, the things around it, the floor, what must be noticed, and the roles of curves."""


@dataclass(frozen=True)
class Strokes:
    """Lines that belong together, each through its points."""

    name: str
    lines: tuple[tuple[Point, ...], ...]
    view: str = ""
    look: Look = "plain"

    def __len__(self) -> int:
        return len(self.lines)


@dataclass(frozen=True)
class Dots:
    """Points; ``words`` say what each is where a reader points at it."""

    name: str
    points: tuple[Point, ...]
    words: tuple[str, ...] = ()
    view: str = ""
    look: Look = "plain"

    def __len__(self) -> int:
        return len(self.points)


@dataclass(frozen=True)
class Arrows:
    """From each start to its end, as drawn; ``words`` say what each stands for."""

    name: str
    starts: tuple[Point, ...]
    ends: tuple[Point, ...]
    words: tuple[str, ...] = ()
    view: str = ""
    look: Look = "plain"

    def __len__(self) -> int:
        return len(self.starts)


@dataclass(frozen=True)
class Ellipsoids:
    """Centres, and the three semi-axes of each as vectors, as drawn."""

    name: str
    centres: tuple[Point, ...]
    axes: tuple[tuple[Point, Point, Point], ...]
    words: tuple[str, ...] = ()
    view: str = ""
    look: Look = "plain"

    def __len__(self) -> int:
        return len(self.centres)


@dataclass(frozen=True)
class Labels:
    """Words at points, always visible."""

    name: str
    points: tuple[Point, ...]
    words: tuple[str, ...]
    view: str = ""

    def __len__(self) -> int:
        return len(self.points)


@dataclass(frozen=True)
class Capsule:
    """All points within ``radius`` of the line from ``start`` to ``end``."""

    start: Point
    end: Point
    radius: float


@dataclass(frozen=True)
class Mesh:
    """Triangles, each by the numbers of its three ``points``."""

    points: tuple[Point, ...]
    faces: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True)
class Solids:
    """Bodies that hide what is behind them; ``words`` say what each is."""

    name: str
    shapes: tuple[Capsule | Mesh, ...]
    words: tuple[str, ...] = ()
    view: str = ""
    look: Look = "arm"

    def __len__(self) -> int:
        return len(self.shapes)


Part = Strokes | Dots | Arrows | Ellipsoids | Labels | Solids
