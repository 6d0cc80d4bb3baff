"""Virtual logs of slow arms: torques by whoever computes them, with friction and noise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from elastocal.measure.joints import JointLog
from elastocal.model.frames import Frame, FrameTree, JointMotion
from elastocal.model.loads.link_mass import LinkMass
from elastocal.model.robot import Robot
from elastocal.model.statics.holding import holding_torque
from elastocal.spatial.pose import Pose

STEP = 0.012
G = 9.81
LENGTH = 0.5
MOMENTS = {"J1.mx": 1.5, "J1.mz": 0.25, "J2.mx": 1.2, "J2.mz": -0.4}
MASSES = {"J1": 6.0, "J2": 4.0}


def planar_arm(limits=(-3.0, 3.0), gravity=(0.0, 0.0, -G), masses=True, second=-1.0):
    """Two links of half a metre in the vertical plane; joints turn about -y, so that positive values lift, unless
    ``second`` is 1."""
    joints = [JointMotion("revolute", (0.0, y, 0.0), limits) for y in (-1.0, second)]
    still = Pose(np.eye(3), np.zeros(3))
    out = Pose(np.eye(3), np.array([LENGTH, 0.0, 0.0]))
    tree = FrameTree(
        (Frame("J1", "base", still, joints[0]), Frame("J2", "J1", out, joints[1]), Frame("tip", "J2", out))
    )
    weights = tuple(
        LinkMass(frame=j, mass=MASSES[j], moment=(MOMENTS[f"{j}.mx"], 0.0, MOMENTS[f"{j}.mz"])) for j in ("J1", "J2")
    )
    return Robot("planar", tree, "tip", weights if masses else (), np.array(gravity))


def planar_torques(q):
    """(N, 2) in closed form."""
    a, b = q[:, 0], q[:, 0] + q[:, 1]
    outer = G * (MOMENTS["J2.mx"] * np.cos(b) - MOMENTS["J2.mz"] * np.sin(b))
    inner = G * ((MOMENTS["J1.mx"] + LENGTH * MASSES["J2"]) * np.cos(a) - MOMENTS["J1.mz"] * np.sin(a))
    return np.stack([inner + outer, outer], axis=1)


def waves(n, count, seed=0, size=0.8, rate=0.15):
    """Slow joint values (count, n) with their velocities, every joint at its own pace."""
    rng = np.random.default_rng(seed)
    time = STEP * np.arange(count)
    rates, phases = rate * rng.uniform(0.6, 1.4, n), rng.uniform(0, 6, n)
    inside = np.outer(time, rates) + phases
    return size * np.sin(inside), size * rates * np.cos(inside)


def sweep(base, joint, end, speed=0.1):
    """One joint from ``base`` to ``end`` and back, with velocities; constant speed but for smooth ends."""
    count = int(abs(end - base[joint]) / speed / STEP)
    share = (1 - np.cos(np.pi * np.linspace(0, 1, count))) / 2
    q = np.tile(np.asarray(base, dtype=float), (2 * count, 1))
    q[:, joint] = base[joint] + (end - base[joint]) * np.concatenate([share, share[::-1]])
    return q, np.gradient(q, STEP, axis=0)


def logged(model, q, velocity, *, torque=None, coulomb=0.0, viscous=0.0, noise=0.0, seed=0, sense=1, time=True):
    """The log of these joint values; torques by the model unless given; ``noise`` is a size or an array."""
    weight = holding_torque(model, q) if torque is None else torque
    drive = (
        weight + np.broadcast_to(coulomb, model.n) * np.sign(velocity) + np.broadcast_to(viscous, model.n) * velocity
    )
    spread = noise if isinstance(noise, np.ndarray) else noise * np.random.default_rng(seed).normal(size=q.shape)
    clock = STEP * np.arange(len(q)) if time else None
    return JointLog("log.csv", model.joints, q, sense * drive + spread, np.arange(len(q)) + 2, clock, velocity)


def joined(*logs, pause=5.0):
    """Logs one after the other, with a pause between them."""
    times, now = [], 0.0
    for log in logs:
        times.append(log.time + now)
        now = times[-1][-1] + pause
    parts = {k: np.concatenate([getattr(log, k) for log in logs]) for k in ("q", "torque", "velocity")}
    count = len(parts["q"])
    return replace(logs[0], **parts, time=np.concatenate(times), lines=np.arange(count) + 2)


def correlated(shape, rho, size, seed=0):
    """Noise whose neighbours are alike: x_k = rho x_(k-1) + e_k, with the standard deviation ``size``."""
    rng = np.random.default_rng(seed)
    out = rng.normal(size=shape)
    for k in range(1, shape[0]):
        out[k] = rho * out[k - 1] + np.sqrt(1 - rho**2) * out[k]
    return size * out
