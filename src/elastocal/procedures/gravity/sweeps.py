"""Mass moments link by link, from the wrist inwards (001 section III.C): each sweep less what hangs further out.

A sweep is a stretch of a log in which one joint moves and the others are locked; its torque is a Fourier series,

    tau = a_0 + sum_k (a_k sin k b + b_k cos k b) + c sign(v) + d v                          (001 eq. 14, and friction)

Gravity alone has k = 1; higher terms tell of a compensator, a joint that was not locked, or a load that swings.
Accuracies and the test of higher terms count the samples for what they are worth (``worth``).  Then

    tau_i - tau_next = A_i cos b_i + B_i sin b_i + friction,     A_i, B_i = mass moment times gravity

Friction is separated by moving both ways where the log has them; with one way only it is the constant that the document
drops.  A term inherits the errors of those further out: they are linear in what was taken off.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from elastocal.errors import ConflictError, UnobservableError
from elastocal.measure.motion import low_speed
from elastocal.model.robot import Robot
from elastocal.procedures.gravity.samples import Samples
from elastocal.procedures.gravity.terms import LevelAxes, Term, level_joints
from elastocal.solve.dependent import crowding, scatter_and_worth
from elastocal.solve.linear import LinearSolution, solve_linear
from elastocal.solve.nested import f_test
from elastocal.spatial.entries import Array, Ints
from elastocal.values import dataclass

LOCKED = 0.01
"""Radians or metres that a locked joint may creep within a sweep."""
NARROWEST = 0.35
"""Radians: over less, sine, cosine and constant look alike."""
SHORTEST = 20
"""Samples: where two joints move, one of them turns back now and then and leaves the other alone for a moment."""
HIGHEST = 3
"""Order up to which higher terms are looked for."""
CHANCE = 1e-3
"""A higher term is real where chance would make it as large less often than this."""


@dataclass(frozen=True, eq=False)
class Sweep:
    """Samples (rows of the log) of one moving joint with the others locked at ``locked`` (n,)."""

    joint: int
    rows: Ints
    locked: Array

    def span(self, samples: Samples) -> float:
        return float(np.ptp(samples.log.q[self.rows, self.joint]))


@dataclass(frozen=True, eq=False)
class FourierSeries:
    """``sine`` and ``cosine`` (order,) in N m with standard deviations; ``chance`` of each higher order tried.

    ``first`` (2, 2) is the covariance of cosine and sine of the first order.  ``coulomb`` and ``viscous`` are nan where
    the motion does not show them.
    """

    joint: str
    sine: Array
    cosine: Array
    sine_sd: Array
    cosine_sd: Array
    first: Array
    constant: float
    coulomb: float
    viscous: float
    scatter: float
    count: int
    chance: Array


def find_sweeps(samples: Samples) -> tuple[Sweep, ...]:
    """All sweeps of a log, in order; samples in which two joints move belong to none."""
    log = samples.log
    moving = ~low_speed(log, samples.motion).mask
    alone = np.flatnonzero(moving.sum(axis=1) == 1)
    out = []
    for joint in range(log.q.shape[1]):
        mine = alone[moving[alone, joint]]
        others = np.delete(np.arange(log.q.shape[1]), joint)
        while len(mine):
            near = np.all(np.abs(log.q[mine][:, others] - log.q[mine[0], others]) < LOCKED, axis=1)
            rows = mine[near]
            locked = np.median(log.q[rows], axis=0)
            out.append(Sweep(joint, rows, locked))
            mine = mine[~near]
    long = [s for s in out if len(s.rows) >= SHORTEST]
    wide = [s for s in long if s.span(samples) > NARROWEST]
    if not wide:
        best = max((s.span(samples) for s in long), default=0.0)
        raise ConflictError(
            f"{log.source}: the widest sweep of one joint alone is {np.degrees(best):.1f} deg; sweep one joint at "
            f"a time over {np.degrees(NARROWEST):.0f} deg or more, or fit all joints at once",
            code="narrow-sweeps",
        )
    return tuple(sorted(wide, key=lambda s: int(s.rows[0])))


def fourier(joint: str, angle: Array, torque: Array, velocity: Array, order: int | None = None) -> FourierSeries:
    """The series of one sweep; without ``order`` terms are added up to ``HIGHEST`` as long as they are real."""
    known = np.isfinite(torque)
    angle, torque, velocity = angle[known], torque[known], velocity[known]
    friction, labels = _friction(velocity)
    chances, n = [], order or 1
    best = _solve(angle, torque, friction, n)
    for k in range(2, HIGHEST + 1) if order is None else ():
        more = _solve(angle, torque, friction, k)
        freedom = len(torque) / more.crowd - len(more.fit.values)
        if freedom < 1 or not more.fit.squares > 0:
            break
        gain = (best.fit.squares - more.fit.squares) / (more.fit.squares / freedom)
        chances.append(f_test(gain, 2, freedom).probability)
        if chances[-1] > CHANCE:
            break
        best, n = more, k
    values, covariance = best.fit.values, best.covariance
    sd = np.sqrt(np.diag(covariance))
    extra = dict(zip(labels, values[1 + 2 * n :], strict=True))
    nan = float("nan")
    return FourierSeries(
        joint, values[1 : 1 + n], values[1 + n : 1 + 2 * n], sd[1 : 1 + n], sd[1 + n : 1 + 2 * n],
        covariance[np.ix_([1 + n, 1], [1 + n, 1])], float(values[0]), float(extra.get("coulomb", nan)),
        float(extra.get("viscous", nan)), best.fit.scatter, len(torque), np.array(chances),
    )  # fmt: skip


def _friction(velocity: Array) -> tuple[Array, list[str]]:
    """Columns of friction that the motion shows: Coulomb by two ways, viscous by two speeds."""
    columns, labels = [], []
    if np.any(velocity > 0) and np.any(velocity < 0):
        columns.append(np.sign(velocity))
        labels.append("coulomb")
        speed = np.abs(velocity)
        if np.ptp(speed) > 0.3 * np.max(speed):
            columns.append(velocity)
            labels.append("viscous")
    return np.array(columns).reshape(len(columns), len(velocity)).T, labels


@dataclass(frozen=True, eq=False)
class _Solved:
    """The fit of one order, for noise of one, and how many samples are worth one."""

    fit: LinearSolution
    crowd: float

    @property
    def covariance(self) -> Array:
        return self.fit.squares / self.fit.freedom * self.crowd * self.fit.unit_covariance


def _solve(angle: Array, torque: Array, friction: Array, order: int) -> _Solved:
    k = np.arange(1, order + 1)
    waves = [np.sin(np.outer(angle, k)), np.cos(np.outer(angle, k))]
    a = np.concatenate([np.ones((len(angle), 1)), *waves, friction], axis=1)
    apart = f"{len(a)} samples do not tell {a.shape[1]} terms of a sweep apart; sweep further, or both ways"
    if len(a) <= a.shape[1]:
        raise ConflictError(apart, value=a.shape)
    fit = solve_linear(a, torque)
    if not fit.known.all():
        raise ConflictError(apart)
    worth = scatter_and_worth(fit.residuals[:, None])[1]
    return _Solved(fit, float(crowding(np.array([len(a)]), worth)[0]))


@dataclass(frozen=True, eq=False)
class Recursion:
    """Terms from the outermost joint in and the series behind each, with the other joints at ``locked`` (n,).

    ``unswept`` are joints of the set that no sweep moved; ``elsewhere`` sweeps had a joint across the set in another
    place, where these sums do not hold.
    """

    level: LevelAxes
    locked: Array
    terms: tuple[Term, ...]
    series: tuple[FourierSeries, ...]
    unswept: tuple[str, ...]
    elsewhere: int

    def torque(self, q: Array) -> Array:
        """Holding torques (N, joints of the set), outermost first, where the locked joints stay."""
        out: list[Array] = []
        for term in self.terms:
            b = self.level.angle(q, self.level.joints.index(term.joint))
            own = term.cosine * np.cos(b) + term.sine * np.sin(b)
            out.append(own + term.next_sign * out[-1] if out else own)
        return np.stack(out, axis=1)


def recursive_moments(model: Robot, samples: Samples, sign: int) -> Recursion:
    """By the sweeps of the joints with parallel level axes; ``sign`` is -1 where the load's torque was logged."""
    every = find_sweeps(samples)
    locked = every[0].locked
    level = level_joints(model, locked)
    across = np.delete(np.arange(model.n), level.columns)
    sweeps = [s for s in every if np.all(np.abs(s.locked[across] - locked[across]) < LOCKED)]
    chain = _Chain((), np.zeros((0, 0)))
    series: list[FourierSeries] = []
    unswept: list[str] = []
    for i in reversed(range(len(level.joints))):
        mine = [s for s in sweeps if s.joint == level.columns[i]]
        if not mine:
            unswept.append(level.joints[i])
            if chain.terms and any(s.joint in level.columns[:i] for s in sweeps):
                raise UnobservableError(
                    f"{samples.log.source}: {level.joints[i]} was never swept alone, so nothing further in can be "
                    "resolved; sweep it, or fit all joints at once",
                    value=level.joints[i],
                )
            continue
        fit, chain = _fitted(level, i, samples, mine, chain, sign)
        series.append(fit)
    if not chain.terms:
        raise UnobservableError(
            f"{samples.log.source}: none of {', '.join(level.joints)} was swept alone; sweep them in turn",
            value=tuple(level.joints),
        )
    return Recursion(level, locked, chain.terms, tuple(series), tuple(unswept), len(every) - len(sweeps))


