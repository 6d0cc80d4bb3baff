"""What to measure: candidates, feasibility, exchange search, certificate; ``planned`` puts them together."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from elastocal.design.assessing import Assessment, assess
    from elastocal.design.planning import planned
    from elastocal.design.result import Plan

__all__ = ["Assessment", "Plan", "assess", "planned"]
_HOME = {"planned": "planning", "Plan": "result", "assess": "assessing", "Assessment": "assessing"}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
