"""The constrained minimum by its optimality conditions, by other solvers, and in the published example."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.refusals import refused
from scipy.optimize import lsq_linear, minimize

from elastocal.solve.definite import fit_definite

BEAM = {(0, 0), (1, 1), (1, 5), (2, 2), (2, 4), (3, 3), (4, 4), (5, 5)}


def indices(n, template=None):
    """Numbers of the upper triangle, mirrored; -1 outside the template."""
    out, number = np.full((n, n), -1), 0
    for i in range(n):
        for j in range(i, n):
            if template is None or (i, j) in template:
                out[i, j] = out[j, i] = number
                number += 1
    return out


def orthoglide():
    """Klimchik et al. 2013, eq. 15."""
    k = np.diag([4.50e-8, 8.01e-5, 3.64e-5, 3.76e-3, 1.09e-3, 2.65e-3])
    k[1, 5] = k[5, 1] = 3.98e-4
    k[2, 4] = k[4, 2] = -1.71e-4
    return k


def experiment(index, loads):
    """Whitened rows of t = k W for each load, with 25 um and 0.25 mrad."""
    rows = np.zeros((len(loads), 6, index.max() + 1))
    for i in range(6):
        for j in range(6):
            if index[i, j] >= 0:
                rows[:, i, index[i, j]] += loads[:, j]
    return (rows / np.repeat([25e-6, 250e-6], 3)[:, None]).reshape(-1, rows.shape[2])


def values_of(k, index):
    out = np.zeros(index.max() + 1)
    out[index[index >= 0]] = k[index >= 0]
    return out


def matrix_of(x, index):
    return np.where(index >= 0, x[index], 0.0)


def prior_of(k, index, wide=10.0):
    root = np.sqrt(np.diag(k))
    return values_of(wide * np.outer(root, root), index)


def objective(x, a, y, x0, sd):
    return np.sum((a @ x - y) ** 2) + np.sum(((x - x0) / sd) ** 2)


def gradient_matrix(x, a, y, x0, sd, index):
    """G with <G, dK> = df: an element off the diagonal stands in K twice, so G has half of its derivative."""
    g = 2 * a.T @ (a @ x - y) + 2 * (x - x0) / sd**2
    return np.where(np.eye(len(index), dtype=bool), g[index], g[index] / 2)


@pytest.mark.parametrize("seed", range(8))
def test_the_optimality_conditions_hold(seed):
    """K >= 0, G >= 0, <G, K> = 0 in the full symmetric form of the example; the plain estimate is indefinite."""
    index, truth = indices(6), orthoglide()
    rng = np.random.default_rng(seed)
    a = experiment(index, 10 * np.eye(6))
    y = a @ values_of(truth, index) + rng.normal(size=36)
    x0, sd = values_of(1.3 * truth, index), prior_of(truth, index)
    found = fit_definite(a, y, x0, sd, [index])
    assert found.before[0] < -1e-3
    assert 0 <= found.after[0] < 1e-6
    assert found.active == (True,)
    assert found.converged
    root = np.sqrt(np.diag(truth))
    k = matrix_of(found.values, index) / np.outer(root, root)
    g = gradient_matrix(found.values, a, y, x0, sd, index) * np.outer(root, root)
    pushes = np.linalg.eigvalsh(g)
    assert np.linalg.eigvalsh(k)[0] >= 0
    assert pushes[0] > -1e-6 * pushes[-1]
    assert pushes[-1] > 1e-3
    assert abs(np.sum(g * k)) < 1e-7
    cost = objective(found.values, a, y, x0, sd) - objective(found.free, a, y, x0, sd)
    assert found.cost == pytest.approx(cost, rel=1e-6)


def test_the_published_example_stays_possible():
    """Eq. 25: noise turns k11 negative.  Nothing else shares its readings, so it must become zero and the rest stay."""
    index, truth = indices(6, BEAM), orthoglide()
    truth[0, 0] = 2e-8
    a = experiment(index, 10 * np.eye(6))
    y = a @ values_of(truth, index)
    y[0] += (-3.05e-8 - 2e-8) * 10 / 25e-6
    x0, sd = values_of(truth, index), prior_of(truth, index, 1e5)
    found = fit_definite(a, y, x0, sd, [index])
    assert found.free[0] == pytest.approx(-3.05e-8, rel=1e-2)
    assert 0 < found.values[0] < 1e-4 * 2e-8
    np.testing.assert_allclose(found.values[1:], found.free[1:], rtol=1e-8)
    assert np.all(np.linalg.eigvalsh(matrix_of(found.values, index)) > 0)
    assert found.cost == pytest.approx((3.05e-8 * 10 / 25e-6) ** 2, rel=1e-3)


def test_numbers_that_must_not_be_negative():
    """Blocks of one are bounds: scipy's bounded least squares."""
    rng = np.random.default_rng(3)
    a = rng.normal(size=(30, 6)) * [1, 1e-4, 1e3, 1, 1, 10]
    y = a @ ([1, -1, 1, -1, 1, 1] / np.linalg.norm(a, axis=0)) + 0.1 * rng.normal(size=30)
    x0, sd = 0.1 / np.linalg.norm(a, axis=0), 20 / np.linalg.norm(a, axis=0)
    bounded = [0, 1, 3, 5]
    found = fit_definite(a, y, x0, sd, [np.array([[i]]) for i in bounded])
    low = np.where(np.isin(np.arange(6), bounded), 0.0, -np.inf)
    rows = np.vstack([a, np.diag(1 / sd)]) * sd
    other = lsq_linear(rows, np.append(y, x0 / sd), (low, np.inf), method="bvls", tol=1e-14).x * sd
    np.testing.assert_allclose(found.values / sd, other / sd, rtol=0, atol=1e-6)
    assert found.active == tuple(bool(other[i] < 1e-9 * sd[i]) for i in bounded)
    assert any(found.active)
    assert not all(found.active)


