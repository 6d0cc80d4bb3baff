"""What has happened to one robot, in time: entries, what is released, what drifts, what is due."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from elastocal.errors import InputError
from elastocal.results import Finding, as_frame, as_html, note, warning
from elastocal.spatial.entries import Array
from elastocal.store.drift import RUN_LENGTH, Drift, active, drift
from elastocal.store.entry import Calibrated, Entry, Released
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.report.blocks import Report

SOON = 30
"""Days before the day when a release must be renewed from which on it is told."""


@dataclass(frozen=True, eq=False, repr=False)
class RobotHistory:
    """``entries`` in the order in which they were recorded; ``poses`` (N, n) are joint values, SI."""

    robot: str
    joints: tuple[str, ...]
    poses: Array
    entries: tuple[Entry, ...]
    mark: str | None = None
    """SHA-256 of the last document, which the next one will bear."""
    run_length: float = RUN_LENGTH

    @cached_property
    def active(self) -> tuple[Entry, ...]:
        """Those that nothing supersedes, in the order of time."""
        return active(self.entries)

    @cached_property
    def calibrations(self) -> tuple[Entry, ...]:
        return tuple(e for e in self.active if e.calibration is not None)

    @cached_property
    def checks(self) -> tuple[Entry, ...]:
        return tuple(e for e in self.active if e.check is not None)

    @cached_property
    def released(self) -> Entry | None:
        """The release that holds."""
        return next((e for e in reversed(self.entries) if e.release and e.number not in self._later), None)

    @property
    def release(self) -> Released | None:
        """What it says."""
        return None if self.released is None else self.released.release

    @property
    def reference(self) -> Entry:
        """What changes are seen against: the released calibration, or the first."""
        return self.calibrations[0] if self.release is None else self.entry(self.release.of)

    @cached_property
    def drift(self) -> Drift:
        return drift(self.entries, self.run_length)

    @cached_property
    def alarms(self) -> tuple[Finding, ...]:
        """Drift since the last release: whoever releases has seen what was charted until then."""
        last = max((e.number for e in self.entries if e.release is not None), default=0)
        return self.drift.alarms(last)

    def findings(self, today: date) -> tuple[Finding, ...]:
        """Alarms, and what must be renewed."""
        return (*self.alarms, *due(self.release, today), *self.drift.notes)

    def entry(self, number: int) -> Entry:
        if not 1 <= number <= len(self.entries):
            raise InputError(f"{self.robot}: there is no number {number}; it has 1 to {len(self.entries)}",
                             code="unknown-number", value=number)  # fmt: skip
        return self.entries[number - 1]

    def superseded_by(self, number: int) -> Entry | None:
        return self._later.get(number)

    @cached_property
    def _later(self) -> dict[int, Entry]:
        """By number: what superseded it."""
        return {e.supersedes: e for e in self.entries if e.supersedes is not None}

    def shown(self, until: int | None = None, count: int | None = None) -> Shown:
        """All entries, or ``count`` up to number ``until``."""
        last = len(self.entries) if until is None else min(max(until, 1), len(self.entries))
        return Shown(self, range(1 if count is None else max(1, last - count + 1), last + 1))

    def rows(self) -> list[dict[str, Any]]:
        """One record for every entry, SI."""
        tools = self.shown().tool_changes
        return [_row(e, self, tools.get(e.number, (float("nan"),) * 2)) for e in self.entries]

    def to_frame(self) -> Any:
        """``rows`` as a pandas DataFrame, or as they are where pandas is not installed."""
        return as_frame(self.rows())

    def page(self, today: date | None = None, until: int | None = None, count: int | None = None) -> Report:
        """As a report: all entries, or ``count`` up to number ``until``; what drifts and what is due is that of all."""
        from elastocal.store.page import history_page

        return history_page(self.shown(until, count), today or date.today())

    def report(self, path: str | PathLike[str], *, today: date | None = None) -> Path:
        """Write the history as an HTML page that opens offline."""
        from elastocal.files.write import check_targets, write_files
        from elastocal.report.html import as_html as page_text

        target = Path(path)
        check_targets({"report": target})
        write_files({target: page_text(self.page(today))})
        return target

    def _repr_html_(self) -> str:
        return as_html(self)

    def __repr__(self) -> str:
        own = self.release
        named = f"released: {own.name!r} (calibration {own.of})" if own else "nothing is released"
        counts = f"{len(self.calibrations)} calibrations, {len(self.checks)} checks"
        alarms = "".join(f"\n  {a.code}: {a.text}" for a in self.alarms)
        return f"<History of {self.robot}: {counts}; {named}{alarms}>"


@dataclass(frozen=True, eq=False)
class Shown:
    """Entries of a history that are drawn and listed, by their numbers."""

    of: RobotHistory
    numbers: range

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        return tuple(self.of.entry(n) for n in self.numbers)

    @cached_property
    def calibrations(self) -> tuple[Entry, ...]:
        """Those that count, in the order of time."""
        return tuple(e for e in self.of.calibrations if e.number in self.numbers)

    @cached_property
    def checks(self) -> tuple[Entry, ...]:
        return tuple(e for e in self.of.checks if e.number in self.numbers)

    @cached_property
    def tool_changes(self) -> dict[int, tuple[float, float]]:
        """By number of calibration: RMS change in m of the tool at the check poses against the released calibration,
        or the first, without shifts and turns of the whole; and its standard deviation."""
        if not self.calibrations:
            return {}
        reference = self.of.reference.calibration
        assert reference is not None
        return _tool_changes(reference, self.calibrations)

    @property
    def since(self) -> str:
        return f"days since {self.of.active[0].time[:10]}"

    def days(self, some: Sequence[Entry]) -> tuple[float, ...]:
        first = datetime.fromisoformat(self.of.active[0].time)
        return tuple((datetime.fromisoformat(e.time) - first).total_seconds() / 86400 for e in some)


def due(release: Released | None, today: date) -> tuple[Finding, ...]:
    """Whether a release must be renewed, or soon."""
    if release is None or release.due is None:
        return ()
    left = (date.fromisoformat(release.due) - today).days
    data = {"due": release.due, "days": left, "name": release.name}
    if left < 0:
        text = f"the release {release.name!r} was due on {release.due}, {-left} days ago"
        return (warning("overdue", f"{text}; calibrate and release anew", **data),)
    text = f"the release {release.name!r} is due on {release.due}, in {left} days"
    return (note("due-soon", text, **data),) if left <= SOON else ()


def _tool_changes(reference: Calibrated, every: Sequence[Entry]) -> dict[int, tuple[float, float]]:
    """Kabsch's rigid fit of all calibrations at once."""
    before = np.array(reference.points)
    kept = [(e.number, e.calibration) for e in every if e.calibration is not None]
    after = np.array([c.points for _, c in kept])
    centre = after.mean(axis=1, keepdims=True)
    moved, fixed = after - centre, before - before.mean(axis=0)
    u, _, vt = np.linalg.svd(np.einsum("kni,nj->kij", moved, fixed))
    sign = np.ones((len(kept), 3))
    sign[:, 2] = np.sign(np.linalg.det(u) * np.linalg.det(vt))
    turned = np.einsum("kni,kij->knj", moved, u * sign[:, None, :] @ vt)
    rms = np.sqrt(np.mean(np.sum((turned - fixed) ** 2, axis=2), axis=1))
    return {n: (float(r), float(np.hypot(c.sd, reference.sd))) for (n, c), r in zip(kept, rms, strict=True)}


def _row(e: Entry, of: RobotHistory, tool: tuple[float, float]) -> dict[str, Any]:
    later = of.superseded_by(e.number)
    return {
        "number": e.number, "kind": e.kind, "time": e.time, "who": e.who, "reason": e.reason,
        "temperature": float("nan") if e.temperature is None else e.temperature,
        "model": " + ".join(e.calibration.words) if e.calibration else None,
        "error_mean": e.error.mean if e.error else float("nan"), "error_max": e.error.max if e.error else float("nan"),
        "tool_change": tool[0], "tool_change_sd": tool[1],
        "of": e.check.of if e.check else e.release.of if e.release else None,
        "name": e.release.name if e.release else None, "due": e.release.due if e.release else None,
        "superseded_by": later.number if later else None, "alarms": len(e.alarms),
    }  # fmt: skip
