"""Arcs with known truth in random planes of space: no bias, stated accuracy true, gains as theory predicts.

Errors are whitened by the stated covariance, so that their mean is 0 and their covariance I, whatever the pose.  Bounds
are ``SIGMAS`` standard deviations of the mean of so many draws.
"""

from __future__ import annotations

import numpy as np
import pytest
from oracle.draws import SIGMAS, draws, spread_of_share
from scipy.spatial.transform import Rotation
from scipy.stats import t as student

from elastocal.procedures.compensator.angle_design import arc_sd, plan_angles
from elastocal.procedures.compensator.arcs import angle_gain
from elastocal.procedures.compensator.concentric import fit_circle, fit_concentric
from elastocal.procedures.compensator.geometry import compensator_geometry
from elastocal.procedures.compensator.known_angles import fit_known_angles
from elastocal.procedures.compensator.marker_design import expected_pivot
from elastocal.procedures.compensator.rigid_body import fit_common_rotation
from elastocal.procedures.compensator.robust import outliers_of_body, robust_known_angles
from elastocal.procedures.compensator.variants import nested_test

NOISE = 2e-5
L = 0.185
Q = np.radians([-140.0, -125.0, -90.0, -40.0, -30.0, 0.0])
RADII, HEIGHTS = np.array([0.19, 0.11]), np.array([0.04, -0.09])
TURNS = np.radians([0.0, 9.0, 20.0, 33.0, 41.0, 60.0, 70.0])
PLACES = np.array([0.2, 2.1])


def pose(rng):
    return rng.normal(size=3), Rotation.random(rng=rng).as_matrix()


def circle(radius, angles, height=0.0):
    return np.column_stack([radius * np.cos(angles), radius * np.sin(angles), np.full(len(angles), height)])


def assert_white(z):
    """Draws (n, p) have mean 0 and covariance I within what n draws allow."""
    n, p = z.shape
    assert np.max(np.abs(z.mean(axis=0))) < SIGMAS / np.sqrt(n)
    assert np.max(np.abs(z.T @ z / n - np.eye(p))) < SIGMAS * np.sqrt(2 / n)


def whitened(estimate, step):
    return np.linalg.solve(np.linalg.cholesky(NOISE**2 * estimate.unit_covariance), step)


def test_algorithm_1_is_unbiased_and_its_covariance_true():
    """All seven parameters together: centre, radius, turn and tilts of the plane."""
    rng = np.random.default_rng(1)
    drawn, hits, count = [], 0, draws(200, 2000)
    for _ in range(count):
        origin, matrix = pose(rng)
        p = origin + circle(L, -Q) @ matrix.T + NOISE * rng.normal(size=(6, 3))
        found = fit_known_angles(p, Q, axis=matrix[:, 2])
        assert found.sense == -1
        turn = Rotation.from_matrix(found.problem.frame.matrix.T @ matrix).as_rotvec()
        step = np.concatenate([origin - found.centre, [L - found.radius, turn[2], turn[1], -turn[0]]])
        drawn.append(whitened(found.estimate, step))
        hits += abs(found.radius - L) < student.ppf(0.975, 11) * found.radius_sd
    assert_white(np.array(drawn))
    assert hits / count == pytest.approx(0.95, abs=spread_of_share(0.95, count))


@pytest.mark.parametrize("method", ["algebraic", "geometric"])
def test_algorithm_2_is_unbiased_and_its_covariance_true(method):
    """Two markers of different radius and height, five and seven poses: centre, tilts, radii and heights."""
    rng = np.random.default_rng(2)
    drawn = []
    for _ in range(draws(120, 1000)):
        origin, matrix = pose(rng)
        data = [
            origin + circle(r, b + TURNS[:m], h) @ matrix.T + NOISE * rng.normal(size=(m, 3))
            for r, b, h, m in zip(RADII, PLACES, HEIGHTS, (5, 7), strict=True)
        ]
        found = fit_concentric(data, method=method)
        drawn.append(whitened(found.estimate, to_truth(found, origin, matrix[:, 2])))
    assert_white(np.array(drawn))


def to_truth(found, origin, axis):
    """The move of the fitted axis, radii and heights that makes them true, to first order."""
    frame = found.problem.frame
    n = frame.matrix.T @ axis
    foot = frame.local(origin) - frame.local(origin)[2] / n[2] * n
    heights = [frame.local(origin + h * axis)[2] for h in HEIGHTS]
    return np.concatenate([foot[:2], n[:2] / n[2], RADII - found.radii, heights - found.heights])


