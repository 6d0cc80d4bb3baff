"""Configurations in which an arm reaches a pose: what a program that states none leaves to others.

Found by the inverse kinematics from many starts, so that arms of any build have them.
"""

from __future__ import annotations

import numpy as np

from elastocal.compensation.nominal import Nominal
from elastocal.compensation.targets import Targets
from elastocal.model.robot import Robot
from elastocal.model.task import task
from elastocal.spatial.entries import Array

SEEDS = 256
SAME = 1e-3
"""m, and halves of rad, within which two configurations are one."""


def ways_to(robot: Robot, frame: str, position: Array, rotation: Array) -> Array:
    """Controller values (k, n) that reach a pose within the limits, those farthest from them first.

    The joint that is nearest to a limit counts, then all of them; a whole turn of a joint is no other way.
    """
    from scipy.stats import qmc

    low, high = np.array([m.limits or (-np.pi, np.pi) for m in robot.motions]).T
    seeds = low + qmc.Halton(robot.n, scramble=False).random(SEEDS + 1)[1:] * (high - low)
    targets = Targets(frame, np.repeat(position[None], SEEDS, axis=0), np.repeat(rotation[None], SEEDS, axis=0), seeds)
    solved = next(f for *_, f in Nominal(robot, frame, task(robot, frame)).chunks(targets, SEEDS))
    q = solved.q[:, solved.reached].T
    share = np.minimum(q - low, high - q) / (high - low)
    room = share.min(axis=1) if len(q) else np.empty(0)
    turning = np.array([m.kind == "revolute" for m in robot.motions])
    out: list[Array] = []
    for i in np.lexsort((-share.mean(axis=1), -np.round(room, 3)))[: int((room >= 0).sum())]:
        off = [np.where(turning, np.abs(np.sin((q[i] - other) / 2)), np.abs(q[i] - other)) for other in out]
        if all(one.max() > SAME for one in off):
            out.append(q[i])
    return np.asarray(robot.controller.to_controller(np.array(out).reshape(len(out), robot.n)))
