"""The score test against the F test of two fits."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import f as fisher

from elastocal.solve.blocks import Blocks, Group, Noise, Scale
from elastocal.solve.evidence import posterior
from elastocal.solve.nested import ScoreTests


def problem(rng: np.random.Generator, effect: float) -> tuple[Blocks, np.ndarray]:
    jacobian, extra = rng.normal(size=(12, 3, 4)), rng.normal(size=(12, 3, 2))
    readings = jacobian @ [1.0, -2.0, 0.5, 3.0] + effect * extra[:, :, 0] + 0.1 * rng.normal(size=(12, 3))
    noise = (Noise(Scale("points", 0.1), np.broadcast_to(np.eye(3), (12, 3, 3))),)
    groups = (Group(Scale("all", 1e4, 0.0), np.arange(4)),)
    return Blocks(readings, jacobian, np.ones((12, 3), dtype=bool), noise, groups), extra


@pytest.mark.parametrize("effect", [0.0, 0.1])
def test_the_score_is_the_f_test_of_two_fits(effect: float) -> None:
    blocks, extra = problem(np.random.default_rng(3), effect)
    found = ScoreTests(posterior(blocks, blocks.start)).of(extra)
    y, a, b = blocks.readings.ravel(), blocks.jacobian.reshape(36, 4), extra.reshape(36, 2)
    less = float(np.linalg.lstsq(a, y, rcond=None)[1][0])
    step, more = np.linalg.lstsq(np.hstack([a, b]), y, rcond=None)[:2]
    freedom = 36 - 4 - 1  # one scale of noise was fitted
    gain = (less - float(more[0])) / 2 / (float(more[0]) / (freedom - 2))
    assert found.size == 2
    assert found.probability == pytest.approx(fisher.sf(gain, 2, freedom - 2), rel=1e-4)
    np.testing.assert_allclose(found.step, step[4:], rtol=1e-5)
    assert (found.probability < 1e-3) == (effect > 0)


def test_columns_that_the_fit_has_count_for_nothing() -> None:
    blocks, _ = problem(np.random.default_rng(4), 0.0)
    found = ScoreTests(posterior(blocks, blocks.start)).of(blocks.jacobian[:, :, :1])
    assert (found.size, found.probability) == (0, 1.0)


def test_a_column_of_rounding_is_not_seen_and_its_step_is_unknown() -> None:
    blocks, extra = problem(np.random.default_rng(3), 0.1)
    tests = ScoreTests(posterior(blocks, blocks.start))
    alone, beside = tests.of(extra[:, :, :1]), tests.of(extra * [1.0, 1e-16])
    assert (alone.size, beside.size) == (1, 1)
    np.testing.assert_allclose(beside.step, [alone.step[0], 0.0])
    np.testing.assert_allclose(beside.sd, [alone.sd[0], np.nan])
