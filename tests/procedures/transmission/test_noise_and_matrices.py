"""Noise of angles and of counts, weights of tables, accuracy of products, rank: against other routes."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.refusals import refused

from elastocal.procedures.transmission import identify
from elastocal.procedures.transmission.equations import AxisColumn, EncoderSeries, system
from elastocal.procedures.transmission.fit import NoiseLevel, fit_system, level
from elastocal.procedures.transmission.matrices import OFFSET_LEVEL, Matrices, offsets_are_zero, regularity

DEG = np.pi / 180


def test_both_parts_of_the_noise_are_found_by_likelihood():
    """Against the maximum of the likelihood on a grid."""
    rng = np.random.default_rng(1)
    size, spare = np.array([200.0, 900.0, 3000.0, 8000.0]), np.array([30.0, 25.0, 40.0, 20.0])
    true = (3e-3 * size) ** 2 + 2.0**2
    squares = true * rng.chisquare(spare)
    found = level(size, squares, spare)
    a, b = np.meshgrid(np.linspace(1e-3, 6e-3, 401), np.linspace(0.3, 6, 401), indexing="ij")
    v = a[..., None] ** 2 * size**2 + b[..., None] ** 2
    best = np.unravel_index(np.argmin(np.sum(spare * np.log(v) + squares / v, axis=2)), a.shape)
    assert found.angle == pytest.approx(a[best], rel=0.01)
    assert found.count == pytest.approx(b[best], rel=0.02)
    assert found.spare == 115


def test_counts_are_never_better_than_rounding():
    found = level(np.array([1000.0, 2000.0]), np.array([1e-6, 1e-6]), np.array([3.0, 3.0]))
    assert found == NoiseLevel(0.0, pytest.approx(1 / np.sqrt(12)), 6.0)
    assert level(np.array([5.0]), np.array([0.0]), np.array([0.0])) is None


def two_tables(rng, coarse, fine):
    out = []
    for name, sd, n in (("coarse", coarse, 12), ("fine", fine, 8)):
        theta = np.linspace(2, 40, n)
        counts = 100.0 * (theta + rng.normal(0, sd, n))
        out.append(
            EncoderSeries(
                name, tuple(range(n)), {"J": AxisColumn.of("c", counts)}, {"J": AxisColumn.of("t", theta, DEG)}
            )
        )
    return out


def test_tables_are_weighted_by_their_own_noise():
    """Against least squares with the weights that the two levels give."""
    series = two_tables(np.random.default_rng(2), 0.5, 0.02)
    fit = fit_system(system(series, from_zero=True))
    (block,) = fit.blocks
    x = np.concatenate([s.joints["J"].values for s in series])
    y = np.concatenate([s.counts["J"].values for s in series])
    sd = np.concatenate(
        [np.full(len(s.rows), np.sqrt(fit.levels[2 * k + 1].variance(block.size))) for k, s in enumerate(series)]
    )
    assert sd[0] / sd[-1] > 10
    w = 1 / sd**2
    assert block.beta[0] == pytest.approx(np.sum(w * x * y) / np.sum(w * x * x), rel=1e-9)
    assert block.covariance[0, 0] == pytest.approx(1 / np.sum(w * x * x), rel=1e-6)


def test_accuracy_of_a_product_by_first_differences():
    m = Matrices(
        ("a", "b"), np.array([100.0, 80.0]), np.array([0.5, 0.3]), np.array([9.0, 9.0]),
        np.array([[500.0, 20.0], [30.0, 400.0]]), np.array([[2.0, 1.0], [1.0, 3.0]]), np.full((2, 2), 12.0),
    )  # fmt: skip
    turn = 2 * np.pi
    expected = np.hypot(
        turn * m.joint_sd / m.per_turn[:, None], turn * m.joint * (m.per_turn_sd / m.per_turn**2)[:, None]
    )
    np.testing.assert_allclose(m.structure, turn * m.joint / np.array([[100.0], [80.0]]))
    np.testing.assert_allclose(m.structure_sd, expected)
    exact = m.with_per_turn(np.array([99.0, np.nan]))
    np.testing.assert_allclose(exact.structure_sd[0], turn * m.joint_sd[0] / 99)
    assert exact.structure_sd[1, 1] == m.structure_sd[1, 1]
    assert np.all(m.structure_freedom >= 9)
    assert exact.structure_freedom[0, 0] == pytest.approx(12)


def test_determinant_and_its_accuracy_by_draws():
    rng = np.random.default_rng(3)
    s = np.array([[90.0, 0.0, 1.0], [-1.5, 60.0, 0.0], [-1.0, 2.0, 30.0]])
    sd = 0.01 * np.abs(s)
    found = regularity(s, sd)
    draws = np.linalg.det(s + sd * rng.normal(size=(20000, 3, 3)))
    assert found.determinant == pytest.approx(np.linalg.det(s))
    assert found.determinant_sd == pytest.approx(draws.std(), rel=0.03)
    assert (found.rank, regularity(np.array([[2.0, 4.0], [1.0, 2.0]]), np.zeros((2, 2))).rank) == (3, 1)


def test_singular_matrices_have_cofactors_too():
    found = regularity(np.array([[2.0, 4.0], [1.0, 2.0]]), np.array([[0.1, 0.0], [0.0, 0.0]]))
    assert found.determinant == pytest.approx(0, abs=1e-12)
    assert found.determinant_sd == pytest.approx(0.1 * 2)


@pytest.mark.parametrize("steps", [(1, 2, 3, 4, 5, 6, 7, 8), (-6, -3, 0, 3, 6, 4.5, -4.5, 2.5)])
def test_joints_at_round_values_are_not_rounded_readings(steps):
    """Perfect counts: their rounding alone is the noise, and the matrix is that of the counts per rad."""
    a, b = 0.1 * np.array(steps), 0.1 * np.array([3, -1, 4, 1, -5, 9, 2, -6.5])
    counts = {"A": np.round(60000 * a), "B": np.round(50000 * b - 1300 * a)}
    found = identify([EncoderSeries.of(counts, {"A": a, "B": b})]).robust
    np.testing.assert_allclose(found.joint, [[60000, 0], [-1300, 50000]], atol=1.0)
    assert found.joint_sd.max() < 0.5


@pytest.mark.parametrize(
    ("columns", "place"),
    [
        ((("10.01", "20.02", "30.00"), ("0", "0", "0")), 0.01),  # a joint that stands is not read
        ((("10.01", "20.02", "30"), ("-5", "15", "40")), 0.01),  # zeros left out; set beside read
        ((("10.01", "20.02", "30.00"), ("10.1", "20.3", "30.5")), 0.01),
        ((("-60", "30", "22.5"), ("10", "-40", "-12.5")), 0.0),
        ((("0.1", "0.2", "0.8"),), 0.0),
    ],
)
def test_the_last_place_is_that_of_a_display(columns, place):
    joints = {
        f"J{i}": AxisColumn(f"J{i}", np.array([float(t) for t in texts]) * DEG, DEG, texts)
        for i, texts in enumerate(columns)
    }
    logged = [EncoderSeries("t", (1, 2, 3), {}, {name: column}) for name, column in joints.items()]
    assert system(logged).rounding == (0.0, pytest.approx((place * DEG) ** 2 / 12))


@pytest.mark.parametrize(("offset", "accepted"), [(0.0, True), (300.0, False)])
def test_offsets_are_judged_by_f(offset, accepted):
    """One block: the statistic is the squared t of its offset."""
    rng = np.random.default_rng(4)
    theta = np.linspace(1, 30, 15)
    counts = np.round(250 * theta + offset + rng.normal(0, 40, 15))
    one = EncoderSeries(
        "t", tuple(range(15)), {"J": AxisColumn.of("c", counts)}, {"J": AxisColumn.of("th", theta, DEG)}
    )
    found = offsets_are_zero(fit_system(system([one])))
    x = np.column_stack([theta, np.ones(15)])
    beta, (rss,), *_ = np.linalg.lstsq(x, counts, rcond=None)
    t2 = beta[1] ** 2 / (rss / 13 * np.linalg.inv(x.T @ x)[1, 1])
    assert found.statistic == pytest.approx(t2, rel=1e-6)
    assert (found.probability > OFFSET_LEVEL) == accepted


def moving(n=8, **changes):
    rng = np.random.default_rng(8)
    theta = rng.uniform(-60, 60, (n, 2))
    counts = theta @ np.array([[300.0, 5.0], [0.0, 200.0]])
    values = {"c1": counts[:, 0], "c2": counts[:, 1], "t1": theta[:, 0], "t2": theta[:, 1]} | changes
    made = {k: AxisColumn.of(k, v, DEG if k[0] == "t" else 1.0) for k, v in values.items()}
    return EncoderSeries(
        "t.csv", tuple(range(1, n + 1)), {"A": made["c1"], "B": made["c2"]}, {"A": made["t1"], "B": made["t2"]}
    )


def test_exact_data_give_the_exact_matrix():
    found = identify([moving()], counts_per_turn={"A": 1000, "B": 1000})
    np.testing.assert_allclose(found.robust.structure, np.array([[0.3, 0.0], [0.005, 0.2]]) * 360, atol=1e-9)


@pytest.mark.parametrize(
    ("series", "said"),
    [
        ([moving(t1=np.full(8, 3.0))], ('unobservable', 'A')),
        ([moving(t2=np.linspace(0, 7, 8), t1=np.linspace(0, 14, 8))], ('unobservable', (8, 'A and B', 'A'))),
        ([moving(), moving(t1=moving().joints["A"].values)], ('implausible', ('t.csv', 't1', 't.csv'))),
        ([EncoderSeries("t", (1, 2), {"A": AxisColumn.of("c", [1, 2])})], ('missing', 'A')),
        ([EncoderSeries("t", (1, 2), {"A": AxisColumn.of("c", [1, 2])}, {"B": AxisColumn.of("t", [1, 2])})],
         ('missing', 'A')),
    ],
)  # fmt: skip
def test_tables_that_cannot_be_used_are_named(series, said):
    with refused(*said):
        identify(series)


def test_swapped_columns_are_doubted():
    good = moving()
    swapped = EncoderSeries("t", good.rows, {"A": good.counts["B"], "B": good.counts["A"]}, good.joints)
    found = identify([swapped], counts_per_turn={"A": 1000, "B": 1000})
    assert any("check whether columns are swapped" in note for note in found.notes)


def test_without_a_row_to_spare_accuracy_is_unknown():
    found = identify([moving(3)], counts_per_turn={"A": 1000, "B": 1000})
    assert np.isnan(found.robust.structure_sd).all()
    assert any("no rows to spare" in note for note in found.notes)
    assert found.robust.structure[0, 0] == pytest.approx(108)
