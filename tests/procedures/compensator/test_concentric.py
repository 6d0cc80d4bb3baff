"""Algorithm 2 against its equations, scipy on other parameters, laws, and points that draw no arcs."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.refusals import refused
from scipy.optimize import least_squares

from elastocal.errors import InputError
from elastocal.procedures.compensator.concentric import fit_circle, fit_concentric

RADII, HEIGHTS = np.array([0.19, 0.12, 0.3]), np.array([0.05, -0.2, 0.1])
ANGLES = [np.radians(np.linspace(a, b, n)) for a, b, n in ((10, 95, 6), (120, 200, 9), (-60, -10, 4))]

NOISE = 1e-4


def arcs(d, pose, noise=0.0, seed=2):
    """Three markers with 6, 9 and 4 poses about a random axis; in space at different heights."""
    origin, matrix = pose(seed)
    rng = np.random.default_rng(seed)
    out = []
    for radius, height, angle in zip(RADII, HEIGHTS, ANGLES, strict=True):
        local = np.column_stack([radius * np.cos(angle), radius * np.sin(angle), np.full(len(angle), height)])
        points = origin + local @ matrix.T if d == 3 else origin[:2] + local[:, :2]
        out.append(points + noise * rng.normal(size=points.shape))
    return out


@pytest.mark.parametrize("method", ["algebraic", "geometric"])
@pytest.mark.parametrize("d", [2, 3])
def test_exact_points_give_the_arcs_back(d, method, pose):
    origin, matrix = pose(2)
    found = fit_concentric(arcs(d, pose), method=method)
    np.testing.assert_allclose(found.radii, RADII, rtol=1e-12)
    if d == 2:
        np.testing.assert_allclose(found.centre, origin[:2], atol=1e-13)
        return
    side = np.sign(found.axis @ matrix[:, 2])
    np.testing.assert_allclose(found.axis, side * matrix[:, 2], atol=1e-12)
    np.testing.assert_allclose(found.centre, origin + HEIGHTS.mean() * matrix[:, 2], atol=1e-12)
    np.testing.assert_allclose(found.heights, side * (HEIGHTS - HEIGHTS.mean()), atol=1e-12)
    assert found.axis[np.argmax(np.abs(found.axis))] > 0


def test_algebraic_is_equation_26(pose):
    """In the plane, by the normal equations as printed."""
    data = arcs(2, pose, noise=1e-4)
    matrix, right = np.zeros((2, 2)), np.zeros(2)
    for p in data:
        hat, s = p - p.mean(axis=0), np.sum(p**2, axis=1)
        matrix += hat.T @ hat
        right += hat.T @ (s - s.mean()) / 2
    centre = np.linalg.solve(matrix, right)
    found = fit_concentric(data)
    np.testing.assert_allclose(found.centre, centre, atol=1e-12)
    np.testing.assert_allclose(found.radii, [np.sqrt(np.mean(np.sum((p - centre) ** 2, axis=1))) for p in data])


def test_points_exactly_in_a_plane_of_space_do_not_break_it(pose):
    """Eq. (26) is singular there.  The centre is that of the same points in two coordinates."""
    origin, matrix = pose(5)
    flat = arcs(2, pose, noise=1e-4)
    lifted = [np.column_stack([p, np.zeros(len(p))]) for p in flat]
    for method in ("algebraic", "geometric"):
        plane = fit_concentric(flat, method=method)
        for points, turn, shift in ((lifted, np.eye(3), np.zeros(3)), (lifted, matrix, origin)):
            found = fit_concentric([p @ turn.T + shift for p in points], method=method)
            np.testing.assert_allclose(found.centre, turn @ [*plane.centre, 0] + shift, atol=1e-11)
            np.testing.assert_allclose(np.abs(found.axis @ turn[:, 2]), 1, atol=1e-12)
            np.testing.assert_allclose(found.radii, plane.radii, atol=1e-11)


@pytest.mark.parametrize("d", [2, 3])
def test_geometric_minimum_and_covariance_are_scipys(d, pose):
    """A line by its angles and two coordinates, or a centre; distances by the cross product."""
    data, noise = arcs(d, pose, noise=1e-4), 2e-4
    found = fit_concentric(data, noise=noise, method="geometric")

    def misfit(x):
        if d == 2:
            return np.concatenate([np.linalg.norm(p - x[:2], axis=1) - r for p, r in zip(data, x[2:], strict=True)])
        n = np.array([np.sin(x[0]) * np.cos(x[1]), np.sin(x[0]) * np.sin(x[1]), np.cos(x[0])])
        foot = np.array([x[2], x[3], found.centre[2]])
        out = []
        for p, r, h in zip(data, x[4:7], x[7:], strict=True):
            out += [np.linalg.norm(np.cross(p - foot, n), axis=1) - r, (p - foot) @ n - h]
        return np.concatenate(out)

    n = found.axis
    line = [np.arccos(n[2]) + 0.01, np.arctan2(n[1], n[0]) - 0.01, *found.centre[:2] + 0.003]
    start = [*found.centre + 0.01, *RADII] if d == 2 else [*line, *RADII, *found.heights]
    other = least_squares(misfit, start, xtol=1e-15, ftol=1e-15, gtol=1e-15, x_scale="jac", jac="3-point")
    covariance = noise**2 * np.linalg.inv(other.jac.T @ other.jac)
    first = 2 if d == 2 else 4
    np.testing.assert_allclose(found.radii, other.x[first : first + 3], atol=1e-9)
    np.testing.assert_allclose(found.radii_sd**2, np.diag(covariance)[first : first + 3], rtol=1e-4)
    assert found.estimate.squares == pytest.approx(2 * other.cost, rel=1e-8)
    assert found.estimate.freedom == len(other.fun) - len(other.x)
    if d == 2:
        np.testing.assert_allclose(found.centre, other.x[:2], atol=1e-9)
        np.testing.assert_allclose(found.centre_covariance, covariance[:2, :2], rtol=1e-4)
    else:
        tilt = np.array([covariance[0, 0], np.sin(other.x[0]) ** 2 * covariance[1, 1]])
        assert np.trace(found.axis_covariance) == pytest.approx(tilt.sum(), rel=1e-4)


@pytest.mark.parametrize("method", ["algebraic", "geometric"])
@pytest.mark.parametrize("d", [2, 3])
def test_covariance_is_the_response_to_errors(d, method, pose, influence):
    """Radii and heights differ, so weights and the tilt's effect on the centre count."""

    def fit(data):
        found = fit_concentric(data, method=method)
        return np.concatenate([found.centre, found.radii, found.axis])

    data = arcs(d, pose)
    g = influence(fit, data, h=1e-5)
    expected = g @ g.T * NOISE**2
    found = fit_concentric(data, noise=NOISE, method=method)
    np.testing.assert_allclose(found.centre_covariance, expected[:d, :d], rtol=1e-5, atol=1e-5 * NOISE**2)
    np.testing.assert_allclose(found.radii_sd**2, np.diag(expected)[d : d + 3], rtol=1e-5)
    if d == 3:
        np.testing.assert_allclose(found.axis_covariance, expected[-3:, -3:], rtol=1e-4, atol=1e-4 * NOISE**2)


