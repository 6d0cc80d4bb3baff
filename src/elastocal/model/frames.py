"""The robot's frames: a tree of fixed transforms and joints, written in the order base to tool.

What links look like (``Body``, for pictures) and which room they take (``Shape``, for collisions) stands in their axes;
neither has a mass or bends.

Tables of joint parameters are turned into frames:

    standard   Rz(theta + q) Tz(d) Tx(a) Rx(alpha)          joint first, then the link
    modified   Rx(alpha) Tx(a) Rz(theta + q) Tz(d)          link first, then the joint (Craig)
    hayati     Rz(theta + q) Tx(a) Rx(alpha) Ry(beta)       for nearly parallel axes, where d is badly defined

A prismatic joint moves along z instead of turning about it.  In the standard and Hayati forms the link's
end gets a frame of its own, ``<joint>_end``; a modified row needs none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field
from functools import cached_property, lru_cache
from math import hypot
from typing import Any, Literal

import numpy as np

from elastocal.errors import ConflictError, DuplicateError, FormatError, RangeError, UnknownNameError, UnsupportedError
from elastocal.model.parameters import Status, quantity
from elastocal.spatial.entries import Array, Ints
from elastocal.spatial.pose import Pose
from elastocal.spatial.rotation import axis_matrix
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
        """Chains of these frames by their degrees of freedom; trees that are alike share them, and the code of them."""
        poses = (f.pose.rotation.tobytes() + f.pose.translation.tobytes() for f in self.frames)
        return _chains(tuple((f.name, f.parent, pose, f.joint) for f, pose in zip(self.frames, poses, strict=True)))

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


@lru_cache(maxsize=32)
def _chains(frames: tuple[object, ...]) -> dict[object, Any]:
    """Those of frames that are the same but for their sources."""
    return {}


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


Convention = Literal["standard", "modified", "hayati"]


@dataclass(frozen=True, kw_only=True)
class DHRow:
    """One row; lengths in m, angles in rad; ``theta`` is the offset added to the joint value."""

    name: str
    type: JointKind = "revolute"
    a: float = quantity("length", default=0.0)
    d: float = quantity("length", default=0.0)
    alpha: float = quantity("angle", default=0.0)
    beta: float | None = quantity("angle", default=None)
    theta: float = quantity("angle", default=0.0)
    limits: tuple[float, float] | None = quantity("joint value", default=None)
    source: str = ""
    status: Status = ""


def dh_frames(
    rows: Sequence[DHRow], convention: Convention, parent: str = BASE, source: str = "", status: Status = ""
) -> tuple[Frame, ...]:
    """Frames of a DH table; rows without a source of their own have ``source`` and ``status``.

    A row with ``beta`` is a Hayati row also inside a standard table.
    """
    out: list[Frame] = []
    for row in rows:
        motion = JointMotion(row.type, (0.0, 0.0, 1.0), row.limits)
        origin = (row.source, row.status) if row.source else (source, row.status or status)
        if convention == "modified":
            if row.beta is not None:
                raise ConflictError(
                    f"dh row {row.name}: beta belongs to the hayati form; use convention: hayati", value=row.name
                )
            pose = _r(0, row.alpha) @ _t(row.a, 0, 0) @ _r(2, row.theta) @ _t(0, 0, row.d)
            out.append(Frame(row.name, parent, pose, motion, *origin))
            parent = row.name
            continue
        hayati = convention == "hayati" or row.beta is not None
        if hayati and row.d != 0:
            raise UnsupportedError(
                f"dh row {row.name}: the hayati form has no d (given {row.d} m); set it to zero",
                value=(row.name, row.d),
            )
        link = _t(row.a, 0, 0) @ _r(0, row.alpha)
        link = link @ _r(1, row.beta or 0.0) if hayati else _t(0, 0, row.d) @ link
        out.append(Frame(row.name, parent, _r(2, row.theta), motion, *origin))
        parent = f"{row.name}_end"
        out.append(Frame(parent, row.name, link, None, *origin))
    return tuple(out)


def _t(x: float, y: float, z: float) -> Pose:
    return Pose(np.eye(3), np.array([x, y, z]))


def _r(axis: int, angle: float) -> Pose:
    return Pose(axis_matrix(axis, angle))
