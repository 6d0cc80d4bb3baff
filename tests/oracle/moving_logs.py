"""Virtual logs of a cobot that moves one joint at a time, as such a controller records them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from elastocal.measure.joints import JointLog
from elastocal.model.frames import Frame, FrameTree, JointMotion
from elastocal.model.inverse_dynamics import inertial_regressor, shifted_inertia
from elastocal.model.loads.link_mass import LinkMass
from elastocal.model.robot import Robot
from elastocal.spatial.pose import Pose
from elastocal.spatial.rotation import rpy_matrix

RATE = 125.0
COULOMB = np.array([6.0, 8.0, 5.0, 1.5, 1.2, 1.0])
VISCOUS = np.array([9.0, 10.0, 6.0, 1.4, 1.2, 1.0])
ROTOR = np.array([1.6, 1.6, 0.9, 0.25, 0.2, 0.2])
NOISE = np.array([1.2, 1.5, 0.8, 0.25, 0.2, 0.2])


def cobot(scale=1.0, centre=0.0):
    """Six joints with a reach of 1.3 m; masses times ``scale``, centres out by ``centre`` m."""
    names = ("pan", "lift", "elbow", "wrist1", "wrist2", "wrist3")
    places = ((0, 0, 0.18), (0, 0.176, 0), (0, -0.137, 0.6127), (0, 0, 0.5716), (0, 0.135, 0), (0, 0, 0.12))
    axes = ((0, 0, 1), (0, 1, 0), (0, 1, 0), (0, 1, 0), (0, 0, 1), (0, 1, 0))
    turns = (0.0, np.pi / 2, 0.0, np.pi / 2, 0.0, 0.0)
    frames, parent = [], "base"
    for name, place, axis, turn in zip(names, places, axes, turns, strict=True):
        pose = Pose(rpy_matrix(0.0, turn, 0.0), np.array(place, dtype=float))
        frames.append(Frame(name, parent, pose, JointMotion("revolute", axis, (-2 * np.pi, 2 * np.pi))))
        parent = name
    masses = (7.4, 13.1, 4.0, 2.0, 2.0, 0.6)
    centres = ((0, 0, 0), (0, 0.02, 0.38), (0, 0, 0.24), (0, 0.01, 0), (0, 0, 0.01), (0, 0.02, 0))
    links = []
    for name, mass, c in zip(names, masses, centres, strict=True):
        moved = np.array(c) + centre * np.array([0.0, 0.0, 1.0])
        links.append(LinkMass(frame=name, mass=scale * mass, moment=tuple(scale * mass * moved)))
    return Robot("cobot", FrameTree(tuple(frames)), "wrist3", tuple(links), np.array([0, 0, -9.80665]))


def torques(model, q, v, a):
    """Drives' torques of a moving arm, links as points with a little spin of their own, friction and rotors added."""
    links = [e for e in model.elements if isinstance(e, LinkMass)]
    values = []
    for e in links:
        own = 0.01 * e.mass
        tensor = np.array(shifted_inertia(e.mass, e.moment)) + own * np.array([1, 0, 0, 1, 0, 1])
        values.append([e.mass, *e.moment, *tensor])
    y = inertial_regressor(model, q, v, a, [e.frame for e in links]) @ np.concatenate(values)
    return y + ROTOR * a + COULOMB * np.tanh(v / 5e-3) + VISCOUS * v


def sweeps(joint, start=(0.0, -1.6, 0.8, -0.8, 0.3, 0.0), span=1.6, top=0.8, rate=1.5, times=3):
    """There and back at trapezoidal speeds, each pass a little slower: time, q, v, a."""
    speeds = [np.zeros(int(0.5 * RATE))]
    for k in range(2 * times):
        fast = top * (1 - 0.12 * k)
        up = fast / rate
        flat = max(span / fast - up, 0.0)
        t = np.arange(0, 2 * up + flat, 1 / RATE)
        speeds += [(-1) ** k * np.clip(np.minimum(t, 2 * up + flat - t) * rate, 0, fast), np.zeros(int(0.3 * RATE))]
    v1 = np.convolve(np.concatenate(speeds), np.ones(9) / 9, mode="same")
    a1 = np.gradient(v1, 1 / RATE)
    q = np.tile(np.array(start), (len(v1), 1))
    q[:, joint] += np.cumsum(v1) / RATE
    v, a = np.zeros_like(q), np.zeros_like(q)
    v[:, joint], a[:, joint] = v1, a1
    return np.arange(len(v1)) / RATE, q, v, a


def recorded(model, motion, seed=0, time=True, columns=None):
    """With the noise of encoders and of torques, torques of ``columns`` alone where given."""
    clock, q, v, a = motion
    rng = np.random.default_rng(seed)
    torque = torques(model, q, v, a) + NOISE * rng.normal(size=q.shape)
    if columns is not None:
        torque[:, [j for j in range(q.shape[1]) if j not in columns]] = np.nan
    read = q + 2e-5 * rng.normal(size=q.shape)
    return JointLog("log.csv", model.joints, read, torque, np.arange(len(q)) + 2, clock if time else None)


def as_currents(log, gains):
    """The same log with motor currents instead of torques."""
    return replace(log, torque=np.full(log.q.shape, np.nan), current=log.torque / np.asarray(gains))