def test_the_body_is_unbiased_and_its_covariance_true():
    """Centre of the common rotation in the plane, and the test of the model keeps its level."""
    rng = np.random.default_rng(3)
    drawn, probabilities = [], []
    count, tested = draws(80, 600), draws(30, 200)
    for i in range(count):
        origin, matrix = pose(rng)
        data = [
            origin + circle(r, b + TURNS, h) @ matrix.T + NOISE * rng.normal(size=(7, 3))
            for r, b, h in zip(RADII, PLACES, HEIGHTS, strict=True)
        ]
        found = fit_common_rotation(data)
        n = found.problem.frame.matrix.T @ matrix[:, 2]
        foot = found.problem.frame.local(origin) - found.problem.frame.local(origin)[2] / n[2] * n
        small = found.estimate.unit_covariance[:4, :4]
        step = np.concatenate([foot[:2], n[:2] / n[2]])
        drawn.append(np.linalg.solve(np.linalg.cholesky(NOISE**2 * small), step))
        if i < tested:
            free = fit_concentric(data, method="geometric")
            probabilities.append(nested_test(found.estimate, free.estimate).probability)
    assert_white(np.array(drawn))
    assert np.mean(probabilities) == pytest.approx(0.5, abs=SIGMAS / np.sqrt(12 * tested))
    assert np.mean(np.array(probabilities) < 0.2) == pytest.approx(0.2, abs=spread_of_share(0.2, tested))


def test_known_angles_beat_the_plain_circle_on_short_arcs_as_predicted():
    """30 deg: both spreads and their ratio, for the same points."""
    rng = np.random.default_rng(4)
    q = np.linspace(0, np.radians(30), 8)
    exact = L * np.column_stack([np.cos(q), np.sin(q)])
    gain = angle_gain(exact, q, noise=NOISE)
    fits, count = [], draws(200, 2000)
    for _ in range(count):
        p = exact + NOISE * rng.normal(size=exact.shape)
        fits.append((fit_known_angles(p, q).radius, fit_circle(p).radii[0], fit_circle(p, method="algebraic").radii[0]))
    known, geometric, algebraic = np.std(fits, axis=0)
    assert gain.radius > 8
    bound = SIGMAS / np.sqrt(2 * count)
    assert known == pytest.approx(gain.known.radius_sd, rel=bound)
    assert geometric == pytest.approx(gain.geometric.radii_sd[0], rel=bound)
    assert algebraic == pytest.approx(gain.algebraic.radii_sd[0], rel=bound)
    assert geometric / known == pytest.approx(gain.radius, rel=1.5 * bound)


def test_the_algebraic_circle_is_drawn_in_and_the_geometric_one_is_not():
    """Many points with much noise on a quarter turn: the bias of |p|^2 shows."""
    rng = np.random.default_rng(5)
    q = np.linspace(0, np.pi / 2, 40)
    exact, noise, count = L * np.column_stack([np.cos(q), np.sin(q)]), 6e-3, draws(200, 1000)
    fits = np.array(
        [
            [fit_circle(p, method=m).radii[0] for m in ("algebraic", "geometric")]
            for p in exact + noise * rng.normal(size=(count, *exact.shape))
        ]
    )
    bias, error = fits.mean(axis=0) - L, fits.std(axis=0) / np.sqrt(count)
    assert bias[0] < -8 * error[0]
    assert abs(bias[1]) < abs(bias[0]) / 4


def spread_of_radius(angles, rng, count):
    exact = L * np.column_stack([np.cos(angles), np.sin(angles)])
    noise = NOISE * rng.normal(size=(count, *exact.shape))
    return np.std([fit_known_angles(exact + e, angles, sense=1).radius for e in noise])


def test_designed_angles_beat_random_ones_as_predicted():
    """Among 40 random plans none is better; the worst one and the plan scatter as predicted."""
    rng = np.random.default_rng(6)
    plan = plan_angles(6, (np.radians(-145), 0.0))
    random = np.sort(rng.uniform(np.radians(-145), 0, (40, 6)), axis=1)
    expected = [arc_sd(q, NOISE) for q in random]
    best = arc_sd(plan, NOISE)
    assert best < min(expected)
    worst = random[int(np.argmax(expected))]
    count = draws(250, 2000)
    bound = SIGMAS / np.sqrt(2 * count)
    measured = spread_of_radius(plan, rng, count), spread_of_radius(worst, rng, count)
    assert measured[0] == pytest.approx(best, rel=bound)
    assert measured[1] == pytest.approx(max(expected), rel=bound)
    assert measured[1] / measured[0] > 1.3


