"""Estimates that stand for a combination: the factor by hand, and the bias that it predicts."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.scara import ACTUAL, NAMES, actual, nominal, touched

from elastocal.measure.measured import Measured
from elastocal.measure.sources.instrument import ForceSensor
from elastocal.model.descriptions import descriptions
from elastocal.procedures.contact.calibrate import calibrate_contacts, force_level, standing, written
from elastocal.reduction.identify import identify

TRUE = dict(zip(NAMES, ACTUAL, strict=True))


def found(forces):
    kind, felt = touched(forces)
    noisy = felt + 0.1 * np.random.default_rng(5).normal(size=felt.shape)
    start = actual().with_parameters({"gripper.gap": 0.0, "gripper.p": TRUE["gripper.p"] + TRUE["gripper.gap"] / 40})
    return identify(descriptions(start, None), Measured(kind, noisy, (ForceSensor(sd=0.1),)), NAMES)


def test_one_force_level_shows_compliance_and_play_only_together():
    made = found((40.0,))
    (only,) = standing(made)
    assert only.kept == "gripper.p"
    ((name, factor),) = only.absorbed
    assert name == "gripper.gap"
    assert factor == pytest.approx(1 / 40, rel=0.01)
    at = made.fit.names.index("gripper.p")
    off = made.fit.values[at] - TRUE["gripper.p"]
    assert off > 20 * made.fit.sd[at]
    assert off == pytest.approx(factor * TRUE["gripper.gap"], abs=4 * made.fit.sd[at])
    units = {"gripper.p": "m/N", "gripper.gap": "m"}
    assert written(only, units, 2) == "40 N * gripper.p + gripper.gap"
    assert force_level(made.fit.campaign) == pytest.approx(40.0, abs=0.1)


def test_two_force_levels_leave_every_estimate_to_itself():
    made = found((20.0, 40.0))
    assert set(made.fit.names) == set(NAMES)
    assert standing(made) == ()
    assert np.isnan(force_level(made.fit.campaign))


def test_a_base_that_stands_where_the_file_says_is_not_significant_and_nothing_stands_for_it():
    """Three forces tell all twelve apart; base.x and base.y are zero to a micrometre, and are fixed there."""
    values = np.where([n.startswith("base") for n in NAMES], 0.0, ACTUAL)
    kind, felt = touched((15.0, 30.0, 45.0), 15, values)
    noisy = felt + 0.1 * np.random.default_rng(11).normal(size=felt.shape)
    rng = np.random.default_rng(1)
    found = calibrate_contacts(nominal(), Measured(kind, noisy, (ForceSensor(sd=0.1),)), NAMES, rng=rng)
    assert {d.name for d in found.study.identification.dropped} == {"base.x", "base.y"}
    assert found.forces.standing == ()
    (said,) = [f for f in found.verdict if f.code == "not-significant"]
    assert set(said.data["names"]) == {"base.x", "base.y"}
    assert found.verdict[0].data["separately"] == 10
