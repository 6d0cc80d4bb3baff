"""Rotations against scipy: small angles, angles near half a turn, roll-pitch-yaw at its singular pitch."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from elastocal.spatial.rotation import align_z, axis_matrix, exact_cos_sin, matrix_rpy, rotation_vector, rpy_matrix

ANGLES = [1e-14, 1e-9, 1e-6, 1e-3, 0.5, 1.5, 3.0, np.pi - 1e-3, np.pi - 1e-6, np.pi - 1e-9]


@pytest.mark.parametrize("angle", ANGLES)
def test_rotation_vectors_keep_their_digits_from_tiny_angles_to_half_a_turn(angle):
    axes = np.random.default_rng(2).normal(size=(50, 3))
    vectors = angle * axes / np.linalg.norm(axes, axis=1)[:, None]
    matrices = Rotation.from_rotvec(vectors).as_matrix()
    got = rotation_vector(np.moveaxis(matrices, 0, -1)).T
    np.testing.assert_allclose(got, vectors, rtol=0, atol=max(1e-15 * angle, 2e-16, 1e-15 if angle > 1e-3 else 0))


def test_half_a_turn_has_the_right_axis_up_to_sign():
    axis = np.array([2.0, -1.0, 2.0]) / 3
    matrix = 2 * np.outer(axis, axis) - np.eye(3)
    got = rotation_vector(matrix[:, :, None])[:, 0]
    assert abs(abs(got @ axis) - np.pi) < 1e-14


@settings(max_examples=150)
@given(st.tuples(*[st.floats(-3.1, 3.1)] * 3))
def test_rpy_is_scipys_fixed_axes_and_round_trips(angles):
    matrix = rpy_matrix(*angles)
    np.testing.assert_allclose(
        matrix, Rotation.from_euler("xyz", angles).as_matrix(), rtol=0, atol=5e-14
    )  # quarter turns are exact
    np.testing.assert_allclose(rpy_matrix(*matrix_rpy(matrix)), matrix, rtol=0, atol=1e-11)


@pytest.mark.parametrize("sign", [1, -1])
def test_rpy_round_trips_at_the_singular_pitch(sign):
    matrix = rpy_matrix(0.7, sign * np.pi / 2, -0.4)
    roll, pitch, _ = matrix_rpy(matrix)
    assert roll == 0.0
    assert pitch == pytest.approx(sign * np.pi / 2)
    np.testing.assert_allclose(rpy_matrix(*matrix_rpy(matrix)), matrix, rtol=0, atol=1e-15)


def test_quarter_turns_are_exact():
    assert exact_cos_sin(np.pi / 2) == (0.0, 1.0)
    assert exact_cos_sin(-np.pi) == (-1.0, 0.0)
    assert exact_cos_sin(0.3) == (np.cos(0.3), np.sin(0.3))
    np.testing.assert_array_equal(axis_matrix(2, np.pi / 2), [[0, -1, 0], [1, 0, 0], [0, 0, 1]])


@pytest.mark.parametrize("axis", range(3))
def test_axis_matrices_turn_the_right_way(axis):
    np.testing.assert_allclose(
        axis_matrix(axis, 0.8), Rotation.from_rotvec(0.8 * np.eye(3)[axis]).as_matrix(), atol=1e-15
    )


def test_align_z_is_a_rotation_onto_the_axis():
    for v in np.random.default_rng(1).normal(size=(20, 3)):
        axis = v / np.linalg.norm(v)
        got = align_z(axis)
        np.testing.assert_allclose(got[:, 2], axis, atol=1e-15)
        np.testing.assert_allclose(got @ got.T, np.eye(3), atol=1e-14)
        assert np.linalg.det(got) == pytest.approx(1.0)
