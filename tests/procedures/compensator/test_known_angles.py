"""Algorithm 1 against closed forms, scipy on other parameters, laws, and input that cannot be an arc."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.refusals import refused
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

from elastocal.procedures.compensator.arcs import angle_gain
from elastocal.procedures.compensator.concentric import fit_circle
from elastocal.procedures.compensator.known_angles import fit_known_angles

Q = np.radians([-140.0, -120.0, -70.0, -30.0, -25.0, 10.0])
L = 0.19
NOISE = 1e-4


def arc(d, pose, q=Q, sense=1, noise=0.0, seed=1):
    origin, matrix = pose(seed)
    u = np.column_stack([np.cos(q), sense * np.sin(q), 0 * q])
    points = origin + L * u @ matrix.T if d == 3 else origin[:2] + L * u[:, :2] @ [[0.8, 0.6], [-0.6, 0.8]]
    return points + noise * np.random.default_rng(seed).normal(size=points.shape)


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("sense", [1, -1])
def test_exact_points_give_the_arc_back(d, sense, pose):
    origin, matrix = pose(1)
    found = fit_known_angles(arc(d, pose, sense=sense), Q, axis=matrix[:, 2] if d == 3 else None)
    assert found.sense == sense
    assert found.radius == pytest.approx(L, rel=1e-13)
    np.testing.assert_allclose(found.centre, origin[:d], atol=1e-14)
    np.testing.assert_allclose(found.zero_direction, matrix[:, 0] if d == 3 else [0.8, 0.6], atol=1e-13)
    assert np.linalg.det(found.problem.frame.matrix) == pytest.approx(1, abs=1e-13)
    if d == 3:
        np.testing.assert_allclose(found.axis, matrix[:, 2], atol=1e-13)
    np.testing.assert_allclose(found.at([0.5]), arc(d, pose, np.array([0.5]), sense), atol=1e-14)


def test_without_an_axis_the_point_turns_right_handed(pose):
    _, matrix = pose(1)
    found = fit_known_angles(arc(3, pose, sense=-1), Q)
    assert found.sense == 1
    np.testing.assert_allclose(found.axis, -matrix[:, 2], atol=1e-13)


@pytest.mark.parametrize("d", [2, 3])
def test_the_minimum_and_covariance_are_scipys(d, pose):
    """Centre, radius and a rotation vector, or an angle, from another start."""
    p, noise = arc(d, pose, noise=1e-4), 3e-4
    found = fit_known_angles(p, Q, noise=noise)
    u = np.column_stack([np.cos(Q), np.sin(Q), 0 * Q])

    def misfit(x):
        if d == 3:
            return (p - x[:3] - x[3] * Rotation.from_rotvec(x[4:]).apply(u)).ravel()
        c, s = np.cos(x[3]), np.sin(x[3])
        return (p - x[:2] - x[2] * u[:, :2] @ [[c, s], [-s, c]]).ravel()

    start = np.concatenate([found.centre + 0.01, [0.2]])
    turn = Rotation.from_matrix(found.problem.frame.matrix).as_rotvec() + 0.05 if d == 3 else [0.8]
    other = least_squares(misfit, np.concatenate([start, turn]), xtol=1e-15, ftol=1e-15, gtol=1e-15, jac="3-point")
    np.testing.assert_allclose(found.centre, other.x[:d], atol=1e-9)
    assert found.radius == pytest.approx(other.x[d], abs=1e-9)
    assert found.residual_sd == pytest.approx(np.sqrt(2 * other.cost / (p.size - len(other.x))), rel=1e-7)
    covariance = noise**2 * np.linalg.inv(other.jac.T @ other.jac)
    np.testing.assert_allclose(found.centre_covariance, covariance[:d, :d], rtol=1e-4, atol=1e-14)
    assert found.radius_sd == pytest.approx(np.sqrt(covariance[d, d]), rel=1e-5)
    if d == 2:
        assert found.turn_sd == pytest.approx(np.sqrt(covariance[3, 3]), rel=1e-5)


def test_planar_covariance_is_the_closed_form(pose):
    """sigma^2 / (m - |sum u|^2 / m) for the radius and each coordinate; sigma^2 / m, the text's, is too small."""
    found = fit_known_angles(arc(2, pose, noise=1e-5), Q, noise=NOISE)
    square = abs(np.sum(np.exp(1j * Q))) ** 2
    variance = NOISE**2 / (6 - square / 6)
    assert found.radius_sd**2 == pytest.approx(variance, rel=1e-12)
    np.testing.assert_allclose(found.centre_covariance, variance * np.eye(2), atol=1e-12 * variance)
    assert found.turn_sd == pytest.approx(np.sqrt(variance) / found.radius, rel=1e-12)
    assert found.paper_radius_sd**2 == pytest.approx(NOISE**2 / 6, rel=1e-12)
    paper = found.paper_centre_covariance / NOISE**2
    assert np.trace(paper) == pytest.approx(2 / 6 + square / 6**3, rel=1e-12)
    mean = found.problem.points.mean(axis=0) - found.centre
    assert mean @ paper @ mean / (mean @ mean) == pytest.approx((1 + square / 36) / 6, rel=1e-4)


