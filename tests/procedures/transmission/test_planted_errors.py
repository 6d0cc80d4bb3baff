"""Random coupled drives with planted misprints: all are found, none is invented, and the zeros are the true ones."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.draws import draws
from oracle.encoder_rates import Rates, trial
from oracle.encoders import series, tables

from elastocal.procedures.transmission import identify
from elastocal.procedures.transmission.outliers import another_step, slip

TRIALS = draws(2, 8)
CHANCE = TRIALS // 8
"""Sets in which chance may look like a finding: one of eight, none of fewer."""


@pytest.mark.parametrize("errors", [0, 1, 2, 3])
def test_all_planted_errors_are_found_and_none_is_invented(errors):
    total = Rates()
    for k in range(TRIALS):
        rates, fit, s = trial(100 * errors + k, errors)
        assert len({(b.table, b.row, b.column) for b in fit.outliers}) == len(fit.outliers)
        np.testing.assert_allclose(np.diag(fit.robust.structure), np.diag(s), rtol=5e-3)
        total += rates
    assert total.planted == errors * TRIALS
    assert total.found == total.planted
    assert total.exact >= 0.9 * total.planted
    assert total.invented <= CHANCE  # the level lets one good table in a hundred have a number named
    assert total.patterns >= TRIALS - CHANCE


def test_swaps_of_any_size_neither_become_couplings_nor_name_a_good_cell():
    """Errors below the threshold of the test stay in the tables; they must not be taken for a coupling."""
    total = Rates()
    for k in range(draws(4, 120)):
        total += trial(300 + k, 1 + k % 3, any_size=True)[0]
    assert total.couplings == 0
    assert total.invented == 0
    assert total.exact >= total.found - CHANCE


@pytest.mark.parametrize(
    ("seed", "errors"), [(200_025, 2), (100_000, 1), (200_113, 2), (100_007, 1), (300_072, 3), (200_008, 2)]
)
def test_sets_in_which_chance_looked_like_a_finding(seed, errors):
    """At a level of one in a hundred the first had a coupling and the next two a good number named; in two a joint
    value is a whole step of ten off, so that two of its digits differ; in the last the errors of two rows of eight hide
    each other."""
    rates, *_ = trial(seed, errors, any_size=True)
    assert (rates.couplings, rates.invented) == (0, 0)
    assert rates.exact == rates.found == errors


def test_a_column_that_goes_in_steps_breaks_a_tie():
    tens = ("-100", "30", "-20", "70", "0")
    assert another_step(tens, 0, -89.9995, 0.001)[0] == "another step of 10: -100 for -90"
    odd = ("10", "20", "33.5", "40", "50")  # the number itself does not say what the step is
    assert another_step(odd, 2, 30.0004, 0.001)[0] == "another step of 10: 33.5 for 30"
    assert another_step(tens, 0, -89.98, 0.001) == ("", 0.0)  # twenty deviations from a step
    assert another_step(tens, 0, -89.9, 0.5) == ("", 0.0)  # anything is near a step
    assert another_step(("-100", "31", "-20", "70", "0"), 0, -89.6, 0.001) == ("", 0.0)
    assert another_step(("0.25", "1.5", "0.75", "1.25"), 1, 1.00001, 0.001)[0] == "another step of 0.25: 1.5 for 1"


def test_a_zero_that_came_to_the_front_is_not_printed():
    """-15964 for -105964; the joint value of the same row would need another digit, and is off by a quarter degree."""
    assert slip("-15964", -105963.86, 0.4) == ("digits transposed: -15964 for -105964", pytest.approx(0.35, abs=0.01))
    kind, away = slip("-70", -10.2745, 0.00024)
    assert kind.startswith("one digit wrong")
    assert away > 1000


def test_a_wrong_joint_value_is_told_from_a_wrong_count():
    """In a coupled table a joint shows in several motors, a count in one."""
    rng = np.random.default_rng(5)
    s = np.array([[90.0, 0.0, 0.0], [-1.5, 60.0, 0.0], [-1.0, 2.0, 30.0]])
    logs = tables(rng, s, np.array([16384, 12288, 8192]), offset=True, rows=10)
    logs[-1].joints["J1"][4] += 10
    logs[-1].counts["J3"][7] += 700
    bad = identify(series(logs)).outliers
    assert [(b.table, b.row, b.column, b.instead) for b in bad] == [
        ("II", 5, "theta_J1", ()),
        ("II", 8, "epsilon_J3", bad[1].instead),
    ]
    assert bad[0].predicted == pytest.approx(bad[0].printed - 10, abs=1e-2)
    assert bad[1].predicted == pytest.approx(bad[1].printed - 700, abs=3)


def test_where_one_motor_only_sees_it_both_columns_are_named():
    rng = np.random.default_rng(6)
    s = np.array([[90.0, 0.0], [0.0, 60.0]])
    logs = tables(rng, s, np.array([16384, 12288]), offset=True, rows=10)
    logs[-1].counts["J2"][3] += 5000
    (bad,) = identify(series(logs)).outliers
    columns = {bad.column: bad.predicted} | dict(bad.instead)
    assert set(columns) == {"epsilon_J2", "theta_J2"}
    assert columns["epsilon_J2"] == pytest.approx(logs[-1].counts["J2"][3] - 5000, abs=3)
    assert columns["theta_J2"] == pytest.approx(logs[-1].joints["J2"][3] + 5000 / (60 * 12288 / 360), abs=0.01)


def test_tables_that_contradict_themselves_everywhere_are_refused():
    from elastocal.errors import InputError

    rng = np.random.default_rng(7)
    logs = tables(rng, np.diag([90.0, 60.0]), np.array([16384, 12288]), offset=False, rows=12)
    logs[-1].counts["J1"][::2] += rng.integers(2000, 90000, 6)
    logs[0].counts["J1"][::2] += 7000 * np.arange(1, 4)
    logs[1].counts["J2"][1::2] -= 9000 * np.arange(1, 3)
    with pytest.raises(InputError) as caught:
        identify(series(logs))
    assert caught.value.code == "implausible"
    rows, total = caught.value.value
    assert 3 * rows > total
