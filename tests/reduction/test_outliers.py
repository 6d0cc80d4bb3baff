"""Outliers are named, and nothing else is."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.campaigns import arm, arm_campaign, scatter

from elastocal.measure.measured import Measured
from elastocal.measure.sources.arm import Repeatability
from elastocal.measure.sources.instrument import Reading
from elastocal.measure.sources.load import LoadSize
from elastocal.reduction.diagnostics import find_outliers
from elastocal.reduction.fit import estimate

SD = 1e-5
JOINTS = ["j1.k", "j2.k", "j3.k", "p4.k"]
FULL = (Reading(sd=SD), Repeatability(sd=2e-5), LoadSize(sd=0.01))


def spoiled(campaign, *errors):
    readings = campaign.readings.copy()
    for at, size in errors:
        readings[at] += size
    places = tuple(f"tracker.csv:{i + 2}" for i in range(len(readings)))
    return Measured(campaign.measurement, readings, campaign.sources, places)


@pytest.mark.parametrize("sources", [(Reading(sd=SD),), FULL])
@pytest.mark.parametrize("statics", ["linear", "loaded"])
def test_a_gross_error_is_named_with_what_the_rest_predicts(sources, statics):
    clean = arm_campaign(arm(), sources, count=12, statics=statics)
    campaign = spoiled(clean, ((5, 4), 2e-3))
    (found,) = find_outliers(estimate(arm(), campaign, JOINTS))
    assert (found.reading, found.row) == (5, 4)
    assert found.place == "tracker.csv:7, m2.dy"
    assert found.value == campaign.readings[5, 4]
    hole = campaign.readings.copy()
    hole[5, 4] = np.nan
    rest = estimate(arm(), Measured(campaign.measurement, hole, sources), JOINTS)
    predicted = campaign.measurement.predict(rest.model)[5, 4]
    assert found.predicted == pytest.approx(predicted, abs=SD)
    assert abs(found.predicted - found.value) == pytest.approx(2e-3, rel=0.1)
    kind = campaign.measurement
    one = np.sqrt(sum(s.covariance(kind, arm())[5, 4, 4] for s in sources))
    assert found.sigmas == pytest.approx(2e-3 / one, rel=0.4)  # in units of the scatter that the bulk shows


def test_two_gross_errors_the_worst_first():
    campaign = spoiled(arm_campaign(arm(), (Reading(sd=SD),), count=12), ((5, 4), 1e-3), ((9, 0), -2e-3))
    found = find_outliers(estimate(arm(), campaign, JOINTS))
    assert [(s.reading, s.row) for s in found] == [(9, 0), (5, 4)]
    assert found[0].sigmas > found[1].sigmas > 5


def test_sigmas_are_counted_in_the_scatter_of_the_bulk():
    """Noise understated by ten: 0.3 mm is 21 stated and 2 real standard deviations."""
    campaign = arm_campaign(arm(), (Reading(sd=SD),), count=20, noise=10.0)
    fit = estimate(arm(), spoiled(campaign, ((5, 4), 3e-4)), JOINTS)
    assert fit.scatter > 7
    assert find_outliers(fit) == ()
    (found,) = find_outliers(estimate(arm(), spoiled(campaign, ((5, 4), 3e-3)), JOINTS))
    assert found.sigmas == pytest.approx(3e-3 / (10 * np.sqrt(2) * SD), rel=0.3)


def test_clean_data_raise_no_alarm():
    """Normal errors lie beyond five sigma once in two million; 40 campaigns of 60 numbers."""
    truth = arm()
    campaign = arm_campaign(truth, FULL, count=10, noise=0.0)
    kind = campaign.measurement
    alarms = 0
    for seed in range(40):
        noisy = Measured(kind, campaign.readings + scatter(kind, truth, FULL, seed), FULL)
        alarms += len(find_outliers(estimate(truth, noisy, JOINTS)))
    assert alarms <= 1


def test_too_few_readings_to_tell():
    campaign = arm_campaign(arm(), (Reading(sd=SD),), count=1)
    readings = campaign.readings.copy()
    readings[0, :2] = np.nan
    few = Measured(campaign.measurement, readings, campaign.sources)
    fit = estimate(arm(), few, JOINTS[:3])
    assert fit.freedom == 1
    assert find_outliers(fit) == ()
