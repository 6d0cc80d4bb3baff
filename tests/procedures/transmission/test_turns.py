"""Counters that run over, in tables as they are logged: random poses, coupled joints, misprints, other tables."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from oracle.refusals import refused

from elastocal.procedures.transmission import identify
from elastocal.procedures.transmission.equations import AxisColumn, EncoderSeries
from elastocal.procedures.transmission.turns import nearest
from elastocal.procedures.transmission.wrap import unwrapped_counts, wraps
from elastocal.published.kr5_transmission import TABLE_2, series

DEG = np.pi / 180
M = 65536


def joined(theta, counts, axes, table="poses.csv"):
    return EncoderSeries(
        table, tuple(range(2, len(theta) + 2)),
        {a: AxisColumn.of(f"{a}_counts", counts[:, i]) for i, a in enumerate(axes)},
        {a: AxisColumn.of(f"{a}_deg", theta[:, i], DEG) for i, a in enumerate(axes)},
    )  # fmt: skip


def poses(rng, rows, t, modulus=M):
    """Random poses in whole degrees: true counts, and what a counter shows."""
    theta = rng.integers(-90, 91, (rows, len(t))).astype(float)
    true = np.round(theta @ t.T + rng.integers(-40_000, 40_000, len(t)) + rng.normal(0, 0.3, (rows, len(t))))
    return joined(theta, np.mod(true, modulus), [f"A{i + 1}" for i in range(len(t))]), true


def wrist(counts):
    """Table II with other counts, without its misprint."""
    return joined(np.array(TABLE_2, dtype=float)[:, :3], counts, ["A4", "A5", "A6"], "II")


def true_wrist():
    counts = np.array(TABLE_2, dtype=float)[:, 3:]
    counts[0, 1] = 14033
    return counts


def test_the_nearest_whole_numbers_of_a_skew_lattice():
    """Against all combinations near the true ones."""
    rng = np.random.default_rng(1)
    skew = np.array([[1, 7, -12], [0, 1, 5], [0, 0, 1]])
    for _ in range(20):
        basis = (rng.normal(size=(3, 3)) + 2 * np.eye(3)) @ skew
        k = rng.integers(-9, 10, 3)
        target = -basis @ k + rng.normal(0, 0.02, 3)
        found, short = nearest(basis, target)
        np.testing.assert_array_equal(found, k)
        lengths = np.linalg.norm(basis @ short.T, axis=0)
        every = np.array([c for c in product(range(-20, 21), repeat=3) if any(c)])
        assert lengths.min() <= 1.5 * np.linalg.norm(every @ basis.T, axis=1).min()


@pytest.mark.parametrize(("rows", "seed"), [(12, 3), (60, 4)])
def test_random_poses_tell_modulus_and_turns(rows, seed):
    t = np.array([[1137.8, 0.0], [-20.0, 800.0]])
    shown, true = poses(np.random.default_rng(seed), rows, t)
    assert {w.modulus for w in wraps([shown])} == {M}
    (found,) = unwrapped_counts([shown], M)
    for i, axis in enumerate(("A1", "A2")):
        away = found.counts[axis].values - true[:, i]
        assert np.ptp(away) == 0
        assert away[0] % M == 0
        assert np.ptp(np.broadcast_to(found.counts[axis].added, rows)) > 0
    with refused("counter-wrap", 65536, parameter="wrap"):
        identify([shown])


def test_a_misprint_beside_the_wraps_is_named_as_it_is_printed():
    t = np.array([[1137.8, 0.0], [-20.0, 800.0]])
    shown, true = poses(np.random.default_rng(5), 14, t)
    wrong = np.zeros(14)
    wrong[6] = 3000.0
    values = {a: c.values + (wrong if a == "A1" else 0) for a, c in shown.counts.items()}
    theta = np.column_stack([c.values / DEG for c in shown.joints.values()])
    table = joined(theta, np.column_stack(list(values.values())), ["A1", "A2"])
    (bad,) = identify([table], wrap=M, counts_per_turn={"A1": 4096, "A2": 4096}).outliers
    assert (bad.row, bad.column) in {(8, "A1_counts"), (8, "A1_deg")}
    columns = {bad.column: bad.predicted, **dict(bad.instead)}
    assert columns["A1_counts"] == pytest.approx(np.mod(true[6, 0], M), abs=3)


def test_kr5_tables_with_a_counter_of_16_bits():
    """Table II modulo 65536 with Table I as it is, whose counts pass 65536 in range."""
    given = (*series()[:-1], wrist(np.mod(true_wrist(), M)))
    with refused("counter-wrap", 65536, parameter="wrap"):
        identify(given)
    found = identify(given, wrap=M)
    plain = identify((*series()[:-1], wrist(true_wrist())))
    np.testing.assert_allclose(found.robust.structure, plain.robust.structure, rtol=1e-9)


@pytest.mark.parametrize("far", [9, 40])  # the second table's counts stay below the modulus, or pass it
def test_another_table_tells_what_even_steps_leave_open(far):
    """Steps of 0.45 of the modulus may as well go the other way; a joint that moved alone says which."""
    theta = np.arange(8.0)[:, None] * 10
    shown = joined(theta, np.mod(np.round(2949.1 * theta), M), ["A"])
    with refused("counter-wrap", 65536, parameter="wrap"):
        unwrapped_counts([shown], M)
    alone = np.linspace(0, far, 6)[:, None]
    found = (
        unwrapped_counts([shown, joined(alone, np.round(2949.1 * alone), ["A"], "alone.csv")], M)[0].counts["A"].values
    )
    np.testing.assert_array_equal(found, np.round(2949.1 * theta)[:, 0])


def test_few_rows_that_ran_over_are_wraps_and_no_misprints():
    theta = np.array([-40.0, -31, -22, -14, -5, 3, 8, 17, 24, 33, 41, 49])[:, None]
    true = np.round(700 * theta + 33_000)
    shown = joined(theta, np.mod(true, M), ["A"])
    assert np.sum(true >= M) == 1
    (found,) = wraps([shown])
    assert (found.modulus, found.turns) == (M, 1)
    np.testing.assert_array_equal(unwrapped_counts([shown], M)[0].counts["A"].values, true[:, 0])


def test_noise_and_misprints_are_no_wraps():
    rng = np.random.default_rng(6)
    for misprints, noise in ((3, 0.3), (0, 400.0), (0, 4000.0)):
        theta = rng.uniform(-90, 90, (12, 2))
        counts = np.round(theta @ np.array([[300.0], [5.0]]) + rng.normal(0, noise, (12, 1)))
        counts[rng.choice(12, misprints, replace=False)] += rng.integers(1000, 9000, (misprints, 1))
        table = joined(theta, np.hstack([counts, np.round(200 * theta[:, 1:])]), ["A", "B"])
        assert not list(wraps([table]))
