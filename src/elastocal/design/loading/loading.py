"""A way to put a load on the robot; its size, direction and point are choices of the plan."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np

from elastocal.design.choice import Choice
from elastocal.design.poses import Poses
from elastocal.errors import InputError
from elastocal.kinds import kinds_in
from elastocal.model.robot import RobotModel
from elastocal.spatial.entries import Array, Bools

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

    @property
    def label(self) -> str:
        return self.name or self.kind

    @abstractmethod
    def options(self, model: RobotModel) -> tuple[LoadOption, ...]:
        """Every size, direction and point."""

    @abstractmethod
    def forces(self, poses: Poses, option: LoadOption) -> Array:
        """(C, 3) in base axes."""

    def possible(self, poses: Poses, option: LoadOption) -> Bools:
        """(C,) where the cell allows it."""
        return np.ones(len(poses), dtype=bool)

    def places(self, model: RobotModel) -> tuple[str, ...]:
        for point in self.points:
            model.tree.frame(point)
        return self.points or (model.tool,)

    def check_sizes(self, sizes: tuple[float, ...], what: str) -> None:
        if not sizes or not min(sizes) > 0:
            raise InputError(f"load {self.label}: give one or more positive {what}")


def said(size: float, loading: Loading, point: str, several: bool, rest: str = "") -> str:
    """A load in words: ``2500 N wall at tool``"""
    return f"{size:g} N {loading.label}{rest}" + (f" at {point}" if several else "")


@cache
def loading_kinds() -> dict[str, type[Loading]]:
    """Every way by its kind."""
    from elastocal.design import loading

    return kinds_in(loading, Loading)
