"""URDF read as a tree of links, or one sentence on why it is none, and as the robot from its root to a tool.

What URDF leaves open or the model cannot hold is said in ``notes`` of the model; names and branches: ``links``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path

import numpy as np

from elastocal.errors import InputError, UnknownNameError
from elastocal.files.robot.geometry import link_bodies, link_shapes
from elastocal.files.robot.links import Joint, Links, SerialRobot, infer_tool, serial_robot
from elastocal.files.robot.plausible import size_of, wrong_centre, wrong_inertia, wrong_length, wrong_mass, wrong_number
from elastocal.files.robot.urdf_tags import Tag, document, named, parse
from elastocal.model.frames import JointKind, JointMotion
from elastocal.spatial.entries import Array

GRAVITY = 9.80665
KINDS: dict[str, JointKind | None] = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "fixed": None,
}


def read_urdf(
    path: str | PathLike[str],
    tool: str | None = None,
    base: str | None = None,
    arguments: Mapping[str, str] | None = None,
) -> SerialRobot:
    """The serial robot from link ``base`` (default: the root) to link ``tool`` (default: inferred).

    A .xacro file is expanded first, with its ``arguments``.
    """
    robot = _expanded(Path(path), arguments or {})
    links = read_links(robot)
    note = f"gravity is assumed to be {GRAVITY} m/s2 along -z of link {links.root!r}; URDF does not say"
    name, gravity = robot.xml.get("name") or Path(path).stem, np.array([0.0, 0.0, -GRAVITY])
    return serial_robot(
        links, name, Path(path).name, gravity, tool, base, (note, *_doubts(robot, links), *links.unread)
    )


def link_of_joints(path: Path, arguments: Mapping[str, str], titles: Sequence[str]) -> str | None:
    """The link that the last joint carries of those with a title among ``titles``, if they lie on one path.

    None where the inferred end of the robot has these joints and no others.
    """
    links = read_links(_expanded(path, arguments))
    named = {j.name for j in links.carried(links.root) if j.own and any(_is_of(t, j.name) for t in titles)}
    paths = {j.child: links.path(j.child, links.root) for j in links.carried(links.root) if j.name in named}
    last = max(paths, key=lambda link: len(paths[link]), default=None)
    if last is None or not named <= {j.name for j in paths[last]}:
        return None
    try:
        usual = links.path(infer_tool(links, links.root)[0], links.root)
    except InputError:
        return last
    return None if {j.name for j in usual if j.own} == named else last


def _is_of(title: str, joint: str) -> bool:
    """Whether a title of a table is a joint's name, with or without a unit."""
    unit = title.strip().removeprefix(joint).strip(" _[]()")
    return title.strip().startswith(joint) and unit in ("", "rad", "deg", "m", "mm", "°")


def _expanded(path: Path, arguments: Mapping[str, str]) -> Tag:
    if path.suffix.lower() != ".xacro":
        return document(path)
    from elastocal.files.robot.xacro import expanded

    robot = parse(expanded(path, dict(arguments)), str(path))
    if not robot.xml.findall("link"):
        raise robot.error(
            "defines macros but uses none; give the file that includes it and calls its macro", code="no-macro"
        )
    return robot


def read_links(robot: Tag) -> Links:
    tags = named(robot, "link")
    if not tags:
        raise robot.error("holds no <link>; a robot needs at least one")
    if complaint := wrong_number(len(tags)):
        raise robot.error(complaint)
    joints = _joints(robot, tags)
    joint_tags = named(robot, "joint")
    above: dict[str, Joint] = {}
    for joint in joints:
        other = above.setdefault(joint.child, joint)
        if other is not joint:
            raise joint_tags[joint.name].error(
                f"link {joint.child!r} already hangs on joint {other.name!r} (line {joint_tags[other.name].line}), "
                "which closes a loop; keep one of the two joints"
            )
    roots = [name for name in tags if name not in above]
    if len(roots) > 1:
        raise robot.error(f"links {', '.join(roots)} all lack a parent; join them to one root with fixed joints")
    shapes, unread = link_shapes(tags)
    below = {name: tuple(j for j in joints if j.parent == name) for name in tags}
    tree = Links(
        robot.file,
        tuple(tags),
        joints,
        roots[0] if roots else "",
        above,
        below,
        _masses(tags, size_of([j.pose.translation for j in joints])),
        tuple(link_bodies(tags)),
        shapes,
        unread,
    )
    reached = {j.name for j in tree.carried(tree.root)} if roots else set()
    if astray := [j for j in joints if j.name not in reached]:
        raise joint_tags[astray[0].name].error(
            "belongs to a cycle of links that no root carries; remove one joint of the cycle"
        )
    return tree


