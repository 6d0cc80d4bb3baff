"""A model against a freer one for the same readings: F, or chi-square where the noise is known.

The stricter model has D unknowns fewer.  If it is true and the noise is normal, the rise dS of the sum of squares, in
units of the noise's variance, follows

    F = dS / D   on D and f    with the variance S / f that the freer model shows, or
    chi^2 = dS   on D          with the variance that is known (f infinite).

An effect that took no part in a fit is tested without fitting it (Rao's score test, 1948).  With Q and u of
``deletion`` (Q the precision of the readings before any unknown is known, u = S^-1 (y - J theta)) and A the columns of
the effect,

    step = (A^T Q A)^-1 A^T u,    dS = u^T A step

is what a fit that sought it too would find, to first order, on rank(A) degrees of freedom; the noise is that of the
residuals without the effect, S - dS on f - rank(A).

Readings of the same state tell the noise without any model: their scatter is the pure error, and the lack of fit of the
residuals is tested against it by F, else against the noise that is stated by chi2.
"""

from __future__ import annotations

from functools import cached_property
from math import inf, isfinite, nan

import numpy as np

from elastocal.distributions import chdtrc, fdtrc
from elastocal.quantities import probability
from elastocal.solve.evidence import Posterior
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass

LEVEL = 0.01
"""A model is rejected where data this far off it would come up less often than this."""
INDEPENDENT = 1e-6
"""Share of a column's square that the fitted columns must leave."""
DUST = 1e-8
"""Share of the largest square of an effect's columns below which one is not seen: rounding, or a turn of points that
are within 0.1 mm of its axis, beside a shift."""
ENOUGH = 5
"""Degrees of freedom of repeats from which on they tell the noise."""
EXACT = 1e-16
"""Variance of residuals, in units of the noise, that is rounding: readings without noise leave no less."""


@dataclass(frozen=True)
class NestedTest:
    """``statistic`` dS / D on ``added`` and ``freedom`` (inf: known noise), and the ``probability`` of more if the
    stricter model is true; nan with a ``reason`` where nothing can be told."""

    statistic: float
    added: int
    freedom: float
    probability: float
    reason: str = ""

    @property
    def rejected(self) -> bool:
        return self.probability < LEVEL

    @property
    def decided(self) -> bool:
        return isfinite(self.probability)

    @property
    def kind(self) -> str:
        return "chi^2" if self.freedom == inf else "F"

    @property
    def value(self) -> float:
        """Of the statistic that ``kind`` names."""
        return self.added * self.statistic if self.freedom == inf else self.statistic

    @property
    def chance(self) -> str:
        """The probability in words."""
        return probability(self.probability)

    def text(self) -> str:
        on = f"{self.added}" if self.freedom == inf else f"{self.added} and {self.freedom:g}"
        return f"{self.kind} = {self.value:.3g} on {on}, probability {self.chance}"


def undecided(added: int, freedom: float, reason: str) -> NestedTest:
    return NestedTest(nan, added, freedom, nan, reason)


def f_test(gain: float, added: int, freedom: float) -> NestedTest:
    """``gain`` is the fall of the sum of squares by ``added`` unknowns, in units of the noise's variance."""
    if added < 1:
        return undecided(added, freedom, "nothing is left to test with")
    if not freedom >= 1:
        return undecided(added, freedom, "the noise is not known: no reading to spare and none stated")
    value = max(gain, 0.0) / added
    if value == inf:  # noise of zero leaves no chance
        return NestedTest(value, added, freedom, 0.0)
    chance = chdtrc(added, added * value) if freedom == inf else fdtrc(added, freedom, value)
    return NestedTest(value, added, freedom, float(chance))


@dataclass(frozen=True, eq=False)
class Score:
    """Of one effect: how many columns are seen, their steps with ``sd``, nan of one that is not seen, and the
    probability of so much where it is absent.  ``noise`` is what the residuals show without the
    effect, in units of what it was taken for."""

    size: int
    step: Array
    sd: Array
    chi2: float
    noise: float
    probability: float


@dataclass(frozen=True, eq=False)
class ScoreTests:
    """Of effects that took no part in a fit; those that it explains count for nothing."""

    post: Posterior

    @cached_property
    def span(self) -> Array:
        """(N R, p): whitened columns of the fit, those of Q = 1 - span span^T."""
        n, r, p = self.post.blocks.shape
        return np.asarray(self._white(self.post.blocks.jacobian).reshape(n * r, p) @ self.post.half.T)

    @cached_property
    def left(self) -> Array:
        return np.asarray(np.sqrt(self.post.blocks.power) * self.post.white.reshape(-1))

    @cached_property
    def freedom(self) -> float:
        blocks = self.post.blocks
        return blocks.power * blocks.count - self.post.effective - len(blocks.noise)

    def of(self, columns: Array) -> Score:
        """Of the columns (N, R, a) of an effect."""
        white = self._white(columns).reshape(-1, columns.shape[2])
        return score_of_rows(self.span, self.left, white, self.freedom)

    def chi2(self, columns: Array) -> Array:
        """dS (K,) of each of K effects, of ``columns`` (N, R, K, a)."""
        n, r, k, a = columns.shape
        white = self._white(columns.reshape(n, r, k * a)).reshape(n * r, k, a)
        return _seen(self.span, self.left, white.transpose(1, 0, 2), INDEPENDENT)[2]

    def left_after(self, columns: Array, step: Array) -> Array:
        """Whitened residuals (N, R) of a fit that has taken a ``step`` of the effect too."""
        white = self._white(columns).reshape(-1, columns.shape[2]) @ step
        after = self.left - white + self.span @ (self.span.T @ white)
        return np.asarray(after.reshape(self.post.white.shape) / np.sqrt(self.post.blocks.power))

    def _white(self, columns: Array) -> Array:
        return np.asarray(np.sqrt(self.post.blocks.power) * (self.post.inverse @ columns))


