"""Calibration by touching, from arrays at the front door."""

from __future__ import annotations

import numpy as np
from oracle.scara import NAMES, actual, discs, nominal, touched

import elastocal as ec
from elastocal.measure.sources.instrument import ForceSensor
from elastocal.model.surfaces.surface import Touches


def test_parameters_come_back_from_forces() -> None:
    kind, felt = touched()
    rng = np.random.default_rng(1)
    forces = felt + 0.1 * rng.normal(size=felt.shape)
    touches = Touches("gripper", discs(), kind.touches.which)
    robot, true = nominal(), actual()
    q = robot.controller.to_controller(kind.q)
    found = ec.procedures.contact.identify(robot, q, touches, forces, NAMES, sources=[ForceSensor(sd=0.1)], axes="xy")
    fit = found.fit
    for name, value, sd in zip(fit.names, fit.values, fit.sd, strict=True):
        assert abs(value - true.parameters.values[true.parameters.index(name)]) < 5 * sd
    assert len(repr(found)) < 2000
    assert len(found.to_frame()) == len(fit.names)
