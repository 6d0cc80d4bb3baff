"""What a plan must look like: how many members, which are fixed, whether any may repeat, how many of each group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elastocal.errors import InputError
from elastocal.spatial.entries import Array, Bools, Ints


@dataclass(frozen=True, eq=False)
class Rules:
    """``count`` members in all, ``fixed`` among them (points already measured).

    ``group`` (M,) numbers the group of every candidate (a load set-up) and ``quota`` gives the members of each group,
    fixed ones included; without them there is one group.
    """

    count: int
    repeats: bool = False
    fixed: tuple[int, ...] = ()
    group: Ints | None = None
    quota: tuple[int, ...] = ()

    def check(self, candidates: int) -> None:
        """Raise an InputError where no plan of so many candidates obeys."""
        if self.count < 1:
            raise InputError(f"a plan of {self.count} members: give at least 1")
        if any(not 0 <= c < candidates for c in self.fixed):
            wrong = next(c for c in self.fixed if not 0 <= c < candidates)
            raise InputError(f"fixed member {wrong}: there are {candidates} candidates, numbered from 0")
        if len(self.fixed) > self.count:
            raise InputError(f"{len(self.fixed)} members are fixed, but the plan has only {self.count}; give more")
        if not self.repeats and len(set(self.fixed)) < len(self.fixed):
            raise InputError("a fixed member is named twice; allow repeats")
        if not self.repeats and self.count > candidates:
            raise InputError(
                f"a plan of {self.count} members needs more than {candidates} candidates; offer more or allow repeats"
            )
        self._check_groups(candidates)

    def _check_groups(self, candidates: int) -> None:
        if (self.group is None) != (not self.quota):
            raise InputError("groups: give the group of every candidate and the quota of every group, or neither")
        if self.group is None:
            return
        g = len(self.quota)
        if self.group.shape != (candidates,) or self.group.dtype.kind not in "iu" or np.any(self.group >= g):
            raise InputError(f"groups: give each of the {candidates} candidates a whole number from 0 to {g - 1}")
        if min(self.quota) < 0 or np.any(self.group < 0) or sum(self.quota) != self.count:
            raise InputError(f"groups: the quotas {self.quota} must not be negative and add up to {self.count} members")
        held = np.bincount(self.group[list(self.fixed)], minlength=g)
        offered = np.bincount(self.group, minlength=g)
        for i, (quota, taken, there) in enumerate(zip(self.quota, held, offered, strict=True)):
            if taken > quota:
                raise InputError(f"group {i}: {taken} members are fixed, but its quota is {quota}; raise it")
            if quota > (taken if there == 0 else quota if self.repeats else there):
                raise InputError(f"group {i}: its quota is {quota}, but it has {there} candidates; lower it")

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
        """Group by group, the candidates that a plan may add to the fixed ones and how many it must."""
        labels, fixed = self.labels(candidates), np.asarray(self.fixed, dtype=np.int64)
        held = np.bincount(labels[fixed], minlength=len(self.quotas()))
        may = np.ones(candidates, dtype=bool)
        may[fixed] = self.repeats
        every = ((np.flatnonzero(may & (labels == g)), q - int(held[g])) for g, q in enumerate(self.quotas()))
        return tuple((at, free) for at, free in every if free)

    def most(self, slopes: Array) -> float:
        """Largest sum of slopes (M,) over the members that a plan may add to the fixed ones."""
        total = 0.0
        for at, free in self.places(len(slopes)):
            best = np.sort(slopes[at])[::-1]
            total += float(best[0] * free if self.repeats else best[:free].sum())
        return total
