"""What Coulomb and viscous friction leave out of the friction of a gear, as a few unknowns more.

    friction = sign(v) (c (1 + sum_k r_k exp(-|v| / v_k)) + l (|tau| - t)) + d v                        (shape)

Gears brake more under load tau, by a share l of it, more towards rest by a share of the Coulomb friction c (Stribeck),
and when they creep by anything.  None of it is known beforehand beyond its usual size, the prior; intervals of c and of
the weight carry what the log leaves open.  Friction that falls over a wider range of speeds looks like other c and d:
the intervals of these hold both (``considered``).  c is the friction at the mean load t of the log, away from rest.
tau and c are those of the fit before, so that the problem stays linear.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from elastocal.model.loads.link_mass import LinkMass
from elastocal.model.robot import Robot
from elastocal.procedures.gravity.inertia import inertial_values
from elastocal.procedures.gravity.samples import Samples
from elastocal.spatial.entries import Array, Bools
from elastocal.values import dataclass

BY_LOAD = "friction by load"
SIGNIFICANT = 5.0
"""Standard deviations from which a share by load is fitted; a smaller one is in intervals alone."""
LOAD = 0.03
"""Share of its load that the friction of a gear grows by, standard deviation."""
REST = {"near rest": (0.05, 0.3), "creeping": (0.005, 1.0)}
"""Speed (rad/s or m/s) over which friction is another one, and by which share of the Coulomb friction (sd)."""

SLOW = (0.2, 0.2)
"""The same of wider ones, which no log tells from Coulomb and viscous friction: they are in intervals alone."""


@dataclass(frozen=True, eq=False)
class FrictionShape:
    """``bodies`` (p,) are values of the bodies' columns, ``coulomb`` (n,) friction, ``load`` (n,) the mean one."""

    joints: tuple[str, ...]
    timed: bool
    bodies: Array
    coulomb: Array
    load: Array

    @classmethod
    def of(cls, model: Robot, bodies: Sequence[LinkMass], samples: Samples) -> FrictionShape:
        each = 10 if samples.moving else 4
        values = np.concatenate([inertial_values(b)[:each] for b in bodies])
        return cls(model.joints, samples.motion.timed, values, np.zeros(model.n), np.zeros(model.n))

    def about(self, bodies: Array, coulomb: Array, columns: Array, used: Bools) -> FrictionShape:
        """With the values of a fit of ``columns`` (N, n, p) of the bodies to the readings ``used`` (N, n)."""
        load = np.sum(np.abs(columns @ bodies) * used, axis=0) / np.maximum(used.sum(axis=0), 1)
        return replace(self, bodies=bodies, coulomb=np.maximum(coulomb, 0.0), load=load)

    def rows(self) -> list[tuple[str, float, float]]:
        """Name, mean and standard deviation of every unknown."""
        out = [(f"{j} {BY_LOAD}", 0.0, LOAD) for j in self.joints]
        return out + [(f"{j} friction {k}", 0.0, sd) for k, (_, sd) in self._rest.items() for j in self.joints]

    @property
    def _rest(self) -> dict[str, tuple[float, float]]:
        """Without time nothing tells how near rest is."""
        return REST if self.timed else {}

    def columns(self, samples: Samples, ways: Array, bodies: Array) -> Array:
        """(N, n, unknowns) by directions ``ways`` (N, n) and columns of ``bodies`` (N, n, p)."""
        grown = [np.abs(bodies @ self.bodies) - self.load]
        grown += [self.coulomb * np.exp(-np.abs(samples.velocity) / speed) for speed, _ in self._rest.values()]
        return np.concatenate([(ways * g)[:, :, None] * np.eye(len(self.joints)) for g in grown], axis=2)

    def considered(self, samples: Samples, ways: Array) -> Array:
        """(N, n, n) of friction that falls over ``SLOW`` speeds, for unknowns of standard deviation one."""
        near = SLOW[1] * self.coulomb * np.exp(-np.abs(samples.velocity) / SLOW[0])
        return np.asarray((ways * near)[:, :, None] * np.eye(len(self.joints)))
