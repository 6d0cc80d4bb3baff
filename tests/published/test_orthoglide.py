"""The Orthoglide link: 36, 21 and 8 parameters against arithmetic on the readings themselves."""

from __future__ import annotations

from math import erf, sqrt

import numpy as np
import pytest

from elastocal.published.case import Why
from elastocal.published.orthoglide_link import DRAWS, IMPLIED, STATED, Draws, draw, indefinite

K = np.zeros((6, 6))
K[np.diag_indices(6)] = [4.50e-8, 8.01e-5, 3.64e-5, 3.76e-3, 1.09e-3, 2.65e-3]
K[1, 5] = K[5, 1] = 3.98e-4
K[2, 4] = K[4, 2] = -1.71e-4
SD = np.repeat([2.5e-6, 2.5e-5], 3)  # of an element in rows 1-3 and 4-6: 25 um or 0.25 mrad over 10 N or 10 N m
FEW = 60


@pytest.fixture(scope="module")
def stated() -> Draws:
    return draw(STATED, np.random.default_rng(5).normal(size=(FEW, 36)))


@pytest.fixture(scope="module")
def possible(stated):
    return stated.possible()


def measured(of: Draws) -> np.ndarray:
    """Every draw's matrix straight from the readings: component i under load j over that load."""
    lengths_and_angles = of.readings.reshape(-1, 6, 6) * (10 * SD)
    return lengths_and_angles.swapaxes(1, 2) / 10


def test_the_printed_ratios_come_out(outcome, figure) -> None:
    of = outcome("orthoglide-link")
    assert figure(of, "identifiable_count") == 9
    assert figure(of, "hardly_identifiable_count") == 27
    assert figure(of, "smallest_big_ratio") == pytest.approx(1.71e-4 / 2.5e-6)
    assert figure(of, "smallest_big_ratio_stated_noise") == pytest.approx(1.71e-4 / 2.5e-5)
    assert figure(of, "k11_ratio_hundredth_of_stated_noise") == pytest.approx(4.5e-8 / 2.5e-8)
    assert figure(of, "reduction_factor") == 36 / 8
    for f in of.figures:
        if f.name.startswith("nu_"):
            assert f.published is not None
            assert f.recomputed == pytest.approx(f.published, rel=4e-3)


def test_noise_is_the_stated_one(stated) -> None:
    assert stated.truth == pytest.approx(K)
    scatter = (measured(stated) - K).std(axis=0)
    assert scatter == pytest.approx(np.repeat(SD, 6).reshape(6, 6), rel=0.4)


def test_every_form_is_a_weighted_mean_of_the_readings(stated) -> None:
    """With 36 parameters each is one reading; mirrors are averaged by their weights; nothing else helps."""
    k = measured(stated)
    assert np.allclose(stated.full.matrices(), k, rtol=1e-9, atol=1e-15)
    weight = 1 / np.repeat(SD, 6).reshape(6, 6) ** 2
    even = (weight * k + (weight * k).swapaxes(1, 2)) / (weight + weight.T)
    assert np.allclose(stated.symmetric.matrices(), even, rtol=1e-9, atol=1e-15)
    assert np.allclose(stated.template.matrices(), np.where(K != 0, even, 0.0), rtol=1e-9, atol=1e-15)
    spread = np.sqrt(1 / (weight + weight.T))[1, 5]
    assert stated.template.sd[stated.template.names.index("k26")] == pytest.approx(spread)


def test_k11_is_negative_as_often_as_chance_says(outcome, figure) -> None:
    of = outcome("orthoglide-link")
    for ending, noise in (("", IMPLIED), ("_stated_noise", STATED)):
        ratio = K[0, 0] / (noise[0] / 10)
        chance = 50 * (1 - erf(ratio / sqrt(2)))
        share = figure(of, f"k11_negative_percent_full{ending}")
        assert abs(share - chance) < 4 * 50 / sqrt(DRAWS)
        assert figure(of, f"k11_negative_percent_template{ending}") == share
        assert figure(of, f"indefinite_percent_full{ending}") >= share
        assert figure(of, f"indefinite_percent_full{ending}") >= figure(of, f"indefinite_percent_template{ending}")


