"""Bad points: found among good ones, several of them, with their coordinate; none invented."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.draws import draws, spread_of_share
from oracle.refusals import refused
from scipy.stats import f

from elastocal.procedures.compensator.arc_problem import minimise
from elastocal.procedures.compensator.concentric import fit_concentric
from elastocal.procedures.compensator.known_angles import fit_known_angles
from elastocal.procedures.compensator.outliers import ArcJudge
from elastocal.procedures.compensator.rigid_body import fit_common_rotation
from elastocal.procedures.compensator.robust import outliers_of_arcs, outliers_of_body, robust_known_angles

Q = np.radians(np.linspace(-145, 0, 12))
NOISE = 5e-5


def arc(pose):
    origin, matrix = pose(1)
    u = 0.19 * np.column_stack([np.cos(Q), np.sin(Q), 0 * Q])
    return origin + u @ matrix.T + NOISE * np.random.default_rng(1).normal(size=(12, 3))


def body(k):
    """Markers on a body in the plane that swings by 60 deg."""
    rng = np.random.default_rng(1)
    theta = np.radians(np.linspace(0, 60, 10))
    arms = 0.2 * np.exp(1j * np.array([0.3, 1.6, 3.5])[:k])
    z = 0.4 - 0.7j + arms[:, None] * np.exp(1j * theta)
    return np.stack([z.real, z.imag], axis=2) + NOISE * rng.normal(size=(k, 10, 2))


def test_two_bad_coordinates_in_space_are_named(pose):
    p = arc(pose)
    clean = fit_known_angles(p, Q)
    p[3, 2] += 4e-3
    p[9, 0] -= 9e-3
    found = robust_known_angles(p, Q)
    assert [(b.marker, b.pose, b.component) for b in found.outliers] == [(0, 9, "x"), (0, 3, "z")]
    np.testing.assert_allclose([b.value[i] - b.predicted[i] for b, i in zip(found.outliers, (0, 2), strict=True)],
                               [-9e-3, 4e-3], atol=5 * NOISE)  # fmt: skip
    assert np.linalg.norm(found.fit.centre - clean.centre) < 5 * NOISE
    assert np.linalg.norm(found.all_points.centre - clean.centre) > 5e-4
    assert found.fit.estimate.freedom == 36 - 6 - 7
    assert found.fit.residual_sd < 0.1 * found.all_points.residual_sd


def test_a_point_that_is_wrong_in_all_coordinates_has_no_one_to_blame(pose):
    p = arc(pose)
    p[5] += [3e-3, -4e-3, 5e-3]
    (bad,) = robust_known_angles(p, Q).outliers
    assert (bad.pose, bad.component) == (5, None)
    np.testing.assert_allclose(bad.value - bad.predicted, [3e-3, -4e-3, 5e-3], atol=5 * NOISE)


def test_radius_or_height_of_arcs_without_angles(pose):
    """Also with several markers of different length; a step along the axis is not one of the radius."""
    origin, matrix = pose(4)
    rng = np.random.default_rng(3)
    markers = []
    for radius, height, m in ((0.2, 0.0, 9), (0.3, 0.15, 7)):
        t = np.linspace(0, 1.8, m)
        local = np.column_stack([radius * np.cos(t), radius * np.sin(t), np.full(m, height)])
        markers.append(origin + local @ matrix.T + NOISE * rng.normal(size=(m, 3)))
    assert outliers_of_arcs(markers) == ()
    markers[1][4] += 3e-3 * matrix[:, 2]
    (bad,) = outliers_of_arcs(markers)
    assert (bad.marker, bad.pose, bad.component) == (1, 4, "height")
    outward = matrix @ [np.cos(0.45), np.sin(0.45), 0]
    markers[1][4] -= 3e-3 * matrix[:, 2]
    markers[0][2] -= 3e-3 * outward
    (bad,) = outliers_of_arcs(markers)
    assert (bad.marker, bad.pose, bad.component) == (0, 2, "radius")
    assert bad.predicted[0] == pytest.approx(0.2, abs=3e-4)
    assert bad.value[0] - bad.predicted[0] == pytest.approx(-3e-3, rel=0.1)


def test_the_body_names_the_coordinate_that_distances_cannot():
    markers = body(3)
    markers[1, 6, 0] += 2e-3
    (bad,) = outliers_of_body(list(markers))
    assert (bad.marker, bad.pose, bad.component, bad.instead) == (1, 6, "x", ())
    assert bad.value[0] - bad.predicted[0] == pytest.approx(2e-3, abs=5 * NOISE)


def test_of_two_markers_that_contradict_each_other_both_are_told():
    """A step along the arc: the other marker's opposite step would explain it as well."""
    markers = body(2)
    radial = markers[0, 4] - [0.4, -0.7]
    markers[0, 4] += 2e-3 * np.array([-radial[1], radial[0]]) / np.linalg.norm(radial)
    (bad,) = outliers_of_body(list(markers))
    assert {(bad.marker, bad.pose), *bad.instead} == {(0, 4), (1, 4)}
    markers[0, 4] += 2e-3 * radial / np.linalg.norm(radial)
    (bad,) = outliers_of_body(list(markers))
    assert (bad.marker, bad.pose, bad.instead) == (0, 4, ())


