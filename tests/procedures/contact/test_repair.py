"""The published plan is diagnosed and repaired: combinations, accuracy by another route, the smallest change first."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.refusals import refused
from oracle.scara import NAMES, discs, nominal, plan, touched

from elastocal.measure.markers import Deflection
from elastocal.measure.measured import Measured
from elastocal.measure.setup import Setup
from elastocal.measure.sources.instrument import ForceSensor
from elastocal.measure.sources.places import ObjectPlaces
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.statics.observation import Marker
from elastocal.model.surfaces.disc import Disc
from elastocal.model.surfaces.surface import Touches
from elastocal.procedures.contact.calibrate import combinations, written
from elastocal.procedures.contact.plan import ContactPlan, as_measurement
from elastocal.procedures.contact.repair import accuracy, contact_blocks, repair
from elastocal.solve.identifiability import Combination

GRIPPER = [NAMES.index("gripper.p"), NAMES.index("gripper.gap")]


def campaign(forces, sd=0.1, *more):
    points, felt, which = plan(forces)
    points = np.column_stack([points, np.zeros(len(points))])
    planned = ContactPlan(Touches("gripper", discs(), which), points, np.linalg.norm(felt, axis=1), "xy")
    kind, _ = as_measurement(nominal(), planned, touched(forces)[0].q)
    return Measured(kind, np.full((36, 2), np.nan), (ForceSensor(sd=sd), *more))


@pytest.fixture(scope="module")
def one():
    return repair(nominal(), campaign((40.0,)), NAMES, 5.0)


def test_forty_newtons_everywhere_join_compliance_and_play_of_the_gripper(one):
    now = one.options[0].accuracy
    assert np.flatnonzero(~np.isfinite(now.sd)).tolist() == GRIPPER
    said = combinations(now.groups, dict(zip(now.names, now.units, strict=True)))
    assert said == ("gripper.p and gripper.gap are identifiable only as 40 N * gripper.p + gripper.gap",)


def test_one_contact_pressed_less_separates_them(one):
    """The smallest change that resolves all: a single contact at 20 N; its accuracy by the normal equations."""
    assert [o.title for o in one.options] == ["as planned", "half the force on one contact"]
    assert one.chosen is one.options[1]
    assert np.sort(one.chosen.plan.sizes)[:2] == pytest.approx([20.0, 40.0])
    assert one.unresolved == ()
    kind, _ = as_measurement(nominal(), one.chosen.plan, touched()[0].q)
    matrix = kind.derivative(nominal(), NAMES).reshape(72, 12) / 0.1
    scale = np.linalg.norm(matrix, axis=0)
    sd = np.sqrt(np.diag(np.linalg.inv((matrix / scale).T @ (matrix / scale)))) / scale
    np.testing.assert_allclose(one.chosen.accuracy.sd, sd, rtol=1e-6)
    assert np.all(sd <= one.chosen.accuracy.size / 5)
    assert one.chosen.accuracy.size[GRIPPER] == pytest.approx([1e-5, 1e-4])  # a value, and what matters of a zero gap


def test_the_contact_chosen_is_the_best_single_one(one):
    plan_ = one.options[0].plan
    sums = []
    others = (0, 7, 13, 20, 25, 31, 35)
    best = int(np.argmin(one.chosen.plan.sizes))
    for i in (*others, best):
        sizes = plan_.sizes.copy()
        sizes[i] = 20.0
        kind, _ = as_measurement(nominal(), plan_.with_sizes(sizes), touched((40.0,))[0].q)
        found = contact_blocks(nominal(), Measured(kind, np.full((36, 2), np.nan), (ForceSensor(sd=0.1),)), NAMES)
        sums.append(np.sum((accuracy(found, nominal()).sd / found.size[:12]) ** 2))
    assert best not in others
    assert int(np.argmin(sums)) == len(others)


def test_more_noise_needs_more_contacts():
    found = repair(nominal(), campaign((40.0,), 0.5), NAMES, 5.0)
    titles = [o.title for o in found.options]
    assert titles[1] == "half the force on one contact"
    assert titles[2] == "half the force on every second contact"
    assert "36 contacts more" in titles[3]
    last = found.options[3]
    new = last.plan.sizes[last.origin < 0]
    assert np.sort(new) == pytest.approx([20.0] * 18 + [40.0] * 18)
    points = {tuple(np.round(p, 9)) for p in last.plan.points}
    assert len(points) == 72  # new places, not old ones again
    near = last.plan.touches.near(np.ascontiguousarray(last.plan.points.T))
    np.testing.assert_allclose(near.distance, 0, atol=1e-12)
    assert np.all(last.accuracy.sd < found.options[2].accuracy.sd)


def test_a_good_plan_is_left_alone():
    found = repair(nominal(), campaign((20.0, 40.0)), NAMES, 5.0)
    assert found.chosen is None
    assert len(found.options) == 1


def test_what_nothing_resolves_is_named():
    found = repair(nominal(), campaign((40.0,), 5.0), NAMES, 5.0)
    assert "J2.gap" in found.unresolved
    assert "base.x" not in found.unresolved


def test_uncertain_objects_cost_accuracy():
    exact = campaign((20.0, 40.0))
    loose = campaign((20.0, 40.0), 0.1, ObjectPlaces(sd=1e-4))
    plain, other = (accuracy(contact_blocks(nominal(), c, NAMES), nominal()) for c in (exact, loose))
    assert len(other.sd) == 12
    assert other.sd[0] > 10 * plain.sd[0]  # x0 is known no better than the discs
    assert 3e-5 < other.sd[0] < 1.5e-4


def test_combinations_with_several_and_with_signs():
    units = {"a": "m", "b": "m/N", "c": "rad"}
    assert written(Combination("b", (("a", 0.025),)), units) == "40 N * b + a"
    assert written(Combination("a", (("b", -40.0),)), units) == "a - 40 N * b"
    assert written(Combination("a", (("c", 0.33),)), units) == "3.03 1/m * a + c"


def test_only_contacts_are_repaired():
    where = Setup(np.zeros((1, 2)), AppliedWrenches("gripper", np.ones((1, 6))), (Marker("gripper"),))
    with refused("unsupported", "deflection"):
        repair(nominal(), Measured(Deflection(where), np.zeros((1, 3))), NAMES, 5.0)


def test_new_contacts_out_of_reach_are_left_out():
    """A disc at the rim of the reach: its far side cannot be touched, nor the middle between two contacts there."""
    centre, turn = np.array([0.60, 0.0]), np.radians([60.0, 120.0, 180.0, 240.0, 300.0])
    rim = Disc(name="rim", centre=(0.60, 0.0), radius=0.09)
    normals = np.column_stack([np.cos(turn), np.sin(turn), np.zeros(5)])
    points = np.array([*centre, 0.0]) + 0.09 * normals
    planned = ContactPlan(Touches("gripper", (rim,), np.zeros(5, dtype=int)), points, np.full(5, 40.0), "xy")
    kind, reached = as_measurement(nominal(), planned)
    assert reached.all()
    poor = Measured(kind, np.full((5, 2), np.nan), (ForceSensor(sd=50.0),))
    last = repair(nominal(), poor, ("J1.offset", "J2.offset", "J1.k"), 5.0).options[-1]
    assert last.plan.points[:, 0].max() < 0.66
    assert 5 < len(last.plan.points) < 20
    assert len(last.origin) == len(last.plan.points)
    assert np.sum(last.origin >= 0) == 5
