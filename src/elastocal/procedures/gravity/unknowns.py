"""What a log of torques may tell, and how every unknown moves every torque: the columns of one linear problem.

    tau = sum_b Y_b(q, q', q'') (m, m c, I)_b + I_a q'' + c sign(q') + d q' + z                        (of every joint)

Masses and mass moments of the bodies always; their inertias and those of the rotors, I_a, where the arm moves; Coulomb
and viscous friction c and d, and the zero z of the reading, as far as asked for.  A motor that turns with several
joints (a coupled wrist: u = q'_5 + q'_6) loads them all, direction k in joints:

    tau_j += c_k k_j sign(k . q') + sum_(i /= j) k_j k_i (d_k q'_i + I_k q''_i)                             (coupled)

so that d and I_a of a joint are all that goes with its own speed, the coupled motor's share included.  Without time all
of it is per row, and the inertia of the robot file's masses counts by one unknown for all joints, the pace of the rows.
Where inertia is not modelled so, what the robot file does not know of it is a few unknowns more (``nuisances``).
Where the way down was sought, two turns of it about axes across are unknowns as well, so that all intervals carry them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from elastocal.errors import RangeError
from elastocal.measure.sources.friction import Friction
from elastocal.model.inverse_dynamics import INERTIAL, inertial_regressor
from elastocal.model.loads.link_mass import LinkMass
from elastocal.model.robot import Robot
from elastocal.model.statics.holding import holding_torque
from elastocal.model.transmission import sum_of_joints
from elastocal.procedures.gravity.nuisances import (
    BY_LOAD,
    SIGNIFICANT,
    FrictionShape,
    SlowInertia,
    inertial_values,
    motion_columns,
)
from elastocal.procedures.gravity.samples import Samples
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass

ZERO = 0.1
"""Share of a joint's torque, root mean square, that the zero of its reading may be off by."""
PACE = "rows per s, squared"
"""In a log without time: what the inertia of the robot file's masses, taken per row, counts."""
TILTS = ("down turned 1", "down turned 2")
"""Radians by which gravity turns towards either direction across it."""
GYRATION = 0.1
"""Metres that the mass of a link may lie away from its centre, for the prior of its inertia."""


@dataclass(frozen=True)
class MassPrior:
    """Standard deviations: a share of each mass, and the place of its centre in m."""

    share: float = 0.3
    centre: float = 0.03

    def __post_init__(self) -> None:
        if not (0 < self.share < np.inf and 0 < self.centre < np.inf):
            raise RangeError(
                f"masses known to {self.share:g} and their centres to {self.centre:g} m: both must be positive numbers",
                value=(self.share, self.centre),
            )

    def sds(self, body: LinkMass) -> list[float]:
        """Of the ten inertial parameters; a body without mass is not known at all."""
        if not body.mass > 0:
            return [np.inf] * 10
        turns = body.mass * (float(np.linalg.norm(body.moment)) / body.mass + GYRATION) ** 2
        moments = [float(np.hypot(self.share * u, self.centre * body.mass)) for u in body.moment]
        return [self.share * body.mass, *moments, *[turns] * 6]


@dataclass(frozen=True, eq=False)
class Coupled:
    """A motor that turns with several joints: ``label`` A5+A6, ``direction`` (n,) in joint values."""

    label: str
    direction: Array

    @classmethod
    def parse(cls, model: Robot, text: str) -> Coupled:
        """A5+A6 or A5-A6."""
        return cls(text.replace(" ", ""), sum_of_joints(text, model.joints))


def coupled_motors(model: Robot) -> tuple[Coupled, ...]:
    """Motors that turn with several joints, by the robot file: its structure matrix, or its word ``coupled``."""
    controller = model.controller
    out = [Coupled.parse(model, text) for text in controller.coupled]
    if controller.drives is not None:
        turns = controller.drives.structure @ np.linalg.inv(controller.matrix)
        for k, row in enumerate(turns):
            unit = row / row[k] if row[k] else row
            others = np.flatnonzero(np.abs(unit) > 1e-9)
            if len(others) > 1:
                terms = [f"{'-' if unit[j] < 0 else '+'}{_times(abs(unit[j]))}{model.joints[j]}" for j in others]
                out.append(Coupled("".join(terms).removeprefix("+"), unit))
    return tuple({c.label: c for c in out}.values())


def _times(ratio: float) -> str:
    return "" if abs(ratio - 1) < 1e-9 else f"{ratio:.4g} "


