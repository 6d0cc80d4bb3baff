"""Masses, inertias and friction of all joints at once, from the torques of all joints (001 section III, and beyond it).

The torque of a rigid arm is linear in all of them (``unknowns``), so they are one problem for ``solve``: groups say
which are not separately identifiable (the base parameters: only poses and motion decide, neither noise nor a prior),
what the robot file knows is a prior, and the noise of each joint is what its residuals show.  Neighbouring samples are
not independent, and what the model lacks makes whole stretches of a log err alike: accuracies count samples for what
they are worth, and widen by as much as stretches show (``solve.dependent``).

A payload comes from a second log: one body more at the tool.  Friction apart, the arm's own parameters are unknowns of
that log too, with the first fit as their prior: so how well the arm is known goes into the payload's accuracy.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from elastocal.measure.sources.friction import Friction
from elastocal.model.inverse_dynamics import inertial_regressor
from elastocal.model.loads.payload import Payload
from elastocal.model.robot import Robot
from elastocal.procedures.gravity.samples import Samples
from elastocal.procedures.gravity.sense import Sense, check_torque_columns, torque_sense
from elastocal.procedures.gravity.unknowns import Coupled, MassPrior, Unknowns, turned_weight
from elastocal.solve.blocks import Blocks, Group, Noise, Scale
from elastocal.solve.dependent import considered, crowding, left_out, mean_square, scatter_and_worth, spread
from elastocal.solve.evidence import Posterior, posterior
from elastocal.solve.identifiability import Groups, classify, stacked_triangle
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass

ROUNDS, DECIDED = 6, 2
"""Of estimates and their noise; after the third, shares of friction by load that are not significant are left out."""
CHUNK = 4096
CLEARLY = 0.95
"""Share of the error by the robot file's masses that those fitted must leave at most."""
ALIKE = 1e-7
"""Part of the largest singular value (unit columns) below which directions are lost in normal equations."""


@dataclass(frozen=True, eq=False)
class Known:
    """Names of parameters and the covariance of their errors."""

    names: tuple[str, ...]
    covariance: Array


@dataclass(frozen=True, eq=False)
class GravityFit:
    """``values`` (p,) and ``covariance`` (p, p) of all ``unknowns``; those not ``kept`` are the robot file's.

    ``noise`` (n,) is the scatter of one reading about the model, ``worth`` (n,) how many independent ones there are;
    both nan of a joint without readings.  ``base`` are the groups that poses and motion decide, without any prior.
    ``left_out`` (n,) is the root mean square error of stretches of the log that take no part in turn, ``by_file`` that
    with the robot file's masses.  ``spread`` (n,) are the kappa^2 of the joints, ``drawn`` (p, p) what they multiply.
    ``remains`` (n,) is what a model that does not fit leaves.
    """

    samples: Samples
    sense: Sense
    prior: MassPrior | None
    unknowns: Unknowns
    base: Groups
    kept: Ints
    values: Array
    covariance: Array
    drawn: Array
    spread: Array
    noise: Array
    worth: Array
    residuals: Array
    left_out: Array
    by_file: Array
    evidence: float
    solved: Posterior
    remains: Array | float = 0.0

    @property
    def outdone(self) -> Bools:
        """Joints (n,) whose stretches left out the robot file's masses predict nearly as well or better."""
        return np.asarray((self.left_out >= CLEARLY * self.by_file) & (self.prior is not None))

    @property
    def improves(self) -> bool:
        """Whether some joint is predicted better by the masses fitted than by the robot file's."""
        return bool(np.any(~self.outdone & (self.samples.counts > 0)))

    @property
    def names(self) -> tuple[str, ...]:
        """Of what was estimated."""
        return tuple(self.unknowns.names[i] for i in self.kept)

    @property
    def friction(self) -> Friction | None:
        return self.unknowns.friction

    @cached_property
    def model(self) -> Robot:
        masses = self.unknowns.masses
        return self.unknowns.model.with_estimates({n: self.value(n) for n in masses})

    @property
    def known(self) -> Known:
        """Masses and mass moments."""
        weighing = self.unknowns.weighing
        return Known(self.unknowns.masses, self.covariance[np.ix_(weighing, weighing)])

    def value(self, name: str) -> float:
        return float(self.values[self.unknowns.names.index(name)])

    def sd(self, name: str) -> float | None:
        """Of a parameter that was estimated; None where it is fixed at the robot's value."""
        if name not in self.names:
            return None
        i = self.unknowns.names.index(name)
        return float(np.sqrt(self.covariance[i, i]))

    def informed(self, name: str) -> float:
        """Share of the prior variance of a parameter that the log has removed; one without a prior, zero if fixed."""
        sd, prior = self.sd(name), float(self.unknowns.sd[self.unknowns.names.index(name)])
        return 0.0 if sd is None else max(0.0, 1 - (sd / prior) ** 2)

    @cached_property
    def solved_covariance(self) -> Array:
        """H^-1 (p, p)."""
        return _among(self.solved.covariance, self.kept, len(self.values))

    def weight_columns(self, q: Array) -> Array:
        """(N, n, p): holding torques at joint values by every unknown."""
        bodies, still = self.unknowns.bodies, np.zeros(q.shape)
        full = inertial_regressor(self.unknowns.model, q, still, still, [b.frame for b in bodies])
        out = np.zeros((*q.shape, len(self.unknowns.names)))
        out[:, :, self.unknowns.weighing] = full.reshape(*q.shape, -1, 10)[..., :4].reshape(*q.shape, -1)
        if self.unknowns.tilts.size:
            out[:, :, self.unknowns.tilts] = turned_weight(self.unknowns.model, bodies, q)
        return out

    @cached_property
    def seen(self) -> tuple[Ints, Array]:
        """Base parameters, and the triangle R of the readings over them: |R^-T x|^2 is the leverage of a row x."""
        white = self.solved.inverse @ self.unknowns.columns(self.samples, self.sense.sign)
        rows = white.reshape(-1, white.shape[2])
        triangle = stacked_triangle((rows[r] for r in _slices(len(rows))), rows.shape[1])
        kept = _independent(np.array(self.base.kept), triangle)
        return kept, stacked_triangle([triangle[:, kept]], len(kept))


