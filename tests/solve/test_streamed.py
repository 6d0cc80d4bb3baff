"""The streamed fit against one dense solution: other chunks, other order, hidden rows, null spaces, memory."""

from __future__ import annotations

import tracemalloc
from dataclasses import dataclass

import numpy as np
import pytest
from oracle.refusals import refused

from elastocal.files.robot.read import read_robot
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.statics.observation import Marker, linear_observation
from elastocal.solve import streamed
from elastocal.solve.identifiability import Group, Groups, classify
from elastocal.solve.linear import unit_qr
from elastocal.solve.streamed import Reduced, reduce_rows, spread_indices

NAMES = tuple("abcdefg")
UNITS = np.array([1.0, 1e-6, 1e3, 10.0, 1e-3, 1e5, 0.1])
TRUTH = np.array([2.0, -3.0, 0.5, 4.0, 1.0, -0.7, 0.3])


@dataclass
class Solved:
    """What the small problem tells of the identifiable parameters, by a QR of T."""

    groups: Groups
    names: tuple[str, ...]
    values: np.ndarray
    covariance: np.ndarray
    triangle: np.ndarray
    squares: float
    freedom: int
    reduced: Reduced

    @property
    def sd(self):
        return np.sqrt(np.diag(self.covariance))

    @property
    def scatter(self):
        return np.sqrt(self.squares / self.freedom) if self.freedom else np.nan


def fit_streamed(names, scales, total, chunks, first=()):
    reduced = reduce_rows(np.asarray(scales, dtype=float), total, chunks)
    groups = classify(names, reduced.triangle, scales, first)
    small = unit_qr(reduced.triangle[:, list(groups.kept)])
    across = reduced.readings - small.q @ (small.q.T @ reduced.readings)
    return Solved(
        groups, tuple(names[i] for i in groups.kept), small.solve(reduced.readings), small.covariance,
        small.r * small.lengths, reduced.rest + across @ across, reduced.count - len(groups.kept), reduced,
    )  # fmt: skip


class Problem:
    """Whitened rows (N, R, p) with readings of unit noise, handed out in chunks of one buffer."""

    def __init__(self, matrix, seed=0, noise=1.0, size=333):
        self.matrix, self.size, self.n, self.p = matrix, size, len(matrix), matrix.shape[2]
        self.truth = TRUTH[: self.p] if self.p <= 7 else np.random.default_rng(seed).normal(size=self.p)
        lengths = np.linalg.norm(matrix, axis=(0, 1))
        self.truth = 300 * self.truth / np.where(lengths > 0, lengths, 1.0)
        self.y = matrix @ self.truth + noise * np.random.default_rng(seed).normal(size=matrix.shape[:2])
        self.scales = 1 / np.where(lengths > 0, lengths, lengths.max())

    def chunks(self, rows):
        a, y = self.matrix[rows], self.y[rows]
        buffer = np.empty((self.p, a.shape[1], self.size))
        for start in range(0, len(a), self.size):
            part = buffer[:, :, : len(a[start : start + self.size])]
            part[:] = np.moveaxis(a[start : start + self.size], 0, -1).swapaxes(0, 1)
            yield part, y[start : start + self.size].T

    def fit(self, first=(), names=None):
        return fit_streamed(names or [f"p{i}" for i in range(self.p)], self.scales, self.n, self.chunks, first)

    def dense(self, columns=None):
        """Values, covariance, squares of the chosen columns by lstsq and pinv."""
        a = self.matrix.reshape(-1, self.p)[:, columns if columns is not None else range(self.p)]
        lengths = np.linalg.norm(a, axis=0)
        x = np.linalg.lstsq(a / lengths, self.y.ravel(), rcond=None)[0] / lengths
        inverse = np.linalg.pinv(a / lengths)
        return x, inverse @ inverse.T / np.outer(lengths, lengths), np.sum((self.y.ravel() - a @ x) ** 2)


def random_rows(seed=0, n=1500, rows=3, p=7):
    return np.random.default_rng(seed).normal(size=(n, rows, p)) * UNITS[:p]


@pytest.fixture
def no_fallback(monkeypatch):
    monkeypatch.setattr(streamed, "stacked_triangle", lambda *_: pytest.fail("all rows were factored"))


def check(found, problem, columns=None, rtol=1e-9):
    """Everything in units of the standard deviations: signals are some hundred of them."""
    x, covariance, squares = problem.dense(columns)
    sd = np.sqrt(np.diag(covariance))
    np.testing.assert_allclose(found.values / sd, x / sd, rtol=rtol, atol=rtol)
    np.testing.assert_allclose(found.covariance / np.outer(sd, sd), covariance / np.outer(sd, sd), rtol=0, atol=rtol)
    np.testing.assert_allclose(found.sd, sd, rtol=rtol)
    inverse = np.linalg.inv(found.triangle * sd)
    np.testing.assert_allclose(inverse @ inverse.T, covariance / np.outer(sd, sd), rtol=0, atol=rtol)
    assert found.squares == pytest.approx(squares, rel=1e-10)
    assert found.freedom == problem.y.size - len(x)


