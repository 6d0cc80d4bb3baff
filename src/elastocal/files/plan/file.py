"""The keys of a plan file, and what they lead to.  See docs/planning.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from elastocal.design.criteria.criterion import Over
from elastocal.design.task import PlanTask, TestPlan
from elastocal.files.campaign.file import HeadEntry, Words
from elastocal.files.located import Located
from elastocal.measure.kind import Statics
from elastocal.model.descriptions import Form
from elastocal.model.parameters import quantity
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

Vector = tuple[float, float, float]


@dataclass(frozen=True, kw_only=True)
class PlanEntry(HeadEntry):
    """Top level of a plan file."""

    model: Words | None = None
    priors: list[Any] = field(default_factory=list)
    measurement: Literal["deflection", "position", "contact", "joint_torque"] = "deflection"
    statics: Statics = "loaded"
    markers: Words = ()
    turns: bool = False
    frame: str | None = None
    objects: list[Any] = field(default_factory=list)
    forces: tuple[float, ...] = quantity("force", default=())
    standoff: float = quantity("length", default=0.02)
    sweep: dict[str, Any] = field(default_factory=dict)
    load_frame: str | None = None
    loads: list[Any] = field(default_factory=list)
    candidates: int | None = None
    around: dict[str, Any] | None = None
    feasible: list[Any] = field(default_factory=list)
    links: list[Any] = field(default_factory=list)
    link_radius: float | None = quantity("length", default=None)
    obstacles: list[Any] = field(default_factory=list)
    tracker: Vector | None = quantity("length", default=None)
    floor: float | None = quantity("length", default=0.0)
    keep_out: float | Literal["size"] | None = quantity("length", default="size")
    self_collision: bool = True
    most_turn: float | None = quantity("angle", default=float(np.pi))
    home: dict[str, float] = quantity("joint value", default_factory=dict)
    poses: int = 15
    repeats: int = 1
    may_repeat: bool = False
    criterion: str | dict[str, float] = "d"
    test: dict[str, Any] | None = None
    earlier: Words = ()
    speeds: dict[str, float] = quantity("joint speed", default_factory=dict)
    change: float | None = quantity("time", default=None)


@dataclass(frozen=True, kw_only=True)
class SweepEntry:
    """Sweeps to choose from; no joints: those that the weight acts on."""

    joints: Words = ()
    spans: tuple[float, ...] = quantity("angle", default=(float(np.radians(60)), float(np.radians(120))))
    speeds: tuple[float, ...] = quantity("joint speed", default=(float(np.radians(3)), float(np.radians(10))))
    samples: int = 12


@dataclass(frozen=True, kw_only=True)
class LinkEntry:
    """A capsule round the line between two frames."""

    between: tuple[str, str]
    radius: float = quantity("length")


@dataclass(frozen=True, kw_only=True)
class AroundEntry:
    """A box for the tool, or every point of a path with room round it."""

    low: Vector | None = quantity("length", default=None)
    high: Vector | None = quantity("length", default=None)
    table: str | None = None
    room: float = quantity("length", default=0.2)


@dataclass(frozen=True, kw_only=True)
class TestEntry:
    """Test poses from a table, or points of a box; their load where the table has none.

    ``near`` are controller values of the axes that turn, ``near_slides`` of those that slide.
    """

    __test__ = False
    table: str | None = None
    low: Vector | None = quantity("length", default=None)
    high: Vector | None = quantity("length", default=None)
    count: int = 30
    frame: str | None = None
    force: Vector | None = quantity("force", default=None)
    moment: Vector | None = quantity("moment", default=None)
    near: tuple[float, ...] | None = quantity("angle", default=None)
    near_slides: tuple[float, ...] | None = quantity("length", default=None)
    over: Over = "mean"


@dataclass(frozen=True, eq=False)
class PlanFile:
    """A plan file as read: ``task`` lacks only the test poses that are still to be placed, ``tests``.

    ``speeds`` (n,) are of the controller's axes, nan where not stated; ``change`` is the time in s that another load
    takes; ``files`` are all that were read, its own first.
    """

    name: str
    robot: str
    task: PlanTask
    tests: TestPlan | None
    speeds: Array
    change: float | None
    seek: tuple[str, ...] | None
    form: Form | None
    tool: str | None
    without: tuple[str, ...]
    notes: tuple[str, ...]
    files: tuple[Path, ...]
    located: Located | None = None
    model: Words | None = None

    @property
    def folder(self) -> Path:
        return self.files[0].parent if self.files else Path()


def nothing_said(entries: Mapping[str, Any]) -> tuple[str, ...]:
    """Notes on what a plan file leaves open."""
    out = []
    if not entries.get("errors"):
        out.append("No errors are stated: every number read counts with a standard deviation of 10 um.")
    return tuple(out)
