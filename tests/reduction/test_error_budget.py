"""The error budget against Monte Carlo with one source at a time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from oracle.campaigns import arm, arm_campaign
from oracle.draws import draws

from elastocal.measure.measured import Measured
from elastocal.measure.sources.arm import Repeatability
from elastocal.measure.sources.instrument import Reading
from elastocal.measure.sources.load import LoadPoint, LoadSize
from elastocal.measure.sources.places import MarkerPlaces
from elastocal.reduction.error_budget import BEYOND, UNSTATED, VARIES, budget
from elastocal.reduction.fit import estimate, linear_fit
from elastocal.reduction.problem import linearise, unknowns, weigh

SD = 1e-5
JOINTS = ["j1.k", "j2.k", "j3.k", "p4.k"]
SCATTERING = (Reading(sd=SD), Repeatability(sd=3e-5), LoadSize(sd=0.05))
COMMON = (LoadPoint(sd=2e-2), LoadSize(sd=0.02, every="campaign"))


def exact(sources, **how):
    truth = arm()
    return truth, arm_campaign(truth, (Reading(sd=SD), *sources), noise=0.0, **how)


def test_shares_are_those_of_monte_carlo_with_one_source_at_a_time():
    truth, campaign = exact([])
    campaign = Measured(campaign.measurement, campaign.readings, (*SCATTERING, *COMMON))
    names = [*JOINTS, *(u.name for u in unknowns(campaign, truth))]
    fit = estimate(truth, campaign, names)
    assert fit.scatter < 1e-6
    found = budget(fit)
    assert found.names == tuple(JOINTS)
    assert found.sources == ("reading", "repeatability", "load size", "load point, common", "load size, common")
    np.testing.assert_allclose(found.share.sum(axis=0), 1, rtol=1e-12)
    problem = linearise(campaign, truth, names, weigh(campaign, truth))  # the weights of all sources
    n, r = problem.shape
    rng = np.random.default_rng(3)
    variance, count = [], draws(200, 2000)
    for source in campaign.sources:
        sd = np.array([u.sd for u in source.unknowns(campaign.measurement, truth)])
        columns = source.columns(campaign.measurement, truth) * sd
        values = []
        for _ in range(count):
            u = rng.normal(size=(1 if source.common else n, len(sd)))
            errors = np.einsum("nri,ni->nr", columns, np.broadcast_to(u, (n, len(sd))))
            misfit = np.zeros_like(problem.misfit)
            misfit[: n * r] = problem.weights.whiten(errors).reshape(-1)
            values.append(linear_fit(truth, campaign, replace(problem, misfit=misfit), names).values[:4])
        variance.append(np.var(values, axis=0))
    expected = np.array(variance) / np.sum(variance, axis=0)
    assert expected.max(axis=1).min() > 0.03  # every source matters somewhere
    np.testing.assert_allclose(found.share, expected, rtol=0, atol=1 / np.sqrt(count))
    np.testing.assert_allclose(np.sqrt(np.sum(variance, axis=0)), fit.sd[:4], rtol=2 / np.sqrt(2 * count))


def test_prior_rows_keep_their_owners_in_any_order():
    truth, campaign = exact(COMMON)
    names = [u.name for u in unknowns(campaign, truth)]
    one = budget(estimate(truth, campaign, [*JOINTS, *names]))
    other = budget(estimate(truth, campaign, [*JOINTS, *names[::-1]]))
    size = one.share[one.sources.index("load size, common")]
    assert size.max() > 0.3
    np.testing.assert_allclose(other.share[other.sources.index("load size, common")], size, rtol=1e-4)


def test_the_dominant_source_is_named():
    truth, campaign = exact((LoadSize(sd=0.3),))
    found = budget(estimate(truth, campaign, JOINTS))
    assert found.sources == ("reading", "load size")
    for name in JOINTS[:3]:
        source, share = found.dominant(name)
        assert source == "load size"
        assert share == found.share[1, JOINTS.index(name)] > 0.5
    overall = found.overall()
    assert [s for s, _ in overall] == ["load size", "reading"]
    assert sum(share for _, share in overall) == pytest.approx(1, rel=1e-12)
    assert overall[0][1] == pytest.approx(np.mean(found.share[1]), rel=1e-12)


def test_two_sources_of_one_kind_are_one_line():
    truth, campaign = exact((Reading(sd=2 * SD),))
    found = budget(estimate(truth, campaign, JOINTS))
    assert found.sources == ("reading",)
    np.testing.assert_allclose(found.share, 1, rtol=1e-12)


def test_what_no_stated_source_explains_has_a_line_of_its_own():
    """Readings that scatter three times as much as stated: 8/9 of the variance."""
    truth = arm()
    campaign = arm_campaign(truth, (Reading(sd=SD),), count=30, noise=3.0)
    fit = estimate(truth, campaign, JOINTS)
    found = budget(fit)
    assert found.sources == ("reading", BEYOND)
    np.testing.assert_allclose(found.share[1], 1 - 1 / fit.scatter**2, rtol=1e-9)
    assert found.dominant("j2.k")[0] == BEYOND
    np.testing.assert_allclose(found.share.sum(axis=0), 1, rtol=1e-12)
    quiet = arm_campaign(truth, (Reading(sd=SD),), count=30, noise=0.5)
    assert budget(estimate(truth, quiet, JOINTS)).sources == ("reading",)


def test_compliance_that_varies_has_a_line_of_its_own():
    truth = arm()
    fit = estimate(truth, arm_campaign(truth, (Reading(sd=SD),), count=30, noise=0.5), JOINTS)
    vars(fit)["share"] = 0.2
    found = budget(fit)
    assert found.sources == ("reading", VARIES)
    np.testing.assert_allclose(found.share[1], (0.2 * fit.bending) ** 2 / np.diag(fit.covariance), rtol=1e-6)


def test_without_stated_noise_there_is_one_line():
    truth, campaign = exact(())
    found = budget(estimate(truth, Measured(campaign.measurement, campaign.readings), JOINTS))
    assert found.sources == (UNSTATED,)
    assert found.share.shape == (1, 4)


def test_unknowns_without_a_prior_cost_accuracy_but_are_no_source():
    """Free marker places: their price is in the shares of the others."""
    truth, campaign = exact((MarkerPlaces(),))
    names = [*JOINTS, *(u.name for u in unknowns(campaign, truth))]
    free = estimate(truth, campaign, names)
    assert budget(free).sources == ("reading",)
    bound = estimate(truth, campaign, JOINTS)
    assert np.max(free.sd[:4] / bound.sd) > 1.01