def test_a_large_error_does_not_take_its_neighbour_along():
    """30 mm: the start lets go of both markers of the pose, the test takes the good one back."""
    markers = body(2)
    markers[0, 3, 1] -= 0.03
    found = outliers_of_body(list(markers))
    assert [(b.marker, b.pose, b.component) for b in found] == [(0, 3, "y")]


def test_the_statistic_is_that_of_fits_without_the_point():
    """Against the fit of the others and scipy's F; in the plane the model is linear, so the formula is exact."""
    u = np.column_stack([np.cos(Q), np.sin(Q)])
    points = 0.3 + 0.19 * u + NOISE * np.random.default_rng(6).normal(size=(12, 2))
    problem = fit_known_angles(points, Q).problem
    judge = ArcJudge.of(problem, np.ones(12, dtype=bool))
    a = np.zeros((12, 2, 4))
    a[:, 0, 0] = a[:, 1, 1] = 1
    a[:, 0, 2:], a[:, 1, 2:] = np.column_stack([u[:, 0], -u[:, 1]]), np.column_stack([u[:, 1], u[:, 0]])
    for g in range(12):
        rest = [i for i in range(12) if i != g]
        rows, y = a[rest].reshape(-1, 4), points[rest].ravel()
        x, squares, _, _ = np.linalg.lstsq(rows, y)
        away = points[g] - a[g] @ x
        spread = np.eye(2) + a[g] @ np.linalg.inv(rows.T @ rows) @ a[g].T
        value = away @ np.linalg.solve(spread, away) / 2 / (squares[0] / 18)
        kept = np.arange(12) != g
        for closed in (judge.with_point(g), judge.keeping(kept).with_point(g)):
            deviation, chi2, size = closed.unit(g, np.arange(2))
            np.testing.assert_allclose(deviation, away, rtol=1e-6, atol=1e-10)
            assert closed.freedom - size == 18
            assert chi2 / size / ((closed.total - chi2) / 18) == pytest.approx(value, rel=1e-5)
        assert judge.probability(g) == pytest.approx(f(2, 18).sf(value), rel=1e-5)
        assert judge.keeping(kept).probability(g) == pytest.approx(f(2, 18).sf(value), rel=1e-5)


def test_good_data_are_left_alone_as_often_as_stated():
    """At the level 0.2 one run in five names a point, not more: Bonferroni is an upper bound."""
    rng = np.random.default_rng(8)
    u = np.column_stack([np.cos(Q), np.sin(Q)])
    named, count = 0, draws(20, 300)
    for _ in range(count):
        named += bool(robust_known_angles(0.19 * u + NOISE * rng.normal(size=(12, 2)), Q, level=0.2).outliers)
    assert 0.03 < named / count < 0.2 + spread_of_share(0.2, count, 2)


