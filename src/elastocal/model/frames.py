"""The robot's frames: a tree of fixed transforms and joints, written in the order base to tool.

What links look like (``Body``, for pictures) and which room they take (``Shape``, for collisions) stands in their axes;
neither has a mass or bends.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from functools import cached_property
from math import hypot
from typing import Any, Literal

import numpy as np

from elastocal.errors import ConflictError, DuplicateError, FormatError, RangeError, UnknownNameError
from elastocal.model.parameters import Status, quantity
from elastocal.spatial.entries import Array, Ints
from elastocal.spatial.pose import Pose
from elastocal.values import dataclass

BASE = "base"
JointKind = Literal["revolute", "prismatic"]


@dataclass(frozen=True)
class JointMotion:
    """Motion of a frame along or about ``axis`` (in the frame's own axes), after its fixed pose.

    A joint that follows another (URDF ``mimic``) has no value of its own:
    value = ratio * value(leader) + offset.
    """

    kind: JointKind
    axis: tuple[float, float, float]
    limits: tuple[float, float] | None = None
    follows: str | None = None
    ratio: float = 1.0
    offset: float = 0.0

    @property
    def unit_axis(self) -> Array:
        axis = np.array(self.axis, dtype=np.float64)
        return np.asarray(axis / np.linalg.norm(axis))

    @property
    def unit(self) -> str:
        return "rad" if self.kind == "revolute" else "m"


@dataclass(frozen=True)
class Frame:
    """A named frame: pose in its parent, then the joint's motion if it has one."""

    name: str
    parent: str = BASE
    pose: Pose = field(default_factory=Pose)
    joint: JointMotion | None = None
    source: str = ""
    status: Status = ""


@dataclass(frozen=True)
class FrameTree:
    """Frames with unique names, each listed after its parent."""

    frames: tuple[Frame, ...]

    def __post_init__(self) -> None:
        known = {BASE}
        for frame in self.frames:
            if frame.name in known:
                raise DuplicateError(
                    f"frame {frame.name!r} is defined twice; names must be unique ({BASE!r} is taken)",
                    value=(frame.name, BASE),
                )
            if frame.parent not in known:
                later = any(f.name == frame.parent for f in self.frames)
                why = "comes later or closes a loop" if later else "does not exist"
                raise FormatError(
                    f"frame {frame.name!r}: its parent {frame.parent!r} {why}; a serial robot lists parents first",
                    code="parent-later" if later else "no-parent", value=(frame.name, frame.parent),
                )  # fmt: skip
            known.add(frame.name)
        for frame in self.frames:
            self._check_joint(frame)

    def _check_joint(self, frame: Frame) -> None:
        joint = frame.joint
        if joint is None:
            return
        axis = np.array(joint.axis, dtype=np.float64)
        if not np.isfinite(axis).all() or hypot(*axis) < 1e-9:
            raise RangeError(
                f"joint {frame.name!r}: axis {joint.axis} has no direction; give a non-zero vector",
                value=(frame.name, joint.axis),
                code="no-direction",
            )
        if joint.limits is not None and not joint.limits[0] < joint.limits[1]:
            raise RangeError(
                f"joint {frame.name!r}: lower limit {joint.limits[0]} is not below {joint.limits[1]}",
                value=(frame.name, joint.limits[0], joint.limits[1]),
            )
        if joint.follows is not None:
            leader = next((f for f in self.frames if f.name == joint.follows), None)
            if leader is None or leader.joint is None:
                raise UnknownNameError("joint", joint.follows, self.joint_names, f"joint {frame.name!r} follows")
            if leader.joint.follows is not None:
                raise ConflictError(
                    f"joint {frame.name!r} follows {joint.follows!r}, which follows another; name the first",
                    value=(frame.name, joint.follows),
                )

    @property
    def names(self) -> tuple[str, ...]:
        return (BASE, *(f.name for f in self.frames))

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """Joints that take a value, in chain order (followers have none)."""
        return tuple(f.name for f in self.frames if f.joint is not None and f.joint.follows is None)

    @cached_property
    def chains(self) -> dict[object, Any]:
        """Chains of these frames by their degrees of freedom; robots of one tree share them, and the code of them."""
        return {}

    @cached_property
    def _by_name(self) -> dict[str, Frame]:
        return {BASE: Frame(BASE, parent=""), **{f.name: f for f in self.frames}}

    def frame(self, name: str) -> Frame:
        frame = self._by_name.get(name) if isinstance(name, str) else None
        if frame is None:
            raise UnknownNameError("frame", name, self.names)
        return frame

    def joint(self, name: str) -> JointMotion:
        frame = self._by_name.get(name)
        if frame is None or frame.joint is None:
            raise UnknownNameError("joint", name, [f.name for f in self.frames if f.joint is not None])
        return frame.joint

    def path(self, name: str) -> tuple[Frame, ...]:
        """Frames from the base to ``name``."""
        out: list[Frame] = []
        while name != BASE:
            frame = self.frame(name)
            out.append(frame)
            name = frame.parent
        return tuple(reversed(out))

    def spine(self, moving: Iterable[str]) -> tuple[Frame, ...]:
        """The one path that holds all the frames that can move; anything else hangs on it rigidly."""
        ends = [n for n in dict.fromkeys(moving) if n != BASE]
        path = max((self.path(n) for n in ends), key=len, default=())
        on_path = {f.name for f in path} | {BASE}
        astray = [n for n in ends if n not in on_path]
        if astray:
            raise FormatError(
                f"frame {astray[0]!r} moves but does not lie on the path from base to {path[-1].name!r}; "
                "joints and compliances must form one serial chain",
                value=(astray[0], path[-1].name),
            )
        return path


@dataclass(frozen=True, eq=False)
class Body:
    """At ``pose`` in the axes of ``frame``: a box of three sides, a cylinder (radius, length along z), a sphere, m.

    A mesh has ``corners`` (V, 3) and ``faces`` (F, 3) in place of sizes.
    """

    frame: str
    pose: Pose
    kind: Literal["box", "cylinder", "sphere", "mesh"]
    sizes: tuple[float, ...]
    corners: Array | None = None
    faces: Ints | None = None


@dataclass(frozen=True, kw_only=True)
class Shape:
    """A capsule that a link fills: within ``radius`` of the line from ``start`` to ``end`` in axes of ``frame``."""

    frame: str
    start: tuple[float, float, float] = quantity("length")
    end: tuple[float, float, float] = quantity("length")
    radius: float = quantity("length")
