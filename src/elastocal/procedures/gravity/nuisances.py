"""What weight, Coulomb and viscous friction leave out of a torque: small, but no noise; a few nuisance parameters more.

Inertia of a slow log: an arm that accelerates by 2 % of gravity errs by 2 % of its weight, and always the same way at
the same place, since joints start and brake at the ends of their ranges: no scatter and no autocorrelation shows it.
The torque of motion is

    D(q, q', q'') x,     D_b = Y_b(q, q', q'') - Y_b(q, 0, 0) of the bodies,  q''_j of the rotors,     x ~ N(x_0, s^2)

with x_0 and s by the robot file's masses (``MassPrior``); a rotor is 0 +- the geometric mean of the inertia of the arm
about its joint and the largest about any: rotors behind their gears differ less from joint to joint than arms do.
D x_0 is taken off the torques, and D (x - x_0) = (D s V) z has a column for each of the few directions V of the log
that matter, z ~ N(0, 1).  In a log without time D is per row: D x_0 counts by one unknown more, the pace, and D s V by
the pace that a first fit has shown.

Friction of a gear:

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

from elastocal.model.inverse_dynamics import inertial_regressor, shifted_inertia
from elastocal.model.loads.link_mass import LinkMass
from elastocal.model.robot import Robot
from elastocal.procedures.gravity.samples import Samples
from elastocal.spatial.entries import Array, Bools
from elastocal.values import dataclass

MATTERS = 0.01
"""Share of the largest direction below which what is not known of inertia is left out."""

ENOUGH = 1000
"""Samples at most that directions are taken from."""


@dataclass(frozen=True, eq=False)
class SlowInertia:
    """``mean`` (10 bodies + n,) of bodies and rotors, ``directions`` (10 bodies + n, r) times what is not known."""

    model: Robot
    bodies: tuple[LinkMass, ...]
    mean: Array
    directions: Array

    @classmethod
    def of(
        cls, model: Robot, bodies: tuple[LinkMass, ...], sds: Sequence[Sequence[float]], samples: Samples
    ) -> SlowInertia:
        """``sds`` (10,) of every body, infinite where nothing is known: such a body is taken to have no inertia."""
        mean = np.concatenate([*map(inertial_values, bodies), np.zeros(model.n)])
        known = np.array(sds).reshape(-1)
        own = _about_joints(model, bodies, samples)
        rotors = np.sqrt(own * np.max(own, initial=0.0))
        spread = np.concatenate([np.where(np.isfinite(known), known, 0.0), rotors])
        some = np.arange(samples.log.count) % (-(-samples.log.count // ENOUGH)) == 0
        columns = (motion_columns(model, bodies, samples.part(some)) * spread).reshape(-1, len(mean))
        _, singular, right = np.linalg.svd(np.linalg.qr(columns, mode="r"))
        matter = singular > MATTERS * max(float(singular[0]), 1e-12)
        return cls(model, bodies, mean, spread[:, None] * right[matter].T)

    def columns(self, samples: Samples) -> Array:
        """(N, n, r) for unknowns of mean zero and standard deviation one."""
        return samples.pace * motion_columns(self.model, self.bodies, samples) @ self.directions

    def torque(self, samples: Samples) -> Array:
        """(N, n) that the robot file lets expect."""
        return np.asarray(samples.pace * motion_columns(self.model, self.bodies, samples) @ self.mean)


def inertial_values(body: LinkMass) -> list[float]:
    """Mass, mass moments and inertias about the frame, of a point mass at the centre."""
    return [body.mass, *body.moment, *shifted_inertia(body.mass, body.moment)]


def motion_columns(model: Robot, bodies: Sequence[LinkMass], samples: Samples) -> Array:
    """D (N, n, 10 bodies + n), of joints whose torque goes with the motion."""
    v, a, frames = samples.velocity * samples.moved(), samples.acceleration, [b.frame for b in bodies]
    own = inertial_regressor(replace(model, gravity=np.zeros(3)), samples.q, v, a, frames)
    rotors = a[:, :, None] * np.eye(model.n)
    return np.concatenate([own, rotors], axis=2) * samples.goes_with_motion()[:, None]


def _about_joints(model: Robot, bodies: Sequence[LinkMass], samples: Samples) -> Array:
    """Inertia (n,) of the bodies about every joint, on the whole of the log."""
    q = np.tile(np.median(samples.q, axis=0), (model.n, 1))
    free, frames = replace(model, gravity=np.zeros(3)), [b.frame for b in bodies]
    tensor = inertial_regressor(free, q, np.zeros_like(q), np.eye(model.n), frames)
    return np.abs(np.diag(tensor @ np.concatenate([inertial_values(b) for b in bodies])))


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
