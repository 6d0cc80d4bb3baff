"""Points that were read against where the robot file puts them: does the table belong to this robot at all?

Differences of points do not tell: a turned frame, axes in another unit or rows that are shifted leave deflections that
look like those of some arm.  The points themselves do.  The rigid arm is near enough, or the arm that sags as its file
says, whichever is nearer: an uncalibrated arm is off by millimetres, a slip by a good part of its reach.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from elastocal.errors import InputError
from elastocal.measure.setup import Setup
from elastocal.model.robot import Robot
from elastocal.model.statics.deflection import bent_chain
from elastocal.model.statics.equilibrium import Status
from elastocal.spatial.entries import Array, Bools
from elastocal.spatial.pose import Pose, rigid_fit
from elastocal.spatial.rotation import rotation_vector

FAR = 0.01
"""Share of the reach that no sound table is off by: a joint zero that is wrong by half a degree at full stretch, and
five times what arms are off as delivered (a few mm on 2.5 m)."""


@dataclass(frozen=True, eq=False)
class Placement:
    """Points read and expected (N, markers, 3) in base axes, nan where not read.

    ``shifted``: all may be shifted together, since only differences of points are used or the shift is an unknown of
    the campaign; ``away`` is then without the mean.  ``reach`` is the farthest point expected from the base.
    """

    read: Array
    expected: Array
    shifted: bool

    @cached_property
    def known(self) -> Bools:
        return np.asarray(np.isfinite(self.read).all(axis=2))

    @property
    def reach(self) -> float:
        return float(np.linalg.norm(self.expected[self.known], axis=1).max())

    @cached_property
    def shift(self) -> Array:
        """By which all points are off together (3,); zero where that matters."""
        return (self.read - self.expected)[self.known].mean(axis=0) if self.shifted else np.zeros(3)

    @cached_property
    def away(self) -> Array:
        """Distances (N, markers) from where the robot file puts the points."""
        return np.asarray(np.linalg.norm(self.read - self.expected - self.shift, axis=2))

    @property
    def rms(self) -> float:
        return float(np.sqrt(np.mean(self.away[self.known] ** 2)))

    @property
    def worst(self) -> tuple[int, int]:
        """Reading and marker that is farthest off."""
        reading, marker = np.unravel_index(np.nanargmax(self.away), self.away.shape)
        return int(reading), int(marker)

    @property
    def others(self) -> float:
        """The rms of all but the worst."""
        rest = np.delete(self.away[self.known], np.argmax(self.away[self.known]))
        return float(np.sqrt(np.mean(rest**2))) if len(rest) else 0.0

    @cached_property
    def fitted(self) -> tuple[Pose, float] | None:
        """Shift and turn that bring the points read closest to those expected, and the rms left; None if in line."""
        try:
            return rigid_fit(self.read[self.known], self.expected[self.known])
        except InputError:
            return None

    @property
    def turn(self) -> float:
        """Angle in rad of that turn, nan without one."""
        if self.fitted is None:
            return float("nan")
        return float(np.linalg.norm(rotation_vector(self.fitted[0].rotation[:, :, None])))

    @property
    def far(self) -> bool:
        return self.rms > FAR * self.reach


def placement(model: Robot, where: Setup, read: Array, *, loaded: bool, shifted: bool) -> Placement | None:
    """Points read (N, markers, 3) in base axes against those of the robot file; None where no point was read.

    ``loaded``: the points are those under load; ``shifted``: a shift of all is not counted.
    """
    rigid = Placement(read, where.positions(model), shifted)
    if not rigid.known.any():
        return None
    bent = where.bent(model, loaded=loaded)
    state = bent_chain(model, where.q, bent)
    sagged = replace(rigid, expected=np.stack([state.origin(m.frame).T for m in where.markers], axis=1))
    return sagged if np.all(bent.status == Status.CONVERGED) and sagged.rms < rigid.rms else rigid