def fit_masses(
    model: Robot,
    samples: Samples,
    *,
    sense: Sense | None = None,
    prior: MassPrior | None = None,
    friction: Friction | None = None,
    coupled: Sequence[Coupled] = (),
    tilted: bool = False,
) -> GravityFit:
    """All unknowns at once; where ``tilted``, the way down with them."""
    check_torque_columns(model, samples)
    known = sense or torque_sense(model, samples)
    return fit_unknowns(Unknowns.of(model, samples, prior, friction, coupled, tilted=tilted), samples, known, prior)


def fit_unknowns(
    unknowns: Unknowns, samples: Samples, sense: Sense, prior: MassPrior | None, precision: Array | None = None
) -> GravityFit:
    """The same; ``precision`` (p, p) instead of independent priors."""
    x = unknowns.columns(samples, sense.sign)
    y = sense.sign * samples.torque - unknowns.fixed_torque(samples)
    used = np.isfinite(y) & ~unknowns.unsigned(samples)
    triangle = stacked_triangle((x[r][used[r]] for r in _slices(len(x))), x.shape[2])
    plain = unknowns.plain
    base = classify(unknowns.names[:plain], triangle[:, :plain], np.ones(plain), unknowns.model.joint_parameters)
    if precision is None:
        precision = np.diag(np.where(np.isfinite(unknowns.sd), unknowns.sd, np.inf) ** -2.0)
    kept = _kept(unknowns, triangle, precision, base)
    count = used.sum(axis=0)
    noise, worth = np.where(count > 0, _size(y, used), 1.0), np.full(y.shape[1], np.nan)
    rest = np.setdiff1d(np.arange(x.shape[2]), kept)
    y = y - x[:, :, rest] @ unknowns.file[rest]
    values = unknowns.file.copy()
    for turn in range(ROUNDS):
        scale = np.where(np.isfinite(noise), noise, 1.0) * np.sqrt(crowding(count, worth))
        blocks = _blocks(y, x[:, :, kept], used, precision[np.ix_(kept, kept)], unknowns.file[kept])
        solved = posterior(blocks, np.concatenate([np.zeros(len(blocks.groups)), np.log(scale)]))
        residuals = np.where(used, y - blocks.jacobian @ solved.mean, np.nan)
        noise, worth = scatter_and_worth(residuals)
        values[kept] = solved.mean
        if turn == DECIDED:
            idle = unknowns.idle(values, _among(solved.covariance, kept, len(values)))
            kept, values[idle] = np.setdiff1d(kept, idle), 0.0
        unknowns = unknowns.shaped(values, x, samples, used)
    covariance, drawn, widening = spread(solved, x[:, :, kept], used)
    covariance = covariance + considered(solved, x[:, :, kept], unknowns.considered(x, samples, kept), used)
    covariance, drawn = (_among(part, kept, len(values)) for part in (covariance, drawn))
    bodies = slice(unknowns.of_bodies)
    by_file = np.sqrt(mean_square(residuals + x[:, :, bodies] @ (values - unknowns.file)[bodies]))
    return GravityFit(
        samples, sense, prior, unknowns, base, kept, values, covariance, drawn, widening, noise, worth,
        residuals, left_out(solved, residuals), by_file, solved.evidence, solved,
    )  # fmt: skip


