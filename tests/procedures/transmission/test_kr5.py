"""Tables I and II of Hayat et al. 2013: both misprints are found, and what is left agrees with plain arithmetic."""

from __future__ import annotations

import numpy as np
import pytest

from elastocal.procedures.transmission import identify
from elastocal.procedures.transmission.equations import EncoderSeries
from elastocal.published.kr5_transmission import MOTOR_DEG, TABLE_1, TABLE_2, series


@pytest.fixture(scope="module")
def found():
    return identify(series())


def test_both_misprints_are_found_and_nothing_else(found):
    theta, epsilon = found.outliers
    assert (theta.table, theta.row, theta.column, theta.printed) == ("I", 3, "theta_4", 14.31)
    assert theta.predicted == pytest.approx(14.515, abs=0.01)
    assert theta.instead == ()  # the motor turns of that row agree with its counts
    assert (epsilon.table, epsilon.row, epsilon.column, epsilon.printed) == ("II", 1, "epsilon_5", 10433)
    assert epsilon.predicted == pytest.approx(14032.6, abs=0.3)
    assert epsilon.slip == "digits transposed: 10433 for 14033"


def test_accuracy_of_a_prediction_is_that_of_a_new_reading(found):
    """theta_4 of a row that took no part: its own rounding, and hardly anything from the slope."""
    theta, epsilon = found.outliers
    level = found.rest.levels[found.system.levels.index(("I", "joint"))]
    assert theta.predicted_sd == pytest.approx(np.degrees(level.angle), rel=0.02)
    block = found.rest.block("joint", "A5")
    at = int(np.flatnonzero(~block.kept)[0])
    x = block.block.x[at]
    expected = np.sqrt(block.sd[at] ** 2 + x @ block.covariance @ x)
    assert epsilon.predicted_sd == pytest.approx(expected, rel=0.1)


def test_offsets_are_tested_and_the_pattern_is_found(found):
    assert found.system.from_zero
    assert found.zero.probability > 0.1
    assert {k: set(v) for k, v in found.pattern.items() if len(v) > 1} == {"A5": {"A4", "A5"}, "A6": {"A4", "A5", "A6"}}
    for zero in (("A4", "A5"), ("A4", "A6"), ("A5", "A6")):
        assert found.significance[found.at(*zero)] > 0.01
    assert len(found.unseen) == 24
    assert "24 entries are not measured" in found.notes[0]


def test_entries_agree_with_plain_least_squares_of_the_good_rows(found):
    """Each table alone, by numpy; the tables together lie between them."""
    wrist, turns = np.array(TABLE_2, dtype=float), np.array(MOTOR_DEG) / 360
    for i in range(6):
        counts, angles = (np.array(c, dtype=float) for c in TABLE_1[i])
        slope = np.polyfit(turns, counts, 1)[0]
        assert found.robust.per_turn[i] == pytest.approx(slope, rel=1e-12)
        keep = np.arange(5) != (2 if i == 3 else -1)
        own = 360 * (counts[keep] @ angles[keep]) / (angles[keep] @ angles[keep]) / slope
        (alone,) = [e for e in found.tables if (e.table, e.motor, e.joint) == ("I", f"A{i + 1}", f"A{i + 1}")]
        assert alone.robust == pytest.approx(own, rel=1e-10)
    for i, columns in ((4, [0]), (5, [0, 1]), (6, [0, 1, 2])):
        rows = slice(1, None) if i == 5 else slice(None)
        t = np.linalg.lstsq(wrist[rows][:, columns], wrist[rows, i - 1], rcond=None)[0]
        for j, value in zip(columns, t, strict=True):
            (alone,) = [e for e in found.tables if (e.table, e.motor, e.joint) == ("II", f"A{i}", f"A{j + 4}")]
            assert alone.robust == pytest.approx(360 * value / found.robust.per_turn[i - 1], rel=1e-8)
            both = found.robust.structure[found.at(f"A{i}", f"A{j + 4}")]
            assert abs(both - alone.robust) < 0.6 * alone.robust_sd


