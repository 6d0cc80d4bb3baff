"""Ways to put a load on the robot in a cell; size, direction and point of the load are choices of the plan.

hanging    a weight: it pulls down, and it needs room above the floor
anchored   a rope to an anchor in the cell, pulled with a stated force: its direction follows from the pose
actuator   a machine that pushes or pulls along fixed directions wherever the robot stands: a jack, a second robot
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cache
from typing import Any, ClassVar

import numpy as np

from elastocal.arguments import check_fields, vector
from elastocal.design.candidates import Choice, Poses
from elastocal.errors import MissingError, RangeError
from elastocal.kinds import kinds_in
from elastocal.model.parameters import quantity
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array, Bools
from elastocal.values import dataclass

Vector = tuple[float, float, float]


@dataclass(frozen=True)
class LoadOption(Choice):
    """One load that can be chosen: ``size`` (N) at the origin of frame ``point``; ``way`` numbers the directions."""

    loading: Loading
    size: float
    point: str
    way: int
    name: str

    def forces(self, poses: Poses) -> Array:
        return self.loading.forces(poses, self)

    @property
    def carried(self) -> bool:
        return self.loading.carried

    def possible(self, poses: Poses) -> Bools:
        return self.loading.possible(poses, self)


@dataclass(frozen=True, kw_only=True)
class Loading(ABC):
    """``points`` are frames that it can act at (default the tool); ``poses`` how many of the plan's it must have."""

    kind: ClassVar[str]
    carried: ClassVar[bool] = False
    """True where the arm can move with the load on."""
    name: str = ""
    points: tuple[str, ...] = ()
    poses: int | None = None

    def __post_init__(self) -> None:
        """Arrays are taken as the numbers that they hold, and a text as one name."""
        for key, value in vars(self).items():
            if isinstance(value, np.ndarray):
                object.__setattr__(self, key, _tuples(value.tolist()))
        check_fields(self)
        if isinstance(self.points, str):
            object.__setattr__(self, "points", (self.points,))

    @property
    def label(self) -> str:
        return self.name or self.kind

    @abstractmethod
    def options(self, model: Robot) -> tuple[LoadOption, ...]:
        """Every size, direction and point."""

    @abstractmethod
    def forces(self, poses: Poses, option: LoadOption) -> Array:
        """(C, 3) in base axes."""

    def possible(self, poses: Poses, option: LoadOption) -> Bools:
        """(C,) where the cell allows it."""
        return np.ones(len(poses), dtype=bool)

    def places(self, model: Robot) -> tuple[str, ...]:
        for point in self.points:
            model.tree.frame(point)
        return self.points or (model.tool,)

    def check_sizes(self, sizes: tuple[float, ...], what: str) -> None:
        if not sizes or not min(sizes) > 0:
            raise RangeError(f"load {self.label}: give one or more positive {what}", value=sizes)


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def load_label(size: float, loading: Loading, point: str, several: bool, rest: str = "") -> str:
    """A load in words: ``2500 N wall at tool``"""
    return f"{size:g} N {loading.label}{rest}" + (f" at {point}" if several else "")


@cache
def loading_kinds() -> dict[str, type[Loading]]:
    """Every way by its kind."""
    from elastocal.design import loading

    return kinds_in(loading, Loading)


@dataclass(frozen=True, kw_only=True)
class Hanging(Loading):
    """``room`` is the height that the weight with its rope takes below the point, ``floor`` that of the floor."""

    kind: ClassVar[str] = "hanging"
    carried: ClassVar[bool] = True
    masses: tuple[float, ...] = quantity("mass")
    room: float = quantity("length", default=0.0)
    floor: float | None = quantity("length", default=None)

    def options(self, model: Robot) -> tuple[LoadOption, ...]:
        self.check_sizes(self.masses, "masses")
        if not np.linalg.norm(model.gravity) > 0:
            raise MissingError(
                f"load {self.label}: robot {model.name} has no gravity, so a weight does not pull", value=model.name
            )
        points = self.places(model)
        g = float(np.linalg.norm(model.gravity))
        return tuple(
            LoadOption(self, m * g, point, 0, f"{m:g} kg {self.label}" + (f" at {point}" if len(points) > 1 else ""))
            for point in points
            for m in self.masses
        )

    def forces(self, poses: Poses, option: LoadOption) -> Array:
        down = poses.model.gravity / np.linalg.norm(poses.model.gravity)
        return np.broadcast_to(option.size * down, (len(poses), 3))

    def possible(self, poses: Poses, option: LoadOption) -> Bools:
        """Heights count against gravity from the base."""
        up = -poses.model.gravity / np.linalg.norm(poses.model.gravity)
        if self.floor is None:
            return np.ones(len(poses), dtype=bool)
        return np.asarray(poses.origin(option.point) @ up >= self.floor + self.room)


