"""The document's search: the twelve values from nominal ones, the error index falling, noise, and a hopeless start."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from oracle.scara import ACTUAL, NAMES, actual, nominal, touched

from elastocal.contacts.judgement import force_error
from elastocal.identify.estimate import estimate
from elastocal.identify.iterations import search
from elastocal.measure.campaign import Campaign
from elastocal.measure.contact_force import ContactForce
from elastocal.measure.contact_gap import ContactGap
from elastocal.measure.sources.force_sensor import ForceSensor
from elastocal.study.contact_start import gap_campaign


@pytest.mark.parametrize("gaps", [True, False])
def test_all_twelve_parameters_come_back(gaps):
    kind, felt = touched()
    exact = Campaign(kind, felt)
    found = search(nominal(), gap_campaign(exact) if gaps else exact, NAMES, 1e-8)
    assert found.converged
    np.testing.assert_allclose(found.values(NAMES), ACTUAL, rtol=1e-9)
    errors = [force_error(kind, m, felt) for m in found.models]
    assert errors[0] > 100
    assert all(after < before or after < 1e-10 for before, after in pairwise(errors))
    assert errors[-1] < 1e-8
    assert len(errors) < (6 if gaps else 12)


def test_with_noise_it_ends_where_scipy_does():
    kind, felt = touched()
    noisy = felt + 0.5 * np.random.default_rng(3).normal(size=felt.shape)
    gap = ContactGap.of(kind, noisy)
    campaign = Campaign(gap, np.zeros((36, 2)), (ForceSensor(sd=0.5),))
    found = search(actual(), campaign, NAMES, 1e-8)
    fit = estimate(actual(), campaign, NAMES)
    # the fit of scipy weighs once more at its estimate
    assert np.max(np.abs(found.values(NAMES) - fit.values) / fit.sd) < 0.05
    assert np.max(np.abs(found.values(NAMES) - ACTUAL) / fit.sd) > 0.3


def test_steps_are_limited():
    """A first joint whose zero is off by 0.06 rad: no step moves its offset by more than twenty times its size."""
    kind, felt = touched()
    turned = ContactForce(kind.q - np.array([0.06, 0.0]), kind.touches, "xy")
    found = search(actual(), gap_campaign(Campaign(turned, felt)), NAMES[:6], 1e-8)
    offsets = np.array([m.parameters.values[m.parameters.index("J1.offset")] for m in found.models])
    assert found.converged
    assert offsets[-1] == pytest.approx(0.06 - 1.7e-3, rel=1e-8)
    assert np.abs(np.diff(offsets)).max() <= 20 * 1.7e-3 * (1 + 1e-9)
