"""Links and joints as a tree, and the serial robot that is one path through it.

Names.  A moving joint gives a frame with the joint's name, and its child link a frame with the link's name:
identity, carried by the joint's frame and carrying the link's mass and whatever comes next (one frame if both
names are the same).  A fixed joint gives one frame with its child link's name.  The link the model starts from
is ``base``.  A joint and another link may share a name, and any link may be called ``base``: then the link's
frame is called ``<link>_frame``, with a note.

Branches.  Only the joints on the path from base to tool move, in the order of the path.  What hangs on the path
by fixed joints stays.  A branch that starts with a moving joint is left out: its mass, with its joints at their
value for all leaders at zero, is added to the link that carries the branch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace

import numpy as np

from elastocal.errors import DuplicateError, MissingError, UnknownNameError, UnsupportedError
from elastocal.files.robot.plausible import size_of
from elastocal.model.frames import BASE, Body, Frame, FrameTree, JointMotion, Shape
from elastocal.model.loads.link_mass import LinkMass
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array
from elastocal.spatial.pose import Pose
from elastocal.spatial.rotation import align_z, axis_matrix
from elastocal.values import dataclass

MOST_NAMED = 3
"""Names that a note lists."""
ENDS = ("flange", "tool0")
"""Names of links that end an arm, in the order of preference."""


@dataclass(frozen=True)
class Joint:
    """``where`` names its place for errors; ``endless`` is one that has no limits on purpose."""

    name: str
    parent: str
    child: str
    pose: Pose
    motion: JointMotion | None
    where: str = ""
    endless: bool = False

    @property
    def own(self) -> bool:
        """True where it takes a value of its own."""
        return self.motion is not None and self.motion.follows is None

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

    @property
    def frozen(self) -> str:
        """``'grip' at 0.0 m``, and whether that lies within its limits."""
        motion = self.motion
        assert motion is not None
        lead = f", where {motion.follows!r} is zero" if motion.follows else ""
        low, high = motion.limits or (-np.inf, np.inf)
        beyond = "" if low <= motion.offset <= high else f", outside its limits {low!r} to {high!r}"
        return f"{self.name!r} at {motion.offset!r} {motion.unit}{lead}{beyond}"


@dataclass(frozen=True)
class Links:
    """The tree of links: ``above`` is the joint that carries a link, ``below`` the joints that a link carries.

    ``masses`` are kg and kg m about the link's frame.
    """

    file: str
    names: tuple[str, ...]
    joints: tuple[Joint, ...]
    root: str
    above: Mapping[str, Joint]
    below: Mapping[str, tuple[Joint, ...]]
    masses: Mapping[str, tuple[float, Array]] = field(default_factory=dict)
    bodies: tuple[Body, ...] = ()
    """How links are drawn; their ``frame`` is the name of the link."""
    shapes: tuple[Shape, ...] = ()
    """The room that links take, in the same way."""
    unread: tuple[str, ...] = ()
    """Sentences on shapes that could not be read."""

    @property
    def size(self) -> float:
        """Of the robot stretched out, m."""
        return size_of([j.pose.translation for j in self.joints])

    def find(self, name: str, what: str) -> str:
        """The link of this name, or the one that a joint of this name carries: both have their frame there."""
        if name in self.names:
            return name
        carried = next((j.child for j in self.joints if j.name == name), None)
        if carried is None:
            raise UnknownNameError("link", name, self.names, f"{self.file}, {what}")
        return carried

    def path(self, link: str, start: str) -> tuple[Joint, ...]:
        """Joints from ``start`` to ``link``."""
        out: list[Joint] = []
        end = link
        while link != start:
            if link == self.root:
                raise UnsupportedError(
                    f"{self.file}: link {start!r} does not carry {end!r}; choose a base nearer to {self.root!r}",
                    value=end,
                )
            out.append(self.above[link])
            link = out[-1].parent
        return tuple(reversed(out))

    def carried(self, start: str, but: frozenset[str] = frozenset()) -> Iterator[Joint]:
        """Every joint from ``start`` outwards, parents first, in document order; none of ``but`` and beyond."""
        waiting = list(reversed(self.below[start]))
        while waiting:
            joint = waiting.pop()
            if joint.name not in but:
                yield joint
                waiting += reversed(self.below[joint.child])

    def lumped(self, link: str) -> tuple[float, Array]:
        """Mass and moment of all that a link carries, itself included, about its frame, joints at their zero."""
        poses = {link: Pose()}
        mass, moment = self.masses.get(link, (0.0, np.zeros(3)))
        for joint in self.carried(link):
            pose = poses[joint.child] = poses[joint.parent] @ joint.frozen_pose
            m, first = self.masses.get(joint.child, (0.0, np.zeros(3)))
            mass, moment = mass + m, moment + pose.rotation @ first + m * pose.translation
        return mass, moment


@dataclass(frozen=True)
class SerialRobot:
    """The model, the joint behind each frame's pose (none for a joint frozen away from zero), joints left out."""

    model: Robot
    joint_of: Mapping[str, str] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        return self.model.notes


