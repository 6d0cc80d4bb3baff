"""Which rows are one configuration."""

from __future__ import annotations

import numpy as np
import pytest

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