def _joints(robot: Tag, links: Mapping[str, Tag]) -> tuple[Joint, ...]:
    tags = named(robot, "joint")
    joints = {name: _joint(name, tag, links) for name, tag in tags.items()}
    return tuple(replace(j, motion=_led(j, joints, tags[j.name])) for j in joints.values())


def _joint(name: str, tag: Tag, links: Mapping[str, Tag]) -> Joint:
    ends = []
    for role in ("parent", "child"):
        end = tag.need(role)
        if end.text("link") not in links:
            raise UnknownNameError("link", end.text("link"), links, end.where)
        ends.append(end.text("link"))
    if complaint := wrong_length(tag.origin().translation):
        raise (tag.one("origin") or tag).error(complaint)
    return Joint(name, ends[0], ends[1], tag.origin(), _motion(tag), tag.where, tag.text("type") == "continuous")


def _motion(tag: Tag) -> JointMotion | None:
    word = tag.text("type")
    if word in ("floating", "planar"):
        raise tag.error(f"type {word!r} moves in several directions; replace it by single joints or by type 'fixed'")
    if word not in KINDS:
        raise UnknownNameError("joint type", word, KINDS, tag.where)
    kind = KINDS[word]
    if kind is None:
        return None
    axis = tag.one("axis")
    x, y, z = axis.numbers("xyz", 3) if axis else (1.0, 0.0, 0.0)
    if axis and np.linalg.norm((x, y, z)) < 1e-9:
        raise axis.error(f"xyz={axis.text('xyz')!r} has no direction; give a non-zero vector")
    motion = JointMotion(kind, (x, y, z), None if word == "continuous" else _limits(tag))
    mimic = tag.one("mimic")
    if mimic is None:
        return motion
    (ratio,), (offset,) = mimic.numbers("multiplier", 1, (1.0,)), mimic.numbers("offset", 1, (0.0,))
    return replace(motion, follows=mimic.text("joint"), ratio=ratio, offset=offset)


def _limits(tag: Tag) -> tuple[float, float] | None:
    limit = tag.one("limit")
    if limit is None or not {"lower", "upper"} & set(limit.xml.attrib):
        return None
    (low,), (high,) = limit.numbers("lower", 1, (0.0,)), limit.numbers("upper", 1, (0.0,))
    if not low < high:
        raise limit.error(f"lower {low!r} is not below upper {high!r}; exchange them, or make the joint 'fixed'")
    return low, high


def _led(joint: Joint, joints: Mapping[str, Joint], tag: Tag) -> JointMotion | None:
    """A follower's motion referred to the first joint of its chain of leaders."""
    motion, seen = joint.motion, {joint.name}
    while motion is not None and motion.follows is not None:
        leader = joints.get(motion.follows)
        if leader is None or leader.motion is None:
            moving = [name for name, j in joints.items() if j.motion is not None]
            raise UnknownNameError("moving joint", motion.follows, moving, tag.where)
        if leader.name in seen:
            raise tag.error(f"mimic leads back to {leader.name!r}; let it follow a joint with a value of its own")
        if leader.motion.follows is None:
            return motion
        seen.add(leader.name)
        led = leader.motion
        ratio, offset = motion.ratio * led.ratio, motion.ratio * led.offset + motion.offset
        motion = replace(motion, follows=led.follows, ratio=ratio, offset=offset)
    return motion


def _masses(tags: Mapping[str, Tag], size: float) -> dict[str, tuple[float, Array]]:
    out: dict[str, tuple[float, Array]] = {}
    for link, owner in tags.items():
        inertial = owner.one("inertial")
        if inertial is None:
            continue
        tag = inertial.need("mass")
        (mass,) = tag.numbers("value", 1)
        if mass < 0:
            raise tag.error(f"value {mass!r} is negative; give the mass in kg")
        # the rotation of the inertial origin turns the inertia tensor, not the centre of mass
        centre = inertial.origin().translation
        complaint = wrong_mass(mass) or wrong_centre(centre, size) * (mass > 0) or _inertia(inertial, mass, size)[0]
        if complaint:
            raise inertial.error(complaint)
        out[link] = (mass, mass * centre)
    return out


def _inertia(inertial: Tag, mass: float, size: float) -> tuple[str, str]:
    tag = inertial.one("inertia")
    if tag is None:
        return "", ""
    xx, xy, xz, yy, yz, zz = (tag.numbers(name, 1, (0.0,))[0] for name in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
    return wrong_inertia(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]), mass, size)


def _doubts(robot: Tag, links: Links) -> tuple[str, ...]:
    """Inertias that no body has, and that are near to some that one can have."""
    out = []
    for name, owner in named(robot, "link").items():
        inertial = owner.one("inertial")
        doubt = "" if inertial is None else _inertia(inertial, links.masses[name][0], links.size)[1]
        if doubt:
            out.append(f"link {name!r}: {doubt}")
    return tuple(out)
