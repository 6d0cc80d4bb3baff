"""Planned contacts: joint values against the plane equations of the document, and what cannot be reached."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.robots import random_robot
from oracle.scara import actual, closed_form_joints, discs, nominal, plan

from elastocal.model.statics.contact import ContactStatus
from elastocal.model.surfaces.sphere import Sphere
from elastocal.model.surfaces.surface import Touches
from elastocal.procedures.contact import plan as plan_of_contacts
from elastocal.procedures.contact.plan import (
    ContactPlan,
    as_measurement,
    contact_plan_of,
    on_objects,
    rest_height,
)


def planned(rows=slice(None)):
    points, felt, which = plan()
    points = np.column_stack([points, np.zeros(len(points))])
    return ContactPlan(Touches("gripper", discs(), which), points, np.linalg.norm(felt, axis=1), "xy").rows(
        np.arange(36)[rows]
    )


def test_joint_values_are_those_of_the_plane_equations():
    """The elbow stays on the side where the first contact has it, which is that of the closed form."""
    wanted = planned()
    found, reached = as_measurement(actual(), wanted)
    points, felt, _ = plan()
    expected = np.array([closed_form_joints(x, f) for x, f in zip(points, felt, strict=True)])
    assert reached.all()
    np.testing.assert_allclose(found.q, expected, atol=1e-9)
    np.testing.assert_allclose(wanted.force[:, :2], felt, atol=1e-12)


def test_contacts_that_are_sought_a_few_at_a_time_follow_each_other_as_all_of_them_do(monkeypatch):
    whole, reached = as_measurement(actual(), planned())
    monkeypatch.setattr(plan_of_contacts, "AT_ONCE", 5)
    pieces, again = as_measurement(actual(), planned())
    np.testing.assert_array_equal(pieces.q, whole.q)
    assert reached.all()
    assert again.all()


def test_what_is_commanded_is_felt_and_read_back_as_the_same_plan():
    wanted = planned(slice(0, 36, 5))
    kind, reached = as_measurement(actual(), wanted)
    assert reached.all()
    again, rows = contact_plan_of(actual(), kind)
    assert len(rows) == len(wanted.sizes)
    np.testing.assert_allclose(again.sizes, wanted.sizes, rtol=1e-8)
    np.testing.assert_allclose(again.points, wanted.points, atol=1e-10)


def test_a_contact_beyond_the_arm_is_not_reached_and_spoils_no_other():
    wanted = planned(slice(0, 4))
    points = wanted.points.copy()
    points[1, 0] += 2.0
    far = ContactPlan(wanted.touches, points, wanted.sizes, "xy")
    _, reached = as_measurement(actual(), far)
    assert reached.tolist() == [True, False, True, True]


def test_limits_count():
    wanted = planned(slice(24, 36))
    assert as_measurement(actual(), wanted)[1].all()
    from dataclasses import replace

    model = actual()
    frames = tuple(
        replace(f, joint=replace(f.joint, limits=(-0.1, 2.3))) if f.name == "J2" else f for f in model.tree.frames
    )
    narrow = replace(model, tree=replace(model.tree, frames=frames))
    _, reached = as_measurement(narrow, wanted)
    inside = as_measurement(model, wanted)[0].q[:, 1] < 2.3
    assert reached.tolist() == inside.tolist()
    assert 0 < inside.sum() < 12


def test_points_are_put_on_the_object():
    ball = Sphere(name="ball", centre=(1.0, 2.0, 3.0), radius=0.5)
    touches = Touches.one("gripper", ball, 2)
    found = on_objects(touches, np.array([[1.0, 2.0, 4.0], [1.3, 2.4, 3.0]]))
    np.testing.assert_allclose(found, [[1, 2, 3.5], [1.3, 2.4, 3.0]], atol=1e-12)
    assert rest_height(nominal(), "gripper") == 0.0


def test_an_arm_in_space_presses_on_a_ball():
    model = random_robot(4, 6, 1, k=2e-5)
    from elastocal.model.kinematics import kinematics

    tip = kinematics(model, np.full((1, 6), 0.3)).position[0]
    ball = Sphere(name="ball", centre=tuple(tip - [0.05, 0, 0]), radius=0.05)
    wanted = ContactPlan(Touches.one(model.tool, ball, 1), tip[None], np.array([30.0]))
    kind, reached = as_measurement(model, wanted, np.full((1, 6), 0.25))
    assert reached.all()
    state = kind.touched(model)
    assert state.status[0] == ContactStatus.CONTACT
    assert state.force[0] == pytest.approx([30.0, 0, 0], abs=1e-5)
