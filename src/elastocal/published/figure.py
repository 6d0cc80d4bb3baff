"""One number of a document: as printed, as recomputed, and why they may differ."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum


class Why(StrEnum):
    """Why a recomputed number is not the printed one; the note of the figure says more."""

    CONTRADICTION = "the document's own data contradict the printed number"
    RULE = "it is found here by another rule than the document's"
    DEFINITION = "the document counts or defines it otherwise"
    STOPPED = "the document's search stops before its end"
    PLAN = "the document's plan cannot tell these parameters apart"
    ONE_DRAW = "one random draw is printed, here many are taken"
    VIRTUAL = "the readings are not published: a virtual experiment stands for them"
    INPUTS = "inputs of the computation are not published"
    ROUNDING = "the digits printed of its inputs leave room for the printed number"
    OPEN = "the virtual experiment gives another size, and the cause is open"


NOT_PRINTED = (Why.ONE_DRAW, Why.VIRTUAL, Why.INPUTS, Why.OPEN)
"""Reasons that leave nothing to recompute from print alone: only sizes can be compared."""


class Kind(StrEnum):
    """What a comparison with a printed number can prove."""

    FROM_PRINT = "recomputed from printed data"
    SIZE = "only the size compares"
    PUT_IN = "put in, comes back"


@dataclass(frozen=True)
class Figure:
    """One number: as printed (None where nothing is printed), as recomputed, and why they may differ.

    ``place`` is where it is printed.  Without ``why`` both must agree to the last printed digit; ``last_digit`` is the
    unit of that digit where Python's shortest form of the number hides it (0.70, 0).  ``at_least`` marks a bound.
    ``put_in`` is the number that the readings were made of: that it comes back says nothing about the document.
    """

    name: str
    published: float | None
    recomputed: float | None
    unit: str
    note: str = ""
    place: str = ""
    why: Why | None = None
    last_digit: float | None = None
    at_least: bool = False
    put_in: float | None = None

    @property
    def kind(self) -> Kind:
        if self.put_in is not None:
            return Kind.PUT_IN
        return Kind.SIZE if self.why in NOT_PRINTED else Kind.FROM_PRINT

    @property
    def agrees(self) -> bool:
        """Whether a number recomputed from printed data is the printed one: digits that coincide otherwise are none."""
        return self.kind is Kind.FROM_PRINT and self.matches

    @property
    def matches(self) -> bool:
        """Whether the recomputed number, rounded like the printed one, is the printed one, or keeps its bound."""
        if self.published is None or self.recomputed is None:
            return False
        if self.at_least:
            return self.recomputed >= self.published
        digit = self.last_digit or 10.0 ** int(Decimal(repr(self.published)).as_tuple().exponent)
        return abs(self.recomputed - self.published) <= digit * (0.5 + 1e-6)

    @property
    def difference(self) -> float | None:
        """Relative to the printed number; None where that is zero or one of them is missing."""
        if not self.published or self.recomputed is None:
            return None
        return (self.recomputed - self.published) / abs(self.published)

    @property
    def unexplained(self) -> bool:
        """Printed, not reproduced, and nothing said about it; no reason explains a bound that is not kept."""
        return self.published is not None and not self.matches and (self.at_least or not (self.why and self.note))