def test_spatial_covariance_is_the_response_to_errors(pose, influence):
    """Of exact points, so that nothing but first order is left; also of the axis and the zero direction."""

    def fit(data):
        found = fit_known_angles(data[0], Q)
        return np.concatenate([found.centre, [found.radius], found.axis, found.zero_direction])

    data = arc(3, pose)
    g = influence(fit, [data])
    expected = g @ g.T * NOISE**2
    found = fit_known_angles(data, Q, noise=NOISE)
    small = 1e-6 * NOISE**2
    np.testing.assert_allclose(found.centre_covariance, expected[:3, :3], rtol=1e-6, atol=small)
    assert found.radius_sd**2 == pytest.approx(expected[3, 3], rel=1e-7)
    np.testing.assert_allclose(found.axis_covariance, expected[4:7, 4:7], rtol=1e-6, atol=small)
    zero = found.estimate.propagate(found.zero_direction_jacobian)
    np.testing.assert_allclose(zero, expected[7:, 7:], rtol=1e-6, atol=small)


@pytest.mark.parametrize("d", [2, 3])
def test_moving_turning_and_scaling_the_cell(d, pose):
    """Centre and axis move along, radius and every sd scale, whatever the motion."""
    p = arc(d, pose, noise=1e-4)
    shift, turn = pose(8)
    turn = turn if d == 3 else np.array([[0.28, -0.96], [0.96, 0.28]])
    one = fit_known_angles(p, Q)
    two = fit_known_angles(7 * p @ turn.T + shift[:d], Q)
    np.testing.assert_allclose(two.centre, 7 * turn @ one.centre + shift[:d], atol=1e-12)
    np.testing.assert_allclose(two.centre_covariance, 49 * turn @ one.centre_covariance @ turn.T, rtol=1e-8, atol=1e-16)
    np.testing.assert_allclose([two.radius, two.radius_sd], [7 * one.radius, 7 * one.radius_sd], rtol=1e-9)
    np.testing.assert_allclose(two.other_sd, 7 * one.other_sd, rtol=1e-9)
    if d == 3:
        np.testing.assert_allclose(two.axis, turn @ one.axis, atol=1e-11)


def test_order_of_rows_and_unseen_rows_change_nothing(pose):
    p = arc(3, pose, noise=1e-4)
    one = fit_known_angles(p, Q)
    again = fit_known_angles(p, Q)
    np.testing.assert_array_equal(one.centre, again.centre)
    np.testing.assert_array_equal(one.estimate.unit_covariance, again.estimate.unit_covariance)
    order = [4, 0, 5, 2, 1, 3]
    other = fit_known_angles(p[order], Q[order])
    np.testing.assert_allclose(other.centre, one.centre, atol=1e-13)
    gaps = np.insert(p, [2, 6], np.nan, axis=0)
    third = fit_known_angles(gaps, np.insert(Q, [2, 6], 0.0))
    np.testing.assert_array_equal(third.centre, one.centre)
    assert third.problem.labels[2] == (0, 3)


def test_stated_noise_counts_unless_the_residuals_are_larger(pose):
    p = arc(2, pose, noise=1e-4)
    free = fit_known_angles(p, Q)
    assert fit_known_angles(p, Q, noise=5e-4).radius_sd == pytest.approx(5e-4 / free.residual_sd * free.radius_sd)
    low = fit_known_angles(p, Q, noise=1e-6)
    assert low.radius_sd == free.radius_sd
    assert "times the stated noise" in low.sentences()[1]
    assert len(fit_known_angles(p, Q, noise=1e-4).sentences()) == 1


def test_a_plain_circle_needs_the_curve_and_the_angles_do_not(pose):
    """Halving a short arc costs the plain circle four times its accuracy, known angles twice."""
    ratios = []
    for span in (0.4, 0.2):
        q = np.linspace(0, span, 9)
        gain = angle_gain(arc(2, pose, q, noise=1e-12), q, noise=1e-9)
        ratios.append((gain.geometric.radii_sd[0], gain.algebraic.radii_sd[0], gain.known.radius_sd, gain.radius))
    geometric, algebraic, known, gains = np.array(ratios)[1] / np.array(ratios)[0]
    assert geometric == pytest.approx(4, rel=0.02)
    assert algebraic == pytest.approx(4, rel=0.02)
    assert known == pytest.approx(2, rel=0.02)
    assert gains == pytest.approx(2, rel=0.02)
    assert ratios[0][3] > 8


