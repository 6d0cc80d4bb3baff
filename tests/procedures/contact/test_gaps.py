"""The document's search: the twelve values from nominal ones, the error index falling, noise, and a hopeless start."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from oracle.scara import ACTUAL, NAMES, actual, nominal, touched

from elastocal.measure.contacts import ContactForce, ContactGap
from elastocal.measure.measured import Measured
from elastocal.measure.sources.instrument import ForceSensor
from elastocal.procedures.contact.calibrate import force_error
from elastocal.procedures.contact.gaps import gap_campaign, iterate
from elastocal.reduction.fit import estimate


@pytest.mark.parametrize("gaps", [True, False])
def test_all_twelve_parameters_come_back(gaps):
    kind, felt = touched()
    exact = Measured(kind, felt)
    found = iterate(nominal(), gap_campaign(exact) if gaps else exact, NAMES, 1e-8)
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
    campaign = Measured(gap, np.zeros((36, 2)), (ForceSensor(sd=0.5),))
    found = iterate(actual(), campaign, NAMES, 1e-8)
    fit = estimate(actual(), campaign, NAMES)
    # the fit of scipy weighs once more at its estimate
    assert np.max(np.abs(found.values(NAMES) - fit.values) / fit.sd) < 0.05
    assert np.max(np.abs(found.values(NAMES) - ACTUAL) / fit.sd) > 0.3


def test_steps_are_limited():
    """A first joint whose zero is off by 0.06 rad: no step moves its offset by more than twenty times its size."""
    kind, felt = touched()
    turned = ContactForce(kind.q - np.array([0.06, 0.0]), kind.touches, "xy")
    found = iterate(actual(), gap_campaign(Measured(turned, felt)), NAMES[:6], 1e-8)
    offsets = np.array([m.parameters.values[m.parameters.index("J1.offset")] for m in found.models])
    assert found.converged
    assert offsets[-1] == pytest.approx(0.06 - 1.7e-3, rel=1e-8)
    assert np.abs(np.diff(offsets)).max() <= 20 * 1.7e-3 * (1 + 1e-9)


def started(seed, spread):
    """The actual robot with every parameter off by ``spread`` times its size, more or less."""
    off = ACTUAL * (1 + spread * np.random.default_rng(seed).normal(size=12))
    off[6:] = np.abs(off[6:])  # compliances and gaps
    return nominal().with_parameters(dict(zip(NAMES, off, strict=True)))


def test_a_step_that_loses_contacts_is_halved():
    kind, felt = touched()
    found = iterate(started(8, 5.0), gap_campaign(Measured(kind, felt)), NAMES, 1e-8)
    assert found.converged
    np.testing.assert_allclose(found.values(NAMES), ACTUAL, rtol=1e-9)


def test_no_step_is_taken_that_makes_the_misfit_larger():
    """From here a whole step would; the sum of squares is counted once more from the forces."""
    kind, felt = touched()
    found = iterate(started(0, 3.0), Measured(kind, felt), NAMES, 1e-8)
    squares = [np.sum((felt - kind.predict(m)) ** 2) for m in found.models]
    assert found.converged
    assert len(squares) > 5
    assert all(after < before for before, after in pairwise(squares[:-1]))


def test_contacts_that_are_lost_make_no_fit():
    """A first joint turned by 0.2 rad: what is left after losing most contacts would fit, and is not called a fit."""
    kind, felt = touched()
    found = iterate(nominal().with_parameters({"J1.offset": 0.2}), gap_campaign(Measured(kind, felt)), NAMES)
    assert not found.converged


def test_directions_that_the_contacts_hardly_see_are_left_alone():
    """Twelve contacts on one disc do not tell all twelve parameters."""
    kind, felt = touched()
    noisy = felt + 0.1 * np.random.default_rng(1).normal(size=felt.shape)
    one = Measured(ContactForce(kind.q[:12], kind.touches.rows(np.arange(12)), "xy"), noisy[:12])
    found = iterate(actual(), gap_campaign(one), NAMES)
    off = np.abs(found.values(NAMES) / ACTUAL - 1)
    assert found.converged
    assert 0.1 < off.max() < 0.5


def test_the_last_step_is_foreseen():
    """Steps shrink faster and faster, so that none is taken only to see that it is small."""
    kind, felt = touched()
    found = iterate(nominal(), gap_campaign(Measured(kind, felt)), NAMES)
    assert found.converged
    assert len(found.steps) == 3
    assert 1e-4 < found.steps[-1] < 0.1
    np.testing.assert_allclose(found.values(NAMES), ACTUAL, rtol=1e-6)
