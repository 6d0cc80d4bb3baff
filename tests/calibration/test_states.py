"""Which rows are one configuration."""

from __future__ import annotations

import numpy as np
import pytest

from elastocal.calibration import states


@pytest.mark.parametrize("seed", range(5))
def test_all_pairs_and_trees_link_the_same_rows(seed: int) -> None:
    """Repeats that flicker, chains of steps below the bound, and rows just beyond it."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(12, 6))
    rows = [c + rng.uniform(-0.4, 0.4, size=6) * states.SAME for c in centres for _ in range(3)]
    rows += [centres[0] + [0, 0, 0.9 * k * states.SAME, 0, 0, 0] for k in range(8)]
    rows += [centres[1] + [0, 3.1 * states.SAME, 0, 0, 0, 0]]
    q = np.array(rows)[rng.permutation(len(rows))]
    few, many = states._linked_few(q), states._linked(q)
    assert len(set(few.tolist())) == 13
    assert np.array_equal(few[:, None] == few, many[:, None] == many)
