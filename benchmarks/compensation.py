"""Corrected commands along a path of 1 000 000 points against a warm-started damped inverse-kinematics loop.

The loop is what one writes with Pinocchio: from the last point's solution, damped least-squares steps until the
loaded tool is within 1 um and 1 urad of the target.  It is spared all it can be: it starts from the last point's
answer, it solves for the loaded joint values (so that joint springs need no equilibrium), it takes the links' bends
from the last evaluation, it judges neither limits nor stability, and a short part of the path is timed.  The path: a
raster of lines 0.5 m long, 1 mm between points, over a part that is curved, the tool along its normal.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.harness import Contender, Outcome, race
from benchmarks.robots import LINKS, WRENCH, pinocchio_model, robot
from elastocal.compensation.commands import correct, correction_chunks
from elastocal.compensation.loads import PathLoads
from elastocal.compensation.targets import Targets
from elastocal.compensation.verification import residual
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array

COUNT = 1_000_000
FEW = 1000
CHECKED = 20_000
LINE = 500
START = np.deg2rad([0.0, -80.0, 100.0, 0.0, 60.0, 0.0])


def measure() -> list[Outcome]:
    return [
        _race(robot().without(*LINKS), "six compliant joints, weights, compensator", links=False, needed=50.0),
        _race(robot(), "six joints and seven 6x6 springs, weights, compensator", links=True, needed=10.0),
    ]


def path(count: int) -> Targets:
    """A raster over a curved part in front of the robot."""
    from scipy.spatial.transform import Rotation

    i = np.arange(count)
    line, along = i // LINE, i % LINE
    x = 1.7 + 5e-4 * (line % 1000)
    y = 1e-3 * np.where(line % 2 == 0, along, LINE - 1 - along) - 0.25
    z = 0.9 + 0.15 * np.sin(3 * y) * np.cos(2 * x)
    tilt = np.column_stack([0.4 * np.cos(3 * y), np.pi / 2 + 0.3 * np.sin(2 * x), 0.5 * np.sin(4 * y)])
    return Targets("tool", np.column_stack([x, y, z]), Rotation.from_euler("xyz", tilt).as_matrix(), START)


def loads() -> PathLoads:
    return PathLoads((AppliedWrenches("tool", WRENCH[None]),))


def run(model: Robot, targets: Targets) -> None:
    """All of the path in pieces, nothing kept."""
    for _ in correction_chunks(model, targets, loads()):
        pass


def _peak(model: Robot, targets: Targets) -> float:
    """MB above what the targets take."""
    tracemalloc.start()
    run(model, targets)
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return peak


def _race(model: Robot, what: str, links: bool, needed: float) -> Outcome:
    targets = path(COUNT)
    some = targets.picked(slice(0, FEW))
    loop = pinocchio_loop(model, some, links)
    theirs, steps = loop()
    ours = correct(model, some, loads())
    apart = np.abs(theirs - ours.command).max()
    spread = targets.picked(slice(0, COUNT, COUNT // CHECKED))
    answer = correct(model, spread, loads())
    left = residual(model, answer.command, spread, loads())
    worst = np.nanmax(np.linalg.norm(left.position, axis=1)), np.nanmax(np.linalg.norm(left.rotation, axis=1))
    if worst[0] > 1e-6 or worst[1] > 1e-6 or answer.counts() != {"corrected": len(spread)}:
        raise SystemExit(f"compensation: residual {worst}, {answer.counts()}")
    few, many = (_peak(model, targets.picked(slice(0, n))) for n in (50_000, 400_000))
    facts = (
        f"loaded pose of {len(spread)} points spread over the path by the engine's own equilibrium: within "
        f"{1e6 * worst[0]:.1e} um and {1e6 * worst[1]:.1e} urad",
        f"largest difference of the command to the loop's on its {FEW} points: {apart:.1e} rad; "
        f"the loop took {steps:.1f} steps a point",
        f"peak memory above the targets: {few:.0f} MB at 50 000 points, {many:.0f} MB at 400 000",
    )
    contenders = [
        Contender("elastocal, batch", COUNT, lambda: run(model, targets)),
        Contender(f"Pinocchio, warm-started damped loop ({FEW} points timed)", FEW, loop, needed=needed),
    ]
    return race(f"corrected command, path of {COUNT} points, {what}", contenders, rounds=3, facts=facts)


def pinocchio_loop(model: Robot, targets: Targets, links: bool) -> Callable[[], tuple[Array, float]]:
    """Commands (N, n) and steps per point."""
    import pinocchio as pin

    arm, compliance, places = pinocchio_model(model, links)
    data, frame = arm.createData(), arm.getFrameId("tool")
    goals = [pin.SE3(r, p) for r, p in zip(targets.rotation, targets.position, strict=True)]
    aligned = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    spring = _Spring.of(model)
    virtual = np.setdiff1d(np.arange(arm.nq), places)
    damping = 1e-10 * np.eye(6)

    def loop() -> tuple[Array, float]:
        x = np.zeros(arm.nq)
        x[places] = targets.reference
        out, steps = np.empty((len(goals), 6)), 0
        for i, goal in enumerate(goals):
            for _ in range(50):
                steps += 1
                jacobian = pin.computeFrameJacobian(arm, data, x, frame, aligned)
                place = pin.updateFramePlacement(arm, data, frame)
                gap = np.empty(6)
                gap[:3] = goal.translation - place.translation
                gap[3:] = pin.log3(goal.rotation @ place.rotation.T)
                if links:
                    theta = compliance @ (jacobian.T @ WRENCH - pin.computeGeneralizedGravity(arm, data, x))
                    change = theta[virtual] - x[virtual]
                    gap -= jacobian[:, virtual] @ change
                    x[virtual] = theta[virtual]
                own = jacobian[:, places]
                x[places] += own.T @ np.linalg.solve(own @ own.T + damping, gap)
                if np.abs(gap).max() < 1e-6:
                    break
            if not links:
                theta = compliance @ (jacobian.T @ WRENCH - pin.computeGeneralizedGravity(arm, data, x))
            bend = theta[places]
            bend[1] = spring.bend(x[places[1]], bend[1])
            out[i] = x[places] - bend
        return out, steps / len(goals)

    return loop


class _Spring:
    """The compensator's torque on joint 2 depends on the angle at rest: a few fixed-point steps."""

    def __init__(self, element: Any, compliance: float) -> None:
        self.element, self.k = element, compliance

    @classmethod
    def of(cls, model: Robot) -> _Spring:
        element = next(e for e in model.elements if e.kind == "gravity_compensator")
        return cls(element, next(e.k for e in model.elements if e.kind == "joint_compliance" and e.joint == "A2"))

    def bend(self, loaded: float, free: float) -> float:
        now, bend = float(self.element.torque(loaded)), free
        for _ in range(8):
            before, bend = bend, free + self.k * (float(self.element.torque(loaded - bend)) - now)
            if abs(bend - before) < 1e-9:
                break
        return bend
