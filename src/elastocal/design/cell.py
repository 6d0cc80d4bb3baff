"""What stands round the robot and what the robot's own body is: capsules round its links, obstacles, the tracker."""

from __future__ import annotations

from dataclasses import dataclass

from elastocal.design.obstacles.obstacle import Obstacle
from elastocal.errors import InputError
from elastocal.model.robot import RobotModel

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
    """``tracker`` is where the instrument stands in base axes; ``markers`` are the frames it looks at."""

    links: tuple[Link, ...] = ()
    obstacles: tuple[Obstacle, ...] = ()
    tracker: Vector | None = None
    markers: tuple[str, ...] = ()

    def check(self, model: RobotModel) -> None:
        for link in self.links:
            model.tree.frame(link.start)
            model.tree.frame(link.end)
            if not link.radius > 0:
                raise InputError(f"link {link.label}: its radius must be positive")


def links_of(model: RobotModel, radius: float) -> tuple[Link, ...]:
    """Capsules of one radius from frame to frame along the arm, base to tool, where the frames lie apart."""
    out, start = [], "base"
    for frame in model.tree.path(model.tool):
        slides = frame.joint is not None and frame.joint.kind == "prismatic"
        if frame.pose.translation.any() or slides:
            out.append(Link(start, frame.name, radius))
        start = frame.name
    return tuple(out)