def test_the_two_forms_differ_in_accuracy_where_radii_differ(pose):
    """Weights by the squared radius cost accuracy: the algebraic variance is larger, never smaller."""
    data = arcs(2, pose, noise=1e-6)
    variances = [
        np.trace(fit_concentric(data, noise=1e-4, method=m).centre_covariance) for m in ("algebraic", "geometric")
    ]
    assert variances[0] > 1.1 * variances[1]


@pytest.mark.parametrize("method", ["algebraic", "geometric"])
@pytest.mark.parametrize("d", [2, 3])
def test_moving_turning_and_scaling_the_cell(d, method, pose):
    data = arcs(d, pose, noise=1e-4)
    shift, turn = pose(8)
    turn = turn if d == 3 else np.array([[0.28, -0.96], [0.96, 0.28]])
    one = fit_concentric(data, method=method)
    two = fit_concentric([7 * p @ turn.T + shift[:d] for p in data], method=method)
    np.testing.assert_allclose(two.centre, 7 * turn @ one.centre + shift[:d], atol=1e-9)
    np.testing.assert_allclose(two.centre_covariance, 49 * turn @ one.centre_covariance @ turn.T, rtol=1e-6, atol=1e-15)
    np.testing.assert_allclose(two.radii, 7 * one.radii, rtol=1e-9)
    np.testing.assert_allclose(two.radii_sd, 7 * one.radii_sd, rtol=1e-6)
    if d == 3:
        assert abs(two.axis @ turn @ one.axis) == pytest.approx(1, abs=1e-12)


