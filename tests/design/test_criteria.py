"""Laws of every registered criterion: its plain formula, rank-k updates, monotonicity, slopes, bounds."""

from __future__ import annotations

import numpy as np
import pytest
from design.changes import gains_of_adding, gains_of_exchanging, gains_of_removing
from design.made import known_of_information
from design.plain import PLAIN, examples, gain, marginal, problem, total
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle.refusals import refused

from elastocal.design.criteria.alphabetic import Condition, Determinant
from elastocal.design.criteria.criterion import criterion_class, criterion_kinds
from elastocal.design.criteria.test_pose import TestPose
from elastocal.design.information import CandidateRows, known_by_rows, space_of
from elastocal.design.knowledge import Forms, every, step

NAMES = tuple(examples(problem(0)))
criteria = pytest.mark.parametrize("name", NAMES)
cells = pytest.mark.parametrize(
    "cell",
    [
        {},
        {"nuisance": (2,)},
        {"nuisance": (0, 3), "prior": 0.3},
        {"k": 5, "prior": 0.1},
        {"k": 5, "weak": 1e-3},
        {"k": 1, "p": 3},
    ],
    ids=["plain", "nuisance", "nuisances and prior", "more rows than parameters", "weak rows", "one row"],
)
MEMBERS = [0, 3, 4, 7, 9]


def test_every_criterion_has_an_example():
    assert {name.split()[0] for name in NAMES} == {*criterion_kinds(), "weighted"} == set(PLAIN)


def test_a_criterion_is_found_by_its_word():
    assert criterion_class("d") is Determinant
    with refused("unknown-criterion", "dd", nearest="d"):
        criterion_class("dd")


@criteria
@cells
def test_the_gain_is_that_of_the_plain_formula(name, cell):
    candidates = problem(1, **cell)
    criterion = examples(candidates)[name]
    expected = gain(criterion, candidates, MEMBERS)
    by_rows = known_by_rows(candidates, MEMBERS, space_of(candidates).coordinates)
    by_information = known_of_information(total(candidates, MEMBERS), candidates.nuisance)
    assert criterion.gain(by_rows) == pytest.approx(expected, rel=1e-10, abs=1e-10)
    assert criterion.gain(by_information) == pytest.approx(expected, rel=1e-10, abs=1e-10)


@criteria
@cells
def test_rank_k_updates_are_the_gains_computed_anew(name, cell):
    candidates = problem(2, **cell)
    criterion, space = examples(candidates)[name], space_of(candidates)
    added = [gain(criterion, candidates, [*MEMBERS, c]) for c in range(12)]
    np.testing.assert_allclose(gains_of_adding(space, criterion, MEMBERS), added, rtol=1e-9, atol=1e-9)
    rest = [[c for c in MEMBERS if c != out] for out in MEMBERS]
    removed = [gain(criterion, candidates, r) for r in rest]
    np.testing.assert_allclose(gains_of_removing(space, criterion, MEMBERS), removed, rtol=1e-9, atol=1e-9)
    exchanged = [[gain(criterion, candidates, [*r, c]) for c in range(12)] for r in rest]
    np.testing.assert_allclose(gains_of_exchanging(space, criterion, MEMBERS), exchanged, rtol=1e-9, atol=1e-9)
    assert np.ptp(exchanged) > 0.1


@criteria
def test_a_member_that_cannot_go_has_no_gain_without_it(name):
    candidates = problem(3, k=2, p=4)
    criterion, space = examples(candidates)[name], space_of(candidates)
    assert np.all(gains_of_removing(space, criterion, [1, 5]) < gain(criterion, candidates, [1, 5]) - 5)


@criteria
def test_a_member_that_alone_sees_something_cannot_go_either(name):
    """Exact zeros: the last parameter, sought or a nuisance, is in one member only."""
    blocks = np.zeros((4, 1, 3))
    blocks[[0, 1, 2, 3], 0, [0, 1, 2, 1]] = 2.0
    for nuisance in ((), (2,)):
        candidates = CandidateRows(blocks, nuisance=nuisance)
        space, criterion = space_of(candidates), examples(candidates)[name]
        without = [space.known([c for c in range(4) if c != out]) for out in range(4)]
        assert [known.open for known in without] == [True, False, True, False]
        assert np.all(np.isfinite([criterion.gain(without[1]), criterion.gain(without[3])]))
        assert criterion.gain(without[0]) < criterion.gain(without[1]) - 5


@criteria
@given(seed=st.integers(0, 10**6), nuisances=st.integers(0, 2), size=st.floats(1e-3, 1e3))
@settings(max_examples=30)
def test_more_data_are_never_worse_where_a_criterion_says_so(name, seed, nuisances, size):
    candidates = problem(seed, count=6, nuisance=range(nuisances))
    criterion = examples(candidates)[name]
    before = total(candidates, range(5))
    after = before + size * candidates.blocks[5].T @ candidates.blocks[5]
    gains = [criterion.gain(known_of_information(m, candidates.nuisance)) for m in (before, after)]
    if criterion.monotone:
        assert gains[1] >= gains[0] - 1e-10
    assert criterion.monotone == (name != "condition")


def test_more_data_can_worsen_the_condition():
    assert not Condition().monotone
    gains = [Condition().gain(known_of_information(np.diag(d))) for d in ([1.0, 1.0], [4.0, 1.0])]
    assert gains == pytest.approx([0.0, -np.log(4.0)])


