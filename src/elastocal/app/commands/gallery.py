"""All published cases, recomputed now over two processes, and how many printed numbers follow from printed data."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import as_completed
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from elastocal.app.commands import reproduce

if TYPE_CHECKING:
    from elastocal.cases.case import Figure, Kind, Why

WORKERS = 2
LONGEST_FIRST = ("kr270-elastostatic", "scara-contact")
"""Cases that would keep one process busy at the end if they came late."""
CLOSE = 0.01
"""Relative difference up to which a number that is not reproduced to its last digit counts as close."""


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
    results: tuple[reproduce.ReproduceResult, ...]

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
        from collections import Counter

        differ = (f for f in self.printed if f.put_in is None and not f.matches)
        return dict(Counter(f.why for f in differ if f.why is not None).most_common())


def run(names: tuple[str, ...] = (), progress: Callable[[int, int], None] | None = None) -> Gallery:
    """Cases (default all) in the order of their names, each as ``reproduce.run`` gives it."""
    from elastocal.app.workers import executor

    wanted = names or tuple(c.case for c in reproduce.cases())
    with executor(WORKERS, None) as pool:
        assert pool is not None
        begun = sorted(wanted, key=lambda name: (name not in LONGEST_FIRST, name))
        futures = {name: pool.submit(reproduce.run, name) for name in begun}
        for done, future in enumerate(as_completed(futures.values()), 1):
            future.result()
            if progress is not None:
                progress(done, len(futures))
    return Gallery(tuple(futures[name].result() for name in wanted))


def printed(result: reproduce.ReproduceResult) -> tuple[Figure, ...]:
    return tuple(f for f in result.outcome.figures if f.published is not None)


def tally(figures: tuple[Figure, ...]) -> Tally:
    from elastocal.cases.case import Kind

    own = [f for f in figures if f.kind is Kind.FROM_PRINT]
    close = [f for f in own if f.agrees or (f.difference is not None and abs(f.difference) <= CLOSE)]
    return Tally(len(figures), sum(f.agrees for f in own), len(close), sum(f.unexplained for f in figures))


def data(gallery: Gallery) -> dict[str, Any]:
    """The object that ``reproduce --report FILE --json`` prints."""
    from elastocal.cases.case import Kind

    return {
        "all": asdict(tally(gallery.printed)),
        "from_print": asdict(tally(gallery.of(Kind.FROM_PRINT))),
        "sizes": len(gallery.of(Kind.SIZE)),
        "put_in": len(gallery.of(Kind.PUT_IN)),
        "reasons": {why.value: count for why, count in gallery.reasons.items()},
        "cases": [{"title": r.title, "source": r.source, **reproduce.outcome_data(r.outcome)} for r in gallery.results],
    }
