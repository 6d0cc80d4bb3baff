"""Loads along a path and at the stations of a program: wrenches that stay, or one per target, and changing payloads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np

from elastocal.errors import ShapeError
from elastocal.model.loads.payload import Payload
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import Robot
from elastocal.model.statics.forces import check_rows
from elastocal.spatial.entries import Array, Ints
from elastocal.values import dataclass


@dataclass(frozen=True)
class PayloadChange:
    """From target ``first`` (counted from 0) on, the robot carries ``payload`` instead of what hung on that frame."""

    first: int
    payload: Payload


@dataclass(frozen=True, eq=False)
class PathLoads:
    """``wrenches`` with one row (constant) or one per target each; ``payloads`` in order of the path."""

    wrenches: tuple[AppliedWrenches, ...] = ()
    payloads: tuple[PayloadChange, ...] = ()

    def check(self, model: Robot, total: int) -> None:
        check_rows(model, total, self.wrenches)
        firsts = [change.first for change in self.payloads]
        if firsts != sorted(set(firsts)) or (firsts and firsts[0] < 0):
            raise ShapeError(
                f"payload changes at targets {firsts}: give them in the order of the path, one per target", value=firsts
            )

    def models(self, model: Robot) -> list[Robot]:
        """The robot before the first change and after each one."""
        out = [model]
        for change in self.payloads:
            new = change.payload
            kept = tuple(e for e in out[-1].elements if not (isinstance(e, Payload) and e.frame == new.frame))
            out.append(replace(out[-1], elements=(*kept, new)))
        return out

    def number(self, rows: slice) -> Ints:
        """Which of the models each target meets."""
        firsts = [change.first for change in self.payloads]
        return np.searchsorted(np.array(firsts, dtype=np.int64), np.arange(rows.start, rows.stop), side="right")

    def pieces(self, rows: slice) -> Iterator[tuple[slice, int, list[AppliedWrenches]]]:
        """Runs of targets within ``rows`` that meet one model: where in the rows, its number, the wrenches."""
        number = self.number(rows)
        cuts = [0, *(np.flatnonzero(np.diff(number)) + 1).tolist(), len(number)]
        for a, b in pairwise(cuts):
            there = slice(rows.start + a, rows.start + b)
            yield slice(a, b), int(number[a]), [w.rows(there, b - a) for w in self.wrenches]


@dataclass(frozen=True, eq=False)
class ProgramLoads:
    """``wrench`` (S, 6) acts at ``frame`` (None: at the tip of the tool in use), in robot axes or following it.

    ``mass`` (S,) hangs on ``payload_frame`` from a station on; nan where the robot carries what its file says.
    """

    wrench: Array
    frame: str | None
    follows: bool
    mass: Array
    payload_frame: str

    def any(self) -> bool:
        """Whether a wrench acts or a mass is carried at some station, beyond what the robot file says."""
        return bool(self.wrench.any() or (self.mass > 0).any())

    def at(self, rows: Ints, tool: str) -> PathLoads:
        """The loads of some stations of one tool, in order."""
        wrenches: tuple[AppliedWrenches, ...] = ()
        if self.wrench[rows].any():
            wrenches = (AppliedWrenches(self.frame or tool, self.wrench[rows], self.follows),)
        return PathLoads(wrenches, tuple(self._changes(self.mass[rows])))

    def _changes(self, mass: Array) -> list[PayloadChange]:
        """A change where the mass is another than before; before a first stated one the file's holds."""
        known = np.flatnonzero(np.isfinite(mass))
        new = [i for n, i in enumerate(known) if n == 0 or mass[i] != mass[known[n - 1]]]
        return [
            PayloadChange(
                int(i), Payload(frame=self.payload_frame, mass=float(mass[i]), source="stated along the program")
            )
            for i in new
        ]
