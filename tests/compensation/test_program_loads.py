"""Loads of some stations of a program: their own wrenches, and payloads where they change."""

from __future__ import annotations

import numpy as np

from elastocal.compensation.loads import ProgramLoads


def test_some_stations_have_their_own_loads() -> None:
    wrench = np.zeros((6, 6))
    wrench[:, 2] = [0, 0, -10, -20, -30, 0]
    mass = np.array([np.nan, 5.0, 5.0, 7.0, 7.0, 0.0])
    loads = ProgramLoads(wrench, None, False, mass, "flange")
    some = loads.at(np.array([2, 3, 5]), "tip")
    assert some.wrenches[0].frame == "tip"
    assert some.wrenches[0].wrench[:, 2].tolist() == [-10, -20, 0]
    assert [(c.first, c.payload.mass, c.payload.frame) for c in some.payloads] == [
        (0, 5.0, "flange"),
        (1, 7.0, "flange"),
        (2, 0.0, "flange"),
    ]
    early = loads.at(np.array([0, 1]), "tip")
    assert early.wrenches == ()
    assert [(c.first, c.payload.mass) for c in early.payloads] == [(1, 5.0)]
    assert ProgramLoads(wrench, "hand", True, mass, "flange").at(np.arange(6), "tip").wrenches[0].frame == "hand"
