"""The whole calibration: slips, outliers, every model of the ladder, and the chosen one, from arrays."""

from __future__ import annotations

import numpy as np

import elastocal as ec
from benchmarks.harness import Contender, Outcome, race
from benchmarks.robots import configurations, robot
from elastocal.model.chain import AXES
from elastocal.model.compliant.frame_error import FrameError
from elastocal.model.kinematics import kinematics

POSES = 100
MARKERS = np.array([[0.02, 0.08, 0.0], [-0.04, -0.03, 0.07], [0.0, -0.05, -0.06]])


def measure() -> Outcome:
    """Times in seconds a calibration stand as microseconds per number read; the first row is the fit alone."""
    nominal = robot().nominal
    data = campaign()
    numbers = POSES * 9
    fit = Contender("geometry alone", numbers, lambda: ec.calibrate(nominal, data, "geometry"))
    ladder = Contender("the default: every model that positions can tell", numbers, lambda: ec.calibrate(nominal, data))
    return race(f"calibrate, {POSES} poses x 3 markers, six joints", [fit, ladder], rounds=2)


def campaign() -> ec.Campaign:
    """A robot off by tenths of a millimetre and of a milliradian, read to 20 um."""
    rng = np.random.default_rng(7)
    nominal = robot().nominal
    true = nominal.with_elements(
        *(
            FrameError(frame=j, **{a: float(rng.normal(0.0, 5e-4 if a.startswith("r") else 3e-4)) for a in AXES})
            for j in nominal.joints
        )
    )
    q = configurations(POSES, seed=3)
    at = kinematics(true, q)
    points = at.position[:, None] + np.einsum("nij,mj->nmi", at.rotation, MARKERS)
    return ec.Campaign(q=q, position=points + rng.normal(0, 2e-5, points.shape), length="m", angle="rad")
