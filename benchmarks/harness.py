"""Contenders take turns in one process; the best of several rounds counts, and only ratios are judged.

Times are those of the processor, so that other work on the machine does not count; short work is repeated.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass

from elastocal.spatial.compiled import Compiled


@dataclass(frozen=True)
class Contender:
    """``run`` does ``items`` pieces of the work; ``needed`` is the ratio that the first contender must reach."""

    name: str
    items: int
    run: Callable[[], object]
    needed: float | None = None


@dataclass(frozen=True)
class Row:
    name: str
    microseconds: float
    ratio: float
    needed: float | None

    @property
    def verdict(self) -> str:
        if self.needed is None:
            return ""
        return "ok" if self.ratio >= self.needed else "MISSED"


@dataclass(frozen=True)
class Outcome:
    work: str
    rows: tuple[Row, ...]
    facts: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, object]:
        rows = [{**asdict(r), "verdict": r.verdict} for r in self.rows]
        return {"work": self.work, "rows": rows, "facts": list(self.facts)}

    def text(self) -> str:
        lines = [self.work]
        for row in self.rows:
            need = f"   needed {row.needed:g}x: {row.verdict}" if row.needed is not None else ""
            lines.append(f"  {row.name:<58} {row.microseconds:>11.3f} us  {row.ratio:>9.3g}x{need}")
        return "\n".join([*lines, *(f"  {fact}" for fact in self.facts)])


@contextmanager
def backend(name: str) -> Iterator[None]:
    """``numpy``: nothing is compiled; ``fast``: everything is, at its first use."""
    kept = Compiled.ready

    def ready(self: Compiled, code: object, size: int) -> Compiled | None:
        if name == "fast" and self.kernel is None:
            self.make(code)  # type: ignore[arg-type]
        return self if name == "fast" and self.kernel is not None else None

    Compiled.ready = ready  # type: ignore[assignment, method-assign]
    try:
        yield
    finally:
        Compiled.ready = kept  # type: ignore[method-assign]


BACKENDS = ("numpy", "fast")


def race(work: str, contenders: list[Contender], rounds: int = 5, facts: tuple[str, ...] = ()) -> Outcome:
    """Interleaved rounds; the ratio of a row is its time per item over that of the first contender."""
    best = [float("inf")] * len(contenders)
    times = [_repeats(c) for c in contenders]
    for _ in range(rounds):
        for i, c in enumerate(contenders):
            gc.collect()
            start = time.process_time()
            for _ in range(times[i]):
                c.run()
            best[i] = min(best[i], (time.process_time() - start) / (c.items * times[i]))
    rows = tuple(Row(c.name, t * 1e6, t / best[0], c.needed) for c, t in zip(contenders, best, strict=True))
    return Outcome(work, rows, facts)


def _repeats(c: Contender) -> int:
    """How often to run so that the clock can be read: 20 ms or more.  The first runs make what is made once."""
    slow = 0
    for _ in range(4):
        start = time.process_time()
        c.run()
        spent = time.process_time() - start
        slow = slow + 1 if spent > 1.0 else 0
        if slow == 2:
            return 1
    return max(1, round(0.02 / max(spent, 1e-6)))