def test_a_stated_noise_keeps_small_deviations_in():
    """Points that happen to agree to 1 um do not make one of 10 um bad, if 50 um are stated."""
    u = np.column_stack([np.cos(Q), np.sin(Q)])
    p = 0.19 * u + 1e-6 * np.random.default_rng(2).normal(size=(12, 2))
    p[4, 0] += 2e-5
    assert len(robust_known_angles(p, Q).outliers) == 1
    assert robust_known_angles(p, Q, noise=5e-5).outliers == ()


def test_exact_data_with_one_error():
    u = np.column_stack([np.cos(Q), np.sin(Q)])
    p = 0.19 * u
    assert robust_known_angles(p, Q).outliers == ()
    p[7, 1] += 1e-5
    (bad,) = robust_known_angles(p, Q).outliers
    assert (bad.pose, bad.component) == (7, "y")
    assert bad.predicted[1] == pytest.approx(0.19 * np.sin(Q[7]), abs=1e-12)


def test_a_level_out_of_range_is_refused(pose):
    with refused("range", 0.0):
        robust_known_angles(arc(pose), Q, level=0.0)


def test_four_bad_points_do_not_hide_each_other():
    """4 of 14: none stands out against the others one at a time, so the loss must let go of them first."""
    q = np.radians(np.linspace(-145, 0, 14))
    u = np.column_stack([np.cos(q), np.sin(q)])
    p = 0.19 * u + NOISE * np.random.default_rng(3).normal(size=(14, 2))
    p[[1, 4, 8, 12], 0] += [4e-3, 4e-3, -4e-3, 4e-3]
    assert ArcJudge.of(fit_known_angles(p, q).problem, np.ones(14, dtype=bool)).probabilities().min() > 0.01
    found = robust_known_angles(p, q)
    assert sorted((b.pose, b.component) for b in found.outliers) == [(1, "x"), (4, "x"), (8, "x"), (12, "x")]
    assert found.fit.radius == pytest.approx(0.19, abs=5 * found.fit.radius_sd)


def test_the_one_without_which_less_is_left_is_named():
    markers = body(2)
    radial = markers[0, 4] - [0.4, -0.7]
    markers[0, 4] += 2e-3 * np.array([-radial[1], radial[0]]) / np.linalg.norm(radial)
    (bad,) = outliers_of_body(list(markers))
    left = []
    for j in (0, 1):
        without = markers.copy()
        without[j, 4] = np.nan
        left.append(fit_common_rotation(list(without)).estimate.squares)
    assert bad.marker == int(np.argmin(left))


def test_either_coordinate_would_explain_a_small_diagonal_deviation():
    """3.5 sd in x and y: too much together, but neither is certain alone."""
    u = np.column_stack([np.cos(Q), np.sin(Q)])
    p = 0.19 * u
    p[5] += 3.5 * NOISE
    (bad,) = robust_known_angles(p, Q, noise=NOISE, level=0.05).outliers
    assert (bad.pose, bad.component) == (5, None)
    p[5] = 0.19 * u[5] + [9 * NOISE, 0]
    (bad,) = robust_known_angles(p, Q, noise=NOISE, level=0.05).outliers
    assert (bad.pose, bad.component) == (5, "x")


def test_a_point_whose_pose_nobody_else_saw_is_judged_by_its_radius():
    """Whatever the angle at which an earlier fit had left that pose."""
    markers = body(2)
    fitted = fit_common_rotation(list(markers)).problem
    kept = np.array([pose != 3 for _, pose in fitted.labels])
    state = minimise(fitted, kept.astype(float))
    step = np.zeros(state.jacobian().shape[2])
    step[2 + 4 + 2] = 0.1  # centre, arms, then the angles of poses 2, 3, 4
    judge = ArcJudge.of(state.moved(step), kept)
    g = state.labels.index((1, 3))
    centre, radius = state.frame.origin, np.linalg.norm(state.arms[1])
    beyond = np.linalg.norm(markers[1, 3] - centre) - radius
    away, _, directions = judge.with_point(g).unit(g, np.arange(2))
    assert directions == 1
    assert np.linalg.norm(away) == pytest.approx(abs(beyond), rel=1e-4)
    assert judge.probability(g) > 0.05


