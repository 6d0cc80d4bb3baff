"""What a plan must look like: how many members, whether any may repeat, how many of each group."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from elastocal.errors import MissingError, RangeError, ShapeError, TooFewError
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass


@dataclass(frozen=True, eq=False)
class Rules:
    """``count`` members in all.

    ``group`` (M,) numbers the group of every candidate (a load set-up) and ``quota`` gives the members of each group;
    without them there is one group.
    """

    count: int
    repeats: bool = False
    group: Ints | None = None
    quota: tuple[int, ...] = ()

    def check(self, candidates: int) -> None:
        """Raise an InputError where no plan of so many candidates obeys."""
        if self.count < 1:
            raise RangeError(f"a plan of {self.count} members: give at least 1", value=self.count)
        if not self.repeats and self.count > candidates:
            raise TooFewError(
                f"a plan of {self.count} members needs more than {candidates} candidates; draw more or allow repeats",
                value=(self.count, candidates),
            )
        self._check_groups(candidates)

    def _check_groups(self, candidates: int) -> None:
        if (self.group is None) != (not self.quota):
            raise MissingError(
                "groups: give the group of every candidate and the quota of every group, or neither", code="groups"
            )
        if self.group is None:
            return
        g = len(self.quota)
        if self.group.shape != (candidates,) or self.group.dtype.kind not in "iu" or np.any(self.group >= g):
            raise ShapeError(
                f"groups: give each of the {candidates} candidates a whole number from 0 to {g - 1}",
                value=(candidates, g - 1),
            )
        if min(self.quota) < 0 or np.any(self.group < 0) or sum(self.quota) != self.count:
            raise RangeError(
                f"groups: the quotas {self.quota} must not be negative and add up to {self.count} members",
                value=(self.quota, self.count),
            )
        for i, (quota, there) in enumerate(zip(self.quota, np.bincount(self.group, minlength=g), strict=True)):
            if quota > there and not (self.repeats and there):
                raise TooFewError(
                    f"group {i}: its quota is {quota}, but it has {there} candidates; lower it", value=(i, quota, there)
                )

    def labels(self, candidates: int) -> Ints:
        return np.zeros(candidates, dtype=np.int64) if self.group is None else self.group

    def quotas(self) -> tuple[int, ...]:
        return self.quota or (self.count,)

    def allowed(self, members: Sequence[int], candidates: int) -> Bools:
        """(M,) candidates that may join ``members``."""
        labels, at = self.labels(candidates), np.asarray(members, dtype=np.int64)
        room = np.array(self.quotas()) > np.bincount(labels[at], minlength=len(self.quotas()))
        out = room[labels]
        if not self.repeats:
            out[at] = False
        return np.asarray(out)

    def places(self, candidates: int) -> tuple[tuple[Ints, int], ...]:
        """Group by group, the candidates and how many of them a plan takes."""
        labels = self.labels(candidates)
        return tuple((np.flatnonzero(labels == g), quota) for g, quota in enumerate(self.quotas()) if quota)

    def most(self, slopes: Array) -> float:
        """Largest sum of slopes (M,) over the members of a plan."""
        total = 0.0
        for at, quota in self.places(len(slopes)):
            best = np.sort(slopes[at])[::-1]
            total += float(best[0] * quota if self.repeats else best[:quota].sum())
        return total
