"""A number with its accuracy, or the reason why there is none; and the test of a simpler model against a freer one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite, nan, sqrt

LEVEL = 0.01
"""A model is rejected where data this far off it would come up less often than this."""


@dataclass(frozen=True)
class Estimate:
    """``sd`` rests on ``freedom`` spare readings (inf: a stated noise); ``reason`` says why a number is nan."""

    value: float
    sd: float
    freedom: float = inf
    reason: str = ""

    @property
    def known(self) -> bool:
        return isfinite(self.value)

    def half_width(self, level: float = 0.95) -> float:
        """Half of the two-sided interval (Student's t)."""
        from scipy.special import ndtri, stdtrit

        if not isfinite(self.sd):
            return nan
        at = 0.5 * (1 + level)
        return float(self.sd * (ndtri(at) if self.freedom == inf else stdtrit(self.freedom, at)))

    @property
    def absent(self) -> bool:
        """Known, but not told from zero: its 95 % interval holds zero."""
        return self.known and self.value <= self.half_width()

    def times(self, factor: float) -> Estimate:
        return Estimate(factor * self.value, abs(factor) * self.sd, self.freedom, self.reason)

    def minus(self, other: Estimate) -> Estimate:
        """The difference of independent numbers; freedom by Welch and Satterthwaite."""
        reason = self.reason or other.reason
        variance = self.sd**2 + other.sd**2
        parts = self.sd**4 / self.freedom + other.sd**4 / other.freedom
        return Estimate(self.value - other.value, variance**0.5, variance**2 / parts if parts > 0 else inf, reason)


def unknown(reason: str) -> Estimate:
    return Estimate(nan, nan, nan, reason)


@dataclass(frozen=True)
class FTest:
    """F on two degrees of freedom, the second inf where the noise was stated (chi-square); nan with a reason."""

    statistic: float
    freedom: tuple[int, float]
    probability: float
    reason: str = ""

    @property
    def rejected(self) -> bool:
        return self.probability < LEVEL

    @property
    def chance(self) -> str:
        """The probability in words."""
        return f"{self.probability:.1g}" if self.probability > 1e-300 else "below 1e-300"

    @property
    def decided(self) -> bool:
        return isfinite(self.probability)


def f_test(gain: float, more: int, freedom: float) -> FTest:
    """``gain`` is the fall of the weighted sum of squares by ``more`` unknowns."""
    from scipy.special import chdtrc, fdtrc

    if more < 1:
        return FTest(nan, (more, freedom), nan, "nothing is left to test with")
    if not freedom >= 1:
        return FTest(nan, (more, freedom), nan, "the noise is not known: no reading to spare and none stated")
    value = max(gain, 0.0) / more
    probability = chdtrc(more, more * value) if freedom == inf else fdtrc(more, freedom, value)
    return FTest(value, (more, freedom), float(probability))


def mean_of(numbers: Sequence[Estimate]) -> tuple[Estimate, FTest]:
    """Inverse-variance mean of independent numbers that have an accuracy, and the test that they are one number.

    Where they are not, the sd is raised to their scatter about the mean.
    """
    given = [e for e in numbers if e.known and isfinite(e.sd) and e.sd > 0]
    if not given:
        reason = next((e.reason for e in numbers if e.reason), "nothing was measured")
        return unknown(reason), FTest(nan, (0, nan), nan, reason)
    freedom = min(e.freedom for e in given)
    weight = sum(e.sd**-2 for e in given)
    value = sum(e.value * e.sd**-2 for e in given) / weight
    test = f_test(sum(((e.value - value) / e.sd) ** 2 for e in given), len(given) - 1, freedom)
    raised = max(1.0, test.statistic) if test.rejected else 1.0
    return Estimate(value, sqrt(raised / weight), freedom), test
