"""Forward kinematics and the 6x6 Jacobian of 100 000 configurations."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.harness import Contender, Outcome, race
from benchmarks.robots import LINKS, configurations, pinocchio_model, robot
from elastocal.model.kinematics import kinematics
from elastocal.model.robot import Robot

COUNT = 100_000
FEW = 20_000
SLOW = 200
BATCHES = {1: 0.03, 10: 0.2, 100: 1.5, 1000: None}
"""Configurations in a call, and the ratio to Pinocchio's loop that is asked for."""


def measure() -> list[Outcome]:
    model = robot().without(*LINKS)
    q = configurations(COUNT)
    contenders = [
        Contender("elastocal, batch", COUNT, lambda: kinematics(model, q)),
        Contender("Pinocchio, loop, results kept", FEW, _pinocchio(q[:FEW], keep=True), needed=6.0),
        Contender("Pinocchio, loop, nothing kept", FEW, _pinocchio(q[:FEW], keep=False), needed=4.0),
        *_optional(q),
    ]
    large = race(f"forward kinematics + 6x6 Jacobian, {COUNT} configurations", contenders)
    return [*(_small(model, q[:n], needed) for n, needed in BATCHES.items()), large]


def _small(model: Robot, q: np.ndarray, needed: float | None) -> Outcome:
    ours = Contender("elastocal", len(q), lambda: kinematics(model, q))
    theirs = Contender("Pinocchio, loop, results kept", len(q), _pinocchio(q, keep=True), needed)
    return race(f"forward kinematics + 6x6 Jacobian, {len(q)} in a call", [ours, theirs])


def _pinocchio(q: np.ndarray, keep: bool) -> Any:
    import pinocchio as pin

    model, _, _ = pinocchio_model(robot(), links=False)
    data, frame = model.createData(), model.getFrameId("tool")
    aligned = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    count = len(q)
    jacobian, position, rotation = np.empty((count, 6, 6)), np.empty((count, 3)), np.empty((count, 3, 3))

    def run() -> None:
        for i in range(count):
            pin.computeJointJacobians(model, data, q[i])
            pose = pin.updateFramePlacement(model, data, frame)
            found = pin.getFrameJacobian(model, data, frame, aligned)
            if keep:
                jacobian[i], position[i], rotation[i] = found, pose.translation, pose.rotation

    return run


def _optional(q: np.ndarray) -> list[Contender]:
    """Peers that may not install everywhere; a DH arm of the same size (its numbers do not matter for speed)."""
    table = np.array([[0, 0.35, -1.57], [0, 1.15, 0], [0, -0.041, -1.57], [1.2, 0, 1.57], [0, 0, -1.57], [0.24, 0, 0]])
    out: list[Contender] = []
    try:
        from pybotics.kinematic_chain import MDHKinematicChain
        from pybotics.robot import Robot as Peer

        rows = np.column_stack([table[:, 2], table[:, 1], np.zeros(6), table[:, 0]])
        peer = Peer(MDHKinematicChain(rows))

        def pybotics() -> None:
            for x in q[:SLOW]:
                peer.fk(x)
                peer.jacobian_world(x)

        pybotics()
        out.append(Contender("pybotics, loop", SLOW, pybotics, needed=300.0))
    except Exception as error:
        print(f"pybotics left out: {error}")
    try:
        from roboticstoolbox import DHRobot, RevoluteDH

        arm = DHRobot([RevoluteDH(d=d, a=a, alpha=alpha) for d, a, alpha in table])

        def toolbox() -> None:
            for x in q[:SLOW]:
                arm.fkine(x)
                arm.jacob0(x)

        toolbox()
        out.append(Contender("Robotics Toolbox, loop", SLOW, toolbox))
    except Exception as error:
        print(f"Robotics Toolbox left out: {error}")
    return out