@pytest.mark.parametrize("size", [0.2, 1.0, 5.0])
@pytest.mark.parametrize("d", [2, 3])
def test_an_error_of_any_size_is_named_with_known_angles(size, d, pose):
    """Larger than the radius it turns the sense of rotation and the plane of a fit to all points."""
    q = np.radians([-140.0, -120, -95, -70, -45, -20, -6])
    origin, matrix = pose(1)
    local = 0.185 * np.column_stack([np.cos(q), -np.sin(q), 0 * q])[:, :d]
    clean = origin[:d] + local @ (matrix if d == 3 else np.eye(2)).T
    clean += 1.5e-5 * np.random.default_rng(5).normal(size=clean.shape)
    for pose_ in (0, 3, 5):
        p = clean.copy()
        p[pose_, pose_ % d] += size
        found = robust_known_angles(p, q)
        assert [b.pose for b in found.outliers] == [pose_]
        assert found.fit.radius == pytest.approx(0.185, abs=1e-4)
        assert found.all_points.sense == found.fit.sense
        predicted = found.outliers[0].predicted[pose_ % d]
        assert predicted == pytest.approx(clean[pose_, pose_ % d], abs=2e-4)


@pytest.mark.parametrize("size", [0.2, 1.0, 5.0])
def test_an_error_of_any_size_is_named_without_angles(size):
    """Three markers that swing by 42 deg, one coordinate wrong in one pose; as arcs and as a rigid body."""
    rng, theta = np.random.default_rng(7), np.radians([-20.0, -12, -3, 6, 13, 18, 22])
    arms = np.array([0.19, 0.21, 0.15]) * np.exp(1j * np.array([2.6, -2.2, 0.3]))
    z = -0.69 - 0.12j + arms[:, None] * np.exp(1j * theta)
    clean = np.stack([z.real, z.imag], axis=2) + 1.5e-5 * rng.normal(size=(3, 7, 2))
    for i, c in ((0, 0), (3, 1)):
        markers = clean.copy()
        markers[1, i, c] += size
        for outliers in (outliers_of_arcs, outliers_of_body):
            assert [(b.marker, b.pose) for b in outliers(list(markers))] == [(1, i)]
        markers[1, i] = np.nan
        for fit in (fit_concentric, fit_common_rotation):
            np.testing.assert_allclose(fit(list(markers)).radii, [0.19, 0.21, 0.15], atol=2e-4)


def test_two_gross_errors_at_once():
    q = np.radians(np.linspace(-140, 0, 9))
    p = 0.19 * np.column_stack([np.cos(q), np.sin(q)]) + NOISE * np.random.default_rng(2).normal(size=(9, 2))
    p[2, 0] += 3.0
    p[6] -= [0.5, 2.0]
    assert sorted(b.pose for b in robust_known_angles(p, q).outliers) == [2, 6]


def test_a_wrong_angle_is_told_as_one():
    """The point lies on the circle; only there is its angle 10 deg off."""
    q = np.radians(np.linspace(-140, 0, 9))
    for sense in (1, -1):
        p = 0.19 * np.column_stack([np.cos(q), sense * np.sin(q)]) + NOISE * np.random.default_rng(2).normal(
            size=(9, 2)
        )
        typed = q.copy()
        typed[4] += np.radians(10)
        (bad,) = robust_known_angles(p, typed).outliers
        assert (bad.pose, bad.component) == (4, None)
        assert bad.angle == pytest.approx(q[4], abs=5 * NOISE / 0.19)
        p[4] *= 1.02
        (bad,) = robust_known_angles(p, typed).outliers
        assert bad.angle is None
