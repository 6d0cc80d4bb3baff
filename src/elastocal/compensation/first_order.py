"""First-order correction, for comparison only: the deflection computed at the desired pose is subtracted from it.

    commanded pose = desired pose - J theta(IK(T))

It leaves an error of second order in the deflection; ``correction`` leaves none.
"""

from __future__ import annotations

import numpy as np

from elastocal.compensation.commands import Commands
from elastocal.compensation.loads import PathLoads
from elastocal.compensation.nominal import Nominal
from elastocal.compensation.targets import Targets, TargetStatus
from elastocal.errors import InputError
from elastocal.model.robot import Robot
from elastocal.model.statics.forces import CHUNK
from elastocal.model.statics.loaded_state import LoadedRobot
from elastocal.model.task import Aim, task
from elastocal.spatial.rotation import rotations


def first_order(model: Robot, targets: Targets, loads: PathLoads | None = None, aim: Aim | None = None) -> Commands:
    """Commanded poses and the joint values that the controller makes of them; only reach is judged."""
    what = task(model, targets.frame, aim)
    push = loads or PathLoads()
    push.check(model, len(targets))
    inverse = Nominal(model, targets.frame, what)
    robots = [LoadedRobot(m) for m in push.models(model)]
    if robots[0].followers:
        raise InputError(f"robot {model.name} has joints that follow others; only the full correction knows them")
    position, rotation = targets.position.copy(), targets.rotation.copy()
    nominal, reached = np.empty((len(targets), model.n)), np.empty(len(targets), dtype=bool)
    for rows, _, _, found in inverse.chunks(targets, CHUNK):
        nominal[rows], reached[rows] = found.q.T, found.reached
        for some, number, applied in push.pieces(rows):
            at = slice(rows.start + some.start, rows.start + some.stop)
            robot, q = robots[number], np.where(found.reached[some], found.q[:, some], 0.0)
            bent = robot.look(q, None, applied)
            bent.theta[robot.joints] = robot.joint_bends(bent)
            bend = np.einsum("ain,in->an", bent.state.jacobian(targets.frame, robot.flex.dofs), bent.theta)
            position[at] -= bend[:3].T
            if what.aim == "pose":
                rotation[at] = np.einsum("ijn,njk->nik", rotations(-bend[3:]), rotation[at])
    sent = Targets(targets.frame, position, rotation, np.where(reached[:, None], nominal, 0.0))
    ends = [end for _, _, _, end in inverse.chunks(sent, CHUNK)]
    command, again = np.concatenate([f.q for f in ends], axis=1).T, np.concatenate([f.reached for f in ends])
    good = reached & again
    status = np.where(good, int(TargetStatus.CORRECTED), int(TargetStatus.OUT_OF_REACH))
    lost = ~good
    command[lost], position[lost], rotation[lost] = np.nan, np.nan, np.nan
    return Commands(nominal, command, position, rotation, status)
