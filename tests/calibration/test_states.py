"""Which rows are one configuration."""

from __future__ import annotations

import numpy as np
import pytest

import elastocal as ec
from elastocal.calibration import states


@pytest.mark.parametrize("seed", range(5))
def test_rows_are_linked_as_by_all_pairs(seed: int) -> None:
    """Repeats that flicker, chains of steps below the bound, and rows just beyond it."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(12, 6))
    rows = [c + rng.uniform(-0.4, 0.4, size=6) * states.SAME for c in centres for _ in range(3)]
    rows += [centres[0] + [0, 0, 0.9 * k * states.SAME, 0, 0, 0] for k in range(8)]
    rows += [centres[1] + [0, 3.1 * states.SAME, 0, 0, 0, 0]]
    q = np.array(rows)[rng.permutation(len(rows))]
    near = (np.abs(q[:, None] - q) <= states.SAME).all(axis=2)
    linked = np.linalg.matrix_power(near.astype(float), len(q)) > 0
    label = states._linked(q)
    assert len(set(label.tolist())) == 13
    assert np.array_equal(label[:, None] == label, linked)


def test_a_pose_read_cold_and_warm_has_two_states() -> None:
    """Repeats at one temperature are averaged, to half a kelvin; a pose at another is no repeat."""
    robot = ec.read_robot("ur10e")
    data = ec.Campaign(
        q=np.full((5, 6), 0.3), position=np.arange(15.0).reshape(5, 3), length="m", angle="rad",
        temperature=[20.0, 20.02, 25.0, 24.98, 20.01],
    )  # fmt: skip
    found = states.gather(robot, data)
    assert (found.count, found.poses) == (2, 1)
    assert [sorted(m.tolist()) for m in found.members] == [[0, 1, 4], [2, 3]]
    assert found.position[:, 0] == pytest.approx(np.array([[5.0, 6.0, 7.0], [7.5, 8.5, 9.5]]))