def test_order_and_unseen_rows_change_nothing(pose):
    data = arcs(3, pose, noise=1e-4)
    one = fit_concentric(data, method="geometric")
    np.testing.assert_array_equal(one.centre, fit_concentric(data, method="geometric").centre)
    rng = np.random.default_rng(1)
    mixed = [data[j][rng.permutation(len(data[j]))] for j in (2, 0, 1)]
    two = fit_concentric(mixed, method="geometric")
    np.testing.assert_allclose(two.centre, one.centre, atol=1e-11)
    np.testing.assert_allclose(two.radii[[1, 2, 0]], one.radii, atol=1e-11)
    gaps = [np.insert(p, [1, 3], np.nan, axis=0) for p in data]
    three = fit_concentric(gaps, method="geometric")
    np.testing.assert_array_equal(three.centre, one.centre)
    assert three.problem.labels[1] == (0, 2)


def test_a_second_arc_about_the_same_axis_adds_what_it_knows(pose):
    """Two arcs a quarter turn apart fix in both directions what each alone leaves open in one."""
    data = arcs(2, pose, noise=1e-6)
    alone = [np.sqrt(np.trace(fit_circle(p, noise=1e-4).centre_covariance)) for p in data[:2]]
    both = np.sqrt(np.trace(fit_concentric(data[:2], noise=1e-4, method="geometric").centre_covariance))
    assert both < 0.6 * min(alone)


ARC = 0.2 * np.column_stack([np.cos(ANGLES[0]), np.sin(ANGLES[0])])
LINE = np.outer(np.arange(5.0), [0.1, 0.2])


@pytest.mark.parametrize(
    ("markers", "code", "value"),
    [
        ([], "no-markers", None),
        ([ARC[:2]], "too-few", (2, 3)),
        ([ARC, ARC[:1]], "too-few", (2, 1)),
        ([LINE], "straight-line", None),
        ([LINE, LINE + 0.1], "straight-line", None),
        ([np.column_stack([LINE, LINE[:, 0]])], "straight-line", None),
        ([np.ones((5, 2))], "no-motion", None),
        ([LINE + 1e-6 * np.random.default_rng(1).normal(size=(5, 2))], "short-arc", None),
        ([ARC, np.column_stack([ARC, ARC[:, 0]])], "mixed-dimensions", None),
        ([ARC, np.where(np.eye(6, 2) > 0, np.nan, ARC)], "number", 1),
        ([ARC[:, 0]], "shape", (6,)),
    ],
)
def test_bad_input_is_refused_in_one_sentence(markers, code, value):
    with refused(code, value) as caught:
        fit_concentric(markers)
    assert "\n" not in str(caught.value)


def test_a_line_within_its_noise_is_told_with_its_radius_and_sd():
    with pytest.raises(InputError) as caught:
        fit_concentric([LINE + 1e-3 * np.random.default_rng(1).normal(size=(5, 2))])
    radius, sd = caught.value.value
    assert caught.value.code == "straight-line"
    assert radius < 5 * sd


def test_unknown_methods_and_axes_of_a_plane_are_refused():
    with refused("range", "taubin"):
        fit_concentric([ARC], method="taubin")
    with refused("plane-points"):
        _ = fit_concentric([ARC]).axis_covariance


def test_three_points_give_a_circle_but_no_residual():
    found = fit_circle(ARC[:3])
    assert found.radii[0] == pytest.approx(0.2, rel=1e-12)
    assert np.isnan(found.residual_sd)
    assert np.isnan(found.radii_sd[0])
    assert fit_circle(ARC[:3], noise=1e-5).radii_sd[0] > 1e-5


@pytest.mark.parametrize("method", ["algebraic", "geometric"])
def test_every_circle_has_its_own_centre_and_accuracy(method, pose, influence):
    """Two markers 350 mm apart along the axis; the covariance is the response to errors."""
    origin, matrix = pose(4)
    markers = []
    for radius, height, m in ((0.2, -0.05, 9), (0.3, 0.3, 7)):
        t = np.linspace(0, 1.8, m)
        local = np.column_stack([radius * np.cos(t), radius * np.sin(t), np.full(m, height)])
        markers.append(origin + local @ matrix.T)

    def centres(data):
        found = fit_concentric(data, method=method)
        return np.concatenate([found.circle_centre(j)[0] for j in (0, 1)])

    expected = np.concatenate([origin - 0.05 * matrix[:, 2], origin + 0.3 * matrix[:, 2]])
    np.testing.assert_allclose(centres(markers), expected, atol=1e-9)
    g = influence(centres, markers)
    found = fit_concentric(markers, noise=1e-5, method=method)
    for j in (0, 1):
        block = 1e-10 * g[3 * j : 3 * j + 3] @ g[3 * j : 3 * j + 3].T
        np.testing.assert_allclose(found.circle_centre(j)[1], block, rtol=1e-3, atol=1e-3 * np.max(block))
