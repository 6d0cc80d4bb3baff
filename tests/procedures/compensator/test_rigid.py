"""One rigid body on an axis against scipy on other parameters, laws, and the test of one model against another."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.draws import draws, spread_of_share
from oracle.refusals import refused
from scipy.optimize import least_squares
from scipy.stats import chi2, f

from elastocal.procedures.compensator.arc_problem import FitQuality
from elastocal.procedures.compensator.concentric import fit_concentric
from elastocal.procedures.compensator.rigid_body import fit_common_rotation, fit_pointing
from elastocal.procedures.compensator.variants import compare_variants, nested_test, own_axes

TURNS = np.radians([0.0, 8.0, 15.0, 24.0, 37.0, 50.0])
ARMS = np.array([0.19 * np.exp(0.4j), 0.12 * np.exp(2.5j), 0.3 * np.exp(-1.3j)])
HEIGHTS = np.array([0.05, -0.2, 0.1])
NOISE = 1e-4


def body(d, pose, noise=0.0, seed=2):
    """Three markers on a body at six angles, and the target it points at."""
    origin, matrix = pose(seed)
    rng = np.random.default_rng(seed)
    z = ARMS[:, None] * np.exp(1j * TURNS)
    local = np.stack([z.real, z.imag, np.broadcast_to(HEIGHTS[:, None], z.shape)], axis=2)
    aims = np.column_stack([np.cos(TURNS + 1.1), np.sin(TURNS + 1.1), np.linspace(0.1, 0.3, 6)]) * [0.5, 0.5, 1]
    if d == 2:
        matrix, local, aims = np.eye(2), local[:, :, :2], aims[:, :2]
    points = origin[:d] + local @ matrix.T
    return points + noise * rng.normal(size=points.shape), origin[:d] + aims @ matrix.T


@pytest.mark.parametrize("d", [2, 3])
def test_exact_points_give_the_body_back(d, pose):
    origin, matrix = pose(2)
    markers, targets = body(d, pose)
    for found in (fit_common_rotation(list(markers)), fit_pointing(list(markers), targets)):
        np.testing.assert_allclose(found.radii, np.abs(ARMS), rtol=1e-11)
        side = np.sign(found.axis @ matrix[:, 2]) if d == 3 else 1.0
        np.testing.assert_allclose(np.unwrap(found.turns) - found.turns[0], side * TURNS, atol=1e-11)
        centre = origin + HEIGHTS.mean() * matrix[:, 2] if d == 3 else origin[:2]
        np.testing.assert_allclose(found.centre, centre, atol=1e-11)
        if d == 3:
            np.testing.assert_allclose(found.axis, side * matrix[:, 2], atol=1e-11)


@pytest.mark.parametrize("pointing", [False, True])
def test_the_planar_minimum_and_covariance_are_scipys(pointing, pose):
    """Complex numbers: c + b_j exp(i theta_i)."""
    markers, targets = body(2, pose, noise=NOISE)
    found = fit_pointing(list(markers), targets) if pointing else fit_common_rotation(list(markers))
    z, t = markers @ [1, 1j], targets @ [1, 1j]

    def misfit(x):
        c, b = complex(*x[:2]), x[2:8:2] + 1j * x[3:8:2]
        theta = x[8:] if pointing else np.concatenate([[0.0], x[8:]])
        e = (z - c - b[:, None] * np.exp(1j * theta)).ravel()
        beside = ((t - c) * np.exp(-1j * theta)).imag if pointing else []
        return np.concatenate([e.real, e.imag, beside])

    c = complex(*found.centre) + 0.003
    theta = np.angle(t - c) if pointing else TURNS
    b = np.mean((z - c) * np.exp(-1j * theta), axis=1)
    start = [c.real, c.imag, *np.column_stack([b.real, b.imag]).ravel(), *(theta if pointing else TURNS[1:])]
    other = least_squares(misfit, start, xtol=1e-15, ftol=1e-15, gtol=1e-15, x_scale="jac", jac="3-point")
    np.testing.assert_allclose(found.centre, other.x[:2], atol=1e-9)
    assert found.estimate.freedom == len(other.fun) - len(other.x)
    variance = 2 * other.cost / found.estimate.freedom
    assert found.residual_sd**2 == pytest.approx(variance, rel=1e-7)
    covariance = variance * np.linalg.inv(other.jac.T @ other.jac)
    np.testing.assert_allclose(found.centre_covariance, covariance[:2, :2], rtol=1e-4, atol=1e-6 * covariance[0, 0])


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("pointing", [False, True])
def test_covariance_is_the_response_to_errors(d, pointing, pose, influence):
    markers, targets = body(d, pose)

    def fit(data, noise=None):
        return fit_pointing(data[:3], data[3], noise=noise) if pointing else fit_common_rotation(data, noise=noise)

    def outputs(data):
        found = fit(data)
        return np.concatenate([found.centre, found.axis])

    data = [*markers, targets] if pointing else list(markers)
    g = influence(outputs, data, h=1e-5)
    expected = g @ g.T * NOISE**2
    found = fit(data, NOISE)
    small = 1e-5 * np.max(expected[:d, :d])
    np.testing.assert_allclose(found.centre_covariance, expected[:d, :d], rtol=1e-4, atol=small)
    if d == 3:
        np.testing.assert_allclose(found.axis_covariance, expected[3:, 3:], rtol=1e-4, atol=1e-4 * np.max(expected[3:]))


@pytest.mark.parametrize("d", [2, 3])
def test_moving_turning_and_scaling_the_cell_and_reordering_it(d, pose):
    markers, _ = body(d, pose, noise=NOISE)
    shift, turn = pose(8)
    turn = turn if d == 3 else np.array([[0.28, -0.96], [0.96, 0.28]])
    one = fit_common_rotation(list(markers))
    two = fit_common_rotation(list(7 * markers @ turn.T + shift[:d]))
    np.testing.assert_allclose(two.centre, 7 * turn @ one.centre + shift[:d], atol=1e-9)
    np.testing.assert_allclose(two.radii, 7 * one.radii, rtol=1e-9)
    np.testing.assert_allclose(two.centre_covariance, 49 * turn @ one.centre_covariance @ turn.T, rtol=1e-6, atol=1e-13)
    order = [3, 0, 5, 1, 4, 2]
    three = fit_common_rotation(list(markers[[2, 0, 1]][:, order]))
    np.testing.assert_allclose(three.centre, one.centre, atol=1e-10)
    np.testing.assert_allclose(three.turns - three.turns[1], (one.turns - one.turns[0])[order], atol=1e-9)
    np.testing.assert_array_equal(fit_common_rotation(list(markers)).centre, one.centre)


def test_markers_hidden_in_some_poses(pose):
    """A pose that nobody saw counts for nothing, one seen by one marker only keeps its radius."""
    markers, _ = body(2, pose, noise=NOISE)
    hidden = markers.copy()
    hidden[:, 2] = np.nan
    whole = fit_common_rotation(list(np.delete(markers, 2, axis=1)))
    gaps = fit_common_rotation(list(hidden))
    np.testing.assert_array_equal(gaps.centre, whole.centre)
    assert (0, 3) in gaps.problem.labels
    assert (0, 2) not in gaps.problem.labels
    markers[0, 1:3] = markers[1, 4] = np.nan
    found = fit_common_rotation(list(markers))
    assert found.estimate.freedom == 2 * 15 - 2 - 6 - 5
    np.testing.assert_allclose(found.centre, whole.centre, atol=2e-3)
    assert np.linalg.norm(found.centre - whole.centre) > 1e-7


def test_a_marker_hidden_for_long_takes_over_from_another_a_quarter_turn_away():
    """The angle of poses seen by the second marker only starts from its place in the body."""
    theta = np.radians(np.linspace(0, 160, 9))
    z = 0.3 + 0.2j + 0.2 * np.array([[1.0], [1j]]) * np.exp(1j * theta)
    markers = np.stack([z.real, z.imag], axis=2)
    markers[0, 5:] = markers[1, :2] = np.nan
    found = fit_common_rotation(list(markers))
    np.testing.assert_allclose(found.centre, [0.3, 0.2], atol=1e-11)
    np.testing.assert_allclose(found.turns, theta, atol=1e-11)


def test_bad_input_is_refused_in_one_sentence(pose):
    markers, targets = body(2, pose)
    with refused("shape", (6, 5)):
        fit_common_rotation([markers[0], markers[1][:5]])
    with refused("shape", (6, 5)):
        compare_variants([markers[0], markers[1][:5]])
    with refused("shape", (6, 5)):
        fit_pointing(list(markers), targets[:5])
    with refused("few-targets"):
        fit_pointing(list(markers), np.where(np.arange(6)[:, None] > 0, np.nan, targets))
    apart = markers[:2].copy()
    apart[0, 3:] = apart[1, :3] = np.nan
    with refused("unobservable", 2):
        fit_common_rotation(list(apart))


def test_a_target_not_seen_in_a_pose_costs_one_equation(pose):
    markers, targets = body(2, pose, noise=NOISE)
    whole = fit_pointing(list(markers), targets)
    targets[2] = np.nan
    less = fit_pointing(list(markers), targets)
    assert less.estimate.freedom == whole.estimate.freedom - 1
    assert 0 < np.linalg.norm(less.centre - whole.centre) < 5 * NOISE


def test_a_body_that_points_is_rejected_as_often_as_stated():
    """Targets as noisy as the markers: at most three standard deviations above 5 %."""
    rng, theta = np.random.default_rng(12), np.radians([-20.0, -12, -3, 6, 13, 18, 22])
    z = 0.2 * np.exp(1j * np.array([2.6, -2.2, 0.3]))[:, None] * np.exp(1j * theta)
    aim = 0.6 * np.exp(1j * theta)
    low, count = 0, draws(60, 600)
    for _ in range(count):
        noisy = [np.column_stack([p.real, p.imag]) + 2e-5 * rng.normal(size=(7, 2)) for p in (*z, aim)]
        free, strict = fit_common_rotation(noisy[:3]), fit_pointing(noisy[:3], noisy[3])
        low += nested_test(strict.estimate, free.estimate).probability < 0.05
    assert 0 < low / count < 0.05 + spread_of_share(0.05, count, 3)


def estimate(squares, freedom, noise=None):
    return FitQuality(np.eye(2), squares, freedom, 30, noise)


def test_a_nested_test_is_the_f_test_or_the_chi_square_test():
    free, strict = estimate(8.0, 10), estimate(20.0, 14)
    found = nested_test(strict, free)
    assert (found.kind, found.added, found.freedom) == ("F", 4, 10)
    assert found.statistic == pytest.approx((12 / 4) / (8 / 10))
    assert found.probability == pytest.approx(f(4, 10).sf(3.75), rel=1e-10)
    stated = nested_test(estimate(20.0, 14, 1.0), estimate(8.0, 10, 1.0))
    assert (stated.kind, stated.value) == ("chi^2", pytest.approx(12.0))
    assert stated.probability == pytest.approx(chi2(4).sf(12.0), rel=1e-10)
    assert nested_test(estimate(20.0, 14, 0.3), estimate(8.0, 10, 0.3)).kind == "F"  # the stated noise is not true
    assert np.isnan(nested_test(estimate(8.0, 10), estimate(8.0, 10)).probability)
    assert np.isnan(nested_test(estimate(8.0, 4), estimate(0.0, 0)).probability)


def test_words_where_nothing_can_be_tested(pose):
    markers, _ = body(2, pose, noise=NOISE)
    assert "demands no more" in compare_variants([markers[0]]).sentences()[1]
    barely = compare_variants(list(markers[:2, :2]))
    assert "one axis cannot be told" in barely.sentences()[0]
    assert "cannot be told" in barely.sentences()[2]


def test_a_body_that_bends_is_rejected_and_a_rigid_one_is_not(pose):
    """A marker that creeps by 1 mm along its arc keeps its radius: only the common rotation sees it."""
    markers, targets = body(2, pose, noise=2e-5)
    good = compare_variants(list(markers), targets)
    assert [m.test is not None and m.test.rejected for m in good.models] == [False, False, False]
    origin, _ = pose(2)
    creep = np.exp(1j * np.linspace(0, 1e-3 / abs(ARMS[0]), 6))
    z = (markers[0] - origin[:2]) @ [1, 1j] * creep
    bent = [origin[:2] + np.column_stack([z.real, z.imag]), *markers[1:]]
    found = compare_variants(bent, targets)
    assert found.models[1].test.rejected
    assert found.models[0].fit.residual_sd < 4e-5


def test_markers_on_two_axes_are_told_before_a_rigid_body_is_tried(pose):
    """The second marker turns about an axis 50 mm away; the others share theirs, whatever their radius and height."""
    for d in (2, 3):
        markers, targets = body(d, pose, noise=2e-5)
        good = compare_variants(list(markers), targets, noise=2e-5)
        assert not good.apart
        assert "agree with one axis" in good.sentences()[0]
        origin, matrix = pose(2)
        z = ARMS[1] * np.exp(1j * TURNS)
        plane = (matrix if d == 3 else np.eye(2))[:, :2]
        about = origin[:d] + 0.05 * plane[:, 0]
        own = about + np.column_stack([z.real, z.imag]) @ plane.T
        noisy = own + 2e-5 * np.random.default_rng(4).normal(size=own.shape)
        bad = compare_variants([markers[0], noisy, markers[2]], targets, noise=2e-5)
        assert bad.apart
        assert [m.name for m in bad.models] == ["concentric"]
        assert bad.axes.added == 4 * (d - 1)
        assert "do not turn about one axis" in bad.sentences()[0]
        assert "times the stated noise" in bad.models[0].fit.sentences()[0]
        assert good.models[0].fit.sentences() == ()


def test_the_test_of_one_axis_is_that_of_separate_circles(pose):
    """Sum of squares of the markers fitted one by one."""
    markers, _ = body(2, pose, noise=NOISE)
    common = fit_concentric(list(markers), method="geometric")
    left = sum(fit_concentric([p], method="geometric").estimate.squares for p in markers)
    found = own_axes(common)
    assert found.squares == pytest.approx(left, rel=1e-6)
    assert found.freedom == 3 * (6 - 3)
    assert compare_variants(list(markers)).axes.statistic == pytest.approx(
        (common.estimate.squares - left) / 4 / (left / 9), rel=1e-5
    )
