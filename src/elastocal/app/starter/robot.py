"""What a new cell adds to a robot: the controller of its maker, and other springs for a calibration to find.

A URDF or DH table knows nothing of the controller:

    KUKA     A1 to A6, KRL
    FANUC    J1 to J6, TP; J3 is the angle of the forearm against the horizontal, so that joint 3 = J3 + J2
    Yaskawa  S L U R B T, INFORM

By the maker in the robot's name; six revolute joints only.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from elastocal.model.robot import Robot

AXES = {
    "krl": ("A1", "A2", "A3", "A4", "A5", "A6"),
    "fanuc": ("J1", "J2", "J3", "J4", "J5", "J6"),
    "jbi": ("S", "L", "U", "R", "B", "T"),
}
"""Names of the axes on the pendant, by language."""
FACTORS = (1.25, 0.8, 1.15, 0.85, 1.3, 0.9)
"""True over stated compliance, one place after the other."""
SPRINGS = ("joint_compliance", "motor_compliance", "link_compliance", "foundation_compliance")


def with_controller(model: Robot) -> tuple[Robot, tuple[str, ...]]:
    """The robot with axes as its controller shows them, and what is assumed for it."""
    from elastocal.compensation.posts.post import language

    spoken = language(model)
    plain = not model.controller.language and np.array_equal(model.controller.matrix, np.eye(model.n))
    if not spoken or not plain or model.n != 6 or any(m.kind != "revolute" for m in model.motions):
        return model, ()
    axes = AXES.get(spoken, model.controller.axes)
    notes = [f"programs are taken to be in {spoken}, by the name {model.name}"]
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
    made = replace(model.controller, axes=axes, matrix=matrix, language=spoken)  # type: ignore[arg-type]
    return replace(model, transmission=made), tuple(notes)


def _level(model: Robot) -> float:
    """What joint 3 turns with joint 2, so that the forearm keeps its direction."""
    from elastocal.model.kinematics import kinematics

    turns = kinematics(model, np.zeros((1, model.n))).jacobian[0, 3:, 1:3]
    return -float(np.sign(turns[:, 0] @ turns[:, 1])) or 1.0


def made_up_robot(stated: Robot) -> Robot | None:
    """A robot to try the cell with: every spring softer or stiffer than its file says; None where it has none."""
    springs = [p for p in stated.parameters if p.kind in SPRINGS and p.value]
    places = tuple(dict.fromkeys(p.name.rpartition(".")[0] for p in springs))
    factor = {place: FACTORS[i % len(FACTORS)] for i, place in enumerate(places)}
    values = {p.name: factor[p.name.rpartition(".")[0]] * p.value for p in springs}
    return stated.with_parameters(values) if values else None
