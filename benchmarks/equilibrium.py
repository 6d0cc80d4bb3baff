"""The loaded equilibrium of 100 000 configurations against scalar numba and scipy's root, one at a time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.equilibrium_numba import solver
from benchmarks.harness import BACKENDS, Contender, Outcome, backend, race
from benchmarks.robots import LINKS, WRENCH, configurations, pinocchio_model, robot
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import Robot
from elastocal.model.statics.equilibrium import equilibrium

COUNT = 100_000
FEW = 100
Residual = Callable[[np.ndarray, np.ndarray], np.ndarray]


def measure() -> list[Outcome]:
    bare = robot().without("gravity_compensator")
    out = []
    for i, name in enumerate(BACKENDS):
        with backend(name):
            joints = f"six compliant joints, weights, {name}"
            out.append(_race(bare.without(*LINKS), joints, False, (60.0, 150.0)[i], (0.5, 1.5)[i]))
            links = f"six joints and seven 6x6 springs, weights, {name}"
            out.append(_race(bare, links, True, (60.0, 150.0)[i], None))
    return out


def _race(model: Robot, what: str, links: bool, root_needed: float, numba_needed: float | None) -> Outcome:
    from scipy.optimize import root

    q = configurations(COUNT)
    load = [AppliedWrenches("tool", WRENCH[None])]
    fast, plain = _pinocchio_residual(links), _numpy_residual(model, links)
    n = len(fast(np.zeros(48 if links else 6), q[0]))
    theirs = np.array([root(fast, np.zeros(n), args=(x,), tol=1e-12).x for x in q[:20]])
    error = np.abs(equilibrium(model, q[:20], load).theta - theirs).max()
    cross = np.abs(plain(theirs[0], q[0])).max()

    def loop(residual: Residual, count: int) -> Callable[[], None]:
        def run() -> None:
            for x in q[:count]:
                root(residual, np.zeros(n), args=(x,), tol=1e-12)

        return run

    slow = 5 if links else 20
    contenders = [
        Contender("elastocal, batch", COUNT, lambda: equilibrium(model, q, load)),
        Contender("scipy.optimize.root, residual in NumPy (4x4 products)", slow, loop(plain, slow), needed=100.0),
        Contender("scipy.optimize.root, residual from Pinocchio (C++)", FEW, loop(fast, FEW), needed=root_needed),
    ]
    if not links:
        scalar = solver(model, WRENCH)
        error = max(error, float(np.abs(scalar(q[:20]) - theirs).max()))
        contenders.append(Contender("scalar numba, written by hand", COUNT, lambda: scalar(q), needed=numba_needed))
    facts = (f"largest difference of theta: {error:.1e}; residual of one in the other's terms: {cross:.1e}",)
    return race(f"loaded equilibrium, {COUNT} configurations, {what}", contenders, rounds=3, facts=facts)


def _pinocchio_residual(links: bool) -> Residual:
    import pinocchio as pin

    model, compliance, places = pinocchio_model(robot(), links)
    data, frame = model.createData(), model.getFrameId("tool")

    def residual(theta: np.ndarray, q: np.ndarray) -> np.ndarray:
        x = theta.copy()
        x[places] += q
        weight = pin.computeGeneralizedGravity(model, data, x)
        j = pin.computeFrameJacobian(model, data, x, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
        return compliance @ (j.T @ WRENCH - weight) - theta

    return residual


def _numpy_residual(model: Robot, links: bool) -> Residual:
    """What one would write without a robotics library: 4x4 products, screws, sums of moments."""
    _, compliance, _ = pinocchio_model(robot(), links)
    springs = {e.frame for e in model.elements if e.kind in LINKS} if links else set()
    masses = [e for e in model.elements if e.kind == "link_mass"]
    frames = {f.name: f for f in model.tree.frames}
    path = [f.name for f in model.tree.path("tool")]

    def elementary(axis: np.ndarray, value: float, turns: bool) -> np.ndarray:
        out = np.eye(4)
        if not turns:
            out[:3, 3] = axis * value
            return out
        x, y, z = axis
        skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        out[:3, :3] += np.sin(value) * skew + (1 - np.cos(value)) * skew @ skew
        return out

    def residual(theta: np.ndarray, q: np.ndarray) -> np.ndarray:
        pose, place, screws, i, joint = np.eye(4), {}, [], 0, 0
        for name in ("base", *path):
            frame = frames.get(name)
            moves: list[tuple[np.ndarray, float, bool]] = []
            if frame is not None:
                pose = pose @ frame.pose.matrix()
                if frame.joint is not None:
                    moves.append((np.array(frame.joint.axis), q[joint], True))
                    joint += 1
            if name in springs:
                moves += [(np.eye(3)[a % 3], 0.0, a >= 3) for a in range(6)]
            for axis, value, turns in moves:
                direction = pose[:3, :3] @ axis
                screws.append((direction, pose[:3, 3].copy(), turns, name))
                pose = pose @ elementary(axis, value + theta[i], turns)
                i += 1
            place[name] = pose.copy()
        order = ["base", *path]
        force = np.empty(len(screws))
        for s, (direction, point, turns, name) in enumerate(screws):
            total, moment = WRENCH[:3].copy(), WRENCH[3:] + np.cross(place["tool"][:3, 3] - point, WRENCH[:3])
            for m in masses:
                if order.index(m.frame) >= order.index(name):
                    weight = m.mass * model.gravity
                    at = place[m.frame] @ np.append(np.array(m.moment) / m.mass, 1.0)
                    total = total + weight
                    moment = moment + np.cross(at[:3] - point, weight)
            force[s] = direction @ (moment if turns else total)
        return compliance @ force - theta

    return residual
