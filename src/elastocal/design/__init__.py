"""What to measure: candidates, feasibility, exchange search, certificate; ``plan`` puts them together.

from elastocal.design import plan
plan(robot, cell, loads=[Hanging(masses=(100.0,))], markers=["marker1", "marker2"])
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from elastocal.design.assessing import Assessment, assess
    from elastocal.design.planning import plan
    from elastocal.design.result import Plan

__all__ = ["Assessment", "Plan", "assess", "plan"]
_HOME = {"plan": "planning", "Plan": "result", "assess": "assessing", "Assessment": "assessing"}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
