"""The SCARA of Ruggeri et al. with the 'actual' values of their Table 2, three discs and twelve contacts on each."""

from __future__ import annotations

import numpy as np

from elastocal.files.robot.read import read_robot
from elastocal.measure.contacts import ContactForce
from elastocal.model.surfaces.disc import Disc
from elastocal.model.surfaces.surface import Touches

NAMES = ("base.x", "base.y", "J1.offset", "link1_end.x", "J2.offset", "link2_end.x", "gripper.p", "J1.k", "J2.k",
         "gripper.gap", "J1.gap", "J2.gap")  # fmt: skip
ACTUAL = np.array([2.5e-3, -2.2e-3, -1.7e-3, 2e-4, 7e-4, -2e-4, 1.1e-5, 1.1e-5, 1.1e-5, 9.5e-5, 2.9e-4, 2.9e-4])
DISCS = (((-0.25, 0.30), 0.15), ((0.20, 0.40), 0.05), ((0.05, 0.25), 0.08))


def nominal():
    return read_robot("scara-ruggeri")


def actual():
    return nominal().with_parameters(dict(zip(NAMES, ACTUAL, strict=True)))


def discs():
    return tuple(Disc(name=f"disc{i}", centre=c, radius=r) for i, (c, r) in enumerate(DISCS, 1))


def closed_form_joints(point, force, values=ACTUAL):
    """Joint values that press with ``force`` (on the robot) at ``point``, by the plane equations of the document.

    Compliance and backlash both give way along the force on the robot.
    """
    x0, y0, t1, d1, t2, d2, p, k1, k2, g, g1, g2 = values
    l1, l2 = 0.33 + d1, 0.33 + d2
    f = np.asarray(force, dtype=float)
    s = np.asarray(point, dtype=float) - [x0, y0] - p * f - g * f / np.linalg.norm(f)
    b = np.arccos((s @ s - l1**2 - l2**2) / (2 * l1 * l2))
    a = np.arctan2(s[1], s[0]) - np.arctan2(l2 * np.sin(b), l1 + l2 * np.cos(b))
    arm = np.asarray(point, dtype=float) - [x0, y0]
    elbow = l1 * np.array([np.cos(a), np.sin(a)])
    m1 = arm[0] * f[1] - arm[1] * f[0]
    m2 = (arm - elbow)[0] * f[1] - (arm - elbow)[1] * f[0]
    return np.array([a - t1 - k1 * m1 - g1 * np.sign(m1), b - t2 - k2 * m2 - g2 * np.sign(m2)])


def plan(forces=(20.0, 40.0), per_disc=12):
    """Points (N, 2), forces on the robot (N, 2), disc numbers: sizes alternate."""
    angle = 2 * np.pi * np.arange(per_disc) / per_disc
    normals = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    points = np.concatenate([np.array(c) + r * normals for c, r in DISCS])
    size = np.resize(forces, per_disc)
    return points, np.concatenate([size[:, None] * normals] * 3), np.repeat(np.arange(3), per_disc)


def touched(forces=(20.0, 40.0), per_disc=12, values=ACTUAL):
    """The contacts and what is felt."""
    points, felt, which = plan(forces, per_disc)
    q = np.array([closed_form_joints(x, f, values) for x, f in zip(points, felt, strict=True)])
    return ContactForce(q, Touches("gripper", discs(), which), "xy"), felt
