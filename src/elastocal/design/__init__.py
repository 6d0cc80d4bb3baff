"""What to measure: candidates, feasibility, exchange search, certificate; ``planned`` puts them together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elastocal.lazy import lazy

if TYPE_CHECKING:
    from elastocal.design.assessing import Assessment, assess
    from elastocal.design.planning import planned
    from elastocal.design.result import Plan

__all__ = ["Assessment", "Plan", "assess", "planned"]
_HOME = {"planned": "planning", "Plan": "result", "assess": "assessing", "Assessment": "assessing"}
__getattr__, __dir__ = lazy(__name__, {name: f"{__name__}.{module}" for name, module in _HOME.items()})