def serial_robot(
    links: Links, name: str, source: str, gravity: Array, tool: str | None, base: str | None, notes: Sequence[str] = ()
) -> SerialRobot:
    """The robot from link ``base`` (default: the root) to link ``tool`` (default: inferred); gravity in root axes."""
    start = links.root if base is None else links.find(base, "base")
    end, chosen = infer_tool(links, start) if tool is None else (links.find(tool, "tool"), ())
    route = {j.name for j in links.path(end, start)}
    roots = [j for j in links.carried(start) if j.motion is not None and j.name not in route]
    joints = tuple(links.carried(start, frozenset(j.name for j in roots)))
    kept = {j.child for j in joints} | {start}
    branches = [j for j in roots if j.parent in kept]
    names, renamed = _names(joints, start)
    frames, frozen, joint_of = _frames(joints, route, names, source)
    turn, before = _before(links, start)
    masses = _masses(links, names, branches, source)
    left = tuple(j.name for b in branches for j in (b, *links.carried(b.child)) if j.motion is not None)
    model = Robot(
        name=name, tree=FrameTree(frames), tool=names[end], elements=tuple(masses), gravity=turn.T @ gravity + 0.0,
        source=source, notes=(*notes, *before, *chosen, *renamed, *frozen, *(_left_out(links, b) for b in branches)),
        bodies=tuple(replace(b, frame=names[b.frame]) for b in links.bodies if b.frame in names),
        shapes=tuple(replace(s, frame=names[s.frame]) for s in links.shapes if s.frame in names),
    )  # fmt: skip
    return SerialRobot(model, joint_of, left)


def infer_tool(links: Links, start: str) -> tuple[str, tuple[str, ...]]:
    """A link called flange or tool0, else the end of the path with most joints; and a note on the choice."""
    joints = tuple(links.carried(start))
    moving = {start: 0}
    for joint in joints:
        moving[joint.child] = moving[joint.parent] + joint.own
    for name in ENDS:
        if moving.get(name, 0):
            return name, (f"the tool is taken to be link {name!r}, by its name",)
    leaves = [link for link in moving if not links.below[link]]
    most = max(moving[leaf] for leaf in leaves)
    best = [leaf for leaf in leaves if moving[leaf] == most]
    lasts = {_last_moving(links, leaf, start) for leaf in best}
    if len(lasts) > 1:
        raise MissingError(
            f"{links.file}: {len(best)} end links have {most} moving joints each "
            f"({', '.join(best)}); say which is the tool",
            parameter="tool",
        )
    end = best[0] if len(best) == 1 else lasts.pop()
    why = f"the end of the longest path, with {most} moving joint{'s' * (most != 1)}"
    if end not in best:
        why = (
            f"the last that a joint moves, since {' and '.join(sorted(best))} are fixed to it; name one of them as tool"
        )
    return end, (f"the tool is taken to be link {end!r}, {why}",)


def _last_moving(links: Links, link: str, start: str) -> str:
    """The last link of the path that a joint with a value of its own carries."""
    return next((j.child for j in reversed(links.path(link, start)) if j.own), start)


def _names(joints: Sequence[Joint], start: str) -> tuple[dict[str, str], list[str]]:
    """Frame name of every link from ``start`` outwards, and a note for each that is not the link's own."""
    moving = {j.name for j in joints if j.motion is not None}
    if BASE in moving:
        joint = next(j for j in joints if j.name == BASE)
        raise DuplicateError(f"{joint.where}: {BASE!r} is the name of the fixed end of the robot; rename the joint")
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
        name = link if motion is None else joint.name
        moves = motion is not None and (motion.follows or joint.name) in route
        pose = joint.pose if moves else joint.frozen_pose
        frames.append(Frame(name, parent, pose, motion if moves else None, f"{file}, joint {joint.name}"))
        if pose is joint.pose:
            joint_of[name] = joint.name
        if motion and not moves:
            notes.append(f"joint {joint.frozen} is frozen: its leader does not lie on the path from base to tool")
        elif motion and motion.limits is None and not joint.endless:
            notes.append(f"joint {joint.name!r} has no limits in the file; none are assumed")
        if name != link:
            frames.append(Frame(link, name, source=f"{file}, link {joint.child}"))
    return tuple(frames), notes, joint_of


def _before(links: Links, start: str) -> tuple[Array, list[str]]:
    """Rotation of ``start`` in the root, and notes on what lies before it."""
    pose, notes = Pose(), []
    for joint in links.path(start, links.root):
        pose = pose @ joint.frozen_pose
        if joint.motion:
            notes.append(f"joint {joint.frozen} is frozen: it lies before the base")
    kept = {start, *(j.child for j in links.carried(start))}
    if left := [name for name in links.names if name not in kept]:
        notes.append(f"links that {start!r} does not carry are left out: {', '.join(left)}")
    return pose.rotation, notes


def in_short(names: Sequence[str]) -> str:
    """The first of many names, and how many more there are."""
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _left_out(links: Links, branch: Joint) -> str:
    joints = [j.frozen for j in (branch, *links.carried(branch.child)) if j.motion is not None]
    if len(joints) > MOST_NAMED:
        beyond = sum("outside its limits" in j for j in joints)
        joints = [f"{in_short(joints)}{f' ({beyond} of them outside their limits)' if beyond else ''}"]
    mass = links.lumped(branch.child)[0]
    added = f"; its mass of {mass:.6g} kg is added to that link" if mass else ""
    return (
        f"a branch at link {branch.parent!r} is left out, since it does not lie on the path from base to tool: "
        f"joint{'s' * (len(joints) > 1)} {'; '.join(joints)}{added}"
    )


def _masses(links: Links, names: Mapping[str, str], branches: Sequence[Joint], file: str) -> Iterator[LinkMass]:
    for link, frame in names.items():
        mass, moment = links.masses.get(link, (0.0, np.zeros(3)))
        source = f"{file}, link {link}"
        for branch in (b for b in branches if b.parent == link):
            pose = branch.frozen_pose
            m, first = links.lumped(branch.child)
            mass, moment = mass + m, moment + pose.rotation @ first + m * pose.translation
            source += f", with the branch of {branch.name}" if m else ""
        if mass > 0:
            x, y, z = (float(c) for c in moment)
            yield LinkMass(frame=frame, mass=mass, moment=(x, y, z), source=source)