@dataclass(frozen=True, eq=False)
class Unknowns:
    """Names, the robot file's values and prior standard deviations (inf where nothing is known) of the columns."""

    model: Robot
    bodies: tuple[LinkMass, ...]
    friction: Friction | None
    coupled: tuple[Coupled, ...]
    moving: bool
    names: tuple[str, ...]
    file: Array
    sd: Array
    inertia: SlowInertia | None = None
    shape: FrictionShape | None = None

    @classmethod
    def of(
        cls, model: Robot, samples: Samples, prior: MassPrior | None, friction: Friction | None,
        coupled: Sequence[Coupled] = (), carried: str = "", tilted: bool = False,
    ) -> Unknowns:  # fmt: skip
        """Of the links, and of the payload at the frame ``carried``; where ``tilted``, of the way down too."""
        weights = [e for e in model.elements if isinstance(e, LinkMass)]
        bodies = tuple(e for e in weights if e.kind == "link_mass" or e.frame == carried)
        rows: list[tuple[str, float, float]] = []
        for body in bodies:
            tag = body.parameters(model.tree)[0].name[:-1]
            sds = [np.inf] * 10 if prior is None else prior.sds(body)
            each = [(tag + n, v, s) for n, v, s in zip(INERTIAL, inertial_values(body), sds, strict=True)]
            rows += each if samples.moving else each[:4]
        moves = friction is not None and (friction.coulomb or friction.viscous)
        couples = tuple(coupled) if moves or samples.moving else ()
        rows += [(name, 0.0, np.inf) for name in _terms(model, samples, friction, couples)]
        if samples.by_row and "viscous" in _asked(friction, samples):
            rows.append((PACE, 0.0, np.inf))
        if friction is not None and friction.zero:
            size = ZERO * np.sqrt(np.nanmean(np.where(samples.counts > 0, samples.torque, 1.0) ** 2, axis=0))
            rows += [
                (f"{j} zero", 0.0, np.inf if prior is None else s) for j, s in zip(model.joints, size, strict=True)
            ]
        rows += [(name, 0.0, 1.0) for name in TILTS if tilted]
        inertia = None
        if samples.pace and not (samples.moving or samples.standing):
            inertia = SlowInertia.of(model, bodies, [(prior or MassPrior()).sds(b) for b in bodies], samples)
            rows += [(f"inertia {k + 1}", 0.0, 1.0) for k in range(inertia.directions.shape[1])]
        shape = FrictionShape.of(model, bodies, samples) if "coulomb" in _asked(friction, samples) else None
        rows += [] if shape is None else shape.rows()
        names, file, sd = (tuple(c) for c in zip(*rows, strict=True))
        return cls(
            model, bodies, friction, couples, samples.moving, names, np.array(file), np.array(sd), inertia, shape
        )

    @property
    def of_bodies(self) -> int:
        """How many of the first columns are the bodies': their inertias only where the arm moves."""
        return (10 if self.moving else 4) * len(self.bodies)

    @property
    def weighing(self) -> Ints:
        """Columns of masses and mass moments."""
        return np.arange(self.of_bodies).reshape(len(self.bodies), -1)[:, :4].reshape(-1)

    @property
    def masses(self) -> tuple[str, ...]:
        """Names of masses and mass moments, without inertias."""
        return tuple(self.names[i] for i in self.weighing)

    @property
    def plain(self) -> int:
        """How many come before those of what the model lacks: the way down, inertia of a slow log, the shape of
        friction."""
        inertia = 0 if self.inertia is None else self.inertia.directions.shape[1]
        return len(self.names) - self.tilts.size - inertia - (0 if self.shape is None else len(self.shape.rows()))

    @property
    def tilts(self) -> Ints:
        """Columns of the turns of the way down."""
        return np.array([self.names.index(name) for name in TILTS if name in self.names], dtype=np.int64)

    def columns(self, samples: Samples, sign: int) -> Array:
        """(N, n, unknowns) of the drives' torque."""
        n, count = self.model.n, samples.log.count
        paced = samples.goes_with_motion()
        v, a = samples.velocity * (samples.moved() & paced), samples.acceleration * paced
        parts = [bodies_columns(self.model, self.bodies, samples)]
        eye = np.eye(n)
        terms = _asked(self.friction, samples)
        ways = np.stack([samples.direction(e) for e in eye], axis=1)
        own = {"rotor": a, "coulomb": ways, "viscous": v}
        parts += [own[t][:, :, None] * eye for t in terms]
        for c in self.coupled:
            k = c.direction
            for t in terms:
                if t == "coulomb":
                    column = k * samples.direction(k)[:, None]
                else:
                    column = k * ((own[t] @ k)[:, None] - k * own[t])
                parts.append(column[:, :, None])
        if PACE in self.names:
            parts.append(self._by_file(samples)[:, :, None])
        if self.friction is not None and self.friction.zero:
            parts.append(np.broadcast_to(sign * eye, (count, n, n)))
        if self.tilts.size:
            parts.append(turned_weight(self.model, self.bodies, samples.q))
        if self.inertia is not None:
            parts.append(self.inertia.columns(samples))
        if self.shape is not None:
            parts.append(self.shape.columns(samples, ways, parts[0]))
        return np.concatenate(parts, axis=2)

    def shaped(self, values: Array, x: Array, samples: Samples, used: Bools) -> Unknowns:
        """The shape of friction about values (p,) of a fit; its columns of ``x`` follow."""
        if self.shape is None:
            return self
        bodies = self.of_bodies
        coulomb = [self.names.index(f"{j} coulomb") for j in self.model.joints]
        shape = self.shape.about(values[:bodies], values[coulomb], x[:, :, :bodies], used)
        ways = x[:, range(self.model.n), coulomb]
        x[:, :, len(self.names) - len(shape.rows()) :] = shape.columns(samples, ways, x[:, :, :bodies])
        return replace(self, shape=shape)

    def idle(self, values: Array, covariance: Array) -> Ints:
        """Shares of friction by load that a fit does not tell from none."""
        sd = np.sqrt(np.diag(covariance))
        load = [i for i, name in enumerate(self.names) if name.endswith(BY_LOAD)]
        return np.array([i for i in load if abs(values[i]) <= SIGNIFICANT * sd[i]], dtype=np.int64)

    def considered(self, x: Array, samples: Samples, kept: Ints) -> Array:
        """(N, n, unknowns of sd one): friction that is in intervals alone, by the columns ``x`` of which some are
        ``kept``."""
        if self.shape is None:
            return np.zeros((*x.shape[:2], 0))
        idle = [i for i, name in enumerate(self.names) if name.endswith(BY_LOAD) and i not in kept]
        out = [x[:, :, idle] * self.sd[idle]]
        if self.shape.timed:
            coulomb = [self.names.index(f"{j} coulomb") for j in self.model.joints]
            out.append(self.shape.considered(samples, x[:, range(self.model.n), coulomb]))
        return np.concatenate(out, axis=2)

    def _by_file(self, samples: Samples) -> Array:
        """(N, n): torque of the robot file's masses by speed and acceleration alone, per row^2."""
        columns = motion_columns(self.model, self.bodies, samples)[:, :, : 10 * len(self.bodies)]
        return np.asarray(columns @ np.concatenate([inertial_values(b) for b in self.bodies]))

    def fixed_torque(self, samples: Samples) -> Array:
        """(N, n) of all that is not sought: springs, bodies of other kinds, the inertia that the file lets expect."""
        others = tuple(e for e in self.model.elements if isinstance(e, LinkMass) and e not in self.bodies)
        springs = self.model.without("link_mass", "payload")
        out = holding_torque(springs, samples.q) if springs.loads else np.zeros(samples.log.q.shape)
        if others:
            values = [inertial_values(e)[: 10 if samples.moving else 4] for e in others]
            out = out + bodies_columns(self.model, others, samples) @ np.concatenate(values)
        if self.inertia is not None and samples.motion.timed:
            out = out + self.inertia.torque(samples)
        return out

    def unsigned(self, samples: Samples) -> Bools:
        """(N, n): readings that a coupled motor loads which hardly turns."""
        out = np.zeros(samples.log.q.shape, dtype=bool)
        for c in self.coupled:
            out |= samples.unsigned(c.direction)[:, None] & (c.direction != 0)
        return out


