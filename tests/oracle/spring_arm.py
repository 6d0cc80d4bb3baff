"""A planar arm of two joints with a spring on the first, and virtual deflections of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from elastocal.measure.markers import Deflection
from elastocal.measure.measured import Measured
from elastocal.measure.setup import Setup
from elastocal.measure.sources.instrument import Reading
from elastocal.model.compliant.joint_compliance import JointCompliance
from elastocal.model.frames import BASE, Frame, FrameTree, JointMotion
from elastocal.model.loads.gravity_compensator import GravityCompensator
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import Robot
from elastocal.model.statics.observation import Marker
from elastocal.spatial.pose import Pose

SPRING = GravityCompensator(joint="j1", a_x=0.6, a_y=0.25, L=0.2, phi0=1.3, k_c=2e-6, s_0=0.4, mode="stiffness_only")
NAMES = ("j1.k", "j2.k", "j1.k_c", "j1.s_0")
TRUTH = (3e-6, 5e-6, 2e-6, 0.4)


def two_joints(**change):
    """A planar arm of two joints about y with the spring on the first; no weight unless given."""
    tree = FrameTree(
        (
            Frame("j1", BASE, Pose(), JointMotion("revolute", (0, 1, 0))),
            Frame("j2", "j1", Pose(translation=(0.8, 0, 0)), JointMotion("revolute", (0, 1, 0))),
            Frame("tip", "j2", Pose(translation=(0.6, 0, 0))),
        )
    )
    springs = (JointCompliance(joint="j1", k=3e-6), JointCompliance(joint="j2", k=5e-6))
    return Robot("two", tree, "tip", (*springs, replace(SPRING, **change)), np.zeros(3))


def campaign(model, force, noise, rng, poses=12, repeats=2):
    q = np.repeat(
        np.column_stack([np.linspace(-2.4, 0.6, poses), np.linspace(-1, 1, poses) ** 2 + 0.3]), repeats, axis=0
    )
    w = np.zeros((len(q), 6))
    w[:, 0], w[:, 2] = force * np.cos(np.arange(len(q)) // repeats), -force
    kind = Deflection(Setup(q, AppliedWrenches("tip", w), (Marker("tip"),)))
    exact = kind.predict(model)
    return Measured(kind, exact + noise * np.sqrt(2) * rng.normal(size=exact.shape), (Reading(sd=noise or 1e-9),))
