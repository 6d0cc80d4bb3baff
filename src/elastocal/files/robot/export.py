"""Geometry for other programs: a URDF, corrected or written anew, and kinematics.yaml of Universal Robots.

Of a URDF that is corrected every other byte stays as it was.  The tags are found again in the text of a file that the
XML parser has accepted, and only the characters of the attributes ``xyz`` and ``rpy`` are exchanged.  Writing the
parser's tree instead would rewrite quotes, spaces within tags, line ends and the XML declaration.

A robot that was made from no URDF is written as one: its frames and joints, with limits and what follows what.

kinematics.yaml holds the origin of every joint, which turns about its z:

    T_flange(q) = prod_i  origin_i Rz(q_i)    and a constant behind it

with x y z in m and roll pitch yaw in rad.  Axes of the joint frames are chosen so that z is the axis of the joint.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np

from elastocal.errors import FormatError, NumberError, UnknownNameError, UnsupportedError
from elastocal.files.opened import read_bytes
from elastocal.files.robot.urdf import read_links
from elastocal.files.robot.urdf_tags import parse
from elastocal.files.write import write_files
from elastocal.model.frames import Frame
from elastocal.model.robot import Robot
from elastocal.spatial.pose import Pose
from elastocal.spatial.rotation import align_z, matrix_rpy, rpy_matrix
from elastocal.values import dataclass

SAME = 1e-15
_TOKEN = re.compile(
    r"""<!--.*?--> | <\?.*?\?> | <!\[CDATA\[.*?\]\]>
    | <(?P<close>/?)(?P<name>[^\s/>!?]+)(?P<attributes>(?:[^>"'/]|"[^"]*"|'[^']*')*)(?P<empty>/?)>""",
    re.DOTALL | re.VERBOSE,
)
_ATTRIBUTE = re.compile(r"""([^\s=]+)\s*=\s*(?P<quote>["'])(?P<value>.*?)(?P=quote)""", re.DOTALL)


@dataclass(frozen=True)
class _Spot:
    """Where a joint's start tag ends, and its <origin> if it has one."""

    after: int
    origin: re.Match[str] | None = None


def write_origins(source: Path, target: Path, poses: Mapping[str, Pose]) -> None:
    """Write ``source`` to ``target`` with the <origin> of the joints in ``poses`` replaced where it differs."""
    write_files({target: with_origins(source, poses)})


def with_origins(source: Path, poses: Mapping[str, Pose]) -> bytes:
    """The bytes of ``source`` with the <origin> of the joints in ``poses`` replaced where it differs."""
    data = read_bytes(source)
    robot = parse(data, str(source))
    joints = {j.name: j for j in read_links(robot).joints}
    changes: dict[int, dict[str, str]] = {}
    for name, pose in poses.items():
        if name not in joints:
            raise UnknownNameError("joint", name, joints, str(source))
        if change := _change(name, joints[name].pose, pose):
            changes[list(joints).index(name)] = change
    if changes:
        data = _edited(data, changes, str(source), robot.xml.getroottree().docinfo.encoding or "utf-8")
        _check(data, {**{j.name: j.pose for j in joints.values()}, **poses}, str(source))
    return data


def _change(name: str, old: Pose, new: Pose) -> dict[str, str]:
    """The attributes to write: those that do not say the same already."""
    finite = bool(np.all(np.isfinite(new.matrix())))
    rpy = matrix_rpy(new.rotation) if finite else (0.0, 0.0, 0.0)
    if not finite or np.any(np.abs(rpy_matrix(*rpy) - new.rotation) > 1e-9):
        raise NumberError(
            f"joint {name!r}: its new pose is not a rigid transform of finite numbers; correct it", value=name
        )
    out = {}
    if np.any(np.abs(new.translation - old.translation) > SAME):
        out["xyz"] = _spelled(new.translation)
    if np.any(np.abs(new.rotation - old.rotation) > SAME):
        out["rpy"] = _spelled(np.array(rpy))
    return out


def _spelled(values: Iterable[float]) -> str:
    return " ".join(repr(float(v) + 0.0) for v in values)


def _edited(data: bytes, changes: Mapping[int, Mapping[str, str]], file: str, declared: str) -> bytes:
    codec = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}.get(data[:2], declared)
    try:
        text = data.decode(codec)
        faithful = text.encode(codec) == data
    except (LookupError, UnicodeError):
        faithful = False
    if not faithful:
        raise FormatError(f"{file}: its encoding {declared} cannot be edited in place; save the file as UTF-8")
    spots = list(_spots(text))
    edits = [edit for number, change in changes.items() for edit in _edits(text, spots[number], change)]
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text.encode(codec)


def _spots(text: str) -> Iterator[_Spot]:
    """The joints right below <robot>, in order; those of the same name in <ros2_control> stand deeper."""
    open_tags: list[str] = []
    spot = _Spot(0)
    for token in _TOKEN.finditer(text):
        tag = token["name"]
        if tag is None:
            continue
        if token["close"]:
            open_tags.pop()
            if len(open_tags) == 1 and tag == "joint":
                yield spot
            continue
        if len(open_tags) == 1 and tag == "joint":
            spot = _Spot(token.end())
        elif len(open_tags) == 2 and tag == "origin" and open_tags[1] == "joint":
            spot = _Spot(spot.after, token)
        if not token["empty"]:
            open_tags.append(tag)


def _edits(text: str, spot: _Spot, change: Mapping[str, str]) -> Iterator[tuple[int, int, str]]:
    """Start, end and new text of every piece to exchange."""
    if spot.origin is None:
        gap = re.compile(r"\s*").match(text, spot.after)
        indent = gap[0] if gap else ""
        yield spot.after, spot.after, f"{indent}<origin{_added(change)}/>"
        return
    begin, end = spot.origin.span("attributes")
    present = {a[1]: a.span("value") for a in _ATTRIBUTE.finditer(text, begin, end)}
    for key, value in change.items():
        if key in present:
            yield *present[key], value
    last = begin + len(text[begin:end].rstrip())
    yield last, last, _added({k: v for k, v in change.items() if k not in present})


def _added(change: Mapping[str, str]) -> str:
    return "".join(f' {key}="{value}"' for key, value in change.items())


def _check(data: bytes, wanted: Mapping[str, Pose], file: str) -> None:
    """The new text, read again, says what was asked for."""
    for joint in read_links(parse(data, file)).joints:
        if np.max(np.abs(joint.pose.matrix() - wanted[joint.name].matrix())) > 2e-9:
            raise FormatError(
                f"{file}: the <origin> of joint {joint.name!r} cannot be edited in place; "
                "simplify the markup around it",
                value=joint.name,
            )


NAMES = ("shoulder", "upper_arm", "forearm", "wrist_1", "wrist_2", "wrist_3")


def kinematics_text(model: Robot, poses: Mapping[str, Pose], mark: str) -> str:
    """The file's text; ``poses`` are the corrected ones of all frames, ``mark`` stands in the file as its hash."""
    motions = [f.joint for f in model.tree.frames if f.joint is not None]
    if len(motions) != 6 or any(m.kind != "revolute" or m.follows for m in motions):
        raise UnsupportedError(
            f"robot {model.name} has not six revolute joints of their own, so kinematics.yaml cannot describe it; use "
            "a URDF or the calibration itself",
            parameter="urdf",
        )
    lines = ["kinematics:"]
    for name, pose in zip(NAMES, origins(model, poses), strict=True):
        numbers = (*(float(v) for v in pose.translation), *matrix_rpy(pose.rotation))
        lines.append(f"  {name}:")
        words = ("x", "y", "z", "roll", "pitch", "yaw")
        lines += [f"    {word}: {number + 0.0!r}" for word, number in zip(words, numbers, strict=True)]
    return "\n".join([*lines, f"  hash: {mark}", ""])


def origins(model: Robot, poses: Mapping[str, Pose]) -> list[Pose]:
    """Pose of every joint frame, with z along its axis, in the one before."""
    out, way, turn = [], Pose(), Pose()
    for frame in model.tree.path(model.tool):
        way = way @ poses[frame.name]
        if frame.joint is not None:
            align = Pose(align_z(np.asarray(frame.joint.unit_axis)))
            out.append(Pose(turn.rotation.T) @ way @ align)
            way, turn = Pose(), align
    return out


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