def score_of_rows(
    span: Array, left: Array, columns: Array, freedom: float, *, floor: float = 0.0, independent: float = INDEPENDENT
) -> Score:
    """Of whitened ``columns`` (m, a) beside the ``span`` (m, p) of those that were fitted, with residuals ``left``.

    ``freedom`` of the residuals are to spare; the noise is at least ``floor``, as a share of the variance.
    """
    steps, spreads, gains, sizes = _seen(span, left, columns[None], independent)
    step, spread, chi2, size = steps[0], spreads[0], float(gains[0]), int(sizes[0])
    if not size or freedom - size < 1:
        return Score(size, step, np.full(len(step), np.nan), 0.0, float("nan"), 1.0)
    rest = max((float(left @ left) - chi2) / (freedom - size), EXACT)
    noise = float(np.sqrt(max(rest, floor)))
    chance = f_test(chi2 / noise**2, size, inf if rest < floor else freedom - size).probability
    return Score(size, step, noise * spread, chi2, noise, chance)


def _seen(span: Array, left: Array, columns: Array, independent: float) -> tuple[Array, Array, Array, Ints]:
    """Step and its spread (K, a), dS (K,) and the number (K,) of columns seen, of K effects (K, m, a)."""
    own = np.einsum("kia,kia->ka", columns, columns)
    unit = 1 / np.sqrt(np.where(own > DUST * own.max(axis=1, initial=0.0, keepdims=True), own, np.inf))
    turned = columns.transpose(0, 2, 1)
    reach = unit[:, :, None] * (turned @ span)
    scaled = unit[:, :, None] * unit[:, None, :] * (turned @ columns)
    values, vectors = np.linalg.eigh(scaled - reach @ reach.transpose(0, 2, 1))
    good = values > independent
    weight = np.where(good, 1 / np.where(good, values, 1.0), 0.0)
    along = np.einsum("kab,ka->kb", vectors, unit * (turned @ left))
    step = unit * np.einsum("kab,kb->ka", vectors, along * weight)
    spread = np.where(unit > 0, unit * np.sqrt(np.einsum("kab,kb->ka", vectors**2, weight)), np.nan)
    return step, spread, np.sum(along**2 * weight, axis=1), good.sum(axis=1)


@dataclass(frozen=True)
class LackOfFit:
    """``pure_error`` and ``lack_of_fit`` are sizes in units of the stated noise; nan where nothing was repeated.

    ``probability`` is that of so large a ratio by chance where the model is right (F test); ``each`` is how many times
    a state was read on average, which is by how much a fault of the model counts more than noise in ``lack_of_fit``**2.
    """

    pure_error: float
    pure_freedom: int
    lack_of_fit: float
    lack_freedom: int
    ratio: float
    probability: float
    each: float


def split_residuals(whitened: Array, used: Bools, state: Ints, everything: float, freedom: int) -> LackOfFit:
    """Of residuals (N, R) in units of the noise, and their sum of squares with priors, by the states (N,) repeated."""
    groups = int(state.max()) + 1
    count = np.zeros((groups, whitened.shape[1]))
    total = np.zeros_like(count)
    np.add.at(count, state, used)
    np.add.at(total, state, np.where(used, whitened, 0.0))
    mean = total / np.maximum(count, 1)
    pure = float(np.sum(np.where(used, whitened - mean[state], 0.0) ** 2))
    pure_freedom = int(np.sum(np.maximum(count - 1, 0)))
    lack_freedom = freedom - pure_freedom
    lack = max(everything - pure, 0.0)
    if pure_freedom < 1 or lack_freedom < 1:
        size = float(np.sqrt(pure / pure_freedom)) if pure_freedom > 0 else nan
        return LackOfFit(size, pure_freedom, nan, max(lack_freedom, 0), nan, nan, nan)
    test = f_test(lack / (pure / pure_freedom) if pure > 0 else inf, lack_freedom, pure_freedom)
    sizes = float(np.sqrt(pure / pure_freedom)), float(np.sqrt(lack / lack_freedom))
    return LackOfFit(sizes[0], pure_freedom, sizes[1], lack_freedom, test.statistic, test.probability, _each(count))


def _each(count: Array) -> float:
    """Mean number of repeats that makes an analysis of variance with uneven groups unbiased; m where all are m."""
    sizes = count[count > 0]
    total = float(sizes.sum())
    return (total - float(np.sum(sizes**2)) / total) / (len(sizes) - 1) if len(sizes) > 1 else total
