"""URDF read as a robot model; what URDF leaves open or this model cannot hold is said in ``notes``.

Names.  A moving joint gives a frame with the joint's name, and its child link a frame with the link's name:
identity, carried by the joint's frame and carrying the link's mass and whatever comes next (one frame if both
names are the same).  A fixed joint gives one frame with its child link's name.  The link the model starts from
is ``base``.  URDF lets a joint and another link share a name, and lets any link be called ``base``: then the
link's frame is called ``<link>_frame``, with a note.  ``joint_of`` leads from a frame to the joint whose
``<origin>`` is its pose (none for a joint frozen away from zero).

Moving joints beside the path from base to tool are frozen at their value for all leaders at zero.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from elastocal.errors import InputError
from elastocal.files.robot.urdf_links import Joint, Links, read_links
from elastocal.files.robot.urdf_tags import Tag, document
from elastocal.model.frames import BASE, Frame, FrameTree, JointMotion
from elastocal.model.loads.link_mass import LinkMass
from elastocal.model.robot import RobotModel
from elastocal.spatial.entries import Array
from elastocal.spatial.pose import Pose

GRAVITY = 9.80665


@dataclass(frozen=True)
class UrdfRobot:
    """The model, every assumption behind it in a sentence, and the URDF joint behind each frame's pose."""

    model: RobotModel
    notes: tuple[str, ...]
    joint_of: Mapping[str, str] = field(default_factory=dict)


def read_urdf(path: Path, tool: str | None = None, base: str | None = None) -> UrdfRobot:
    """The serial robot from link ``base`` (default: the root) to link ``tool`` (default: the leaf with most joints)."""
    links = read_links(document(path))
    start = links.root if base is None else links.find(base, "base")
    end = _deepest(links, start) if tool is None else links.find(tool, "tool")
    route = links.path(end, start)
    joints = tuple(links.carried(start))
    names, notes = _names(joints, start)
    frames, frozen, joint_of = _frames(joints, {j.name for j in route}, names, path.name)
    gravity, assumed = _gravity(links, start)
    model = RobotModel(
        name=links.robot.xml.get("name") or path.stem,
        tree=FrameTree(frames),
        tool=names[end],
        elements=tuple(_masses(links.tags, names, path.name)),
        gravity=gravity,
        source=path.name,
    )
    return UrdfRobot(model, (*assumed, *notes, *frozen), joint_of)


def _deepest(links: Links, start: str) -> str:
    leaves = [j.child for j in links.carried(start) if not links.below[j.child]] or [start]
    count = {leaf: sum(j.motion is not None for j in links.path(leaf, start)) for leaf in leaves}
    best = [leaf for leaf in leaves if count[leaf] == max(count.values())]
    if len(best) > 1:
        raise InputError(
            f"{links.robot.file}: {len(best)} end links have {count[best[0]]} moving joints each "
            f"({', '.join(best)}); say which is the tool"
        )
    return best[0]


def _names(joints: Sequence[Joint], start: str) -> tuple[dict[str, str], list[str]]:
    """Frame name of every link from ``start`` outwards, and a note for each that is not the link's own."""
    moving = {j.name for j in joints if j.motion is not None}
    if BASE in moving:
        joint = next(j for j in joints if j.name == BASE)
        raise joint.tag.error(f"{BASE!r} is the name of the fixed end of the robot; rename the joint")
    taken = moving | {j.child for j in joints} | {BASE, start}
    names = {start: BASE}
    for joint in joints:
        link = name = joint.child
        own = joint.motion is not None and joint.name == link
        if not own and (link in moving or link == BASE):
            while name in taken:
                name += "_frame"
            taken.add(name)
        names[link] = name
    return names, [f"link {link!r} is frame {name!r}" for link, name in names.items() if link != name]


def _frames(
    joints: Sequence[Joint], route: set[str], names: Mapping[str, str], file: str
) -> tuple[tuple[Frame, ...], list[str], dict[str, str]]:
    frames: list[Frame] = []
    notes: list[str] = []
    joint_of: dict[str, str] = {}
    for joint in joints:
        parent, link, motion = names[joint.parent], names[joint.child], joint.motion
        source = f"{file}, joint {joint.name}"
        name = link if motion is None else joint.name
        moves = motion is not None and joint.name in route and (motion.follows or joint.name) in route
        pose = joint.pose if moves else joint.frozen_pose
        frames.append(Frame(name, parent, pose, motion if moves else None, source))
        if pose is joint.pose:
            joint_of[name] = joint.name
        if motion and moves:
            if motion.limits is None and joint.tag.text("type") != "continuous":
                notes.append(f"joint {joint.name!r} has no limits in the file; none are assumed")
        elif motion:
            notes.append(_frozen(joint, motion, on_route=joint.name in route))
        if name != link:
            frames.append(Frame(link, name, source=f"{file}, link {joint.child}"))
    return tuple(frames), notes, joint_of


def _frozen(joint: Joint, motion: JointMotion, on_route: bool) -> str:
    why = f"its leader {motion.follows!r} does not lie" if on_route else "it does not lie"
    lead = f", where {motion.follows!r} is zero" if motion.follows else ""
    low, high = motion.limits or (-np.inf, np.inf)
    beyond = "" if low <= motion.offset <= high else f", outside its limits {low!r} to {high!r}"
    return (
        f"joint {joint.name!r} is frozen at {motion.offset!r} {motion.unit}{lead}{beyond}: "
        f"{why} on the path from base to tool"
    )


def _gravity(links: Links, start: str) -> tuple[Array, list[str]]:
    """Down is -z of the root link, turned into the axes of ``start``."""
    pose = Pose()
    notes = [f"gravity is assumed to be {GRAVITY} m/s2 along -z of link {links.root!r}; URDF does not say"]
    for joint in links.path(start, links.root):
        pose = pose @ joint.frozen_pose
        if joint.motion:
            notes.append(
                f"joint {joint.name!r} is frozen at {joint.motion.offset!r} {joint.motion.unit}: "
                "it lies before the base"
            )
    kept = {start, *(j.child for j in links.carried(start))}
    if left := [name for name in links.tags if name not in kept]:
        notes.append(f"links that {start!r} does not carry are left out: {', '.join(left)}")
    return pose.rotation.T @ np.array([0.0, 0.0, -GRAVITY]) + 0.0, notes


def _masses(tags: Mapping[str, Tag], names: Mapping[str, str], file: str) -> Iterator[LinkMass]:
    for link, frame in names.items():
        inertial = tags[link].one("inertial")
        if inertial is None:
            continue
        tag = inertial.need("mass")
        (mass,) = tag.numbers("value", 1)
        if mass < 0:
            raise tag.error(f"value {mass!r} is negative; give the mass in kg")
        # the rotation of the inertial origin turns the inertia tensor, not the centre of mass
        x, y, z = (mass * float(c) for c in inertial.origin().translation)
        if mass > 0:
            yield LinkMass(frame=frame, mass=mass, moment=(x, y, z), source=f"{file}, link {link}")
