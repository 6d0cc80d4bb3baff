"""How a calibration seeks an effect: what it knows before it chooses, and priors of the effect's parameters.

The effect itself says its word, where it is added and when it is tried (``elements.Element``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.model.robot import Robot


@dataclass(frozen=True)
class Occasion:
    """What a calibration has to go by when it chooses the words to try."""

    robot: Robot
    placed: bool
    """Readings are of places; deflections alone do not see what no load changes."""
    loaded: bool
    """Loads are applied."""
    warms: bool
    """Temperatures are read, and change."""
    weighed: bool
    """The robot file has masses of links."""
    bends: bool
    """Compliances are sought: loads are applied, or masses press on compliances of the robot file."""


@dataclass(frozen=True)
class PriorGroup:
    """Parameters whose prior standard deviations about the robot's values have one scale, which evidence sets."""

    name: str
    sd: float
    """Start of the scale: the sd of a typical robot, in SI."""
    names: tuple[str, ...]
    sizes: tuple[float, ...] = ()
    """Sd of every parameter in parts of the scale; empty: all are 1."""
    pool: str = ""
    """Groups of one pool have scales near each other."""
    positive: bool = False
    """No parameter falls below zero."""
    width: float = 4.0
    """Sd of the logarithm of the scale about its start, or about the mean of its pool; 0 fixes it."""
