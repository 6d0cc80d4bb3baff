"""What is not estimated is not known: the covariance that predictions use."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.campaigns import arm, arm_poses
from oracle.draws import draws

from elastocal.measure.markers import Deflection
from elastocal.measure.measured import Measured
from elastocal.measure.setup import Setup
from elastocal.measure.sources.instrument import Reading
from elastocal.model.descriptions import descriptions
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.statics.observation import Marker
from elastocal.quantities import quantile_95
from elastocal.reduction.error_budget import wide_covariance
from elastocal.reduction.identify import identify

NAMES = ("j1.k", "j2.k", "j3.k", "p4.k")


def found(noise, seed=0, true=None):
    rng = np.random.default_rng(seed)
    model = arm(weight=False)
    q = arm_poses(10, seed)
    w = rng.normal(size=(10, 6)) * np.array([100, 100, 100, 0, 0, 0])
    kind = Deflection(Setup(q, AppliedWrenches("tip", w), (Marker("m1"), Marker("m2"))), "linear")
    exact = kind.predict(model.with_parameters(true or {}))
    readings = exact + np.sqrt(2) * noise * rng.normal(size=exact.shape)
    return model, kind, identify(descriptions(model), Measured(kind, readings, (Reading(sd=noise),)), NAMES)


def test_it_is_the_posterior_with_priors_on_what_is_held():
    """Written out with normal equations: small numbers, well scaled, in units of the values."""
    model, kind, result = found(4e-4)
    held = [n for n in NAMES if n not in result.fit.names]
    assert held
    values = np.array([model.parameters.values[model.parameters.index(n)] for n in NAMES])
    scales = np.array([model.parameters.scales[model.parameters.index(n)] for n in NAMES])
    a = kind.derivative(model, NAMES).reshape(-1, 4) * values / (np.sqrt(2) * 4e-4)
    prior = np.diag(
        [0.0 if n not in held else (v / max(v, s)) ** 2 for n, v, s in zip(NAMES, values, scales, strict=True)]
    )
    spread = np.linalg.inv(a.T @ a / result.fit.inflation**2 + prior)
    left = (result.fit.campaign.readings - kind.predict(result.fit.model)).reshape(-1) / (np.sqrt(2) * 4e-4)
    moved = spread @ a.T @ left / result.fit.inflation**2
    expected = (spread + np.outer(moved, moved)) * np.outer(values, values)
    assert np.abs(moved[NAMES.index(held[0])]) > 0.01
    wide = wide_covariance(result)
    assert wide.names == NAMES
    np.testing.assert_allclose(wide.covariance, expected, rtol=1e-6)
    for i, n in enumerate(result.fit.names):
        assert wide.sd(n) > result.fit.sd[i]


def test_what_dropping_a_parameter_does_to_predictions_is_in_their_accuracy():
    """The truth is some three standard deviations from what M3 holds, too few for it to be kept in most draws."""
    table = arm(weight=False).parameters
    held = table.values[table.index("j3.k")]
    true = 0.2 * held
    count = draws(20, 200)
    drawn = [found(4e-4, seed, {"j3.k": true})[2] for seed in range(count)]
    wide = [wide_covariance(result).sd("j3.k") for result in drawn if "j3.k" not in result.fit.names]
    assert len(wide) > count / 2
    assert np.mean(held - true < 1.96 * np.array(wide)) > 0.9


def test_where_everything_is_estimated_it_is_the_covariance_of_the_fit():
    _, _, result = found(1e-6)
    assert result.fit.names == NAMES
    np.testing.assert_allclose(wide_covariance(result).covariance, result.fit.covariance, rtol=1e-8)


def test_intervals_widen_where_the_noise_is_estimated_from_few_readings():
    assert quantile_95(np.inf) == pytest.approx(1.959964)
    assert quantile_95(7) == pytest.approx(2.364624, rel=1e-6)
    assert quantile_95(1) == pytest.approx(12.7062, rel=1e-5)
