"""Counts of a recording whose arrivals are made up: late telegrams, rates and turnaround times."""

from __future__ import annotations

import numpy as np
import pytest

from elastocal.files.log.telegrams import Telegram
from elastocal.record.statistics import TelegramTally, Turnaround


def fed(counters, arrivals_ms, delays=None):
    tally = TelegramTally()
    for i, (n, t) in enumerate(zip(counters, arrivals_ms, strict=True)):
        delayed = 0 if delays is None else delays[i]
        tally.add(Telegram(n, str(n), delayed, {}), 10**18 + round(1e6 * t))
    return tally


@pytest.mark.parametrize("cycle", [4, 12])
def test_late_is_more_than_half_a_cycle_behind_the_counters(cycle):
    steps = np.arange(100)
    jitter = np.zeros(100)
    jitter[[10, 30]] = 0.4 * cycle
    jitter[[50, 70]] = 0.7 * cycle
    tally = fed(7 + cycle * steps, cycle * steps + jitter)
    s = tally.summary()
    assert s.late == 2
    assert s.length == pytest.approx(0.099 * cycle)
    assert s.rate == pytest.approx(1000 / cycle)


def test_a_gap_by_loss_is_not_late_and_a_clock_that_drifts_is_not_either():
    steps = np.delete(np.arange(3000), [5, 6, 100])
    s = fed(12 * steps, 12 * 1.001 * steps).summary()
    assert (s.late, s.lost) == (0, 3)


def test_the_controllers_own_count_is_kept_at_its_largest():
    assert fed([0, 4, 8, 12], [0, 4, 8, 12], [0, 3, 1, 0]).summary().delayed == 3


def test_answers_after_the_cycle_are_overdue():
    tally = fed(12 * np.arange(10), 12.0 * np.arange(10))
    for spent in (0.001, 0.0119, 0.0121, 0.5):
        tally.answered(spent)
    s = tally.summary()
    assert (s.answered, s.overdue) == (4, 2)
    assert s.turnaround[3] == 0.5


def test_the_first_answer_is_judged_by_the_cycle_that_the_next_telegram_tells():
    tally = fed([8], [0.0])
    tally.answered(0.0062)
    for n in range(3, 6):
        tally.add(Telegram(4 * n, str(4 * n), 0, {}), 10**18 + 4_000_000 * n)
        tally.answered(0.001)
    assert tally.summary().overdue == 1


@pytest.mark.parametrize("counters", [[7], 5 * np.arange(20)])
def test_of_an_unknown_cycle_nothing_is_known_to_be_in_time(counters):
    tally = fed(counters, 4.0 * np.arange(len(counters)))
    tally.answered(0.5)
    s = tally.summary()
    assert (s.answered, s.overdue, s.late) == (1, None, None)


@pytest.mark.parametrize("share", [0.5, 0.99, 0.999])
def test_percentiles_are_upper_bounds_within_six_percent(share):
    draws = 1e-4 * np.random.default_rng(1).lognormal(0, 1.2, 20_000)
    found = Turnaround()
    for d in draws:
        found.add(float(d))
    exact = float(np.quantile(draws, share, method="inverted_cdf"))
    assert exact <= found.within(share) <= 1.06 * exact
    assert found.longest == np.max(draws)


def test_nothing_has_no_percentile_and_extremes_have_one():
    found = Turnaround()
    assert np.isnan(found.within(0.5))
    for seconds in (-1e-3, 0.0, 1e9):
        found.add(seconds)
    assert found.within(0.5) == pytest.approx(1e-6)
    assert found.longest == 1e9
    assert np.isnan(TelegramTally().summary().rate)