@pytest.mark.usefixtures("no_fallback")
def test_the_minimum_is_that_of_all_rows_at_once():
    problem = Problem(random_rows())
    found = problem.fit()
    assert found.names == tuple(f"p{i}" for i in range(7))
    assert 0.95 < found.scatter < 1.05
    check(found, problem)


def test_few_rows_are_solved_too():
    problem = Problem(random_rows(n=40))
    check(problem.fit(), problem)
    exact = Problem(random_rows(n=7, rows=1))
    assert exact.fit().freedom == 0
    assert np.isnan(exact.fit().scatter)


@pytest.mark.usefixtures("no_fallback")
def test_exact_readings_leave_no_squares():
    problem = Problem(random_rows(), noise=0.0)
    found = problem.fit()
    np.testing.assert_allclose(found.values, problem.truth, rtol=1e-12)
    assert found.squares < 1e-18 * np.sum(problem.y**2)


@pytest.mark.usefixtures("no_fallback")
def test_nearly_dependent_columns_keep_their_digits():
    """Unit columns of condition about 1e7: plain normal equations would give the weakest direction to two digits."""
    matrix = random_rows()
    matrix[:, :, 6] = matrix[:, :, 0] / UNITS[0] + 1e-7 * matrix[:, :, 6] / UNITS[6]
    problem = Problem(matrix)
    found = problem.fit()
    lengths = np.linalg.norm(matrix, axis=(0, 1))
    strength = np.linalg.svd(matrix.reshape(-1, 7) / lengths, compute_uv=False)
    assert 1e-8 < strength[-1] / strength[0] < 1e-6
    got = np.linalg.svd(found.triangle / lengths, compute_uv=False)
    np.testing.assert_allclose(got, strength, rtol=1e-7)
    check(found, problem, rtol=1e-7)


@pytest.mark.parametrize("size", [1, 7, 500, 1500, 4000])
def test_the_size_of_chunks_does_not_matter(size):
    whole = Problem(random_rows()).fit()
    cut = Problem(random_rows(), size=size).fit()
    np.testing.assert_allclose(cut.values, whole.values, rtol=1e-12)
    np.testing.assert_allclose(cut.covariance, whole.covariance, rtol=1e-10, atol=1e-10 * whole.sd.min() ** 2)
    assert cut.squares == pytest.approx(whole.squares, rel=1e-12)


def deficient(seed=0):
    """b and c as b + 3 c, d silent, e f g as two combinations, a alone."""
    matrix = np.random.default_rng(seed).normal(size=(1500, 3, 7))
    matrix[:, :, 2] = 3 * matrix[:, :, 1]
    matrix[:, :, 3] = 0.0
    matrix[:, :, 6] = matrix[:, :, 4] - 2 * matrix[:, :, 5]
    return matrix * UNITS


@pytest.mark.usefixtures("no_fallback")
@pytest.mark.parametrize(("first", "kept"), [((), (0, 1, 4, 5)), (("c", "g"), (0, 2, 4, 6))])
def test_what_cannot_be_told_apart_is_grouped(first, kept):
    problem = Problem(deficient())
    found = problem.fit(first, NAMES)
    assert [g.value for g in found.groups.group] == ["G1", "G3", "G3", "G2", "G3", "G3", "G3"]
    assert found.groups.kept == kept
    assert found.names == tuple(NAMES[i] for i in kept)
    assert {s.members for s in found.groups.subgroups} == {("b", "c"), ("e", "f", "g")}
    check(found, problem, kept)


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_rows_does_not_matter(seed):
    matrix, order = deficient(), np.random.default_rng(seed).permutation(1500)
    plain, other = Problem(matrix), Problem(matrix)
    other.matrix, other.y = matrix[order], plain.y[order]
    one, two = plain.fit(names=NAMES), other.fit(names=NAMES)
    assert one.groups.group == two.groups.group
    assert one.groups.kept == two.groups.kept
    np.testing.assert_allclose(two.values, one.values, rtol=1e-11)
    np.testing.assert_allclose(two.covariance, one.covariance, rtol=1e-9, atol=1e-10 * one.sd.min() ** 2)


def hidden_row(total=1500):
    """A configuration that the sample does not have."""
    return int(np.setdiff1d(np.arange(total), spread_indices(total, streamed.FEW))[700])


@pytest.mark.parametrize("size", [1.0, 1e-5])
@pytest.mark.parametrize("column", [2, 3, 6])
def test_what_a_single_row_tells_is_found(column, size):
    """Everywhere else c is three b, d is silent, or g is made of e and f; readings without noise show the value."""
    matrix = deficient()
    matrix[hidden_row(), 1, column] += size * UNITS[column]
    problem = Problem(matrix, noise=0.0)
    problem.scales = 1 / UNITS
    found = problem.fit(names=NAMES)
    at = found.groups.kept.index(column)
    assert found.groups.group[column] is Group.IDENTIFIABLE
    assert found.values[at] == pytest.approx(problem.truth[column], rel=1e-8)


