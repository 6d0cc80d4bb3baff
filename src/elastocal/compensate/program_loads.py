"""Loads at the stations of a program: a wrench for each, and the mass that the robot carries there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.compensate.path_loads import PathLoads, PayloadChange
from elastocal.model.loads.payload import Payload
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.spatial.entries import Array, Ints


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
