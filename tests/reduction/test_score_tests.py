"""What was stated and is not believed, and what was taken as exact and is asked for: against Monte Carlo and refits."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from oracle.campaigns import arm, arm_campaign, scatter
from oracle.draws import draws, spread_of_share
from scipy import stats

from elastocal.measure.measured import Measured, ParameterPrior
from elastocal.measure.sources.instrument import Reading
from elastocal.measure.sources.load import LoadPoint, LoadSize
from elastocal.model.compliant.link_compliance import LinkCompliance
from elastocal.model.descriptions import descriptions
from elastocal.reduction.diagnostics import CHANCE, omitted_parameters, prior_checks
from elastocal.reduction.first_fit import ReductionRules
from elastocal.reduction.fit import estimate
from elastocal.reduction.identify import identify

SD = 1e-5
JOINTS = ["j1.k", "j2.k", "j3.k", "p4.k"]
POINT = 2e-3
LIGHT = arm(weight=False)
NUISANCES = [f"load point {a}" for a in "xyz"]
SOURCES = (Reading(sd=SD), LoadPoint(sd=POINT))


def campaign_with(shift, seed, noise=1.0):
    """Deflections of an arm whose load acts ``shift`` beside its frame, linear in it."""
    truth = arm()
    exact = arm_campaign(truth, SOURCES, count=6, noise=0.0)
    kind = exact.measurement
    columns = LoadPoint(sd=POINT).columns(kind, truth)
    readings = exact.readings + columns @ shift + noise * scatter(kind, truth, SOURCES, seed)
    return Measured(kind, readings, SOURCES)


@pytest.mark.parametrize("noise", [1.0, 4.0])
def test_sigmas_are_those_of_a_normal_number_where_all_is_as_stated(noise):
    """Load points drawn as stated; noise four times as large as stated widens what may be found, too."""
    rng = np.random.default_rng(8)
    drawn, count = [], draws(8, 100)
    for seed in range(count):
        campaign = campaign_with(POINT * rng.normal(size=3), seed, noise)
        found = prior_checks(estimate(arm(), campaign, [*JOINTS, *NUISANCES]))
        drawn.append([np.sign(s.value) * s.sigmas for s in found])
    z = np.array(drawn)
    assert z.shape == (count, 3)
    assert stats.kstest(z.reshape(-1), "norm").pvalue > 0.01
    assert z.std() == pytest.approx(1, abs=1.7 / np.sqrt(6 * count) + 0.05)


def test_a_load_that_hangs_elsewhere_strays_and_the_chance_counts_all_that_is_stated():
    fit = estimate(arm(), campaign_with(np.array([0.0, 9 * POINT, 0.0]), 3), [*JOINTS, *NUISANCES])
    by_name = {s.name: s for s in prior_checks(fit)}
    far = by_name["load point y"]
    assert far.conflict
    assert far.sd == POINT
    assert POINT < far.value < 9 * POINT  # held back by what is stated
    assert far.sigmas > far.value / far.sd
    noise_known, noise_alone = stats.norm.sf(far.sigmas), stats.t.sf(far.sigmas, fit.freedom - 1)
    assert 3 * 2 * noise_known < far.chance < 3 * 2 * noise_alone
    near = [s for n, s in by_name.items() if n != far.name]
    assert not any(s.conflict for s in near)


def test_a_belief_about_a_parameter_strays_like_a_nuisance():
    truth = arm()
    campaign = arm_campaign(truth, (Reading(sd=SD),), count=6)
    wrong = Measured(
        campaign.measurement, campaign.readings, campaign.sources, priors=(ParameterPrior("j2.k", 3e-5, 1e-6),)
    )
    (found,) = prior_checks(estimate(truth, wrong, JOINTS))
    assert found.name == "j2.k"
    assert found.value == pytest.approx(2e-5 - 3e-5, rel=0.05)
    assert found.conflict


def believed(noise, sd, seed, count=2, names=JOINTS[:3], sources=()):
    """Readings of one marker with ``noise`` (m) that nobody states, and j2.k told with ``sd``, drawn from it."""
    rng = np.random.default_rng(seed)
    exact = arm_campaign(LIGHT, (Reading(sd=SD),), count=count, noise=0.0, markers=("m1",))
    prior = ParameterPrior("j2.k", 2e-5 + sd * rng.normal(), sd)
    readings = exact.readings + noise * rng.normal(size=exact.readings.shape)
    return estimate(LIGHT, Measured(exact.measurement, readings, sources, priors=(prior,)), names)


@pytest.mark.parametrize(("sd", "freedom"), [(1e-9, 3), (1e-5, np.inf)])
def test_the_tail_of_what_is_stated_is_students_as_far_as_readings_of_unknown_noise_decide(sd, freedom):
    """Told far better than it is read, all scatter of the estimate is theirs; told far worse, nearly none is."""
    fit = believed(3 * SD, sd, 5)
    (found,) = prior_checks(fit)
    assert fit.freedom == 4
    assert found.sigmas > 0.3
    assert found.chance == pytest.approx(2 * stats.t.sf(found.sigmas, freedom), rel=0.01)


def test_what_is_stated_strays_no_more_often_than_by_chance_where_few_readings_tell_the_noise():
    chances, count = [], draws(100, 1000)
    for seed in range(count):
        (found,) = prior_checks(believed(3 * SD, 1e-8, seed))
        chances.append(found.chance)
    assert stats.kstest(chances, "uniform").pvalue > 0.01
    assert np.mean(np.array(chances) < 0.05) == pytest.approx(0.05, abs=spread_of_share(0.05, count, 2.3))


def test_what_no_reading_decides_is_not_counted():
    """A prior of one part in a million million leaves nothing to decide, beside one that readings speak of."""
    exact = arm_campaign(LIGHT, (Reading(sd=SD),), count=6)
    priors = (ParameterPrior("j2.k", 2.3e-5, 1e-6), ParameterPrior("j3.k", 3e-5, 1e-17))
    wrong = Measured(exact.measurement, exact.readings, exact.sources, priors=priors)
    fit = estimate(LIGHT, wrong, JOINTS)
    far, undecided = prior_checks(fit)
    assert 2 < far.sigmas < 4
    assert undecided.chance == 1
    alone = estimate(
        LIGHT,
        Measured(exact.measurement, exact.readings, exact.sources, priors=priors[:1]),
        [n for n in JOINTS if n != "j3.k"],
    )
    (same,) = prior_checks(alone)
    assert far.chance == pytest.approx(same.chance, rel=0.3)


def test_nothing_stated_nothing_said():
    assert prior_checks(estimate(arm(), arm_campaign(arm(), (Reading(sd=SD),)), JOINTS)) == ()


def weighed(changes, seed=1, noise=1.0):
    truth = arm().with_parameters(changes)
    return arm_campaign(truth, (Reading(sd=SD),), count=12, seed=seed, statics="loaded", size=400.0, noise=noise)


def test_the_step_asked_for_is_what_a_fit_moves_that_seeks_it_too():
    mass = arm().parameters
    held = mass.values[mass.index("j3.mx")]
    campaign = weighed({"j3.mx": 3 * held})
    found = {
        u.name: u
        for u in omitted_parameters(
            identify(descriptions(arm()), campaign, JOINTS, rules=ReductionRules(leave_out=False))
        )
    }
    assert set(found) == {"j3.m", "j3.mx", "j3.my", "j3.mz"}
    best = found["j3.mx"]
    refit = estimate(arm(), campaign, [*JOINTS, "j3.mx"])
    at = refit.names.index("j3.mx")
    assert best.significant
    assert best.step == pytest.approx(refit.values[at] - held, rel=0.1)
    assert best.sigmas > 5
    alone = estimate(arm(), campaign, JOINTS)
    gain = np.sum(alone.problem.misfit**2) - np.sum(refit.problem.misfit**2)
    assert (best.sigmas * refit.inflation) ** 2 == pytest.approx(gain, rel=0.1)


def test_right_values_are_asked_for_no_more_often_than_by_chance():
    z, count = [], draws(12, 100)
    for seed in range(count):
        found = beside(estimate(arm(), weighed({}, seed), JOINTS))
        z += [u.step / u.sd for u in found if u.name == "j3.mx"]
        assert list(found) == sorted(found, key=lambda u: -u.sigmas)
    assert np.std(z) == pytest.approx(1, abs=2.5 / np.sqrt(2 * count))
    assert abs(np.mean(z)) < 3.5 / np.sqrt(count)


def beside(fit, held=()):
    """What the residuals of a fit ask for beside its own parameters and those that are held on purpose."""
    return omitted_parameters(SimpleNamespace(fit=fit, groups=SimpleNamespace(names=(*fit.names, *held))))


LINK = arm(LinkCompliance(frame="end", matrix=np.diag([1e-7] * 3 + [1e-6] * 3)), weight=False)
MIXED = [f"end.k{i}{j}" for i in range(1, 7) for j in range(i + 1, 7)]
"""Sought and held: eight parameters remain that nobody sought, two joints and the link's diagonal."""


