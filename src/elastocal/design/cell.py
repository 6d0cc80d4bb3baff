"""What stands round the robot and what the robot's own body is: capsules round its links, obstacles, the tracker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from elastocal.design.obstacles.obstacle import Obstacle
from elastocal.errors import InputError
from elastocal.model.robot import Robot

Vector = tuple[float, float, float]


@dataclass(frozen=True)
class Link:
    """A capsule of ``radius`` (m) round the line between the origins of two frames."""

    start: str
    end: str
    radius: float

    @property
    def label(self) -> str:
        return f"{self.start}-{self.end}"


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
                raise InputError(f"link {link.label}: its radius must be positive")


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
