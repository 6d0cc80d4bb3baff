"""A six-joint arm in space touches spheres: the whole path from a plan to parameters, with an outlier on the way."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.robots import random_robot

from elastocal.measure.sources.arm import Encoder
from elastocal.measure.sources.instrument import ForceSensor
from elastocal.model.kinematics import kinematics
from elastocal.model.surfaces.sphere import Sphere
from elastocal.model.surfaces.surface import Touches
from elastocal.procedures.contact.calibrate import calibrate_contacts
from elastocal.procedures.contact.plan import ContactPlan, as_measurement, virtual_contacts
from elastocal.reduction.first_fit import ReductionRules

SOURCES = (ForceSensor(sd=0.2), Encoder(sd=2e-6))


@pytest.fixture(scope="module")
def touched():
    """Two balls, thirty contacts each from all sides, 30 N and 60 N."""
    model = random_robot(4, 6, 0, k=2e-5)
    rng = np.random.default_rng(7)
    tips = kinematics(model, rng.uniform(-0.6, 0.6, (2, 6))).position
    balls = tuple(Sphere(name=f"ball{i}", centre=tuple(float(v) for v in t), radius=0.06) for i, t in enumerate(tips))
    away = rng.normal(size=(60, 3))
    away /= np.linalg.norm(away, axis=1)[:, None]
    which = np.repeat([0, 1], 30)
    points = tips[which] + 0.06 * away
    plan = ContactPlan(Touches(model.tool, balls, which), points, np.resize([30.0, 60.0], 60))
    kind, reached = as_measurement(model, plan)
    assert reached.sum() > 40
    names = [f"{j}.k" for j in model.joints]
    soft = {n: 2e-5 * f for n, f in zip(names, (1.3, 0.8, 1.2, 0.7, 1.4, 0.9), strict=True)}
    rows = np.flatnonzero(reached)
    part = type(kind)(kind.q[rows], kind.touches.rows(rows), kind.axes)
    return model, model.with_parameters(soft), part, soft


def test_six_compliances_come_back_through_the_whole_study(touched):
    model, truth, kind, soft = touched
    drawn = virtual_contacts(model, truth, kind, SOURCES, np.random.default_rng(1))
    found = calibrate_contacts(
        model, drawn.campaign, list(soft), rng=np.random.default_rng(2), rules=ReductionRules(statistical=False)
    )
    at = dict(zip(found.fit.names, zip(found.fit.values, found.fit.sd, strict=True), strict=False))
    assert set(soft) <= set(at)
    for name, true in soft.items():
        value, sd = at[name]
        assert abs(value - true) < 4 * sd
        assert sd < 0.1 * true
    assert 0.7 < found.fit.scatter < 1.3


def test_a_gross_force_error_is_named_and_left_out(touched):
    model, truth, kind, soft = touched
    drawn = virtual_contacts(model, truth, kind, SOURCES, np.random.default_rng(3), outliers=1, outlier_size=25.0)
    found = calibrate_contacts(
        model, drawn.campaign, list(soft), rng=np.random.default_rng(2), rules=ReductionRules(statistical=False)
    )
    (planted,) = drawn.planted
    assert [w.reading for w in found.touched.wrong] == [planted.reading]
    assert found.touched.wrong[0].causes[0].unit == "N"
