"""Start values of a robot that is known by its geometry alone: joint compliances and link masses of its size.

    k_i = wind-up / T_i        T_i = g l_i (payload + centre * mass beyond joint i)

with l_i the way from joint i to the tool, at least a tenth of the whole: gears are chosen by torque, and the rated
torque winds them up by about the same angle whatever their size.  The numbers are in ``elastocal.robots.sizes``, with
their sources; everything that comes from them is marked ``assumed``.  It is for planning and as the start and the prior
of an identification, never a measurement.
"""

from __future__ import annotations

from dataclasses import replace
from math import exp, log
from typing import TYPE_CHECKING

import numpy as np

from elastocal.arguments import checked
from elastocal.errors import RangeError, UnobservableError
from elastocal.model.compliant.joint_compliance import JointCompliance
from elastocal.model.frames import Frame
from elastocal.model.loads.link_mass import LinkMass
from elastocal.robots import sizes
from elastocal.spatial.entries import Array
from elastocal.spatial.pose import Pose

if TYPE_CHECKING:
    from elastocal.model.robot import Robot

G = 9.80665
LEAST = 0.01
"""Least share of a link in the moving mass: joints at one place still carry a housing."""


def ways_left(robot: Robot) -> dict[str, float]:
    """Joint and way in m from it to the tool along the chain, slides drawn out, in the order of the joints."""
    out: dict[str, float] = {}
    way = 0.0
    for frame in reversed(robot.tree.path(robot.tool)):
        if frame.joint is not None:
            way += max(map(abs, frame.joint.limits or (0.0,))) if frame.joint.kind == "prismatic" else 0.0
            out[frame.name] = way
        way += float(np.linalg.norm(frame.pose.translation))
    return dict(reversed(out.items()))


def rated_payload_of(reach: float) -> float:
    """Payload in kg that arms of this reach in m are sold with."""
    slope, level = np.polyfit([log(r) for _, _, r, _ in sizes.ARMS], [log(p) for _, p, _, _ in sizes.ARMS], 1)
    return exp(level + slope * log(reach))


def careful_payload(robot: Robot, flange: str) -> float:
    """A guess in kg of what may hang at the tool: the least that arms in the table carry for a metre of their reach,
    no more than the usual payload, and less by the lever of the tool beyond the flange.

    Start values are made with the usual payload alone (``rated_payload_of``): a compliance may be wrong by a factor, a
    load may not."""
    least = min(payload / reach for _, payload, reach in (*(a[:3] for a in sizes.ARMS), *sizes.SLENDER))
    reach, whole = (_size(replace(robot, tool=frame), None)[1] for frame in (flange, robot.tool))
    return min(least * reach, rated_payload_of(reach)) * reach / max(reach, whole)


def mass_of(payload: float, reach: float) -> float:
    """Mass in kg of an arm, foot included, by its rated payload in kg and reach in m."""
    design = np.array([(1.0, log(p), log(r)) for _, p, r, _ in sizes.ARMS])
    known, *_ = np.linalg.lstsq(design, np.log([m for *_, m in sizes.ARMS]), rcond=None)
    return exp(float(known @ (1.0, log(payload), log(reach))))


def with_masses(robot: Robot, rated_payload: float | None = None, mass: float | None = None) -> Robot:
    """The robot with a mass on every link that has none, at the middle between its joints.

    ``mass`` is that of the whole arm in kg; without one it follows from the rated payload and the reach.
    """
    ways, reach, payload = _size(robot, rated_payload)
    total = mass_of(payload, reach) if mass is None else _positive("mass", mass)
    joints = tuple(ways)
    shares = np.maximum(np.diff([*(-_beyond(ways[j] / reach) for j in joints), 0.0]), LEAST * _beyond(1.0))
    shares *= _beyond(1.0) / shares.sum()
    owner = _owners(robot)
    weighed = {owner.get(e.frame) for e in _link_masses(robot) if e.mass}
    source = f"{total:.3g} kg in all, {_why(mass, rated_payload)}; {sizes.BEYOND_SOURCE}"
    added = []
    for joint, share in zip(joints, shares, strict=True):
        if joint not in weighed:
            m = total * float(share)
            x, y, z = (0.5 * m * float(c) for c in _end_of_link(robot, joint))
            added.append(LinkMass(frame=joint, mass=m, moment=(x, y, z), source=source, status="assumed"))
    dropped = {e.frame for e in added}
    replaced = [e for e in _link_masses(robot) if e.frame in dropped]
    kept = [e for e in robot.elements if e not in replaced]
    return replace(robot, elements=(*kept, *added))


def bending(robot: Robot) -> Robot:
    """The robot; one whose file is rigid gets start values of joint compliance by its size, and a note that says so."""
    if any(np.any(c.compliance()) for c in robot.coordinates) or not robot.joints:
        return robot
    made = with_joint_compliance(robot)
    taken = [e for e in made.elements if isinstance(e, JointCompliance) and e not in robot.elements]
    values = ", ".join(f"{e.joint}.k {1e6 * e.k:.3g}" for e in taken)
    note = (
        "The robot file is rigid: nothing in it gives way to a load. Start values by the size of the robot are assumed "
        f"(urad/(N m), um/N of prismatic joints: {values}); accuracies planned with them are as good as these. State "
        "better ones in the robot file."
    )
    return replace(made, notes=(*made.notes, note))


