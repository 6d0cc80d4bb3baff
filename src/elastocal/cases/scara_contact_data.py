"""Inputs of the contact case: discs, plan and values of 002 (figure 3, table 2), and the robot made of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from elastocal.measure.contact_force import ContactForce
    from elastocal.model.robot import RobotModel
    from elastocal.procedures.contact.plan import ContactPlan
    from elastocal.spatial.entries import Array

DISCS = (((-0.25, 0.30), 0.15), ((0.20, 0.40), 0.05), ((0.05, 0.25), 0.08))
PER_DISC = 12
LEVELS = (20.0, 40.0)
PUBLISHED_E_F, PUBLISHED_NOISY_E_F = 4.491026e-5, 1.312684
OFF_M, OFF_RAD = 3e-3, 2e-3
"""How far random starts are off at most."""
FORCE_SD, JOINT_SD = 1.15, 5e-6
"""Noise on F and Q. The document states none; its e_f of 1.25 to 1.35 N is what 36 plane contacts leave of about so
much: mean length sqrt(pi / 2) sd, times sqrt(60 / 72) for the twelve parameters fitted to 72 numbers."""


@dataclass(frozen=True)
class Value:
    """A parameter of table 2: its name in the robot file counts from ``nominal``; ``noisy`` is estimated with noise."""

    figure: str
    name: str
    nominal: float
    unit: str
    actual: float
    published: float
    noisy: float


VALUES = (
    Value("x0", "base.x", 0.0, "m", 2.5e-3, 2.5e-3, 2.499527e-3),
    Value("y0", "base.y", 0.0, "m", -2.2e-3, -2.199999e-3, -2.202042e-3),
    Value("theta1", "J1.offset", 0.0, "rad", -1.7e-3, -1.700003e-3, -1.7480221e-3),
    Value("l1", "link1_end.x", 0.33, "m", 0.3302, 0.3301999, 0.3301951),
    Value("theta2", "J2.offset", 0.0, "rad", 7.0e-4, 6.999950e-4, 7.120833e-4),
    Value("l2", "link2_end.x", 0.33, "m", 0.3298, 0.3298000, 0.3298156),
    Value("p_ee", "gripper.p", 0.0, "m/N", 1.1e-5, 1.100712e-5, 1.541640e-5),
    Value("p_1", "J1.k", 0.0, "rad/(N m)", 1.1e-5, 1.100000e-5, 7.951966e-6),
    Value("p_2", "J2.k", 0.0, "rad/(N m)", 1.1e-5, 1.100017e-5, 5.696328e-6),
    Value("g_ee", "gripper.gap", 0.0, "m", 9.5e-5, 9.528501e-5, 2.829870e-4),
    Value("g_1", "J1.gap", 0.0, "rad", 2.9e-4, 2.900022e-4, 3.869342e-4),
    Value("g_2", "J2.gap", 0.0, "rad", 2.9e-4, 2.899924e-4, 3.744674e-4),
)
NAMES = tuple(v.name for v in VALUES)


def nominal() -> RobotModel:
    from elastocal.files.robot.read import read_robot

    return read_robot("scara-ruggeri")


def actual() -> RobotModel:
    return nominal().with_parameters({v.name: v.actual - v.nominal for v in VALUES})


def plan(levels: tuple[float, ...]) -> ContactPlan:
    """Twelve contacts around each disc, forces taking turns."""
    import numpy as np

    from elastocal.model.surfaces.disc import Disc
    from elastocal.model.surfaces.touches import Touches
    from elastocal.procedures.contact.plan import ContactPlan

    discs = tuple(Disc(name=f"disc{i}", centre=c, radius=r) for i, (c, r) in enumerate(DISCS, 1))
    angle = 2 * np.pi * np.arange(PER_DISC) / PER_DISC
    circle = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(PER_DISC)])
    points = np.concatenate([np.array([*c, 0.0]) + r * circle for c, r in DISCS])
    which = np.repeat(np.arange(len(DISCS)), PER_DISC)
    return ContactPlan(Touches("gripper", discs, which), points, np.resize(levels, len(points)), "xy")


def touched(levels: tuple[float, ...]) -> tuple[ContactForce, Array]:
    """Joint values of the actual robot in the plan's contacts, and the forces that it feels, both without error."""
    from elastocal.procedures.contact.plan import as_measurement

    planned = plan(levels)
    kind, reached = as_measurement(actual(), planned)
    assert reached.all()
    return kind, planned.force[:, :2]
