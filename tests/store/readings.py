"""Readings of a small robot, and calibrations from them, in about a second each."""

from __future__ import annotations

import numpy as np

import elastocal as ec


def loaded_readings(seed: int, compliance: float = 1.2e-7) -> ec.Campaign:
    """Deflections of a cylindrical robot in twelve loaded poses."""
    robot = ec.read_robot("cylindrical")
    rng = np.random.default_rng(seed)
    limits = np.array([m.limits for m in robot.motions])
    q = rng.uniform(limits[:, 0], limits[:, 1], (12, robot.n))
    wrench = np.hstack([rng.uniform(-900, 900, (12, 3)), np.zeros((12, 3))])
    moved = robot.with_parameters({"q1.k": compliance}).deflection(q, wrench).translation
    read = moved + rng.normal(0, 2e-5, moved.shape)
    return ec.Campaign(q=q, deflection=read, wrench=wrench, length="m", angle="rad", noise=2e-5 / np.sqrt(2))


def calibrated(seed: int, compliance: float = 1.2e-7) -> ec.Calibration:
    return ec.calibrate(ec.read_robot("cylindrical"), loaded_readings(seed, compliance), ["compliance"])