def linked(count):
    """One marker of an arm with a link that yields, read exactly; nothing is stated."""
    exact = arm_campaign(LINK, (Reading(sd=SD),), count=count, noise=0.0, markers=("m1",))
    return Measured(exact.measurement, exact.readings, ())


def with_noise(exact, size, rng, sources=()):
    return Measured(exact.measurement, exact.readings + size * rng.normal(size=exact.readings.shape), sources)


@pytest.mark.parametrize(("size", "stated"), [(0.3, False), (3.0, False), (3.0, True), (0.3, True)])
def test_step_sd_and_chance_are_those_of_a_fit_that_seeks_it_too(size, stated):
    """Affine: the same numbers; Student's t of what that fit leaves, the normal one where stated noise is enough."""
    sources = (Reading(sd=SD),) if stated else ()
    campaign = with_noise(linked(8), size * SD, np.random.default_rng(4), sources)
    found = beside(estimate(LINK, campaign, JOINTS[:2]), MIXED)
    alone = np.sum(estimate(LINK, campaign, JOINTS[:2]).problem.misfit ** 2)
    assert len(found) == 8
    for u in found[:4]:
        refit = estimate(LINK, campaign, [*JOINTS[:2], u.name])
        left = np.sum(refit.problem.misfit**2)
        noise2 = max(1.0, left / 21) if stated else left / 21
        tail = stats.norm if stated and size < 1 else stats.t(21)
        assert refit.freedom == 21
        assert u.step == pytest.approx(refit.values[2] - u.value, rel=1e-6)
        assert u.sd == pytest.approx(refit.sd[2], rel=1e-6)
        assert u.sigmas**2 == pytest.approx((alone - left) / noise2, rel=1e-6)
        assert u.chance == pytest.approx(min(1.0, 8 * 2 * tail.sf(u.sigmas)), rel=1e-6)


