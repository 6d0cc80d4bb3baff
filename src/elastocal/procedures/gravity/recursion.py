"""Mass moments link by link, from the wrist inwards (001 section III.C): each sweep less what hangs further out.

    tau_i - tau_next = A_i cos b_i + B_i sin b_i + friction,     A_i, B_i = mass moment times gravity

Friction is separated by moving both ways where the log has them; with one way only it is the constant that the document
drops.  A term inherits the errors of those further out: they are linear in what was taken off.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from elastocal.errors import UnobservableError
from elastocal.model.robot import Robot
from elastocal.procedures.gravity.samples import Samples
from elastocal.procedures.gravity.sweeps import LOCKED, FourierSeries, Sweep, find_sweeps, fourier
from elastocal.procedures.gravity.terms import LevelAxes, Term, level_joints
from elastocal.spatial.entries import Array
from elastocal.values import dataclass


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
