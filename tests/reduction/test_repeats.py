"""Pure error and lack of fit against sums written out, scipy's F distribution and Monte Carlo."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.campaigns import arm, arm_campaign, scatter
from scipy import stats

from elastocal.measure.measured import Measured
from elastocal.measure.sources.arm import Repeatability
from elastocal.measure.sources.instrument import Reading
from elastocal.model.compliant.link_compliance import LinkCompliance, as_matrix6
from elastocal.reduction.fit import estimate

SD = 1e-5
JOINTS = ["j1.k", "j2.k", "j3.k", "p4.k"]
PLAIN = (Reading(sd=SD),)


def test_the_split_of_squares_is_the_one_written_out():
    """Six states read three times, some numbers missing."""
    campaign = arm_campaign(arm(), PLAIN, count=6, each=3, noise=1.3)
    readings = campaign.readings.copy()
    readings[4, 2] = readings[7] = readings[9:11, 0] = np.nan
    campaign = Measured(campaign.measurement, readings, PLAIN)
    fit = estimate(arm(), campaign, JOINTS)
    state = campaign.measurement.setup.state
    found = fit.repeats
    one = np.sqrt(2) * SD
    pure = freedom = 0.0
    cells = []
    for s in range(6):
        for row in range(6):
            values = readings[state == s, row]
            values = values[np.isfinite(values)]
            cells.append(len(values))
            freedom += len(values) - 1
            pure += np.sum((values - values.mean()) ** 2) / one**2
    total = np.nansum((readings - campaign.measurement.predict(fit.model)) ** 2) / one**2
    count = np.isfinite(readings).sum()
    lack_freedom = count - 4 - freedom
    assert (found.pure_freedom, found.lack_freedom) == (freedom, lack_freedom) == (108 - 9 - 36, 32)
    assert found.pure_error == pytest.approx(np.sqrt(pure / freedom), rel=1e-9)
    assert found.lack_of_fit == pytest.approx(np.sqrt((total - pure) / lack_freedom), rel=1e-9)
    assert found.ratio == pytest.approx((total - pure) / lack_freedom / (pure / freedom), rel=1e-9)
    assert found.probability == pytest.approx(stats.f.sf(found.ratio, lack_freedom, freedom), rel=1e-9)
    cells = np.array(cells)
    # Searle's n0: (N - sum n^2 / N) / (groups - 1)
    assert found.each == pytest.approx((count - np.sum(cells**2) / count) / 35, rel=1e-12)
    assert 2.7 < found.each < 3


@pytest.mark.parametrize("sources", [PLAIN, (Reading(sd=SD), Repeatability(sd=2e-5))])
def test_where_the_model_is_right_every_probability_is_as_likely(sources):
    truth = arm()
    campaign = arm_campaign(truth, sources, count=4, each=2, noise=0.0)
    kind = campaign.measurement
    found = []
    for seed in range(150):
        noisy = Measured(kind, campaign.readings + 2 * scatter(kind, truth, sources, seed), sources)
        found.append(estimate(truth, noisy, JOINTS).repeats)
    p = [f.probability for f in found]
    assert stats.kstest(p, "uniform").pvalue > 0.01
    assert np.mean([f.pure_error**2 for f in found]) == pytest.approx(4, rel=0.1)  # twice the stated noise
    assert np.mean([f.lack_of_fit**2 for f in found]) == pytest.approx(4, rel=0.1)


def test_a_soft_link_that_the_model_does_not_know_is_flagged():
    k = as_matrix6(np.diag([1e-7, 3e-7, 2e-7, 4e-6, 3e-6, 5e-6]))
    truth = arm(LinkCompliance(frame="end", matrix=k))
    campaign = arm_campaign(truth, PLAIN, count=8, each=3, statics="loaded")
    poor = estimate(arm(), campaign, JOINTS)
    found = poor.repeats
    assert found.probability < 1e-3
    assert found.pure_error == pytest.approx(1, abs=0.2)
    assert poor.scatter > 1.2
    assert found.lack_of_fit > 1.5
    right = estimate(truth, campaign, JOINTS).repeats
    assert right.probability > 0.01
    assert right.pure_error == pytest.approx(found.pure_error, rel=1e-3)  # repeats know no model


def test_without_repeats_there_is_no_test():
    campaign = arm_campaign(arm(), PLAIN, count=6)
    found = estimate(arm(), campaign, JOINTS).repeats
    assert found.pure_freedom == 0
    assert found.lack_freedom == 32
    assert np.isnan([found.pure_error, found.lack_of_fit, found.ratio, found.probability, found.each]).all()


def test_one_state_read_often_tells_the_noise_but_not_the_model():
    campaign = arm_campaign(arm(), PLAIN, count=1, each=20)
    found = estimate(arm(), campaign, JOINTS[:3]).repeats
    assert found.pure_freedom == 6 * 19
    assert found.pure_error == pytest.approx(1, abs=0.2)
    assert found.lack_freedom == 3
    assert 0 < found.probability < 1


def test_repeats_that_agree_exactly_condemn_any_misfit():
    campaign = arm_campaign(arm(), PLAIN, count=5, noise=1.0)
    kind = campaign.measurement
    twice = np.arange(5).repeat(2)
    again = Measured(type(kind)(kind.setup.picked(twice), "linear"), campaign.readings[twice], PLAIN)
    found = estimate(arm(), again, JOINTS).repeats
    assert found.pure_error == pytest.approx(0, abs=1e-9)
    assert found.probability < 1e-12
