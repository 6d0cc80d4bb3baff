"""What a fit of contacts is worth: e_f by hand, contacts that are not determined."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.scara import ACTUAL, NAMES, actual, closed_form_joints, discs, nominal, touched

from elastocal.measure.contacts import ContactForce
from elastocal.measure.measured import Measured
from elastocal.measure.sources.instrument import ForceSensor
from elastocal.model.descriptions import descriptions
from elastocal.model.surfaces.surface import Touches
from elastocal.procedures.contact.calibrate import force_error, judge, undetermined_contacts
from elastocal.procedures.contact.plan import contact_scene
from elastocal.reduction.fit import estimate
from elastocal.reduction.identify import identify


def campaign(noise=0.1):
    kind, felt = touched()
    noisy = felt + noise * np.random.default_rng(5).normal(size=felt.shape)
    return Measured(ContactForce(kind.q, kind.touches, "xy"), noisy, (ForceSensor(sd=noise),))


def test_the_error_index_is_a_mean_of_lengths():
    kind, felt = touched()
    off = np.zeros_like(felt)
    off[0], off[5] = [3.0, 4.0], [0.0, -7.0]
    assert force_error(kind, actual(), felt + off) == pytest.approx(12 / 36, abs=1e-8)


def test_the_force_error_before_and_after():
    start = estimate(nominal(), campaign(), NAMES).model
    found = judge(nominal(), identify(descriptions(start, None), campaign(), NAMES))
    assert found.before > 100
    assert 0.05 < found.after < 0.15
    assert found.lost == ()


def test_undetermined_contacts_are_counted_and_named():
    """Pressing along the line through the first axis, whose play could then rest on either side."""
    centre = np.array(discs()[2].centre)
    n = -(centre - ACTUAL[:2]) / np.linalg.norm(centre - ACTUAL[:2])
    middle = ACTUAL * (np.array(NAMES) != "J1.gap")
    q = closed_form_joints(centre + 0.08 * n, 40 * n, middle)
    kind, felt = touched()
    more = ContactForce(np.vstack([kind.q, q]), Touches("gripper", discs(), [*kind.touches.which, 2]), "xy")
    read = Measured(more, np.vstack([felt, 40 * n]), (), tuple(f"row {i}" for i in range(37)))
    (said,) = undetermined_contacts(more, actual(), read)
    assert said.startswith("1 of 37 contacts are not used (row 36): undetermined")


def test_the_picture_has_the_robot_at_every_object():
    found = contact_scene(actual(), campaign(noise=1e-9))
    assert len(found.arms) == len(found.outlines) == 3
    np.testing.assert_allclose(np.hypot(*(found.outlines[0] - [-0.25, 0.30]).T), 0.15, atol=1e-12)
    np.testing.assert_allclose(found.arms[0][0], [2.5e-3, -2.2e-3], atol=1e-12)
    np.testing.assert_allclose(found.expected, found.felt, atol=1e-6)
    np.testing.assert_allclose(np.hypot(*(found.points[:12] - [-0.25, 0.30]).T), 0.15, atol=1e-8)
