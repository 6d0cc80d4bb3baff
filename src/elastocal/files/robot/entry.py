"""The keys of a robot file that are not effects: its top level, joints and frames, the controller."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from elastocal.model.elements import quantity
from elastocal.model.parameters import Status

Vector = tuple[float, float, float]
NO_SOURCE = "has numbers without a source; add 'source:' here or at the top (data sheet, measurement, assumption)"


@dataclass(frozen=True, kw_only=True)
class RobotFile:
    """Top level of a robot file."""

    format: str
    name: str
    title: str = ""
    serial: str | int = ""
    source: str = ""
    status: Status = ""
    units: dict[str, str] = field(default_factory=dict)
    gravity: Vector = quantity("acceleration", default=(0.0, 0.0, -9.80665))
    joints: list[Any] = field(default_factory=list)
    dh: dict[str, Any] | None = None
    frames: list[Any] = field(default_factory=list)
    tool: str = ""
    controller: dict[str, Any] = field(default_factory=dict)
    elements: list[Any] = field(default_factory=list)

    def origin(self, source: str, status: Status) -> tuple[str, Status]:
        """Source and status of an entry: without a source of its own it has those of the file."""
        return (source, status) if source else (self.source, status or self.status)


@dataclass(frozen=True, kw_only=True)
class JointEntry:
    """A joint or, with type fixed, a plain frame."""

    name: str
    type: Literal["revolute", "prismatic", "fixed"] = "fixed"
    parent: str | None = None
    xyz: Vector = quantity("length", default=(0.0, 0.0, 0.0))
    rpy: Vector = quantity("angle", default=(0.0, 0.0, 0.0))
    axis: Vector | None = quantity("number", default=None)
    limits: tuple[float, float] | None = quantity("joint value", default=None)
    follows: str | None = None
    ratio: float = quantity("number", default=1.0)
    offset: float = quantity("joint value", default=0.0)
    source: str = ""
    status: Status = ""


@dataclass(frozen=True, kw_only=True)
class ControllerEntry:
    """How pendant values map to joint values."""

    axes: tuple[str, ...] | None = None
    language: Literal["", "krl", "rapid"] = ""
    sign: dict[str, float] = quantity("number", default_factory=dict)
    zero: dict[str, float] = quantity("joint value", default_factory=dict)
    couplings: tuple[dict[str, Any], ...] = ()
    structure: tuple[tuple[float, ...], ...] = quantity("number", default=())
    counts_per_turn: dict[str, float] = quantity("number", default_factory=dict)
    counts_at_zero: dict[str, float] = quantity("number", default_factory=dict)
    source: str = ""
    status: Status = ""
