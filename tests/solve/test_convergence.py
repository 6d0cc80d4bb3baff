"""R-hat and effective number against closed forms of series whose mixing is known."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.refusals import refused
from scipy.signal import lfilter

from elastocal.solve.draws import effective_number, split_rhat


def autoregressive(phi, chains=4, draws=20_000, seed=1):
    """x_t = phi x_t-1 + sqrt(1 - phi^2) n_t, started in its stationary state."""
    n = np.random.default_rng(seed).normal(size=(chains, draws)) * np.sqrt(1 - phi**2)
    n[:, 0] /= np.sqrt(1 - phi**2)
    return lfilter([1.0], [1.0, -phi], n, axis=1)


@pytest.mark.parametrize("phi", [0.95, 0.8, 0.3, 0.0, -0.5])
def test_an_autoregressive_series_is_worth_its_closed_form(phi):
    x = autoregressive(phi)
    share = effective_number(x[:, :, None])[0] / x.size
    assert share == pytest.approx((1 - phi) / (1 + phi), rel=0.1)


def effective_by_loops(x):
    """The module's formulae for one parameter, lag by lag."""
    half = x.shape[1] // 2
    parts = [*x[:, :half], *x[:, -half:]]
    m, n = len(parts), half
    w = np.mean([np.var(part, ddof=1) for part in parts])
    plus = (n - 1) / n * w + np.var([part.mean() for part in parts], ddof=1)

    def rho(lag):
        products = [np.sum((p[: n - lag] - p.mean()) * (p[lag:] - p.mean())) / n for p in parts]
        return 1 - (w - np.mean(products)) / plus if lag else 1.0

    total, last = 0.0, np.inf
    for k in range(n // 2):
        pair = rho(2 * k) + rho(2 * k + 1)
        if pair <= 0:
            break
        last = min(last, pair)
        total += last
    return m * n / (2 * total - 1)


@pytest.mark.parametrize("draws", [40, 61])
@pytest.mark.parametrize("phi", [0.9, 0.6, 0.1])
def test_the_effective_number_by_its_formula(phi, draws):
    for seed in range(5):
        x = autoregressive(phi, chains=3, draws=draws, seed=seed)
        assert effective_number(x[:, :, None])[0] == pytest.approx(effective_by_loops(x), rel=1e-10)


def test_the_effective_number_has_a_ceiling():
    x = autoregressive(-0.99)
    assert effective_number(x[:, :, None])[0] == pytest.approx(x.size * np.log10(x.size))


def test_parameters_do_not_mix():
    together = np.stack([autoregressive(phi, draws=2001) for phi in (0.9, 0.0)], axis=2) * [1e-3, 1e9] + [5.0, -1.0]
    for function in (split_rhat, effective_number):
        alone = [function(together[:, :, [i]])[0] for i in range(2)]
        np.testing.assert_allclose(function(together), alone, rtol=1e-6)


def test_rhat_by_its_formula():
    """Two chains of 8: the four halves' variances and means put in by hand."""
    x = np.array([[0, 1, 2, 3, 1, 0, 2, 1], [3, 2, 4, 5, 2, 4, 1, 3]], dtype=float)
    variances, means = [5 / 3, 2 / 3, 5 / 3, 5 / 3], [1.5, 1.0, 3.5, 2.5]
    w, b = np.mean(variances), 4 * np.var(means, ddof=1)
    assert split_rhat(x[:, :, None])[0] == pytest.approx(np.sqrt((3 / 4 * w + b / 4) / w), rel=1e-14)


def test_mixed_chains_have_rhat_one_and_stuck_chains_have_not():
    mixed = autoregressive(0.3, draws=2000)
    assert split_rhat(mixed[:, :, None])[0] < 1.005
    stuck = mixed.copy()
    stuck[0] += 1.5
    assert split_rhat(stuck[:, :, None])[0] > 1.1
    assert effective_number(stuck[:, :, None])[0] < 50
    drifting = mixed + np.linspace(-1.5, 1.5, 2000)  # every chain alike: only the split shows it
    assert split_rhat(drifting[:, :, None])[0] > 1.1


def test_constant_chains_have_no_number():
    same, apart = np.full((4, 100, 1), 0.1), np.repeat([[[0.1]], [[0.2]]], 100, axis=1)
    for x in (same, apart):
        assert np.isnan(split_rhat(x)).all()
        assert np.isnan(effective_number(x)).all()
    one_moves = same.copy()
    one_moves[0, :, 0] += autoregressive(0.0, draws=100)[0]
    assert np.isfinite(split_rhat(one_moves)).all()
    assert np.isfinite(effective_number(one_moves)).all()


@pytest.mark.parametrize("shape", [(4, 7, 1), (100, 3), (0, 100, 1)])
def test_too_little_is_refused(shape):
    for function in (split_rhat, effective_number):
        with refused("too-few", (shape, 8)):
            function(np.zeros(shape))
