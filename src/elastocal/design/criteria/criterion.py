"""A criterion of a plan: how much it tells about some linear functions W x of the parameters.

Every criterion is written as a gain, a logarithm that grows with what is known:

    gain(t M) = gain(M) + degree log t

(t times the readings), so that gains of different criteria may be weighed against each other, whatever the units, and
exp of a difference of gains is an efficiency: the part of the readings that would do.  Nuisances are estimated along
with the parameters and marginalised: no W of a criterion asks about them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cache, cached_property
from typing import ClassVar, Literal, Self

import numpy as np

from elastocal.design.knowledge import Knowledge, Trials, pushed
from elastocal.errors import RangeError, ShapeError, UnknownNameError, UnsupportedError
from elastocal.kinds import kinds_in
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

Over = Literal["mean", "largest"]
"""Whether all test poses count, or the worst."""


def minus_log(variance: Array) -> Array:
    """-log of variances; -inf where rounding left nothing of one."""
    good = variance > 0
    return np.where(good, -np.log(np.where(good, variance, 1.0)), -np.inf)


def mean_slopes(known: Knowledge, wanted: Array, rows: Array) -> Array:
    """Derivative of -log tr(W C W^T) by the weight of each candidate: |A_c C W^T|^2 / tr(W C W^T)."""
    half = known.half(wanted)
    seen = pushed(half @ known.root.T, rows)
    return np.asarray(np.einsum("rkn,rkn->n", seen, seen) / np.sum(half**2))


@dataclass(frozen=True, eq=False)
class Stakes:
    """What a task gives to its criteria: sizes (p,) of the parameters that matter, and how what counts at the test
    poses depends on them, ``derivatives`` (T, r, p)."""

    scales: Array
    derivatives: Array
    over: Over


class Criterion(ABC):
    """One criterion; frozen dataclasses with a ``kind`` word."""

    kind: ClassVar[str]

    @classmethod
    def for_task(cls, stakes: Stakes) -> Self:
        """The criterion with what it needs of the task: nothing, unless it says so."""
        return cls()

    @property
    def monotone(self) -> bool:
        """True where more data are never worse."""
        return True

    @property
    def degree(self) -> float:
        """Of log t in the gain."""
        return 1.0

    @property
    def certifiable(self) -> bool:
        """True where exp(gain) is concave in the weights of candidates and ``slopes`` are its derivatives."""
        return False

    def gain(self, known: Knowledge) -> float:
        """The larger the better: of a value that is a standard deviation or a ratio, unless it says otherwise."""
        return float(-2 * np.log(self.value(known)))

    @abstractmethod
    def value(self, known: Knowledge) -> float:
        """The criterion as people quote it, in its own unit."""

    @abstractmethod
    def gains(self, trials: Trials) -> Array:
        """The gain after each candidate (n,)."""

    def ceilings(self, trials: Trials) -> Array | None:
        """Upper bounds (n,) of the gains where these cost much more; None where gains are cheap."""
        return None

    def slopes(self, known: Knowledge, rows: Array) -> Array:
        """Derivative (n,) of the gain by the weights of candidates ``rows`` (p, k, n)."""
        raise UnsupportedError(
            f"there is no certificate for the criterion {self.kind!r}; d, a and test_pose (mean) have one",
            value=self.kind,
        )

    def check(self, parameters: int) -> None:  # noqa: B027  some fit any number of parameters
        """Raise an InputError where the criterion was made for another number of parameters."""


@dataclass(frozen=True, eq=False)
class ScaledCriterion(Criterion, ABC):
    """Of the parameters over their ``scales`` (p,), the sizes that matter; without them all count as one."""

    scales: Array | None = None

    @classmethod
    def for_task(cls, stakes: Stakes) -> Self:
        return cls(stakes.scales)

    def check(self, parameters: int) -> None:
        scales = self.scales
        if scales is not None and (scales.shape != (parameters,) or not np.all(np.isfinite(scales) & (scales > 0))):
            raise ShapeError(
                f"criterion {self.kind}: scales must be {parameters} positive numbers, one for each parameter",
                value=(self.kind, parameters),
            )

    def sought(self, known: Knowledge) -> Array:
        """W (s, p): the parameters sought, each divided by its scale."""
        interest = known.coordinates.interest
        return interest if self.scales is None else np.asarray(interest / self.scales)


@dataclass(frozen=True, eq=False)
class Weighted(Criterion):
    """Several at once: the weighted mean of their gains, a weighted product of efficiencies.

    ``parts`` are positive weights with criteria; only ratios of the weights matter.
    """

    kind: ClassVar[str] = "weighted"
    parts: tuple[tuple[float, Criterion], ...]

    def __post_init__(self) -> None:
        if not self.parts or not all(np.isfinite(w) and w > 0 for w, _ in self.parts):
            raise RangeError("a weighted criterion needs parts, each with a positive weight", code="no-parts")

    @cached_property
    def shares(self) -> tuple[tuple[float, Criterion], ...]:
        total = sum(w for w, _ in self.parts)
        return tuple((w / total, part) for w, part in self.parts)

    @property
    def monotone(self) -> bool:
        return all(part.monotone for _, part in self.parts)

    @property
    def degree(self) -> float:
        return sum(w * part.degree for w, part in self.shares)

    @property
    def certifiable(self) -> bool:
        return all(part.certifiable for _, part in self.parts)

    def check(self, parameters: int) -> None:
        for _, part in self.parts:
            part.check(parameters)

    def gain(self, known: Knowledge) -> float:
        return sum(w * part.gain(known) for w, part in self.shares)

    def value(self, known: Knowledge) -> float:
        return self.gain(known)

    def gains(self, trials: Trials) -> Array:
        return self._sum(lambda part: part.gains(trials))

    def ceilings(self, trials: Trials) -> Array | None:
        bounds = [part.ceilings(trials) for _, part in self.shares]
        if all(b is None for b in bounds):
            return None
        known = [part.gains(trials) if b is None else b for b, (_, part) in zip(bounds, self.shares, strict=True)]
        return np.asarray(sum(w * b for b, (w, _) in zip(known, self.shares, strict=True)))

    def slopes(self, known: Knowledge, rows: Array) -> Array:
        return self._sum(lambda part: part.slopes(known, rows))

    def _sum(self, of: Callable[[Criterion], Array]) -> Array:
        return np.asarray(sum(w * of(part) for w, part in self.shares))


@cache
def criterion_kinds() -> dict[str, type[Criterion]]:
    """Every criterion that stands alone by its kind; ``weighted`` is made of others."""
    from elastocal.design import criteria

    return {
        kind: c for kind, c in kinds_in(criteria, Criterion, group="elastocal.criteria").items() if kind != "weighted"
    }


def criterion_class(kind: str) -> type[Criterion]:
    classes = criterion_kinds()
    if kind not in classes:
        raise UnknownNameError("criterion", kind, classes)
    return classes[kind]
