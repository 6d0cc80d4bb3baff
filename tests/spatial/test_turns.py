"""Turns against scipy's, over all ways to write them, at gimbal lock, near nothing and near half a turn."""

from __future__ import annotations

import warnings
from itertools import product

import numpy as np
import pytest
from oracle.refusals import refused
from scipy.spatial.transform import Rotation as Peer

from elastocal.spatial.rotation import Rotation

SEQUENCES = ["".join(p) for p in product("XYZ", repeat=3) if p[0] != p[1] and p[1] != p[2]]


def matrices() -> np.ndarray:
    q = np.random.default_rng(1).normal(size=(200, 4))
    q[:6] = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0], [1, 1e-9, 0, 0], [1e-9, 1, 1, 0]]
    return Peer.from_quat(q, scalar_first=True).as_matrix()


def test_matrices_quaternions_and_vectors_are_those_of_the_peer():
    m = matrices()
    ours, peer = Rotation.from_matrix(m), Peer.from_matrix(m)
    for canonical, first in product((False, True), repeat=2):
        np.testing.assert_allclose(
            ours.as_quat(canonical, first), peer.as_quat(canonical=canonical, scalar_first=first), atol=1e-15
        )
    np.testing.assert_allclose(ours.as_rotvec(), peer.as_rotvec(), atol=1e-14)
    np.testing.assert_allclose(ours.as_matrix(), m, atol=1e-14)
    np.testing.assert_allclose(Rotation.from_rotvec(peer.as_rotvec()).as_matrix(), m, atol=1e-14)
    np.testing.assert_allclose(Rotation.from_quat(3 * peer.as_quat()).as_matrix(), m, atol=1e-14)


def test_products_and_inverses_are_those_of_matrices():
    m = matrices()
    a, b = Rotation.from_matrix(m), Rotation.from_matrix(m[::-1])
    np.testing.assert_allclose((a * b).as_matrix(), m @ m[::-1], atol=1e-14)
    np.testing.assert_allclose((a.inv() * a).as_matrix(), np.broadcast_to(np.eye(3), m.shape), atol=1e-14)
    np.testing.assert_allclose(Rotation.from_matrix(m[7]).apply(np.array([1.0, 2, 3])), m[7] @ [1, 2, 3], atol=1e-14)


@pytest.mark.parametrize("sequence", [*SEQUENCES, *map(str.lower, SEQUENCES)])
def test_angles_are_those_of_the_peer_at_gimbal_lock_too(sequence):
    angles = np.random.default_rng(2).uniform(-3, 3, (50, 3))
    locked = angles.copy()
    locked[:, 1] = 0.0 if sequence[0] == sequence[2] else np.pi / 2
    for some in (angles, locked):
        turn = Peer.from_euler(sequence, some)
        np.testing.assert_allclose(Rotation.from_euler(sequence, some).as_matrix(), turn.as_matrix(), atol=1e-14)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            found = Rotation.from_matrix(turn.as_matrix()).as_euler(sequence, degrees=True)
            np.testing.assert_allclose(found, turn.as_euler(sequence, degrees=True), atol=2e-5)
        np.testing.assert_allclose(
            Rotation.from_euler(sequence, found, degrees=True).as_matrix(), turn.as_matrix(), atol=3e-7
        )


def test_a_matrix_that_is_not_quite_one_is_the_nearest_rotation():
    m = matrices() + 1e-6 * np.random.default_rng(3).normal(size=(200, 3, 3))
    np.testing.assert_allclose(Rotation.from_matrix(m).as_matrix(), Peer.from_matrix(m).as_matrix(), atol=1e-14)


@pytest.mark.parametrize("wrong", [np.diag([1.0, 1, -1]), np.zeros((3, 3))])
def test_mirrors_and_nothing_are_refused(wrong):
    with refused("no-rotation"):
        Rotation.from_matrix(wrong)
    with refused("no-rotation"):
        Rotation.from_quat(np.zeros(4))


def test_what_is_not_known_stays_so_without_a_warning():
    m = matrices()[:3].copy()
    m[1, 0, 0] = np.nan
    found = Rotation.from_matrix(m).as_matrix()
    assert np.isnan(found[1]).all()
    np.testing.assert_allclose(found[[0, 2]], m[[0, 2]], atol=1e-14)