def test_rows_far_larger_than_the_sample_are_not_squared_away():
    matrix = random_rows()
    direction = np.array([1.0, -1.0, 1.0, 1.0, 1.0, -1.0, 1.0]) * UNITS
    matrix[hidden_row()] += 1e7 * direction
    problem = Problem(matrix)
    lengths = np.linalg.norm(matrix, axis=(0, 1))
    strength = np.linalg.svd(matrix.reshape(-1, 7) / lengths, compute_uv=False)
    got = np.linalg.svd(problem.fit().triangle / lengths, compute_uv=False)
    np.testing.assert_allclose(got, strength, rtol=1e-8)


def test_the_sample_has_no_period():
    """Any stride of a grid is met in all its phases."""
    picked = spread_indices(10_000, 200)
    assert len(picked) == 200
    assert np.diff(picked).max() < 150
    for stride in (2, 5, 10, 25, 50):
        assert len(np.unique(picked % stride)) == stride


def kr270(count):
    model = read_robot("kuka-kr270").with_link_form("symmetric")
    rng = np.random.default_rng(8)
    limits = np.array([m.limits for m in model.motions])
    q = rng.uniform(limits[:, 0], limits[:, 1], (count, 6))
    wrenches = AppliedWrenches("tool", rng.normal(size=(count, 6)) * 1000)
    names, a = linear_observation(model, q, [wrenches], [Marker("tool", "pose")])
    rows = [model.parameters.rows[model.parameters.index(n)] for n in names]
    problem = Problem(a / 1e-5)
    problem.truth, problem.scales = np.array([p.value for p in rows]), np.array([p.scale for p in rows])
    problem.y = problem.matrix @ problem.truth + rng.normal(size=problem.y.shape)
    return problem, names


@pytest.mark.usefixtures("no_fallback")
def test_a_robot_with_springs_everywhere():
    problem, names = kr270(700)
    joints = [n for n in names if n.endswith(".k")]
    found = problem.fit(joints, names)
    groups = classify(names, np.linalg.qr(problem.matrix.reshape(-1, 153), mode="r"), problem.scales, joints)
    assert (found.groups.group, found.groups.kept) == (groups.group, groups.kept)
    assert len(found.names) == 105
    check(found, problem, list(groups.kept), rtol=1e-6)
    absorbed = {c.kept: dict(c.absorbed) for s in found.groups.subgroups for c in s.combinations}
    at = {n: i for i, n in enumerate(names)}
    mean = [problem.truth[at[n]] + sum(k * problem.truth[at[m]] for m, k in absorbed.get(n, {}).items())
            for n in found.names]  # fmt: skip
    assert np.sqrt(np.mean(((found.values - mean) / found.sd) ** 2)) == pytest.approx(1, abs=0.25)


def test_the_reduced_problem_has_the_squares_of_all_rows():
    problem = Problem(deficient())
    reduced = reduce_rows(problem.scales, problem.n, problem.chunks)
    assert reduced.count == problem.y.size
    for seed in range(3):
        x = np.random.default_rng(seed).normal(size=7) * 300 * problem.scales
        direct = np.sum((problem.matrix @ x - problem.y) ** 2)
        small = np.sum((reduced.triangle @ x - reduced.readings) ** 2) + reduced.rest
        assert small == pytest.approx(direct, rel=1e-12)


@pytest.mark.parametrize("fallback", [False, True])
def test_memory_does_not_grow_with_configurations(fallback):
    def peak(total):
        def chunks(rows):
            index = np.arange(total)[rows] if not isinstance(rows, slice) else range(total)[rows]
            for start in range(0, len(index), 500):
                t = np.asarray(index[start : start + 500], dtype=float)
                a = np.cos(np.arange(1, 21)[:, None, None] * np.array([1.0, 1.37])[:, None] * t)
                if fallback:
                    a[0] = np.where(t == hidden, 1.0, 0.0)
                yield a, a.sum(axis=0)

        hidden = hidden_row(total)
        tracemalloc.start()
        found = fit_streamed([f"p{i}" for i in range(20)], np.ones(20), total, chunks)
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        np.testing.assert_allclose(found.values, 1.0, rtol=1e-9)
        return size

    peak(2000)
    assert peak(40_000) < 1.2 * peak(4000)


def test_nothing_to_see_is_no_failure():
    found = fit_streamed(
        ("a", "b"), np.ones(2), 1500, lambda rows: iter([(np.zeros((2, 3, 1500)), np.ones((3, 1500)))])
    )
    assert found.names == ()
    assert found.squares == pytest.approx(4500)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda p: p.y.__setitem__((hidden_row(), 1), np.nan), ("reading",)),
        (lambda p: p.matrix.__setitem__((hidden_row(), 1, 2), np.nan), ("not-finite",)),
        (
            lambda p: p.matrix.__setitem__((int(spread_indices(1500, 200)[5]), 1, 2), np.nan),
            ("derivative",),
        ),
        (lambda p: setattr(p, "y", p.y[:, :2]), ("shape", ((7, 3, 200), (2, 200), 7))),
    ],
)
def test_data_that_cannot_be_used_are_refused(spoil, words):
    problem = Problem(random_rows())
    spoil(problem)
    with refused(*words):
        problem.fit()
