"""The whole procedure in one call, and a joint on which nothing weighs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from oracle.logs import MOMENTS, logged, planar_arm, waves

from elastocal.measure.sources.friction import Friction
from elastocal.procedures import gravity

ARM = planar_arm()


def log_of(model, still=None, **more):
    q, v = waves(2, 1500, seed=3)
    if still is not None:
        q[:, still], v[:, still] = 0.3, 0.0
    return logged(model, q, v, noise=0.05, **more)


def test_one_call_from_log_to_masses():
    done = gravity.identify(ARM, log_of(ARM, coulomb=1.0), friction=Friction(viscous=False), prior=None)
    table = done.arm.model.parameters
    assert table.rows[table.index("J2.mx")].value == pytest.approx(MOMENTS["J2.mx"], abs=0.05)
    assert done.validation is not None
    assert np.all(done.validation.rms(done.validation.error) < 0.1)
    assert "planar" in repr(done)
    assert len(repr(done)) < 300
    assert len(done.to_frame()) == len(done.arm.names)
    assert [w.code for w in done.warnings] == []


def test_a_joint_that_carries_nothing_and_never_moves_is_named():
    """No time, one joint still, and no mass beyond it: its torque is zero and has no phase."""
    bare = replace(ARM, elements=ARM.elements[:1])
    done = gravity.identify(bare, replace(log_of(bare, still=1), time=None), prior=None)
    outer, inner = done.terms
    assert outer.joint == "J2"
    assert outer.amplitude == 0
    assert np.isnan(outer.phase_sd)
    assert np.isfinite(inner.phase_sd)
    assert any("J2" in n and "no phase" in n for n in done.notes)
    assert [w.code for w in done.warnings if w.code == "unmoved"] == ["unmoved"]