def test_an_indefinite_matrix_has_a_load_that_gains_energy() -> None:
    good, bad, skew = K.copy(), K.copy(), K.copy()
    bad[0, 0] = -1e-12
    skew[0, 3], skew[3, 0] = 1.0, -1.0  # an unsymmetric part does no work
    edge = K.copy()
    edge[0, 1] = edge[1, 0] = 1.01 * np.sqrt(K[0, 0] * K[1, 1])
    assert indefinite(np.stack([good, bad, skew, edge])).tolist() == [False, True, False, True]


def definite(k: np.ndarray) -> bool:
    size = 1 / np.sqrt(np.diag(K))
    try:
        np.linalg.cholesky((k + k.T) / 2 * np.outer(size, size))
    except np.linalg.LinAlgError:
        return False
    return True


def test_the_constrained_fit_is_possible_and_the_best_there_is(stated, possible) -> None:
    """Equal to the free fit where that is possible; else no cheaper than it, and cheaper than cutting eigenvalues."""
    free, readings = stated.symmetric.matrices(), measured(stated)
    size = np.sqrt(np.diag(K))

    def cost(k):
        return np.sum(((readings[i] - k) / SD[:, None]) ** 2)

    held = 0
    for i, k in enumerate(possible):
        assert definite(k + 1e-9 * np.diag(np.diag(K)))
        if definite(free[i]):
            assert np.allclose(k, free[i], rtol=1e-4, atol=1e-4 * SD.min())
            continue
        held += 1
        values, vectors = np.linalg.eigh(free[i] / np.outer(size, size))
        cut = (vectors * np.maximum(values, 0)) @ vectors.T * np.outer(size, size)
        assert cost(free[i]) <= cost(k) + 1e-6
        assert cost(k) <= cost(cut) + 1e-6
    assert 0.3 * FEW < held < 0.8 * FEW


def test_the_case_never_calls_the_constrained_fit_indefinite(outcome, figure) -> None:
    of = outcome("orthoglide-link")
    assert figure(of, "indefinite_percent_constrained") == 0
    assert figure(of, "smallest_diagonal_constrained") > 0
    assert figure(of, "error_percent_constrained") == pytest.approx(
        figure(of, "error_percent_template_stated_noise"), rel=0.15
    )


def test_big_elements_gain_by_the_template_but_not_fourfold(outcome, figure) -> None:
    """Worst errors by simulation of the nine and of the seven standard deviations."""
    of = outcome("orthoglide-link")
    size = SD / 10
    nine = [(1, 1), (1, 5), (2, 2), (2, 4), (3, 3), (4, 2), (4, 4), (5, 1), (5, 5)]
    relative = np.array([100 * size[i] / abs(K[i, j]) for i, j in nine])
    z = np.abs(np.random.default_rng(0).normal(size=(20000, 9)))
    full = np.median((relative * z).max(axis=1))
    template = np.median(np.delete(relative * z, [5, 7], axis=1).max(axis=1))
    assert figure(of, "worst_error_percent_full") == pytest.approx(full, rel=0.2)
    assert figure(of, "worst_error_percent_template") == pytest.approx(template, rel=0.2)
    assert figure(of, "worst_error_ratio") == pytest.approx(full / template, rel=0.25)
    assert 1.5 < figure(of, "worst_error_ratio") < 3.5
    for name in ("error_percent_full", "worst_error_percent_template"):
        assert figure(of, f"{name}_stated_noise") == pytest.approx(10 * figure(of, name), rel=1e-6)


