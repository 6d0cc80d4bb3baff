"""Forward kinematics and the 6x6 Jacobian, of one configuration in a call up to 100 000."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.harness import BACKENDS, Contender, Outcome, backend, race
from benchmarks.robots import LINKS, configurations, pinocchio_model, robot
from elastocal.model.kinematics import kinematics
from elastocal.model.robot import Robot

COUNT = 100_000
FEW = 20_000
SLOW = 200
BATCHES = {1: (0.03, 0.3), 10: (0.2, 1.5), 100: (1.5, 5.0), 1000: (None, None)}
"""Configurations in a call, and the ratios to Pinocchio's loop that are asked for: NumPy, and the extra ``fast``."""
LARGE = ((6.0, 15.0), (4.0, 10.0))
"""The same of 100 000, against the loop that keeps its results and the one that does not."""


def measure() -> list[Outcome]:
    model, q = robot().without(*LINKS), configurations(COUNT)
    out = []
    for i, name in enumerate(BACKENDS):
        with backend(name):
            out += [_race(model, q[:n], name, needed[i], None) for n, needed in BATCHES.items()]
            out.append(_race(model, q, name, LARGE[0][i], LARGE[1][i], _optional(q) if name == "numpy" else []))
    return out


def _race(
    model: Robot,
    q: np.ndarray,
    name: str,
    keep: float | None,
    drop: float | None,
    others: list[Contender] | None = None,
) -> Outcome:
    some = q[:FEW]
    contenders = [
        Contender(f"elastocal, {name}", len(q), lambda: kinematics(model, q)),
        Contender("Pinocchio, loop, results kept", len(some), _pinocchio(some, keep=True), keep),
        Contender("Pinocchio, loop, nothing kept", len(some), _pinocchio(some, keep=False), drop),
        *(others or []),
    ]
    return race(f"forward kinematics + 6x6 Jacobian, {len(q)} in a call, {name}", contenders)


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