@criteria
def test_twice_the_readings_add_the_degree_times_log_2(name):
    candidates = problem(4, nuisance=(1,))
    criterion = examples(candidates)[name]
    once, twice = (known_of_information(t * total(candidates, MEMBERS), (1,)) for t in (1.0, 2.0))
    assert criterion.gain(twice) - criterion.gain(once) == pytest.approx(criterion.degree * np.log(2), rel=1e-9)
    assert criterion.degree == (0.0 if name == "condition" else 1.0)


@criteria
@pytest.mark.parametrize("seed", range(3))
def test_bounds_are_never_below_the_gains(name, seed):
    candidates = problem(seed, count=300, k=2, p=12, nuisance=(0,))
    criterion, space = examples(candidates)[name], space_of(candidates)
    trials = next(every(space, space.known(range(8))))
    bounds, gains = criterion.ceilings(trials), criterion.gains(trials)
    expensive = name in ("e", "condition", "test_pose largest", "weighted")
    assert (bounds is not None) == expensive
    if bounds is not None:
        assert np.all(bounds >= gains - 1e-10)
        assert np.any(bounds < gains.max())  # some candidates need not be looked at


@criteria
@pytest.mark.parametrize("count", [40, 300])
def test_gains_of_some_are_those_of_all(name, count):
    """Few candidates go another way than many, and forms that were updated hold one triangle of many."""
    candidates = problem(9, count=count, k=3, p=6, nuisance=(0,))
    criterion, space = examples(candidates)[name], space_of(candidates)
    before, after = space.known(range(8)), space.known(range(9))
    kept = Forms.at(space, before)
    kept.move(after, step(before, space.block(8)))
    trials, some = next(kept.trials(after)), np.array([1, 8, 9, 20, 39])
    np.testing.assert_allclose(criterion.gains(trials.picked(some)), criterion.gains(trials)[some], rtol=0, atol=1e-9)
    np.testing.assert_array_equal(trials.picked(some).closed, trials.closed[some])


@criteria
@cells
def test_slopes_are_derivatives_by_weights_and_bound_every_change(name, cell):
    candidates = problem(5, **cell)
    criterion, space = examples(candidates)[name], space_of(candidates)
    if not criterion.certifiable:
        with refused("unsupported", "e" if name == "weighted" else criterion.kind):  # a part of it
            criterion.slopes(space.known(MEMBERS), space.chunks[0])
        return
    base = total(candidates, MEMBERS)
    slopes = criterion.slopes(space.known(MEMBERS), space.chunks[0])
    for c, block in enumerate(candidates.blocks):
        h = 1e-5 / max(1.0, slopes[c])
        up, down = (PLAIN[criterion.kind](criterion, base + s * block.T @ block, candidates.nuisance) for s in (h, -h))
        assert slopes[c] == pytest.approx((up - down) / (2 * h), rel=1e-5)
        for t in (0.5, 3.0, 100.0):  # exp(gain) is concave
            new = PLAIN[criterion.kind](criterion, base + t * block.T @ block, candidates.nuisance)
            assert new - gain(criterion, candidates, MEMBERS) <= np.log1p(t * slopes[c]) + 1e-10


def test_values_are_quoted_as_people_do():
    candidates = problem(6, units=False)
    every = examples(candidates)
    information = total(candidates, MEMBERS)
    known, c = known_of_information(information), np.linalg.inv(information)
    assert every["d"].value(known) == pytest.approx(np.linalg.slogdet(information)[1])
    scales = every["a"].scales
    assert every["a"].value(known) == pytest.approx(np.sum(np.diag(c) / scales**2))
    assert every["e"].value(known) == pytest.approx(np.linalg.eigvalsh(information * np.outer(scales, scales))[0])
    rows = candidates.blocks[MEMBERS].reshape(-1, 4) * scales
    assert every["condition"].value(known) == pytest.approx(np.linalg.cond(rows))
    errors = [np.sqrt(np.trace(f @ c @ f.T)) for f in every["test_pose"].derivatives]
    np.testing.assert_allclose(every["test_pose"].errors(known), errors)
    assert every["test_pose"].value(known) == pytest.approx(np.sqrt(np.mean(np.square(errors))))
    assert every["test_pose largest"].value(known) == pytest.approx(max(errors))


def test_nuisances_are_marginalised_and_not_held():
    candidates = problem(7, nuisance=(1, 2))
    information = total(candidates, MEMBERS)
    known = known_of_information(information, (1, 2))
    half = known.half(np.eye(4)[::3])
    np.testing.assert_allclose(np.linalg.inv(marginal(information, (1, 2))), half @ half.T)
    np.testing.assert_allclose(known.sd, np.sqrt(np.diag(np.linalg.inv(information))))
    held = known_of_information(information[::3, ::3])
    assert Determinant().gain(held) > Determinant().gain(known) + 0.05


def test_the_expected_error_is_that_of_many_fits():
    rng = np.random.default_rng(8)
    candidates = problem(8, units=False)
    criterion = examples(candidates)["test_pose"]
    rows = candidates.rows(MEMBERS)
    changes = np.linalg.lstsq(rows, rng.normal(size=(len(rows), 20_000)), rcond=None)[0]
    errors = np.einsum("tdp,pn->tdn", criterion.derivatives, changes)
    seen = np.sqrt(np.mean(np.sum(errors**2, axis=1)))
    assert criterion.value(known_of_information(total(candidates, MEMBERS))) == pytest.approx(seen, rel=0.02)


def test_a_criterion_for_other_parameters_is_refused():
    with refused("shape", (5, 4)):
        TestPose(np.ones((2, 3, 5))).check(4)
    with refused("shape", ("condition", 4)):
        Condition(np.ones(3)).check(4)
    with refused("shape", ("condition", 4)):
        Condition(np.array([1.0, 1.0, 0.0, 1.0])).check(4)