@dataclass(frozen=True, eq=False)
class _Chain:
    """Terms found so far, and the covariance of all their cosines and sines."""

    terms: tuple[Term, ...]
    covariance: Array

    def columns(self, level: LevelAxes, q: Array) -> Array:
        """(N, 2 terms): how the torque of the last one depends on every cosine and sine."""
        out = np.zeros((len(q), 0))
        for term in self.terms:
            b = level.angle(q, level.joints.index(term.joint))
            out = np.column_stack([term.next_sign * out, np.cos(b), np.sin(b)])
        return out

    def values(self) -> Array:
        return np.array([v for t in self.terms for v in (t.cosine, t.sine)])


def _fitted(
    level: LevelAxes, i: int, samples: Samples, sweeps: Sequence[Sweep], chain: _Chain, sign: int
) -> tuple[FourierSeries, _Chain]:
    """First order of what joint i carries beyond the next one, and the chain with it."""
    rows = np.concatenate([s.rows for s in sweeps])
    q, velocity = samples.log.q[rows], samples.velocity[rows, level.columns[i]]
    torque = sign * samples.torque[rows, level.columns[i]]
    last = chain.terms[-1].joint if chain.terms else None
    following = (last, 1 if last is None else level.signs[i] * level.signs[level.joints.index(last)])
    beyond = following[1] * chain.columns(level, q)

    def fit(values: Array) -> FourierSeries:
        return fourier(level.joints[i], level.angle(q, i), values, velocity, order=1)

    fitted = fit(torque - beyond @ chain.values())
    parts = [fit(np.where(np.isfinite(torque), c, np.nan)) for c in beyond.T]
    slope = -np.array([[p.cosine[0], p.sine[0]] for p in parts]).reshape(-1, 2).T
    own = fitted.first + slope @ chain.covariance @ slope.T
    cross = slope @ chain.covariance
    term = Term.of(level, i, np.array([fitted.cosine[0], fitted.sine[0]]), own, following)
    return fitted, _Chain((*chain.terms, term), np.block([[chain.covariance, cross.T], [cross, own]]))
