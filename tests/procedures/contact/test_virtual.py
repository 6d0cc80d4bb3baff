"""Virtual contacts: the true robot presses as planned, every stated error is drawn, and what cannot be is refused."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.refusals import refused
from oracle.scara import actual, discs, nominal, plan, touched

from elastocal.measure.contacts import ContactForce
from elastocal.measure.sources.arm import Encoder
from elastocal.measure.sources.instrument import ForceSensor
from elastocal.measure.sources.places import ObjectPlaces
from elastocal.model.surfaces.surface import Touches
from elastocal.procedures.contact.plan import ContactPlan, as_measurement, virtual_contacts


def planned():
    points, felt, which = plan()
    points = np.column_stack([points, np.zeros(len(points))])
    aimed = ContactPlan(Touches("gripper", discs(), which), points, np.linalg.norm(felt, axis=1), "xy")
    return as_measurement(nominal(), aimed, touched()[0].q)[0]


def test_without_errors_it_is_the_plane_equations():
    drawn = virtual_contacts(nominal(), actual(), planned(), (), np.random.default_rng(1))
    kind, felt = touched()
    np.testing.assert_allclose(drawn.campaign.readings, felt, atol=1e-7)
    np.testing.assert_allclose(drawn.campaign.measurement.q, kind.q, atol=1e-9)


def test_joints_and_forces_scatter_as_stated():
    sources = (ForceSensor(sd=0.5), Encoder(sd=2e-5))
    rng = np.random.default_rng(2)
    kind, felt = touched()
    left, turned = [], []
    for _ in range(12):
        drawn = virtual_contacts(nominal(), actual(), planned(), sources, rng)
        left.append(drawn.campaign.readings - felt)
        turned.append(drawn.campaign.measurement.q - kind.q)
    assert np.std(left) == pytest.approx(0.5, rel=0.08)  # 864 numbers
    assert np.std(turned) == pytest.approx(2e-5, rel=0.08)


def test_objects_lie_elsewhere_than_stated():
    drawn = virtual_contacts(nominal(), actual(), planned(), (ObjectPlaces(sd=1e-3),), np.random.default_rng(3))
    assert len(drawn.drawn) == 9
    stated = drawn.campaign.measurement
    assert isinstance(stated, ContactForce)
    values = [p.value + drawn.drawn[f"object {p.name}"] for p in stated.touches.parameters]
    real = ContactForce(stated.q, stated.touches.with_values(values), "xy")
    np.testing.assert_allclose(real.predict(actual()), drawn.campaign.readings, atol=1e-5)
    assert np.abs(np.nan_to_num(stated.predict(actual())) - drawn.campaign.readings).max() > 5


def test_gross_errors_are_planted_and_listed():
    drawn = virtual_contacts(
        nominal(), actual(), planned(), (), np.random.default_rng(4), outliers=2, outlier_size=15.0
    )  # fmt: skip
    off = drawn.campaign.readings - drawn.exact
    assert len(drawn.planted) == 2
    for p in drawn.planted:
        assert off[p.reading, p.row] == pytest.approx(p.size, abs=1e-6)
        assert abs(p.size) == 15.0
    assert np.sum(np.abs(off) > 1) == 2
    with refused("range", (73, 72)):
        virtual_contacts(nominal(), actual(), planned(), (), np.random.default_rng(4), outliers=73)


def test_what_the_true_robot_cannot_do_is_refused():
    short = actual().with_parameters({"link2_end.x": -0.15})
    with refused("infeasible", 4):
        virtual_contacts(nominal(), short, planned(), (), np.random.default_rng(1))
    kind = planned()
    clear = ContactForce(kind.q + np.array([0.0, 0.3]), kind.touches, "xy")
    with refused("infeasible", 1):
        virtual_contacts(nominal(), actual(), clear, (), np.random.default_rng(1))
