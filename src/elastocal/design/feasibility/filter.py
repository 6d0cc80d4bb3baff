"""A filter of candidates, and filters one after another with the count that each removes.

A candidate may take the arm to several configurations (``stations``): all of them must pass.  The filters of this file
are about loads: whether one can be put on (a weight has room to hang, a rope reaches its anchor), and whether the robot
may carry it (its force as a mass, its moment about a frame).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cache
from typing import ClassVar

import numpy as np

from elastocal.design.candidates import CandidateSet
from elastocal.design.cell import Cell
from elastocal.errors import ConflictError, InfeasibleError, InputError, RangeError, TooFewError
from elastocal.kinds import kinds_in
from elastocal.model.loads.payload import Payload
from elastocal.model.parameters import quantity
from elastocal.spatial.entries import Bools, Ints
from elastocal.values import dataclass


@dataclass(frozen=True, kw_only=True)
class Filter(ABC):
    """One demand on a candidate."""

    kind: ClassVar[str]

    @property
    def label(self) -> str:
        """Its name in reports."""
        return self.kind.replace("_", " ")

    @abstractmethod
    def passes(self, candidates: CandidateSet, cell: Cell) -> Bools:
        """(N,) True where the candidate is possible."""

    def why(self, candidates: CandidateSet, cell: Cell) -> str:
        """What stands against every one of them, where it can be told."""
        return ""


@dataclass(frozen=True)
class Removed:
    """What one step took away, and what it left."""

    label: str
    removed: int
    left: int


def screened(
    candidates: CandidateSet, cell: Cell, filters: Sequence[Filter], stations: tuple[CandidateSet, Ints] | None = None
) -> tuple[CandidateSet, tuple[Removed, ...]]:
    """Filters in order, each on what those before it leave; refuses where nothing is left.

    ``stations`` are the configurations to look at and the candidate that each belongs to (default: one each).
    """
    cell.check(candidates.model)
    where, owner = stations or (candidates, np.arange(len(candidates)))
    kept = np.ones(len(candidates), dtype=bool)
    steps: list[Removed] = []
    for each in filters:
        before = int(np.sum(kept))
        kept[owner[~each.passes(where, cell)]] = False
        left = int(np.sum(kept))
        steps.append(Removed(each.label, before - left, left))
        if not left:
            raise nothing_left(steps, each.why(where, cell))
        if left < before:
            still = np.flatnonzero(kept[owner])
            where, owner = where.picked(still), owner[still]
    return (candidates if np.all(kept) else candidates.picked(np.flatnonzero(kept))), tuple(steps)


def screened_by(steps: Sequence[Removed], label: str, good: Bools) -> tuple[Removed, ...]:
    """The steps and one more, which leaves what is ``good`` (N,); refuses where nothing is."""
    out = (*steps, Removed(label, int(np.sum(~good)), int(np.sum(good))))
    if not out[-1].left:
        raise nothing_left(out)
    return out


def nothing_left(steps: Sequence[Removed], why: str = "") -> InputError:
    """No candidate is possible: names the filter that removed the last one, and what the others took."""
    before = ", ".join(f"{s.label} {s.removed}" for s in steps[:-1] if s.removed)
    return InfeasibleError(
        f"no feasible candidate: {steps[-1].label} removed the last {steps[-1].removed}"
        + (f" (before it: {before})" if before else "")
        + (f": {why}" if why else "")
        + "; relax it or draw more candidates",
        value={s.label: s.removed for s in steps if s.removed},
    )


def too_few(count: int, left: int, steps: Sequence[Removed]) -> InputError:
    """A plan of ``count`` cannot be chosen out of what is left: names what each filter took."""
    took = ", ".join(f"{s.label} took {s.removed}" for s in steps if s.removed) or "no filter took any"
    return TooFewError(
        f"a plan of {count} needs more than the {left} candidates that are left ({took}); relax what took most, draw "
        "more candidates, or allow repeats (may_repeat)"
    )


def check_lengths(label: str, **values: float | None) -> None:
    """Clearances and radii are zero or more."""
    for name, value in values.items():
        if value is not None and not value >= 0:
            raise RangeError(f"{label}: its {name} must not be negative", value=name)


def check_angle(label: str, within: float) -> None:
    """The half opening of a cone."""
    if not 0 < within <= np.pi:
        raise RangeError(f"{label}: within must be an angle above 0 and up to 180 deg", code="within")


@cache
def filter_kinds() -> dict[str, type[Filter]]:
    """Every filter by its kind."""
    from elastocal.design import feasibility

    return kinds_in(feasibility, Filter)


@dataclass(frozen=True, kw_only=True)
class LoadPossible(Filter):
    kind: ClassVar[str] = "load"

    def passes(self, candidates: CandidateSet, cell: Cell) -> Bools:
        return candidates.possible


@dataclass(frozen=True, kw_only=True)
class PayloadLimit(Filter):
    """``most`` counts the mass carried anyway; ``moment`` is that of the load alone about the origin of ``about``."""

    kind: ClassVar[str] = "payload"
    most: float | None = quantity("mass", default=None)
    moment: float | None = quantity("moment", default=None)
    about: str | None = None

    def __post_init__(self) -> None:
        given = [v for v in (self.most, self.moment) if v is not None]
        if not given or not min(given) > 0:
            raise RangeError("payload: give most (a mass), moment or both, above zero", code="payload")

    def passes(self, candidates: CandidateSet, cell: Cell) -> Bools:
        out = np.ones(len(candidates), dtype=bool)
        force, turn = candidates.wrenches[:, :3], candidates.wrenches[:, 3:]
        if self.most is not None:
            g = float(np.linalg.norm(candidates.model.gravity))
            if not g > 0:
                raise ConflictError(
                    f"payload: robot {candidates.model.name} has no gravity; give a moment instead of a mass"
                )
            carried = sum(e.mass for e in candidates.model.elements if isinstance(e, Payload))
            out &= np.linalg.norm(force, axis=1) <= g * (self.most - carried) + 1e-6
        if self.moment is not None:
            about = candidates.poses.origin(self.about or candidates.model.tool)
            arm = (candidates.poses.origin(candidates.frame) - about)[candidates.at]
            out &= np.linalg.norm(turn + np.cross(arm, force), axis=1) <= self.moment
        return out
