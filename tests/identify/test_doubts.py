"""What was stated and is not believed, and what was taken as exact and is asked for: against Monte Carlo and refits."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.campaigns import arm, arm_campaign, scatter
from scipy import stats

from elastocal.identify.estimate import estimate
from elastocal.identify.reduction import identify
from elastocal.identify.rules import ReductionRules
from elastocal.identify.strayed import stated_unknowns
from elastocal.identify.unsought import unsought
from elastocal.measure.campaign import Belief, Campaign
from elastocal.measure.sources.load import LoadPoint, LoadSize
from elastocal.measure.sources.reading import Reading
from elastocal.model.descriptions import descriptions

SD = 1e-5
JOINTS = ["j1.k", "j2.k", "j3.k", "p4.k"]
POINT = 2e-3
NUISANCES = [f"load point {a}" for a in "xyz"]
SOURCES = (Reading(sd=SD), LoadPoint(sd=POINT))


def campaign_with(shift, seed, noise=1.0):
    """Deflections of an arm whose load acts ``shift`` beside its frame, linear in it."""
    truth = arm()
    exact = arm_campaign(truth, SOURCES, count=6, noise=0.0)
    kind = exact.measurement
    columns = LoadPoint(sd=POINT).columns(kind, truth)
    readings = exact.readings + columns @ shift + noise * scatter(kind, truth, SOURCES, seed)
    return Campaign(kind, readings, SOURCES)


@pytest.mark.parametrize("noise", [1.0, 4.0])
def test_sigmas_are_those_of_a_normal_number_where_all_is_as_stated(noise):
    """Load points drawn as stated; noise four times as large as stated widens what may be found, too."""
    rng = np.random.default_rng(8)
    drawn = []
    for seed in range(30):
        campaign = campaign_with(POINT * rng.normal(size=3), seed, noise)
        found = stated_unknowns(estimate(arm(), campaign, [*JOINTS, *NUISANCES]))
        drawn.append([np.sign(s.value) * s.sigmas for s in found])
    z = np.array(drawn)
    assert z.shape == (30, 3)
    assert stats.kstest(z.reshape(-1), "norm").pvalue > 0.01
    assert z.std() == pytest.approx(1, abs=0.2)


def test_a_load_that_hangs_elsewhere_strays_and_the_chance_counts_all_that_is_stated():
    fit = estimate(arm(), campaign_with(np.array([0.0, 9 * POINT, 0.0]), 3), [*JOINTS, *NUISANCES])
    by_name = {s.name: s for s in stated_unknowns(fit)}
    far = by_name["load point y"]
    assert far.strayed
    assert far.sd == POINT
    assert POINT < far.value < 9 * POINT  # held back by what is stated
    assert far.sigmas > far.value / far.sd
    assert far.chance == pytest.approx(3 * 2 * stats.norm.sf(far.sigmas), rel=1e-9)
    near = [s for n, s in by_name.items() if n != far.name]
    assert not any(s.strayed for s in near)


def test_a_belief_about_a_parameter_strays_like_a_nuisance():
    truth = arm()
    campaign = arm_campaign(truth, (Reading(sd=SD),), count=6)
    wrong = Campaign(campaign.measurement, campaign.readings, campaign.sources, beliefs=(Belief("j2.k", 3e-5, 1e-6),))
    (found,) = stated_unknowns(estimate(truth, wrong, JOINTS))
    assert found.name == "j2.k"
    assert found.value == pytest.approx(2e-5 - 3e-5, rel=0.05)
    assert found.strayed


def test_nothing_stated_nothing_said():
    assert stated_unknowns(estimate(arm(), arm_campaign(arm(), (Reading(sd=SD),)), JOINTS)) == ()


def weighed(changes, seed=1, noise=1.0):
    truth = arm().with_parameters(changes)
    return arm_campaign(truth, (Reading(sd=SD),), count=12, seed=seed, statics="loaded", size=400.0, noise=noise)


def test_the_step_asked_for_is_what_a_fit_moves_that_seeks_it_too():
    mass = arm().parameters
    held = mass.values[mass.index("j3.mx")]
    campaign = weighed({"j3.mx": 3 * held})
    found = {
        u.name: u
        for u in unsought(identify(descriptions(arm()), campaign, JOINTS, rules=ReductionRules(leave_out=False)))
    }
    assert set(found) == {"j3.m", "j3.mx", "j3.my", "j3.mz"}
    best = found["j3.mx"]
    refit = estimate(arm(), campaign, [*JOINTS, "j3.mx"])
    at = refit.names.index("j3.mx")
    assert best.asked
    assert best.step == pytest.approx(refit.values[at] - held, rel=0.1)
    assert best.sigmas > 5
    alone = estimate(arm(), campaign, JOINTS)
    gain = np.sum(alone.problem.misfit**2) - np.sum(refit.problem.misfit**2)
    assert (best.step / best.sd * alone.inflation) ** 2 == pytest.approx(gain, rel=0.1)


def test_right_values_are_asked_for_no_more_often_than_by_chance():
    z = []
    for seed in range(25):
        found = unsought(
            identify(descriptions(arm()), weighed({}, seed), JOINTS, rules=ReductionRules(leave_out=False))
        )
        z += [u.step / u.sd for u in found if u.name == "j3.mx"]
        assert list(found) == sorted(found, key=lambda u: -u.sigmas)
    assert np.std(z) == pytest.approx(1, abs=0.35)
    assert abs(np.mean(z)) < 0.7


def test_what_is_sought_is_not_asked_for():
    found = unsought(
        identify(descriptions(arm()), weighed({}), [*JOINTS, "j3.m*"], rules=ReductionRules(leave_out=False))
    )
    assert found == ()


def test_a_common_load_size_takes_part_in_what_is_explained():
    """With the load free, what a wrong size of the load does is not asked of masses."""
    truth = arm()
    plain = arm_campaign(truth, (Reading(sd=SD),), count=12, statics="loaded", size=400.0)
    free = Campaign(plain.measurement, 1.02 * plain.readings, (Reading(sd=SD), LoadSize(sd=0.05, every="campaign")))
    found = identify(descriptions(arm()), free, ["j1.k"], rules=ReductionRules(leave_out=False))
    assert not any(u.asked for u in unsought(found) if u.name.startswith("j3.m"))
