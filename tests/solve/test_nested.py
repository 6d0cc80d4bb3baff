"""F and chi-square of nested models by scipy, and why there is none."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
from scipy.stats import chi2, f

from elastocal.solve.nested import f_test, score_of_rows, undecided


def test_f_and_chi_square():
    found = f_test(12.0, 4, 10)
    assert (found.kind, found.value, found.statistic) == ("F", 3.0, 3.0)
    assert found.probability == pytest.approx(f(4, 10).sf(3.0), rel=1e-12)
    assert found.text().startswith("F = 3 on 4 and 10, probability ")
    known = f_test(12.0, 4, inf)
    assert (known.kind, known.value, known.statistic) == ("chi^2", 12.0, 3.0)
    assert known.probability == pytest.approx(chi2(4).sf(12.0), rel=1e-12)
    assert known.text().startswith("chi^2 = 12 on 4, probability ")
    assert [t.rejected for t in (f_test(30.0, 4, 10), found)] == [True, False]


@pytest.mark.parametrize("test", [f_test(1.0, 0, 5), f_test(1.0, 2, 0.0), undecided(1, 0, "no circle")])
def test_what_cannot_be_told_has_its_reason(test):
    assert not test.decided
    assert not test.rejected
    assert test.reason


def test_columns_of_rounding_are_not_seen():
    """Turns of an instrument that reads distances alone: the other columns say what they say without."""
    rng = np.random.default_rng(0)
    left, span, columns = rng.normal(size=200), np.zeros((200, 0)), rng.normal(size=(200, 3))
    dust = 1e-16 * rng.normal(size=(200, 3))
    alone, found = (score_of_rows(span, left, c, 190.0) for c in (columns, np.hstack([columns, dust])))
    assert (found.size, found.chi2, found.probability) == (
        3,
        pytest.approx(alone.chi2),
        pytest.approx(alone.probability),
    )
    np.testing.assert_allclose(found.step, [*alone.step, 0, 0, 0], rtol=1e-9)
    assert score_of_rows(span, left, np.zeros((200, 2)), 190.0).size == 0
