"""Small batched algebra against numpy, one matrix at a time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elastocal.spatial import batch, entries
from elastocal.spatial.pose import Pose

RNG = np.random.default_rng(0)


def stack(*shape, n=7):
    return RNG.normal(size=(*shape, n))


def test_matmul_multiplies_row_by_row():
    a, b = stack(3, 4), stack(4, 2)
    expected = np.moveaxis(np.moveaxis(a, -1, 0) @ np.moveaxis(b, -1, 0), 0, -1)
    np.testing.assert_allclose(batch.matmul(a, b), expected, rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(batch.matmul_t(np.swapaxes(a, 0, 1), b), expected, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("d", [1, 2, 3, 6])
def test_solve_of_matrices_near_the_identity(d):
    a = np.eye(d)[:, :, None] + 0.15 * stack(d, d)
    b = stack(d, 3)
    got = batch.eliminate_unpivoted(a, b)
    for i in range(a.shape[2]):
        np.testing.assert_allclose(got[:, :, i], np.linalg.solve(a[:, :, i], b[:, :, i]), rtol=1e-10)


def test_solve_of_a_singular_matrix_is_not_finite_and_leaves_its_neighbours():
    a = np.stack([np.eye(2), np.zeros((2, 2)), 2 * np.eye(2)], axis=-1)
    got = batch.eliminate_unpivoted(a, np.ones((2, 1, 3)))
    assert not np.isfinite(got[:, :, 1]).any()
    np.testing.assert_array_equal(got[:, 0, [0, 2]], [[1.0, 0.5], [1.0, 0.5]])


def triangle(columns):
    """R (k, k, N) of columns that stay as they are."""
    r = np.zeros((columns.shape[1], columns.shape[1], columns.shape[2]))
    batch.triangle(columns.copy(), r)
    return r


@pytest.mark.parametrize(("m", "k"), [(6, 6), (12, 6), (4, 3)])
def test_triangle_is_r_of_the_qr_factors(m, k):
    a = stack(m, k)
    r = triangle(a)
    for i in range(a.shape[2]):
        expected = np.linalg.qr(a[:, :, i], mode="r")
        expected = expected * np.sign(np.diag(expected))[:, None]
        np.testing.assert_allclose(np.triu(r[:, :, i]), expected, rtol=1e-10, atol=1e-13)


def test_triangle_of_dependent_columns_has_a_vanishing_pivot():
    a = stack(6, 3)
    a[:, 2] = 2 * a[:, 0] - a[:, 1]
    assert np.all(np.abs(triangle(a)[2, 2]) < 1e-13 * np.linalg.norm(a[:, 2], axis=0))


def test_inverse_gram_is_the_inverse_of_r_transposed_r():
    a = stack(8, 6)
    got = np.empty((6, 6, a.shape[2]))
    batch.inverse_gram(triangle(a), got)
    for i in range(a.shape[2]):
        np.testing.assert_allclose(got[:, :, i], np.linalg.inv(a[:, :, i].T @ a[:, :, i]), rtol=1e-9)


numbers = st.one_of(st.sampled_from([0.0, 1.0, -1.0]), st.floats(-5, 5))


@settings(max_examples=60)
@given(st.lists(st.tuples(numbers, st.booleans()), min_size=18, max_size=18))
def test_entries_multiply_like_matrices_whether_constant_or_batched(cells):
    """An entry may be a float (the same everywhere) or a vector: products agree with numpy either way."""
    dense = np.array([[v, v] for v, _ in cells]).reshape(2, 3, 3, 2)
    mixed = [np.array([v, v]) if vector else float(v) for v, vector in cells]
    first, second = (tuple(tuple(mixed[9 * m + 3 * i + j] for j in range(3)) for i in range(3)) for m in (0, 1))
    got = (
        [e for row in entries.times_matrix(first, second) for e in row]
        if not any(isinstance(e, np.ndarray) for row in second for e in row)
        else [entries.dot(first[i], entries.column(second, j)) for i in range(3) for j in range(3)]
    )
    expected = dense[0, :, :, 0] @ dense[1, :, :, 0]
    np.testing.assert_allclose(entries.dense(got, 2).reshape(3, 3, 2)[..., 1], expected, rtol=1e-12, atol=1e-12)


def test_entries_cross_and_turn_like_numpy():
    a, b = (1.0, np.array([2.0, -1.0]), 0.0), (np.array([0.5, 3.0]), -1.0, 2.0)
    got = entries.dense(entries.cross(a, b), 2)
    expected = np.cross([[1, 2, 0], [1, -1, 0]], [[0.5, -1, 2], [3.0, -1, 2]]).T
    np.testing.assert_allclose(got, expected)
    angle = np.array([0.3, -1.2])
    for axis in range(3):
        turned = entries.turned(entries.IDENTITY, axis, np.cos(angle), np.sin(angle))
        flat = entries.dense([e for row in turned for e in row], 2).reshape(3, 3, 2)
        moved = (flat[:, (axis + 1) % 3]).T
        np.testing.assert_allclose(moved[:, (axis + 1) % 3], np.cos(angle))
        np.testing.assert_allclose(moved[:, (axis + 2) % 3], np.sin(angle))


def test_poses_compose_and_invert_like_matrices():
    a = Pose.from_xyz_rpy((0.1, -0.2, 0.3), (0.4, 0.5, -0.6))
    b = Pose.from_xyz_rpy((1.0, 2.0, -3.0), (-1.0, 0.2, 2.0))
    np.testing.assert_allclose((a @ b).matrix(), a.matrix() @ b.matrix(), rtol=1e-14, atol=1e-15)


def test_a_pose_cannot_be_changed_from_outside():
    values = np.array([1.0, 2.0, 3.0])
    pose = Pose(translation=values)
    values[0] = 9.0
    assert pose.translation[0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        pose.translation[0] = 2.0