@checked()
def with_joint_compliance(robot: Robot, rated_payload: float | None = None, mass: float | None = None) -> Robot:
    """The robot with a compliance at every joint that has none or zero.

    ``rated_payload`` in kg (without one that of arms of the same reach); ``mass`` of the arm in kg (without one that of
    its links, or what follows from payload and reach).
    """
    ways, reach, payload = _size(robot, rated_payload)
    known = {d.frame for c in robot.coordinates if np.any(c.compliance()) for d in c.dofs()}
    moving = _moving_mass(robot, tuple(ways)) if mass is None else {}
    total = mass_of(payload, reach) if mass is None else _positive("mass", mass)
    added: list[JointCompliance] = []
    for joint, way in ways.items():
        motion = robot.tree.joint(joint)
        if joint in known or motion.follows is not None:
            continue
        beyond = moving.get(joint) or total * _beyond(max(way / reach, sizes.WRIST))
        force = G * (payload + beyond)
        torque = G * max(way, sizes.WRIST * reach) * (payload + sizes.CENTRE * beyond)
        turns = motion.kind == "revolute"
        k = sizes.WIND_UP / torque if turns else sizes.STROKE / force
        size = "" if rated_payload is None else f"rated payload {payload:.3g} kg, "
        source = f"{size}reach {reach:.3g} m: {sizes.WIND_UP_SOURCE if turns else sizes.STROKE_SOURCE}"
        added.append(JointCompliance(joint=joint, k=k, source=source, status="assumed"))
    new = {e.joint for e in added}
    kept = [e for e in robot.elements if not (isinstance(e, JointCompliance) and e.joint in new)]
    return replace(robot, elements=(*kept, *added))


def _size(robot: Robot, rated_payload: float | None) -> tuple[dict[str, float], float, float]:
    """Ways left by joint, reach in m and payload in kg."""
    ways = ways_left(robot)
    if not ways:
        raise UnobservableError(
            f"robot {robot.name}: no joint moves its tool {robot.tool!r}; choose another tool",
            value=(robot.name, robot.tool),
        )
    turning = [way for joint, way in ways.items() if robot.tree.joint(joint).kind == "revolute"]
    reach = max(*(turning or ways.values()), 0.05)  # a track below the arm is no part of its reach
    payload = rated_payload_of(reach) if rated_payload is None else _positive("rated_payload", rated_payload)
    return ways, reach, payload


def _positive(name: str, value: float) -> float:
    if not (np.isfinite(value) and value > 0):
        raise RangeError(f"{name} is {value} kg; give a number above zero", value=(name, value))
    return float(value)


def _why(mass: float | None, rated_payload: float | None) -> str:
    if mass is not None:
        return "as given"
    size = "reach" if rated_payload is None else f"rated payload {rated_payload:g} kg and reach"
    return f"by {size} ({sizes.ARMS_SOURCE})"


def _beyond(share: float) -> float:
    """Share of the mass beyond a joint with this share of the way left."""
    ways, masses = zip(*sizes.BEYOND, strict=True)
    return float(np.interp(share, ways, masses))


def _link_masses(robot: Robot) -> list[LinkMass]:
    """Without payloads, which are of the same class."""
    return [e for e in robot.elements if isinstance(e, LinkMass) and e.kind == LinkMass.kind]


def _owners(robot: Robot) -> dict[str, str]:
    """Frame and the last joint of the path to the tool that carries it; none for what does not move."""
    path = {f.name for f in robot.tree.path(robot.tool) if f.joint is not None}
    out: dict[str, str] = {}
    for frame in robot.tree.frames:
        if frame.name in path:
            out[frame.name] = frame.name
        elif frame.parent in out:
            out[frame.name] = out[frame.parent]
    return out


def _moving_mass(robot: Robot, joints: tuple[str, ...]) -> dict[str, float]:
    """Mass beyond each joint by the robot's own link masses."""
    owner = _owners(robot)
    masses = dict.fromkeys(joints, 0.0)
    for e in _link_masses(robot):
        if e.frame in owner:
            masses[owner[e.frame]] += e.mass
    beyond = np.cumsum([masses[j] for j in reversed(joints)])[::-1]
    return dict(zip(joints, (float(m) for m in beyond), strict=True))


def _end_of_link(robot: Robot, joint: str) -> Array:
    """Where the next joint, or the tool, stands in the frame of a joint."""
    path: tuple[Frame, ...] = robot.tree.path(robot.tool)
    start = next(i for i, f in enumerate(path) if f.name == joint)
    pose = Pose()
    for frame in path[start + 1 :]:
        pose = pose @ frame.pose
        if frame.joint is not None:
            break
    return pose.translation
