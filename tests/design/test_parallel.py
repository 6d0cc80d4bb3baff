"""The same plan from any number of workers, threads or processes, and from the same seed again."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
from design.plain import problem

from elastocal.design.criteria.alphabetic import Determinant
from elastocal.design.exchange import in_parallel, search
from elastocal.design.rules import Rules


def found(executor=None, seed=5):
    candidates = problem(31, count=120, k=2, p=6)
    rng = np.random.default_rng(seed)
    return search(candidates, Determinant(), Rules(5), rng=rng, restarts=6, executor=executor)


def same(a, b):
    return a.chosen == b.chosen and a.gain == b.gain and a.climbs == b.climbs


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_the_number_of_workers_does_not_matter(workers):
    with ThreadPoolExecutor(workers) as executor:
        assert same(found(executor), found())


def test_other_processes_find_the_same_plan():
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        assert same(found(executor), found())


def test_the_seed_decides():
    assert same(found(), found())
    assert found(seed=6).climbs[1:] != found().climbs[1:]
    assert found(seed=6).climbs[0] == found().climbs[0]  # the greedy start draws nothing


def draw(number, rng):
    return number, float(rng.random())


def test_every_piece_has_its_own_stream():
    with ThreadPoolExecutor(3) as executor:
        results = in_parallel(draw, 8, np.random.default_rng(1), executor)
    assert [n for n, _ in results] == list(range(8))
    assert len({value for _, value in results}) == 8
    assert results == in_parallel(draw, 8, np.random.default_rng(1))