def test_small_is_not_at_the_edge():
    """One number is wanted at minus one, another at three thousandths: only the first is held."""
    found = fit_definite(np.eye(2), np.array([-1.0, 3e-3]), np.ones(2), np.full(2, 1e6), [[[0]], [[1]]])
    assert found.active == (True, False)
    assert found.values[1] == pytest.approx(3e-3, rel=1e-3)


@pytest.mark.parametrize("seed", range(4))
def test_a_small_block_by_another_solver(seed):
    """K = F F^T with F found by SLSQP; one free parameter and one that must not be negative beside it."""
    rng = np.random.default_rng(seed)
    index = indices(3)
    a, y = rng.normal(size=(20, 8)), 3 * rng.normal(size=20)
    x0, sd = np.append(values_of(np.eye(3), index), [0.5, 0.5]), np.full(8, 3.0)
    found = fit_definite(a, y, x0, sd, [index, np.array([[7]])])
    assert found.before.min() < -0.05
    lower = np.tril_indices(3)

    def whole(z):
        f = np.zeros((3, 3))
        f[lower] = z[:6]
        return np.concatenate([values_of(f @ f.T, index), [z[6], z[7] ** 2]])

    tries = [
        minimize(
            lambda z: objective(whole(z), a, y, x0, sd), rng.normal(size=8), method="SLSQP", tol=1e-14,
            options={"maxiter": 2000},
        )
        for _ in range(6)
    ]  # fmt: skip
    best = min(tries, key=lambda t: t.fun)
    ours = objective(found.values, a, y, x0, sd)
    assert ours <= best.fun + found.gap
    assert ours == pytest.approx(best.fun, rel=1e-6)
    np.testing.assert_allclose(found.values, whole(best.x), rtol=0, atol=2e-3)


def test_a_possible_estimate_is_left_alone():
    index, truth = indices(6, BEAM), orthoglide()
    loads = np.random.default_rng(1).normal(size=(40, 6)) * 1000
    a = experiment(index, loads)
    y = a @ values_of(truth, index) + np.random.default_rng(2).normal(size=240)
    x0, sd = values_of(1.5 * truth, index), prior_of(truth, index, 1.0)
    found = fit_definite(a, y, x0, sd, [index])
    plain = np.linalg.lstsq(np.vstack([a * sd, np.eye(8)]), np.append(y, x0 / sd), rcond=None)[0] * sd
    np.testing.assert_allclose(found.values, plain, rtol=1e-9)
    assert found.values is found.free
    assert found.active == (False,)
    assert (found.cost, found.gap, found.converged) == (0.0, 0.0, True)
    assert found.before[0] == found.after[0] > 0