def test_published_precision(found):
    s = found.robust.structure
    assert s[3, 3] == pytest.approx(74.37, abs=0.01)
    assert s[4, 4] == pytest.approx(42.24, abs=0.01)
    assert s[4, 3] == pytest.approx(-1.11, abs=0.005)
    assert s[5, 5] == pytest.approx(24.12, abs=0.01)
    assert found.all_rows.structure[3, 3] - s[3, 3] > 0.1


def test_gear_ratios_are_recognised_with_their_odds(found):
    ratios = found.ratios
    assert [c.text() for c in ratios.counts] == ["16384"] * 3 + ["12288"] * 3
    assert all(ratios.counts_proposed)
    fractions = {k: v.text() for k, v in ratios.fractions.items()}
    assert fractions == {
        ("A1", "A1"): "125", ("A2", "A2"): "125", ("A3", "A3"): "87", ("A4", "A4"): "670/9", ("A5", "A4"): "-10/9",
        ("A5", "A5"): "380/9", ("A6", "A4"): "-1", ("A6", "A5"): "1", ("A6", "A6"): "410/17",
    }  # fmt: skip
    assert all(ratios.proposed.values())
    chances = {k: v.chance for k, v in ratios.fractions.items()}
    assert 0.05 < chances["A1", "A1"] < 0.1
    assert 0.1 < chances["A6", "A6"] < 0.15
    assert chances["A6", "A4"] < 0.005
    assert ratios.structure[3, 3] == 670 / 9


def test_regular_with_the_determinant_of_the_triangle(found):
    assert found.regularity.rank == 6
    assert found.regularity.determinant == pytest.approx(np.prod(np.diag(found.robust.structure)), rel=1e-12)
    share = np.diag(found.robust.structure_sd) / np.diag(found.robust.structure)
    assert found.regularity.determinant_sd / found.regularity.determinant == pytest.approx(
        np.linalg.norm(share), rel=1e-6
    )


def test_with_free_offsets_the_same_misprints_are_found(found):
    free = identify(series(), from_zero=False)
    assert [(b.table, b.row, b.column) for b in free.outliers] == [(b.table, b.row, b.column) for b in found.outliers]
    assert free.robust.structure_sd[0, 0] > found.robust.structure_sd[0, 0]
    assert np.abs(free.counts_at_zero()).max() > 1


def test_counts_that_start_elsewhere_change_nothing_but_the_offset():
    moved = []
    for k, one in enumerate(series()):
        for axis in one.counts:
            one = one.with_added(axis, 50_000 + 1000 * k)
        moved.append(one)
    shifted, free = identify(moved), identify(series(), from_zero=False)
    assert not shifted.system.from_zero
    np.testing.assert_allclose(shifted.robust.structure, free.robust.structure, rtol=1e-9)
    at_zero = shifted.counts_at_zero()
    assert at_zero[:3] == pytest.approx(free.counts_at_zero()[:3] + np.array([50_000, 51_000, 52_000]), abs=1e-3)
    assert at_zero[3:] == pytest.approx([56_000] * 3, abs=1)  # the wrist's own start, not that of single motions


def test_known_counts_per_turn_take_the_place_of_motor_angles():
    plain = [EncoderSeries(s.table, s.rows, s.counts, s.joints) for s in series()]
    unknown = identify(plain)
    assert np.isnan(unknown.robust.structure).all()
    assert unknown.robust.joint[3, 3] * np.pi / 180 == pytest.approx(2541.02, abs=0.05)
    given = identify(plain, counts_per_turn={f"A{i}": 16384 if i < 4 else 12288 for i in range(1, 7)})
    assert given.robust.structure[3, 3] == pytest.approx(74.4439, abs=2e-4)
    assert given.robust.structure_sd[3, 3] == pytest.approx(2.8e-4, rel=0.2)