def test_places_of_markers_count_as_predicted():
    """Opposite markers are useless to distances and best for a body, which (36) says of both."""
    rng = np.random.default_rng(7)
    seen, count = {}, draws(80, 500)
    for places in ((0.0, np.pi / 2), (0.0, np.pi)):
        exact = [L * np.column_stack([np.cos(b + TURNS), np.sin(b + TURNS)]) for b in places]
        fits = {"concentric": [], "common rotation": []}
        for _ in range(count):
            data = [p + NOISE / 4 * rng.normal(size=p.shape) for p in exact]
            fits["concentric"].append(fit_concentric(data, method="geometric").centre)
            fits["common rotation"].append(fit_common_rotation(data).centre)
        for model, centres in fits.items():
            measured = np.sqrt(np.sum(np.var(centres, axis=0)))
            predicted = np.sqrt(np.trace(expected_pivot(places, L, TURNS, NOISE / 4, model)))
            assert measured == pytest.approx(predicted, rel=SIGMAS / np.sqrt(2 * count))
            seen[model, places[1] > 2] = measured
    assert seen["concentric", True] > 2 * seen["concentric", False]
    assert seen["common rotation", True] < 0.9 * seen["common rotation", False]


def test_a_planted_gross_point_is_named_with_what_it_should_have_been():
    """25 standard deviations in one coordinate, anywhere, in random arcs and bodies."""
    rng = np.random.default_rng(8)
    right, blamed, arcs, bodies = 0, 0, draws(12, 100), draws(8, 60)
    for _ in range(arcs):
        origin, matrix = pose(rng)
        q = np.sort(rng.uniform(-2.5, 0, 10))
        p = origin + circle(L, q) @ matrix.T + NOISE * rng.normal(size=(10, 3))
        i, c = int(rng.integers(10)), int(rng.integers(3))
        p[i, c] += 25 * NOISE
        found = robust_known_angles(p, q)
        right += [(b.pose, b.component) for b in found.outliers] == [(i, "xyz"[c])]
        blamed += any(b.pose != i for b in found.outliers)
        if found.outliers and found.outliers[0].pose == i:
            assert abs(found.outliers[0].predicted[c] - (p[i, c] - 25 * NOISE)) < 8 * NOISE
            assert abs(found.fit.radius - L) < 6 * found.fit.radius_sd
    assert right / arcs > 0.92 - spread_of_share(0.92, arcs, 2.5)
    assert blamed / arcs < 0.05 + spread_of_share(0.05, arcs, 2.5)
    right = 0
    for _ in range(bodies):
        z = np.exp(1j * (np.array([0.0, 1.7, 3.5])[:, None] + TURNS)) * L
        data = np.stack([z.real, z.imag], axis=2) + NOISE * rng.normal(size=(3, 7, 2))
        j, i, c = int(rng.integers(3)), int(rng.integers(7)), int(rng.integers(2))
        data[j, i, c] += 25 * NOISE
        bad = outliers_of_body(list(data))
        right += [(b.marker, b.pose, b.component) for b in bad] == [(j, i, "xy"[c])]
    assert right / bodies > 0.92 - spread_of_share(0.92, bodies, 2.5)


def test_the_geometry_of_a_compensator_is_as_certain_as_stated():
    """L, a_x, a_y, phi0 of a mechanism whose markers and P1 are read with noise."""
    rng = np.random.default_rng(9)
    a, psi = np.array([0.686, 0.119]), np.radians(100.0)
    truth = np.array([L, *a, psi - np.arctan2(a[1], a[0])])
    p1 = L * np.column_stack([np.cos(psi - Q), np.sin(psi - Q)])
    spring = np.arctan2(*(p1 + a).T[::-1])
    markers = [-a + 0.187 * np.column_stack([np.cos(spring + b), np.sin(spring + b)]) for b in (2.0, 3.6)]
    drawn = []
    for _ in range(draws(100, 1000)):
        read = [x + NOISE / 4 * rng.normal(size=x.shape) for x in (p1, *markers)]
        arc = fit_known_angles(read[0], Q, noise=NOISE / 4)
        pivot = fit_concentric(read[1:], noise=NOISE / 4)
        found = compensator_geometry(arc, pivot)
        slopes = found.covariance / arc.estimate.sigma**2
        assert np.all(np.linalg.eigvalsh(slopes) > 0)
        drawn.append(np.array([found.L, found.a_x, found.a_y, found.phi0]) - truth)
    exact = compensator_geometry(
        fit_known_angles(p1, Q, noise=NOISE / 4), fit_concentric(markers, noise=NOISE / 4)
    ).covariance
    assert_white(np.linalg.solve(np.linalg.cholesky(exact), np.array(drawn).T).T)
