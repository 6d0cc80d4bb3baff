"""A model against a freer one for the same readings: F, or chi-square where the noise is known.

The stricter model has D unknowns fewer.  If it is true and the noise is normal, the rise dS of the sum of squares, in
units of the noise's variance, follows

    F = dS / D   on D and f    with the variance S / f that the freer model shows, or
    chi^2 = dS   on D          with the variance that is known (f infinite).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite, nan

from elastocal.distributions import chdtrc, fdtrc
from elastocal.quantities import probability

LEVEL = 0.01
"""A model is rejected where data this far off it would come up less often than this."""


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
    chance = chdtrc(added, added * value) if freedom == inf else fdtrc(added, freedom, value)
    return NestedTest(value, added, freedom, float(chance))
