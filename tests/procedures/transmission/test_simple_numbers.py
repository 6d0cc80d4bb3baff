"""Slips, wrapped counters, fractions and round numbers."""

from __future__ import annotations

from fractions import Fraction
from math import gcd

import numpy as np
import pytest
from oracle.refusals import refused

from elastocal.procedures.transmission.equations import AxisColumn, EncoderSeries
from elastocal.procedures.transmission.outliers import is_transposition, slip
from elastocal.procedures.transmission.ratios import Simple, round_counts, simplest_fraction, supported, together
from elastocal.procedures.transmission.wrap import unwrapped_counts, wraps

LARGE = 1e6  # spare equations: Student's t is normal


@pytest.mark.parametrize(
    ("printed", "predicted", "sd", "words"),
    [
        ("10433", 14032.6, 0.3, "digits transposed: 10433 for 14033"),
        ("12.43", 13.42, 0.003, "digits transposed: 12.43 for 13.42"),
        ("-120", 120.1, 0.5, "sign: -120 for 120"),
        ("14.31", 14.512, 0.003, "one digit wrong: 14.31 for 14.51"),
        ("1453", 14.53, 0.01, "decimal point: 1453 for 14.53"),
        ("2541", 25410.0, 0.3, "digit missing: 2541 for 25410"),
        ("14.31", 14.7, 0.003, "one digit wrong: 14.31 for 14.71"),
        ("14.31", 15.92, 0.003, ""),
    ],
)
def test_slips_are_named(printed, predicted, sd, words):
    if words.endswith("14.71"):
        predicted = 14.71
    assert slip(printed, predicted, sd)[0] == words
    assert is_transposition(words) == words.startswith("digits")


def ramp(modulus, rows=30, start=60_000, jump=0.0):
    theta = np.linspace(0, rows - 1, rows) + jump * (np.arange(rows) > 12)
    counts = np.round(5000 * theta + start + 3 * np.sin(17 * theta))
    shown = np.mod(counts, modulus) if modulus else counts
    return EncoderSeries(
        "log.csv",
        tuple(range(2, rows + 2)),
        {"A": AxisColumn.of("A_counts", shown)},
        {"A": AxisColumn.of("A_deg", theta)},
    )


@pytest.mark.parametrize("modulus", [65536, 32768, 131072])
def test_a_counter_that_runs_over_is_named_and_unwrapped(modulus):
    (found,) = wraps([ramp(modulus)])
    assert found.modulus == modulus
    first = int(np.flatnonzero(np.diff(ramp(modulus).counts["A"].values) < 0)[0]) + 3
    assert found.place == f"log.csv, row {first}, column A_counts"
    (plain,) = unwrapped_counts([ramp(modulus)], modulus)
    away = plain.counts["A"].values - ramp(None).counts["A"].values
    assert np.ptp(away) == 0
    assert away[0] % modulus == 0


def test_counters_that_do_not_run_over_and_misprints_are_no_wraps():
    assert not list(wraps([ramp(None)]))
    one = ramp(None)
    wrong = one.counts["A"].values.copy()
    wrong[11] -= 27_000
    assert not list(wraps([one.with_added("A", wrong - one.counts["A"].values)]))


def test_a_modulus_that_cannot_be_is_refused():
    with refused("counter-wrap", 65536, parameter="wrap"):
        unwrapped_counts([ramp(None)], 65536)
    with refused("counter-wrap", 65536, parameter="wrap"):
        unwrapped_counts([ramp(65536, rows=2)], 65536)


def count(low, high, largest):
    """Fractions in lowest terms, one by one."""
    return sum(
        gcd(p, q) == 1 for q in range(1, largest + 1) for p in range(int(np.ceil(low * q)), int(np.floor(high * q)) + 1)
    )


@pytest.mark.parametrize(
    ("value", "sd", "text"), [(74.4443, 3e-4, "670/9"), (-1.1109, 5e-4, "-10/9"), (24.1178, 2e-4, "410/17")]
)
def test_the_simplest_fraction_and_how_many_are_as_simple(value, sd, text):
    found = simplest_fraction(value, sd, LARGE)
    assert found.text() == text
    q = found.value.denominator
    assert count(found.low, found.high, q - 1) == 0
    wide = count(value - 50, value + 50, q) / 100
    assert found.expected == pytest.approx(wide * (found.high - found.low), rel=0.01)
    assert found.high - found.low == pytest.approx(2 * 1.96 * sd, rel=1e-3)


def test_chance_matches_as_often_as_stated():
    """Random values have a fraction as simple as q <= 9 inside their interval with the probability stated for q = 9."""
    rng = np.random.default_rng(1)
    sd, hits = 2e-4, 0
    for value in rng.uniform(20, 100, 4000):
        found = simplest_fraction(value, sd, LARGE)
        hits += found is not None and found.value.denominator <= 9
    stated = simplest_fraction(670 / 9, sd, LARGE).chance
    assert hits / 4000 == pytest.approx(stated, abs=4 * np.sqrt(stated / 4000))
    assert 0.01 < stated < 0.05


@pytest.mark.parametrize(
    ("value", "sd", "text"),
    [(12299.8, 4.4, "12288"), (16377.4, 5.9, "16384"), (4003.0, 2.0, None), (2001.0, 1.0, "2000")],
)
def test_round_counts(value, sd, text):
    found = round_counts(value, sd, 18)
    assert (None if found is None else found.text()) == text
    if found is not None:
        per_octave = 2 + 4 * np.log10(2)
        assert found.expected == pytest.approx(per_octave * np.log2(found.high / found.low), rel=1e-9)


def with_chance(p):
    return Simple(Fraction(1), 0.0, 1.0, -np.log1p(-p))


def test_only_what_is_rarer_than_chance_is_proposed():
    rng = np.random.default_rng(2)
    assert supported([with_chance(p) for p in (0.001, 0.003, 0.9, 0.6, 0.7)]) == (True, True, False, False, False)
    assert supported([with_chance(0.07), with_chance(0.06)]) == (True, True)
    assert supported([with_chance(0.3), None]) == (False, False)
    assert supported([with_chance(0.01), None, None, None, None]) == (True, False, False, False, False)
    invented = sum(any(supported([with_chance(p) for p in rng.uniform(size=9)])) for _ in range(1000))
    assert invented < 0.13 * 1000  # of sets in which all is chance: the rate is 0.1


def test_odds_of_all_together_are_those_of_the_product():
    rng = np.random.default_rng(3)
    chances = [0.2, 0.1, 0.3]
    draws = rng.uniform(size=(200_000, 3)).prod(axis=1)
    assert together([with_chance(p) for p in chances]) == pytest.approx(np.mean(draws <= np.prod(chances)), rel=0.05)


def test_without_accuracy_nothing_is_simple():
    assert simplest_fraction(125.0, float("nan"), 5) is None
    assert round_counts(16384.0, 1.0, 0.0) is None
