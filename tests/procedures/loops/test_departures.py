"""Loops that are not straight parallel lines: each kind is recognised, and straight ones are left in peace."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.dial_gauge import LINES, plan, readings
from scipy.linalg import lstsq
from scipy.stats import f as fisher
from scipy.stats import linregress

from elastocal.procedures.loops.fit import NAMES, fit_loops
from elastocal.procedures.loops.loop import loop_of

P, G, H, NOISE = 3.76e-5, 1.0e-4, 8e-6, 2e-6
SIDE, BRANCH = np.array([LINES[name] for _, name in plan()] * 3, dtype=float).T


def loop(extra, seed=1):
    force, way, cycle = readings(P, G, H, noise=NOISE, rng=np.random.default_rng(seed))
    return force, way + extra(force), cycle


@pytest.mark.parametrize(
    ("name", "extra", "coefficient"),
    [
        ("different slopes", lambda f: 1e-6 * np.abs(f), 1e-6),
        ("curved", lambda f: -1e-7 * f * np.abs(f), -1e-7),
        ("growing hysteresis", lambda f: 5e-7 * np.abs(f) * BRANCH, 5e-7),
        ("uneven hysteresis", lambda f: 6e-6 * SIDE * BRANCH, 6e-6),
    ],
)
def test_a_departure_is_named_with_its_size(name, extra, coefficient):
    fit = fit_loops([loop_of(*loop(extra))])[0]
    worst = min(fit.departures.each, key=lambda d: d.test.probability)
    assert worst.name == name
    assert name in [d.name for d in fit.departures.rejected]
    assert worst.coefficient.value == pytest.approx(coefficient, abs=4 * worst.coefficient.sd)
    assert worst.coefficient.sd < 0.2 * abs(coefficient)
    assert not fit.departures.straight


def test_the_test_of_one_column_is_the_f_test_of_two_fits():
    force, way, cycle = loop(lambda f: -2e-8 * f * np.abs(f))
    base = np.column_stack([force, SIDE, BRANCH, cycle == 1, cycle == 2, cycle == 3])
    rss = [float(lstsq(x, way)[1]) for x in (base, np.column_stack([base, force * np.abs(force)]))]
    spare = len(way) - 7
    expected = (rss[0] - rss[1]) / (rss[1] / spare)
    found = fit_loops([loop_of(force, way, cycle)])[0].departures.each[NAMES.index("curved")]
    assert found.test.statistic == pytest.approx(expected, rel=1e-6)
    assert found.test.probability == pytest.approx(fisher.sf(expected, 1, spare), rel=1e-6)


def test_repeated_forces_judge_the_model_by_their_own_scatter():
    """One mean for each of 14 readings of a cycle, and the zero of each cycle: an analysis of variance by hand."""
    force, way, cycle = loop(lambda f: 1e-6 * np.abs(f))
    table = way.reshape(3, 14)
    pure = table - table.mean(axis=0) - table.mean(axis=1, keepdims=True) + table.mean()
    base = np.column_stack([force, SIDE, BRANCH, cycle == 1, cycle == 2, cycle == 3])
    rss, within = float(lstsq(base, way)[1]), float(np.sum(pure**2))
    expected = (rss - within) / 10 / (within / 26)
    found = fit_loops([loop_of(force, way, cycle)])[0].departures.repeats
    assert (found.added, found.freedom) == (10, 26)
    assert found.statistic == pytest.approx(expected, rel=1e-6)
    assert found.rejected
    once = fit_loops([loop_of(*readings(P, G, H, cycles=1))])[0].departures.repeats
    assert "no force was repeated" in once.reason


@pytest.mark.parametrize("pull", [4e-5, 3e-5])
def test_slopes_of_the_senses_are_those_of_separate_regressions(pull):
    """Loading only, so that the two senses share no unknown; each with its own line by scipy."""
    rng = np.random.default_rng(3)
    steps = np.arange(5.0, 45.0, 5.0)
    force = np.concatenate([steps, -steps])
    way = np.where(force > 0, 4e-5 * force + G, pull * force - G) + NOISE * rng.normal(size=16)
    fit = fit_loops([loop_of(force, way)])[0]
    for slope, at in zip(fit.departures.slopes, (force > 0, force < 0), strict=True):
        other = linregress(force[at], way[at])
        assert slope.value == pytest.approx(other.slope, rel=1e-9)
        scatter = np.sqrt(sum(linregress(force[w], way[w]).stderr ** 2 for w in (force > 0, force < 0)) / 2)
        assert slope.sd == pytest.approx(scatter, rel=1e-9 if pull < 4e-5 else 0.1)


def test_straight_loops_are_seldom_called_anything_else():
    """The level is shared by all tests: about one set of loops in a hundred names something."""
    rng = np.random.default_rng(7)
    named = sum(
        any(not f.departures.straight for f in fit_loops([loop_of(*readings(P, G, H, noise=NOISE, rng=rng))]))
        for _ in range(300)
    )
    assert named <= 10
