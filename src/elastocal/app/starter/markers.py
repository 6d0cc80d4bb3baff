"""What a new cell watches, and which joint compliances its loads on the tool would show there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elastocal.app.starter.force import soft_directions, visible_bend, visible_force

if TYPE_CHECKING:
    from elastocal.model.robot import RobotModel

MARKERS = 3
OFF = 1e-3
"""Part of the robot's size by which a frame must be off the last axis to show its turn."""
SPRINGS = ("joint_compliance", "motor_compliance")
_LEAST = 0.1
"""A compliance that moves a marker by less than this part of the noise is not sought."""
_PLACES = 20


def starter_noise(model: RobotModel) -> float:
    """Standard deviation of a reading in m: a fiftieth of what is to be seen."""
    return 0.02 * visible_bend(model)


def starter_markers(model: RobotModel) -> tuple[str, ...]:
    """Frames called markers, else those that turn with the last joint beside its axis, else the tool."""
    called = [f for f in model.tree.names if f.startswith("marker")]
    beside = [f for f in model.tree.names if _turns_beside(model, f)] if model.n else []
    return tuple((called or beside)[:MARKERS]) or (model.tool,)


def starter_seek(model: RobotModel, markers: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """Names of springs in joints and motors that loads on the tool show at the markers, and those that they do not."""
    springs = [p for p in model.parameters if p.kind in SPRINGS]
    if not model.n:
        return [p.name for p in springs], []
    bends = _bends(model, markers)
    shown = {
        p.name: bends[model.joints.index(joint)] * (abs(p.value) or p.scale) > _LEAST * starter_noise(model)
        for p in springs
        if (joint := p.name.rpartition(".")[0]) in model.joints and p.kind == "joint_compliance"
    }
    names = [p.name for p in springs]
    return [n for n in names if shown.get(n, True)], [n for n in names if not shown.get(n, True)]


def _turns_beside(model: RobotModel, frame: str) -> bool:
    """A unit turn of the last joint moves a point by its distance from the axis."""
    from elastocal.model.kinematics import kinematics

    twist = kinematics(model, np.zeros((1, model.n)), frame).jacobian[0, :, -1]
    return bool(np.linalg.norm(twist[3:]) > 0.5 and np.linalg.norm(twist[:3]) > OFF * model.size)


def _bends(model: RobotModel, markers: tuple[str, ...]) -> np.ndarray:
    """(n,) movement in m of the best seen marker for a joint compliance of 1: lever of the load times lever there."""
    from elastocal.model.configurations import spread_configurations
    from elastocal.model.kinematics import kinematics

    q = spread_configurations(model, _PLACES)
    pushed = visible_force(model) * np.array(soft_directions(model), dtype=float)
    torque = np.abs(np.einsum("nij,ki->nkj", kinematics(model, q).jacobian[:, :3], pushed)).max(axis=1)
    levers = [np.linalg.norm(kinematics(model, q, m).jacobian[:, :3], axis=1) for m in markers]
    return np.asarray((torque * np.max(levers, axis=0)).max(axis=0))