def test_circle_in_space_has_the_covariance_of_its_response(pose, influence):
    data = arc(3, pose, sense=1)
    for method in ("geometric", "algebraic"):

        def fit(readings, method=method):
            found = fit_circle(readings[0], method=method)
            return np.concatenate([found.centre, found.radii, found.axis])

        g = influence(fit, [data])
        expected = g @ g.T * NOISE**2
        found = fit_circle(data, noise=NOISE, method=method)
        np.testing.assert_allclose(found.centre_covariance, expected[:3, :3], rtol=1e-5, atol=1e-6 * NOISE**2)
        assert found.radii_sd[0] ** 2 == pytest.approx(expected[3, 3], rel=1e-6)
        np.testing.assert_allclose(found.axis_covariance, expected[4:, 4:], rtol=1e-5, atol=1e-5 * NOISE**2)


P2 = L * np.column_stack([np.cos(Q), np.sin(Q)])
P3 = np.column_stack([P2, 0 * Q])
LINE = np.outer(np.arange(6), [0.1, 0.2])


@pytest.mark.parametrize(
    ("points", "angles", "options", "words"),
    [
        (P2[:2], Q[:2], {}, ("too-few", 2)),
        (P2, np.full(6, 0.3), {}, ("no-motion",)),
        (P2, [0, 1, 0, 1, 1, 2 * np.pi], {}, ("two-angles",)),
        (LINE, Q, {}, ("straight-line",)),
        (np.ones((6, 2)), Q, {}, ("no-motion",)),
        (P2, Q[:5], {}, ("shape", (6, (5,)))),
        (P2, [*Q[:5], np.nan], {}, ("number",)),
        (P2, np.degrees(Q), {}, ("unit",)),
        (P2, np.radians(Q), {}, ("unit",)),
        (P2 * [1, -1], Q, {"sense": 1}, ("wrong-sense",)),
        (P2[:, ::-1], Q, {"sense": 1}, ("wrong-sense",)),
        (P2, Q, {"sense": -1}, ("wrong-sense",)),
        (P3, Q, {"sense": 1, "axis": [0, 0, -1]}, ("wrong-sense",)),
        (P3, Q, {"sense": 1}, ("no-axis",)),
        (P3, Q, {"axis": [1, 0, 0]}, ("axis-in-plane",)),
        (P3, Q, {"axis": [0, 0]}, ("shape",)),
        (P2, Q, {"sense": 2}, ("range", 2)),
        (P2, Q, {"noise": 0.0}, ("range", 0.0)),
        (P2[:, :1], Q, {}, ("shape", (6, 1))),
        (np.where(np.eye(6, 2) > 0, np.nan, P2), Q, {}, ("number", 1)),
    ],
)
def test_bad_input_is_refused_in_one_sentence(points, angles, options, words):
    with refused(*words) as caught:
        fit_known_angles(points, angles, **options)
    assert "\n" not in str(caught.value)


def test_degrees_are_recognised_through_noise_and_short_spans():
    """Also where the span is below a turn; and true radians are never called degrees."""
    rng = np.random.default_rng(2)
    for degrees in (np.linspace(0, 6, 7), np.linspace(-40, 60, 5), np.array([0.0, 20.0, 50.0])):
        q = np.radians(degrees)
        for _ in range(30):
            p = L * np.column_stack([np.cos(q), np.sin(q)]) + 5e-6 * rng.normal(size=(len(q), 2))
            fit_known_angles(p, q, sense=1)
            if len(q) > 3:
                with refused("unit"):
                    fit_known_angles(p, degrees, sense=1)


def test_more_than_a_turn_with_large_residuals_is_said():
    rng = np.random.default_rng(3)
    with refused("unit", 9.5):
        fit_known_angles(rng.normal(size=(8, 2)), np.linspace(0, 9.5, 8) - 0.1)


def test_an_arc_too_short_for_its_noise_needs_a_sense():
    """Five points over 2 deg with a noise of a tenth of the arc's height: the chord alone fits both senses."""
    q = np.radians(np.linspace(0, 2, 5))
    p = L * np.column_stack([np.cos(q), np.sin(q)]) + 5e-5 * np.random.default_rng(5).normal(size=(5, 2))
    with refused("both-senses"):
        fit_known_angles(p, q)
    assert fit_known_angles(p, q, sense=-1).sense == -1
    assert fit_known_angles(p, q, sense=1).sense == 1


def test_points_on_a_noisy_line_are_not_told_to_be_in_degrees():
    """Any small angles fit a line; the same angles on a real arc, in degrees, are told as such."""
    q = np.radians(np.arange(0.0, 60, 10))
    line = np.column_stack([10.0 * np.arange(6), -5.0 * np.arange(6), 3.0 * np.arange(6)]) / 1e3
    line += 1e-5 * np.random.default_rng(7).normal(size=line.shape)
    with refused("straight-line"):
        fit_known_angles(line, q)
    arc = 0.2 * np.column_stack([np.cos(q), np.sin(q)]) + 1e-5 * np.random.default_rng(7).normal(size=(6, 2))
    with refused("unit"):
        fit_known_angles(arc, np.degrees(q))
