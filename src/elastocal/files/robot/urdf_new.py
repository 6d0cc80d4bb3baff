"""A robot that was made from no URDF as one: its frames and joints, with limits and what follows what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from xml.sax.saxutils import quoteattr

import numpy as np

from elastocal.model.frames import Frame
from elastocal.model.robot import Robot
from elastocal.spatial.pose import Pose
from elastocal.spatial.rotation import matrix_rpy


def urdf_text(model: Robot, poses: Mapping[str, Pose]) -> str:
    """The file's text; ``poses`` are those of all frames in their parents."""
    links = {f.name: f"{f.name}_link" if f.joint is not None else f.name for f in model.tree.frames}
    lines = ['<?xml version="1.0"?>', f"<robot name={quoteattr(model.name)}>"]
    lines += [f"  <link name={quoteattr(name)}/>" for name in ("base", *links.values())]
    for frame in model.tree.frames:
        lines += _joint(frame, poses[frame.name], links.get(frame.parent, "base"), links[frame.name])
    return "\n".join([*lines, "</robot>", ""])


def not_in_urdf(model: Robot) -> list[str]:
    """What has no place in such a URDF: one sentence, or none."""
    c = model.controller
    own = not np.array_equal(c.matrix, np.eye(len(c.axes))) or bool(c.zero.any())
    masses = any(e.kind in ("link_mass", "payload") for e in model.elements)
    words = [w for w, there in (("signs, zeros and couplings of the controller", own), ("masses", masses)) if there]
    return [f"Not in the URDF, which is written anew: {' and '.join(words)}."] if words else []


def _joint(frame: Frame, pose: Pose, parent: str, child: str) -> list[str]:
    motion = frame.joint
    name, kind = (f"{frame.name}_fixed", "fixed") if motion is None else (frame.name, motion.kind)
    if motion is not None and motion.kind == "revolute" and motion.limits is None and not motion.follows:
        kind = "continuous"
    out = [
        f"  <joint name={quoteattr(name)} type={quoteattr(kind)}>",
        f"    <parent link={quoteattr(parent)}/><child link={quoteattr(child)}/>",
        f'    <origin xyz="{_spelled(pose.translation)}" rpy="{_spelled(matrix_rpy(pose.rotation))}"/>',
    ]
    if motion is not None:
        out.append(f'    <axis xyz="{_spelled(motion.axis)}"/>')
        if motion.limits is not None:
            low, high = (repr(float(v)) for v in motion.limits)
            out.append(f'    <limit lower="{low}" upper="{high}" effort="0" velocity="0"/>')
        if motion.follows:
            ratio, offset = float(motion.ratio), float(motion.offset)
            out.append(f'    <mimic joint={quoteattr(motion.follows)} multiplier="{ratio!r}" offset="{offset!r}"/>')
    return [*out, "  </joint>"]


def _spelled(values: Iterable[float]) -> str:
    return " ".join(repr(float(v) + 0.0) for v in values)
