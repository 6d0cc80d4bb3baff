"""Scales by maximum evidence: known ones come back, absent effects die, effects that are there do not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from dense import dense, random_problem

from elastocal.solve.blocks import Blocks, Group, Noise, Scale
from elastocal.solve.evidence import evidence
from elastocal.solve.scales import maximise_evidence

TRUE = {"small": 0.02, "large": 3.0, "white": 0.05, "shared": 0.4}


def drawn(seed: int, true: dict[str, float], *, blocks: int = 40, missing: float = 0.1) -> Blocks:
    """Readings drawn from the model; the search starts at one for every scale."""
    rng = np.random.default_rng(seed)
    n, rows = 12, 6
    jacobian = rng.normal(size=(blocks, rows, 2 * n))
    factor = rng.normal(size=(blocks, rows, 1))
    theta = np.concatenate([true["small"] * rng.normal(size=n), true["large"] * rng.normal(size=n)])
    readings = (
        jacobian @ theta
        + true["white"] * rng.normal(size=(blocks, rows))
        + true["shared"] * (factor * rng.normal(size=(blocks, 1, 1)))[:, :, 0]
    )
    used = rng.random((blocks, rows)) >= missing
    white = Noise(Scale("white", 1.0), np.broadcast_to(np.eye(rows), (blocks, rows, rows)))
    groups = (Group(Scale("small", 1.0), np.arange(n)), Group(Scale("large", 1.0), np.arange(n, 2 * n)))
    return Blocks(readings, jacobian, used, (white, Noise(Scale("shared", 1.0), factor)), groups)


def test_known_scales_come_back() -> None:
    """Mean of the logarithms over 25 draws within a few standard errors of the truth, none far off."""
    logs = np.array([maximise_evidence(drawn(seed, TRUE))[0] for seed in range(25)])
    off = logs - np.log(list(TRUE.values()))
    freedom = np.array([12, 12, 40 * 5.4 - 24 - 40, 40])
    sd = np.sqrt(0.5 / freedom)
    assert np.all(np.abs(off.mean(axis=0)) < 4 * sd / 5 + 0.03)
    assert np.all(np.abs(off) < 5 * sd)
    assert off.std(axis=0) == pytest.approx(sd, rel=0.5)


def test_a_group_without_effect_dies() -> None:
    """Its scale ends below what noise resolves, and most often well below; the other group stays."""
    logs = np.array([maximise_evidence(drawn(seed, TRUE | {"small": 0.0}))[0] for seed in range(20)])
    resolved = TRUE["white"] / np.sqrt(40 * 5.4)
    assert np.all(logs[:, 0] < np.log(1.2 * resolved))
    assert np.median(logs[:, 0]) < np.log(0.5 * resolved)
    assert np.all(np.abs(logs[:, 1] - np.log(3.0)) < 1.1)


def test_a_group_with_an_effect_does_not_die() -> None:
    """From a start a hundred times too large and one a hundred times too small."""
    for seed in range(10):
        problem = drawn(seed, TRUE)
        for start in (1e-2, 1e2):
            groups = tuple(replace(g, scale=replace(g.scale, start=start * TRUE[g.scale.name])) for g in problem.groups)
            logs, _ = maximise_evidence(replace(problem, groups=groups))
            assert np.all(np.abs(logs[:2] - np.log([0.02, 3.0])) < 1.1)


def test_a_group_that_died_on_the_way_is_revived() -> None:
    """Where the hyperprior is flat, the evidence of a group at nothing is flat too."""
    problem = drawn(0, TRUE)
    problem = replace(problem, groups=tuple(replace(g, scale=replace(g.scale, width=1e3)) for g in problem.groups))
    best, value = maximise_evidence(problem)
    dead = best.copy()
    dead[1] = problem.start[1] + np.log(1e-5)
    again, other = maximise_evidence(problem, dead)
    assert other == pytest.approx(value, abs=1e-3)
    assert again == pytest.approx(best, abs=0.02)


@pytest.mark.parametrize("below", [50.0, 300.0])
def test_a_group_far_below_its_start_is_revived(below: float) -> None:
    """An effect that readings show plainly, a start scale that is far too large, and a search that lost the group."""
    problem = drawn(0, TRUE | {"shared": 0.0, "white": 1e-3})
    start = below * TRUE["small"]
    small = replace(problem.groups[0], scale=replace(problem.groups[0].scale, start=start, width=1e3))
    problem = replace(problem, groups=(small, problem.groups[1]))
    dead = np.array([np.log(start) + np.log(1e-5), np.log(3.0), np.log(0.1), np.log(1e-3)])
    found, _ = maximise_evidence(problem, dead)
    assert abs(found[0] - np.log(TRUE["small"])) < 1.1


@pytest.mark.parametrize("seed", range(4))
def test_no_scale_nearby_is_better(seed: int) -> None:
    problem = random_problem(seed, blocks=15)
    best, value = maximise_evidence(problem)
    assert value == pytest.approx(evidence(problem, best).value, rel=1e-12)
    for i in range(len(best)):
        for step in (-0.05, 0.05):
            other = best.copy()
            other[i] += step
            assert evidence(problem, other).value <= value + 1e-6


def test_the_higher_of_two_maxima_is_found() -> None:
    """The search from the start ends at the lower one, one from wider priors does not."""
    problem = random_problem(0, blocks=3)
    _, value = maximise_evidence(problem)
    rng = np.random.default_rng(1)
    starts = [problem.start + problem.free * shift for shift in 2 * rng.normal(size=(12, len(problem.start)))]
    ends = [maximise_evidence(problem, start, revive=False)[1] for start in starts]
    assert value > max(ends) - 1e-3
    assert sorted(ends)[0] < value - 0.1


def test_scales_that_are_fixed_stay() -> None:
    problem = drawn(1, TRUE)
    fixed = replace(problem.groups[1], scale=Scale("large", 2.5, 0.0))
    logs, _ = maximise_evidence(replace(problem, groups=(problem.groups[0], fixed)))
    assert logs[1] == np.log(2.5)
    assert logs[0] == pytest.approx(np.log(0.02), abs=1.1)
    everything = [replace(g, scale=replace(g.scale, width=0.0)) for g in problem.groups]
    noise = [replace(c, scale=replace(c.scale, width=0.0)) for c in problem.noise]
    still = replace(problem, groups=tuple(everything), noise=tuple(noise))
    assert np.all(maximise_evidence(still)[0] == still.start)
    assert maximise_evidence(still)[1] == pytest.approx(
        dense(still, still.start).log_density() + 0.5 * still.count * np.log(2 * np.pi)
    )


def test_a_narrow_width_holds_a_scale_near_its_start() -> None:
    problem = drawn(2, TRUE)
    narrow = replace(problem.groups[0], scale=Scale("small", 1.0, 0.01))
    logs, _ = maximise_evidence(replace(problem, groups=(narrow, problem.groups[1])))
    assert abs(logs[0]) < 0.01
    assert maximise_evidence(problem)[0][0] == pytest.approx(np.log(0.02), abs=1.1)


def test_the_order_of_blocks_moves_scales_by_no_more_than_the_search_resolves() -> None:
    problem = drawn(3, TRUE)
    order = np.random.default_rng(0).permutation(40)
    one, other = maximise_evidence(problem), maximise_evidence(problem.kept(order))
    assert other[1] == pytest.approx(one[1], rel=1e-9)
    assert other[0] == pytest.approx(one[0], abs=1e-3)


@pytest.mark.parametrize("seed", [4, 7, 9])
def test_noise_that_is_far_too_small_at_the_start_grows_to_where_the_evidence_is_level(seed: int) -> None:
    """The evidence is steepest where residuals are thousands of standard deviations: no step learned there counts."""
    made = random_problem(seed, precision=False, mean=False, missing=0.0, blocks=25, common=6)
    held = tuple(replace(g, scale=replace(g.scale, width=0.0)) for g in made.groups)
    problem = replace(made, readings=300 * made.readings, groups=held)
    known = np.zeros(len(problem.start), dtype=bool)
    found, value = maximise_evidence(problem, problem.start, revive=False, fresh=known)
    assert np.abs(evidence(problem, found).gradient).max() < 0.05
    near, _ = maximise_evidence(problem, problem.start + np.log(300.0) * problem.free, revive=False, fresh=known)
    assert value > evidence(problem, near).value - 0.01