def test_the_nine_are_found_in_noisy_draws_too(outcome, figure) -> None:
    of = outcome("orthoglide-link")
    assert figure(of, "same_nine_percent") == 100
    assert 85 < figure(of, "same_nine_percent_stated_noise") < 100  # k53 has a ratio of 6.8
    assert figure(of, "m3_count") == figure(of, "m3_count_stated_noise") == 7


def test_k11_is_rebuilt_by_the_best_known_ratio(stated, outcome, figure) -> None:
    """k66 is known best of the four that share l/E, so k11 = K11/K66 k66."""
    k66 = stated.template.values[:, stated.template.names.index("k66")]
    assert stated.derived == pytest.approx(K[0, 0] / K[5, 5] * k66, rel=1e-9)
    of = outcome("orthoglide-link")
    assert figure(of, "k11_rebuilt_error_percent_stated_noise") < 1.5
    assert figure(of, "k11_error_percent_stated_noise") > 1000


def test_the_matrix_is_no_beam_of_one_length(outcome, figure) -> None:
    of = outcome("orthoglide-link")
    assert figure(of, "beam_length_xy_mm") == pytest.approx(2e3 * 3.98e-4 / 2.65e-3)
    assert figure(of, "beam_length_xz_mm") == pytest.approx(2e3 * 1.71e-4 / 1.09e-3)
    assert "no beam of constant section" in of.verdict


def test_the_same_numbers_give_the_same_fits(stated) -> None:
    again = draw(STATED, np.random.default_rng(5).normal(size=(FEW, 36)))
    assert np.array_equal(again.full.values, stated.full.values)
    assert np.array_equal(again.derived, stated.derived)


def test_print_is_checked_against_itself(outcome, figure) -> None:
    """By hand: 1.68e-4 for 1.71e-4 in (16), 8.05e-5 for 8.01e-5 in (25), 2.25e-7 / 2.5e-7 = 0.90 where 0.89 is."""
    of = outcome("orthoglide-link")
    assert figure(of, "worst_error_percent_print") == pytest.approx(100 * 3 / 171)
    assert figure(of, "worst_error_percent_print_template") == pytest.approx(100 * 4 / 801)
    assert figure(of, "asymmetry_percent_print") == pytest.approx(100 * 3 / 168)
    assert figure(of, "ratios_17_agree") == 33
    (listing,) = of.listings
    cut = [row["element"] for row in listing.rows if row["agrees"] != "yes"]
    assert cut == ["k34", "k46", "k56"]  # 0.90 for 0.89, 1.648 for 1.64, 2.028 for 2.02
    assert all(row["agrees"] == "if digits are cut off" for row in listing.rows if row["element"] in cut)
    named = {f.name: f for f in of.figures}
    assert named["ratios_17_agree"].published is None
    worst = named["worst_error_percent_print"]
    assert worst.why is Why.ROUNDING  # 1.68e-4 is 1.675e-4 to 1.685e-4
    assert f"room from {100 * 2.5 / 171:.2f} to {100 * 3.5 / 171:.2f} %" in worst.note
    assert 100 * 2.5 / 171 < worst.published < 100 * 3.5 / 171
    assert "and so are 6" in named["worst_error_percent_print_template"].note
    assert len(listing.rows) == 36
    assert figure(of, "observation_rank") == 36
    assert figure(of, "observation_condition") == pytest.approx(1.0)


def test_ratios_are_drawn_as_matrices(outcome, figure) -> None:
    one, exact = outcome("orthoglide-link").curves
    assert one.downwards
    assert exact.values[1][5] == pytest.approx(np.log10(figure(outcome("orthoglide-link"), "nu_k26")))
    assert exact.values[4][2] == pytest.approx(np.log10(68.4), abs=1e-3)
    assert np.isnan(exact.values[0]).sum() == 5
    big = np.array(exact.values) > np.log10(5)
    np.testing.assert_allclose(np.array(one.values)[big], np.array(exact.values)[big], atol=0.05)
    assert np.isfinite(one.values).all()