def _among(part: Array, kept: Ints, size: int) -> Array:
    """(p, p) with zeros where nothing was estimated."""
    out = np.zeros((size, size))
    out[np.ix_(kept, kept)] = part
    return out


def _size(y: Array, used: Bools) -> Array:
    """Root mean square (n,) of the readings."""
    squares = np.sum(np.where(used, y, 0.0) ** 2, axis=0)
    return np.asarray(np.maximum(np.sqrt(squares / np.maximum(used.sum(axis=0), 1)), 1e-6))


def _slices(count: int) -> list[slice]:
    return [slice(i, i + CHUNK) for i in range(0, count, CHUNK)]


def _kept(unknowns: Unknowns, triangle: Array, precision: Array, base: Groups) -> Ints:
    """What is estimated: an identifiable basis of the readings and the prior together."""
    known = np.sqrt(np.diag(precision))
    if not known.any():
        return _independent(np.array(base.kept), triangle)
    rows = np.concatenate([triangle, np.diag(known)])
    kept = classify(unknowns.names, rows, np.ones(len(known)), unknowns.model.joint_parameters).kept
    return _independent(np.array(kept), rows)


def _independent(kept: Ints, rows: Array) -> Ints:
    """Without those that the normal equations of the posterior could not tell from the others."""
    while len(kept):
        unit = rows[:, kept] / np.linalg.norm(rows[:, kept], axis=0)
        _, singular, v = np.linalg.svd(unit, full_matrices=False)
        if singular[-1] > ALIKE * singular[0]:
            break
        kept = np.delete(kept, int(np.argmax(np.abs(v[-1]))))
    return kept


def _blocks(y: Array, x: Array, used: Bools, precision: Array, mean: Array) -> Blocks:
    n = y.shape[1]
    noise = tuple(
        Noise(Scale(f"noise {j}", 1.0, 0.0), np.broadcast_to(np.eye(n)[:, j, None], (len(y), n, 1))) for j in range(n)
    )
    known = np.flatnonzero(np.diag(precision) > 0)
    group = Group(Scale("prior", 1.0, 0.0), known, mean[known], precision[np.ix_(known, known)])
    return Blocks(y, x, used, noise, (group,) if len(known) else ())


def identify_payload(
    arm: GravityFit, samples: Samples, frame: str | None = None, friction: Friction | None = None
) -> GravityFit:
    """Mass and mass moment of a payload; ``frame`` is by default that of the robot file's payload, else the tool."""
    place = frame or next((e.frame for e in arm.model.elements if isinstance(e, Payload)), arm.model.tool)
    model = arm.model
    if not any(isinstance(e, Payload) and e.frame == place for e in model.elements):
        model = model.with_elements(Payload(frame=place, mass=0.0))
    unknowns = Unknowns.of(model, samples, None, friction, arm.unknowns.coupled, place)
    precision = np.zeros((len(unknowns.names),) * 2)
    shared = [n for n in unknowns.names if n in arm.names and " " not in n]
    there, here = ([u.names.index(n) for n in shared] for u in (arm.unknowns, unknowns))
    precision[np.ix_(here, here)] = np.linalg.inv(arm.covariance[np.ix_(there, there)])
    known = np.isfinite(unknowns.sd)
    precision[known, known] = unknowns.sd[known] ** -2.0
    fixed = [unknowns.names.index(n) for n in arm.unknowns.masses if n not in shared]
    precision[fixed, fixed] = FIXED**-2.0
    return fit_unknowns(unknowns, samples, arm.sense, None, precision)


FIXED = 1e-9
"""Kilograms: what the first log did not tell stays at the robot file's value."""


def payload_numbers(payload: GravityFit) -> tuple[tuple[str, float, float, str], ...]:
    """What, value, standard deviation and SI unit: mass, mass moments, and the centre c = u / m, with

    d c = (d u - c d m) / m; nan where the mass is zero.
    """
    names = [n for n in payload.unknowns.masses if ".payload_" in n][-4:]
    at = [payload.unknowns.names.index(n) for n in names]
    covariance = payload.covariance[np.ix_(at, at)]
    mass, *moment = (payload.value(n) for n in names)
    sd = np.sqrt(np.diag(covariance))
    out = [("mass", mass, float(sd[0]), "kg")]
    out += [
        (f"mass moment {a}", u, float(sd[i]), "kg m") for i, (a, u) in enumerate(zip("xyz", moment, strict=True), 1)
    ]
    for i, (axis, u) in enumerate(zip("xyz", moment, strict=True), 1):
        centre = u / mass if mass else np.nan
        slope = np.array([-centre, 1.0]) / mass if mass else np.full(2, np.nan)
        spread = slope @ covariance[np.ix_([0, i], [0, i])] @ slope
        out.append((f"centre {axis}", centre, float(np.sqrt(np.maximum(spread, 0.0))), "m"))
    return tuple(out)
