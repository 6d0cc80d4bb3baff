"""What a new cell adds to a robot: the controller of its maker, and other springs for a calibration to find.

A URDF or DH table knows nothing of the controller:

    KUKA     A1 to A6, KRL
    FANUC    J1 to J6, TP; J3 is the angle of the forearm against the horizontal, so that joint 3 = J3 + J2
    Yaskawa  S L U R B T, INFORM

FANUC's world frame and Yaskawa's robot frame lie on axis 1 at the height of axis 2.  By the maker in the robot's name;
six revolute joints only.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, get_args

import numpy as np

from elastocal.errors import UnknownNameError
from elastocal.model.transmission import Language

if TYPE_CHECKING:
    from elastocal.model.robot import Robot

AXES = {
    "krl": ("A1", "A2", "A3", "A4", "A5", "A6"),
    "fanuc": ("J1", "J2", "J3", "J4", "J5", "J6"),
    "jbi": ("S", "L", "U", "R", "B", "T"),
}
"""Names of the axes on the pendant, by language."""
WORLDS = ("fanuc", "jbi")
"""Languages whose targets count from such a frame."""
PARALLEL = 1e-6
FACTORS = (1.25, 0.8, 1.15, 0.85, 1.3, 0.9)
"""True over stated compliance, one place after the other."""
CAM = ("apt", "gcode", "csv")
"""Languages of programs that no controller speaks: they need no axes of its own."""
SPRINGS = ("joint_compliance", "motor_compliance", "link_compliance", "foundation_compliance")


def check_language(spoken: str) -> None:
    valid = [*(word for word in get_args(Language) if word), *CAM]
    if spoken not in valid:
        raise UnknownNameError("language of programs", spoken, valid)


def with_controller(model: Robot, asked: str | None = None) -> tuple[Robot, tuple[str, ...]]:
    """The robot with axes as its controller shows them, and what is assumed for it; ``asked`` is its language."""
    from elastocal.compensation.placed import own_base
    from elastocal.compensation.posts.post import language, named_language

    spoken = asked or language(model)
    plain = not model.controller.language and np.array_equal(model.controller.matrix, np.eye(model.n))
    if not spoken or not plain or model.n != 6 or any(m.kind != "revolute" for m in model.motions):
        return model, (
            f"{asked} is left out: its axes are known for arms of six revolute joints only",
        ) if asked else ()
    axes = AXES.get(spoken, model.controller.axes)
    why = f"the name {model.name}" if named_language(model) else "the names of its axes"
    notes = [] if asked else [f"programs are taken to be in {spoken}, by {why}"]
    if axes != model.controller.axes:
        notes.append(
            f"joints {model.joints[0]} to {model.joints[-1]} are taken as axes {', '.join(axes)}, in this order"
        )
    matrix = model.controller.matrix.copy()
    if spoken == "fanuc":
        matrix[2, 1] = _level(model)
        notes.append(
            f"{model.joints[2]} is taken to be coupled to J2, as the pendant of a FANUC shows J3 against the "
            "horizontal; remove the coupling where tables hold joint values of ROS"
        )
    if spoken in WORLDS and own_base(model) is None:
        model = _with_world(model)
        notes.append("the controller's own frame, 'world', is taken to lie on axis 1 at the height of axis 2")
    made = replace(model.controller, axes=axes, matrix=matrix, language=spoken)  # type: ignore[arg-type]
    return replace(model, transmission=made), tuple(notes)


def _with_world(model: Robot) -> Robot:
    """The robot with the frame of its controller: the point of axis 1 that is nearest to axis 2."""
    from elastocal.model.frames import BASE, Frame
    from elastocal.model.kinematics import kinematics, rigid_pose
    from elastocal.spatial.pose import Pose

    zero = np.zeros((model.n, 1))
    first, second = (rigid_pose(model.nominal, joint, zero)[0][:, 0] for joint in model.joints[:2])
    a, b = kinematics(model.nominal, zero.T).jacobian[0, 3:, :2].T
    normal = np.cross(np.cross(a, b), b)
    along = float(normal @ (second - first)) / float(normal @ a) if abs(normal @ a) > PARALLEL else 0.0
    frame = Frame("world", BASE, Pose(np.eye(3), first + along * a), source="assumed: on axis 1, at axis 2")
    return replace(model, tree=replace(model.tree, frames=(*model.tree.frames, frame)))


def _level(model: Robot) -> float:
    """What joint 3 turns with joint 2, so that the forearm keeps its direction."""
    from elastocal.model.kinematics import kinematics

    turns = kinematics(model, np.zeros((1, model.n))).jacobian[0, 3:, 1:3]
    return -float(np.sign(turns[:, 0] @ turns[:, 1])) or 1.0


def made_up_robot(stated: Robot, unloaded: bool = False) -> Robot | None:
    """A robot to try the cell with: every spring softer or stiffer than its file says; None where it has none.

    For a campaign without loads it is drawn from the priors of all that is estimated then.
    """
    if unloaded:
        from elastocal.calibration.planning import drawn_robot

        return drawn_robot(stated, np.random.default_rng(1))
    springs = [p for p in stated.parameters if p.kind in SPRINGS and p.value]
    places = tuple(dict.fromkeys(p.name.rpartition(".")[0] for p in springs))
    factor = {place: FACTORS[i % len(FACTORS)] for i, place in enumerate(places)}
    values = {p.name: factor[p.name.rpartition(".")[0]] * p.value for p in springs}
    return stated.with_parameters(values) if values else None
