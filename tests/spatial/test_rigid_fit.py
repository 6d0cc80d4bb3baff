"""Laws of the rigid fit: exact points give the motion back, mirrored ones never a reflection."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.refusals import refused

from elastocal.spatial.pose import Pose, rigid_fit

POSE = Pose.from_xyz_rpy((3.0, -1.0, 0.5), (0.4, -1.1, 2.9))


@pytest.mark.parametrize("flat", [False, True])
def test_exact_points_give_the_motion_back(flat: bool) -> None:
    points = np.random.default_rng(1).normal(size=(7, 3)) * [1, 1, 0 if flat else 1]
    found, left = rigid_fit(points, points @ POSE.rotation.T + POSE.translation)
    np.testing.assert_allclose(found.matrix(), POSE.matrix(), atol=1e-14)
    assert left < 1e-14


def test_noise_leaves_its_own_size_and_no_better_motion() -> None:
    rng = np.random.default_rng(2)
    points = rng.normal(size=(400, 3))
    targets = points @ POSE.rotation.T + POSE.translation + 1e-3 * rng.normal(size=(400, 3))
    found, left = rigid_fit(points, targets)
    assert left == pytest.approx(np.sqrt(3) * 1e-3, rel=0.05)
    for change in np.eye(6):
        other = Pose.from_xyz_rpy(1e-4 * change[:3], tuple(1e-4 * change[3:])) @ found
        worse = np.sqrt(np.mean(np.sum((points @ other.rotation.T + other.translation - targets) ** 2, axis=1)))
        assert worse > left


def test_a_mirror_image_is_turned_not_reflected() -> None:
    points = np.random.default_rng(3).normal(size=(9, 3))
    found, left = rigid_fit(points, points * [1, 1, -1])
    assert np.linalg.det(found.rotation) == pytest.approx(1)
    assert left > 0.1


def test_too_little_is_refused() -> None:
    with refused("too-few", 2):
        rigid_fit(np.eye(3)[:2], np.eye(3)[:2])
    line = np.outer(np.arange(5.0), [1, 2, 3])
    with refused("points-in-line"):
        rigid_fit(line, line)
    with refused("points-in-line"):
        rigid_fit(np.ones((4, 3)), np.ones((4, 3)))
