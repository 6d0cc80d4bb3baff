"""What stands round the robot and what the robot's own body is: capsules round its links, obstacles, the tracker."""

from __future__ import annotations

from typing import Literal

import numpy as np

from elastocal.design.candidates import Poses
from elastocal.design.obstacles import Obstacle
from elastocal.errors import RangeError
from elastocal.model.frames import Shape
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

Vector = tuple[float, float, float]


@dataclass(frozen=True)
class Link:
    """A capsule of ``radius`` (m) round the line between the origins of two frames.

    A shape of the robot file is a capsule between two ``places`` of one frame; ``part`` of the line may be taken alone.
    """

    start: str
    end: str
    radius: float
    places: tuple[Vector, Vector] | None = None
    part: tuple[float, float] = (0.0, 1.0)

    @classmethod
    def of(cls, shape: Shape) -> Link:
        return cls(shape.frame, shape.frame, shape.radius, (shape.start, shape.end))

    @property
    def label(self) -> str:
        return self.start if self.places else f"{self.start}-{self.end}"

    def ends(self, poses: Poses) -> tuple[Array, Array]:
        """(C, 3) and (C, 3)"""
        if self.places is not None:
            return poses.place(self.start, self.places[0]), poses.place(self.start, self.places[1])
        a, b = poses.origin(self.start), poses.origin(self.end)
        first, last = self.part
        return (a + first * (b - a) if first else a), (a + last * (b - a) if last < 1 else b)


@dataclass(frozen=True)
class Cell:
    """``tracker`` is where the instrument stands in base axes; ``markers`` are the frames it looks at.

    ``guards`` are shapes that the arm keeps clear of though nothing need stand there: beams pass through them.
    """

    links: tuple[Link, ...] = ()
    obstacles: tuple[Obstacle, ...] = ()
    tracker: Vector | None = None
    markers: tuple[str, ...] = ()
    guards: tuple[Obstacle, ...] = ()

    def check(self, model: Robot) -> None:
        for link in self.links:
            model.tree.frame(link.start)
            model.tree.frame(link.end)
            if not link.radius > 0:
                raise RangeError(f"link {link.label}: its radius must be positive")


@dataclass(frozen=True)
class Safety:
    """``floor`` is the height of the floor in the base frame (m), ``keep_out`` the radius of the cylinder ("size": by
    the size of the robot), ``turn`` the most of free axes (rad); None or False: not checked, a wider cell."""

    floor: float | None = 0.0
    keep_out: float | Literal["size"] | None = "size"
    self_collision: bool = True
    turn: float | None = float(np.pi)

    @property
    def wide(self) -> bool:
        return self.floor is None and self.keep_out is None and not self.self_collision and self.turn is None


def links_of(model: Robot, radius: float) -> tuple[Link, ...]:
    """Capsules of one radius from frame to frame along the arm, base to tool, where the frames lie apart."""
    out, start = [], "base"
    for frame in model.tree.path(model.tool):
        slides = frame.joint is not None and frame.joint.kind == "prismatic"
        if frame.pose.translation.any() or slides:
            out.append(Link(start, frame.name, radius))
        start = frame.name
    return tuple(out)
