"""Published cases, recomputed now."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from elastocal.app.threads import one_thread

if TYPE_CHECKING:
    from elastocal.cases.case import Figure, Outcome

SEED = 20130101


@dataclass(frozen=True)
class CaseLine:
    case: str
    title: str
    source: str


@dataclass(frozen=True)
class ReproduceResult:
    title: str
    source: str
    outcome: Outcome


def cases() -> tuple[CaseLine, ...]:
    from elastocal.cases.case import registry

    return tuple(CaseLine(c.name, c.title, c.source) for c in registry().values())


def run(name: str, seed: int = SEED, progress: Callable[[int, int], None] | None = None) -> ReproduceResult:
    import numpy as np

    from elastocal.cases.case import case_named, unwatched

    case = case_named(name)
    with one_thread():
        return ReproduceResult(case.title, case.source, case.run(np.random.default_rng(seed), progress or unwatched))


def cases_data(lines: tuple[CaseLine, ...]) -> dict[str, Any]:
    """The object that ``reproduce --json`` prints."""
    return {"cases": [{"case": c.case, "title": c.title, "source": c.source} for c in lines]}


def outcome_data(outcome: Outcome) -> dict[str, Any]:
    """The object that ``reproduce CASE --json`` prints."""
    figures = [_figure_data(f) for f in outcome.figures]
    figures += [
        {"name": x.name, "published": None, "recomputed": [dict(row) for row in x.rows], "unit": "", "note": x.note}
        for x in outcome.listings
    ]
    return {"case": outcome.case, "verdict": outcome.verdict, "figures": figures}


def _figure_data(f: Figure) -> dict[str, Any]:
    """With where and why for a number that is printed."""
    out = {"name": f.name, "published": f.published, "recomputed": f.recomputed, "unit": f.unit, "note": f.note}
    if f.published is None:
        return out
    why = None if f.agrees or f.why is None else f.why.value
    return {**out, "place": f.place, "kind": f.kind.value, "agrees": f.agrees, "why": why}