@dataclass(frozen=True, kw_only=True)
class Anchored(Loading):
    """``reach`` are the shortest and longest rope; with ``axis`` it leaves the anchor within ``cone`` of that."""

    kind: ClassVar[str] = "anchored"
    sizes: tuple[float, ...] = quantity("force")
    at: Vector = quantity("length")
    reach: tuple[float, float] = quantity("length", default=(0.1, 10.0))
    axis: Vector | None = quantity("number", default=None)
    cone: float = quantity("angle", default=float(np.pi / 4))

    def options(self, model: Robot) -> tuple[LoadOption, ...]:
        self.check_sizes(self.sizes, "forces")
        if not 0 < self.reach[0] < self.reach[1]:
            raise RangeError(
                f"load {self.label}: the shortest rope stands first in reach, both lengths positive",
                code="rope",
                value=self.reach,
            )
        if self.axis is not None and not np.linalg.norm(self.axis) > 0:
            raise RangeError(
                f"load {self.label}: its axis has no direction; give a vector into the cell",
                code="no-direction",
                value=self.axis,
            )
        points = self.places(model)
        return tuple(
            LoadOption(self, s, p, 0, load_label(s, self, p, len(points) > 1)) for p in points for s in self.sizes
        )

    def forces(self, poses: Poses, option: LoadOption) -> Array:
        rope = np.array(self.at) - poses.origin(option.point)
        length = np.linalg.norm(rope, axis=1, keepdims=True)
        return np.asarray(option.size * rope / np.where(length > 0, length, 1.0))

    def possible(self, poses: Poses, option: LoadOption) -> Bools:
        rope = poses.origin(option.point) - np.array(self.at)
        length = np.linalg.norm(rope, axis=1)
        out = (length >= self.reach[0]) & (length <= self.reach[1])
        if self.axis is not None:
            into = np.array(self.axis) / np.linalg.norm(self.axis)
            out &= rope @ into >= np.cos(self.cone) * length
        return np.asarray(out)


@dataclass(frozen=True, kw_only=True)
class Actuator(Loading):
    """``directions`` in base axes, of any length; ``sizes`` are forces."""

    kind: ClassVar[str] = "actuator"
    sizes: tuple[float, ...] = quantity("force")
    directions: tuple[Vector, ...] = quantity("number")

    def __post_init__(self) -> None:
        super().__post_init__()
        each = (tuple(vector("directions", d, 3).tolist()) for d in self.directions)
        object.__setattr__(self, "directions", tuple(each))

    def options(self, model: Robot) -> tuple[LoadOption, ...]:
        self.check_sizes(self.sizes, "forces")
        if not self.directions or not all(np.linalg.norm(d) > 0 for d in self.directions):
            raise RangeError(
                f"load {self.label}: give directions that are not zero, such as [0, 0, -1]",
                code="no-direction",
                value=self.directions,
            )
        points = self.places(model)
        return tuple(
            LoadOption(self, s, p, i, load_label(s, self, p, len(points) > 1, f" along ({d[0]:g}, {d[1]:g}, {d[2]:g})"))
            for p in points
            for s in self.sizes
            for i, d in enumerate(self.directions)
        )

    def forces(self, poses: Poses, option: LoadOption) -> Array:
        along = np.array(self.directions[option.way])
        return np.broadcast_to(option.size * along / np.linalg.norm(along), (len(poses), 3))
