"""Published cases recomputed now: one, or all over two processes, and how many printed numbers follow from print."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict
from multiprocessing import get_context
from typing import Any

from elastocal.published.case import (
    SEED,
    Case,
    Figure,
    Kind,
    Outcome,
    Progress,
    Why,
    case_named,
    registry,
    reproduce,
    unwatched,
)
from elastocal.values import dataclass

WORKERS = 2
LONGEST_FIRST = ("kr270-elastostatic", "scara-contact")
"""Cases that would keep one process busy at the end if they came late."""
CLOSE = 0.01
"""Relative difference up to which a number that is not reproduced to its last digit counts as close."""


@dataclass(frozen=True)
class CaseList:
    cases: tuple[Case, ...]


@dataclass(frozen=True)
class ReproduceResult:
    title: str
    source: str
    outcome: Outcome

    @property
    def failed(self) -> bool:
        return bool(self.outcome.unexplained)


@dataclass(frozen=True)
class Tally:
    """Comparisons with printed numbers: all, and of those from printed data equal to the last printed digit and within
    1 % (these included); not explained."""

    compared: int
    agree: int
    close: int
    unexplained: int


@dataclass(frozen=True)
class Gallery:
    results: tuple[ReproduceResult, ...]

    @property
    def failed(self) -> bool:
        return tally(self.printed).unexplained > 0

    @property
    def printed(self) -> tuple[Figure, ...]:
        return tuple(f for r in self.results for f in printed(r))

    def of(self, kind: Kind) -> tuple[Figure, ...]:
        return tuple(f for f in self.printed if f.kind is kind)

    @property
    def come_back(self) -> tuple[float, ...]:
        """Relative errors of the numbers that were put in, where these are not zero."""
        return tuple(abs(f.recomputed / f.put_in - 1) for f in self.printed if f.put_in and f.recomputed is not None)

    @property
    def reasons(self) -> dict[Why, int]:
        """How many numbers differ for each reason, the most frequent first; those that were put in left out."""
        differ = (f for f in self.printed if f.put_in is None and not f.matches)
        return dict(Counter(f.why for f in differ if f.why is not None).most_common())


def recompute(name: str, progress: Progress | None = None) -> ReproduceResult:
    case = case_named(name)
    return ReproduceResult(case.title, case.source, reproduce(name, SEED, progress or unwatched))


def run(names: tuple[str, ...] = (), progress: Callable[[int, int, str], None] | None = None) -> Gallery:
    """Cases (default all) in the order of their names, each as ``recompute`` gives it."""
    wanted = names or tuple(registry())
    with ProcessPoolExecutor(WORKERS, get_context("spawn")) as pool:
        begun = sorted(wanted, key=lambda name: (name not in LONGEST_FIRST, name))
        futures = {name: pool.submit(recompute, name) for name in begun}
        case_of = {future: name for name, future in futures.items()}
        for done, future in enumerate(as_completed(case_of), 1):
            future.result()
            if progress is not None:
                progress(done, len(futures), f"{case_of[future]} done")
    return Gallery(tuple(futures[name].result() for name in wanted))


def printed(result: ReproduceResult) -> tuple[Figure, ...]:
    return tuple(f for f in result.outcome.figures if f.published is not None)


def tally(figures: tuple[Figure, ...]) -> Tally:
    own = [f for f in figures if f.kind is Kind.FROM_PRINT]
    close = [f for f in own if f.agrees or (f.difference is not None and abs(f.difference) <= CLOSE)]
    return Tally(len(figures), sum(f.agrees for f in own), len(close), sum(f.unexplained for f in figures))


def gallery_data(gallery: Gallery) -> dict[str, Any]:
    """All cases as one object, for programs."""
    return {
        "all": asdict(tally(gallery.printed)),
        "from_print": asdict(tally(gallery.of(Kind.FROM_PRINT))),
        "sizes": len(gallery.of(Kind.SIZE)),
        "put_in": len(gallery.of(Kind.PUT_IN)),
        "reasons": {why.value: count for why, count in gallery.reasons.items()},
        "cases": [{"title": r.title, "source": r.source, **outcome_data(r.outcome)} for r in gallery.results],
    }


def cases_data(cases: tuple[Case, ...]) -> dict[str, Any]:
    """The list of cases, for programs."""
    return {"cases": [{"case": c.name, "title": c.title, "source": c.source} for c in cases]}


def outcome_data(outcome: Outcome) -> dict[str, Any]:
    """One case, for programs."""
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
