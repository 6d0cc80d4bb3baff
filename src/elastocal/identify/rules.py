"""How a reduction decides (003 section 4)."""

from __future__ import annotations

from dataclasses import dataclass

from elastocal.errors import InputError
from elastocal.identify.begin import PLAIN, Begin
from elastocal.solve.groups import ABOVE, BELOW
from elastocal.solve.loss import Loss


@dataclass(frozen=True)
class ReductionRules:
    """How to reduce: thresholds of the parameter-to-noise ratio, whether M3 runs, the loss of the final fit, whether
    numbers that do not belong are left out before anything is judged by their scatter, and where the search begins."""

    thresholds: tuple[float, float] = (ABOVE, BELOW)
    statistical: bool = True
    loss: Loss = "linear"
    leave_out: bool = True
    begin: Begin = PLAIN

    def __post_init__(self) -> None:
        above, below = self.thresholds
        if not above > below > 0:
            raise InputError(f"thresholds {above:g} and {below:g}: upper above lower, both positive")


USUAL = ReductionRules()