@pytest.mark.parametrize(("count", "freedom"), [(8, 22), (13, 37)])
def test_an_effect_of_five_standard_deviations_is_asked_for_as_often_as_students_t_says(count, freedom):
    """Noise that nobody states; the wrong parameter must not count as noise against itself."""
    rng, exact = np.random.default_rng(7), linked(count)
    probe = estimate(LINK, with_noise(exact, SD, rng), [*JOINTS[:2], "p4.k"])
    assert probe.freedom == freedom - 1
    wrong = LINK.with_parameters({"p4.k": 1e-5 - 5 * np.sqrt(probe.unit_covariance[2, 2])})
    trials, hits = draws(80, 1000), 0
    for _ in range(trials):
        found = beside(estimate(wrong, with_noise(exact, SD, rng), JOINTS[:2]), MIXED)
        hits += any(u.significant for u in found if u.name == "p4.k")
    limit = stats.t.isf(CHANCE / 8 / 2, freedom - 1)
    expected = stats.nct.sf(limit, freedom - 1, 5)
    assert expected > 0.7
    assert hits / trials == pytest.approx(expected, abs=spread_of_share(expected, trials, 3))


def test_a_step_of_many_times_the_value_is_no_likely_cause():
    """True is 1e-5; a file that says a tenth is asked for more than it believes, one that says a half is mended."""
    for share, asked in ((0.1, False), (0.5, True)):
        wrong = LINK.with_parameters({"p4.k": share * 1e-5})
        campaign = with_noise(linked(13), 0.01 * SD, np.random.default_rng(3))
        (found,) = [u for u in beside(estimate(wrong, campaign, JOINTS[:2]), MIXED) if u.name == "p4.k"]
        assert found.chance < 1e-6
        assert found.step == pytest.approx((1 - share) * 1e-5, rel=0.05)
        assert found.significant is asked


def test_chances_are_even_where_few_readings_tell_the_noise():
    """One parameter tried at five degrees of freedom: any chance is as likely as any other."""
    rng = np.random.default_rng(9)
    exact = arm_campaign(LIGHT, (Reading(sd=SD),), count=3, noise=0.0, markers=("m1",))
    chances, count = [], draws(120, 1500)
    for _ in range(count):
        (one,) = beside(estimate(LIGHT, with_noise(exact, 3 * SD, rng), JOINTS[:3]))
        chances.append(one.chance)
    assert stats.kstest(chances, "uniform").pvalue > 0.01
    assert np.mean(np.array(chances) < 0.1) == pytest.approx(0.1, abs=spread_of_share(0.1, count, 3))


def test_one_degree_of_freedom_cannot_tell_a_wrong_value_from_noise():
    rng = np.random.default_rng(2)
    exact = arm_campaign(LIGHT, (Reading(sd=SD),), count=1, noise=0.0, markers=("m1",))
    fit = estimate(LIGHT, with_noise(exact, SD, rng), ["j1.k", "j2.k"])
    assert fit.freedom == 1
    assert beside(fit) == ()


def test_readings_without_noise_ask_for_nothing_that_is_right():
    assert not any(u.significant for u in beside(estimate(LINK, linked(8), JOINTS[:2]), MIXED))


def test_what_is_sought_is_not_asked_for():
    found = omitted_parameters(
        identify(descriptions(arm()), weighed({}), [*JOINTS, "j3.m*"], rules=ReductionRules(leave_out=False))
    )
    assert found == ()


def test_a_common_load_size_takes_part_in_what_is_explained():
    """With the load free, what a wrong size of the load does is not asked of masses."""
    truth = arm()
    plain = arm_campaign(truth, (Reading(sd=SD),), count=12, statics="loaded", size=400.0)
    free = Measured(plain.measurement, 1.02 * plain.readings, (Reading(sd=SD), LoadSize(sd=0.05, every="campaign")))
    found = identify(descriptions(arm()), free, ["j1.k"], rules=ReductionRules(leave_out=False))
    assert not any(u.significant for u in omitted_parameters(found) if u.name.startswith("j3.m"))