def across(gravity: Array) -> Array:
    """(2, 3): unit vectors across gravity and each other."""
    return np.asarray(np.linalg.svd(gravity[None])[2][1:])


def turned_weight(model: Robot, bodies: Sequence[LinkMass], q: Array) -> Array:
    """(N, n, 2): holding torque per radian by which gravity turns towards the directions across it."""
    still, frames, size = np.zeros(q.shape), [b.frame for b in bodies], float(np.linalg.norm(model.gravity))
    values = np.concatenate([inertial_values(b) for b in bodies])
    parts = [
        inertial_regressor(replace(model, gravity=size * e), q, still, still, frames) @ values
        for e in across(model.gravity)
    ]
    return np.stack(parts, axis=2)


def _asked(friction: Friction | None, samples: Samples) -> list[str]:
    """Terms of a joint (and of a coupled motor) that go with its motion."""
    rotor = samples.moving or (samples.by_row and friction is not None and friction.viscous)
    return [*["rotor"] * rotor, *(t for t in ("coulomb", "viscous") if friction is not None and getattr(friction, t))]


def _terms(model: Robot, samples: Samples, friction: Friction | None, coupled: Iterable[Coupled]) -> list[str]:
    terms = _asked(friction, samples)
    return [*(f"{j} {t}" for t in terms for j in model.joints), *(f"{c.label} {t}" for c in coupled for t in terms)]


def bodies_columns(model: Robot, bodies: Sequence[LinkMass], samples: Samples) -> Array:
    """(N, n, 10 or 4 for each body)."""
    moves = samples.moved() & samples.moving
    v, a = samples.velocity * moves, samples.acceleration * moves
    full = inertial_regressor(model, samples.q, v, a, [b.frame for b in bodies])
    if samples.moving:
        return full
    return full.reshape(*full.shape[:2], len(bodies), 10)[..., :4].reshape(*full.shape[:2], -1)
