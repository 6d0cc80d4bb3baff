"""The links and joints of a URDF as a tree, or one sentence on why they are none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from elastocal.errors import InputError, UnknownNameError
from elastocal.files.robot.urdf_tags import Tag, named
from elastocal.model.frames import JointKind, JointMotion
from elastocal.spatial.pose import Pose
from elastocal.spatial.rotation import align_z, axis_matrix

KINDS: dict[str, JointKind | None] = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "fixed": None,
}


@dataclass(frozen=True)
class Joint:
    name: str
    parent: str
    child: str
    pose: Pose
    motion: JointMotion | None
    tag: Tag

    @property
    def frozen_pose(self) -> Pose:
        """Where the child stands while every leader is at zero."""
        motion = self.motion
        if motion is None or motion.offset == 0:
            return self.pose
        if motion.kind == "prismatic":
            return self.pose @ Pose(translation=motion.unit_axis * motion.offset)
        turn = align_z(motion.unit_axis)
        return self.pose @ Pose(turn @ axis_matrix(2, motion.offset) @ turn.T)


@dataclass(frozen=True)
class Links:
    """The tree of links: ``above`` is the joint that carries a link, ``below`` the joints that a link carries."""

    robot: Tag
    tags: dict[str, Tag]
    joints: tuple[Joint, ...]
    root: str
    above: dict[str, Joint]
    below: dict[str, tuple[Joint, ...]]

    def find(self, name: str, what: str) -> str:
        if name not in self.tags:
            raise UnknownNameError("link", name, self.tags, f"{self.robot.file}, {what}")
        return name

    def path(self, link: str, start: str) -> tuple[Joint, ...]:
        """Joints from ``start`` to ``link``."""
        out: list[Joint] = []
        end = link
        while link != start:
            if link == self.root:
                raise InputError(
                    f"{self.robot.file}: link {start!r} does not carry {end!r}; choose a base nearer to {self.root!r}"
                )
            out.append(self.above[link])
            link = out[-1].parent
        return tuple(reversed(out))

    def carried(self, start: str) -> Iterator[Joint]:
        """Every joint from ``start`` outwards, parents first, in document order."""
        waiting = list(reversed(self.below[start]))
        while waiting:
            joint = waiting.pop()
            yield joint
            waiting += reversed(self.below[joint.child])


def read_links(robot: Tag) -> Links:
    tags = named(robot, "link")
    if not tags:
        raise robot.error("holds no <link>; a robot needs at least one")
    joints = _joints(robot, tags)
    above: dict[str, Joint] = {}
    for joint in joints:
        other = above.setdefault(joint.child, joint)
        if other is not joint:
            raise joint.tag.error(
                f"link {joint.child!r} already hangs on joint {other.name!r} (line {other.tag.line}), "
                "which closes a loop; keep one of the two joints"
            )
    roots = [name for name in tags if name not in above]
    if len(roots) > 1:
        raise robot.error(f"links {', '.join(roots)} all lack a parent; join them to one root with fixed joints")
    below = {name: tuple(j for j in joints if j.parent == name) for name in tags}
    tree = Links(robot, tags, joints, roots[0] if roots else "", above, below)
    reached = {j.name for j in tree.carried(tree.root)} if roots else set()
    if astray := [j for j in joints if j.name not in reached]:
        raise astray[0].tag.error("belongs to a cycle of links that no root carries; remove one joint of the cycle")
    return tree


def _joints(robot: Tag, links: Mapping[str, Tag]) -> tuple[Joint, ...]:
    joints = {name: _joint(name, tag, links) for name, tag in named(robot, "joint").items()}
    return tuple(replace(j, motion=_led(j, joints)) for j in joints.values())


def _joint(name: str, tag: Tag, links: Mapping[str, Tag]) -> Joint:
    ends = []
    for role in ("parent", "child"):
        end = tag.need(role)
        if end.text("link") not in links:
            raise UnknownNameError("link", end.text("link"), links, end.where)
        ends.append(end.text("link"))
    return Joint(name, ends[0], ends[1], tag.origin(), _motion(tag), tag)


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


def _led(joint: Joint, joints: Mapping[str, Joint]) -> JointMotion | None:
    """A follower's motion referred to the first joint of its chain of leaders."""
    motion, seen = joint.motion, {joint.name}
    while motion is not None and motion.follows is not None:
        leader = joints.get(motion.follows)
        if leader is None or leader.motion is None:
            moving = [name for name, j in joints.items() if j.motion is not None]
            raise UnknownNameError("moving joint", motion.follows, moving, joint.tag.where)
        if leader.name in seen:
            raise joint.tag.error(f"mimic leads back to {leader.name!r}; let it follow a joint with a value of its own")
        if leader.motion.follows is None:
            return motion
        seen.add(leader.name)
        led = leader.motion
        ratio, offset = motion.ratio * led.ratio, motion.ratio * led.offset + motion.offset
        motion = replace(motion, follows=led.follows, ratio=ratio, offset=offset)
    return motion