def test_the_gap_bounds_the_distance_to_the_minimum():
    rng = np.random.default_rng(7)
    index = indices(4)
    a, y = rng.normal(size=(30, 10)), 4 * rng.normal(size=30)
    x0, sd = values_of(np.eye(4), index), np.full(10, 5.0)
    tight = fit_definite(a, y, x0, sd, [index])
    least = objective(tight.values, a, y, x0, sd)
    for tolerance in (1e-1, 1e-3, 1e-5):
        loose = fit_definite(a, y, x0, sd, [index], tolerance)
        above = objective(loose.values, a, y, x0, sd) - least
        assert 0 < above <= loose.gap <= tolerance * max(1.0, loose.cost)


def test_units_do_not_matter():
    """The same spring with lengths in mm: k_ij times u_i u_j."""
    rng = np.random.default_rng(5)
    index, u = indices(6), np.repeat([1e3, 1.0], 3)
    factor = values_of(np.outer(u, u), index)
    a = experiment(index, 10 * np.eye(6))
    y = a @ values_of(orthoglide(), index) + rng.normal(size=36)
    x0, sd = values_of(orthoglide(), index), prior_of(orthoglide(), index)
    one = fit_definite(a, y, x0, sd, [index])
    two = fit_definite(a / factor, y, x0 * factor, sd * factor, [index])
    np.testing.assert_allclose(two.values / factor / sd, one.values / sd, rtol=0, atol=1e-6)
    assert two.after[0] == pytest.approx(one.after[0], rel=1e-2)


@pytest.mark.parametrize("nominal", [np.zeros((3, 3)), np.diag([1.0, 0.0, -1.0]), np.ones((3, 3))])
def test_the_nominal_values_may_be_anything(nominal):
    rng = np.random.default_rng(2)
    index = indices(3)
    a, y = rng.normal(size=(20, 6)), 3 * rng.normal(size=20)
    x0, sd = values_of(nominal, index), np.full(6, 2.0)
    found = fit_definite(a, y, x0, sd, [index])
    k, g = matrix_of(found.values, index), gradient_matrix(found.values, a, y, x0, sd, index)
    assert np.linalg.eigvalsh(k)[0] > 0
    assert np.linalg.eigvalsh(g)[0] > -1e-6
    assert abs(np.sum(g * k)) < 1e-6


def test_one_parameter_in_many_places():
    """k = p I seen by readings that want p < 0, and a block without any parameter."""
    found = fit_definite(
        np.array([[2.0, 0.0], [0.0, 1.0]]), np.array([-4.0, 3.0]), np.ones(2), np.full(2, 10.0),
        [np.diag([1, 1, 1, 0, 0, 0]) - 1, np.full((6, 6), -1)],
    )  # fmt: skip
    assert found.free[0] == pytest.approx((-8 + 0.01) / (4 + 0.01))
    assert 0 < found.values[0] < 1e-6
    assert found.values[1] == pytest.approx(found.free[1])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"sd": np.array([1.0, np.inf, 1.0])}, ("prior-sd",)),
        ({"readings": np.array([1.0, np.nan, 1.0])}, ("not-finite",)),
        ({"blocks": [np.array([[0, 1], [2, 0]])]}, ("shape", (2, 2))),
        ({"blocks": [np.array([[0]]), np.array([[3]])]}, ("range", (2, 3))),
        ({"blocks": [np.array([[0, 1], [1, -1]])]}, ("diagonal",)),
        ({"blocks": [np.array([[0, 1], [1, 1]])]}, ("diagonal",)),
    ],
)
def test_what_cannot_be_solved_is_refused(change, words):
    given = {
        "matrix": np.eye(3), "readings": np.ones(3), "nominal": np.ones(3), "sd": np.ones(3),
        "blocks": [np.array([[0, 1], [1, 2]])],
    }  # fmt: skip
    with refused(*words):
        fit_definite(**{**given, **change})
