"""Mass moments link by link, from the wrist inwards (001 section III.C): each sweep less what hangs further out.

    tau_i - tau_next = A_i cos b_i + B_i sin b_i + friction,     A_i, B_i = mass moment times gravity

Friction is separated by moving both ways where the log has them; with one way only it is the constant that the document
drops.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elastocal.errors import InputError
from elastocal.gravity.samples import Samples
from elastocal.gravity.sweeps import Series, Sweep, find_sweeps, fourier
from elastocal.gravity.terms import Level, Term, level_joints
from elastocal.model.robot import RobotModel
from elastocal.spatial.entries import Array


@dataclass(frozen=True, eq=False)
class Recursion:
    """Terms from the outermost joint in, the series behind each, and joints of the set that no sweep moved."""

    level: Level
    terms: tuple[Term, ...]
    series: tuple[Series, ...]
    unswept: tuple[str, ...]

    def torque(self, q: Array) -> Array:
        """Holding torques (N, joints of the set), outermost first, where the locked joints stay."""
        out: list[Array] = []
        for term in self.terms:
            i = self.level.joints.index(term.joint)
            b = self.level.angle(q, i)
            own = term.cosine * np.cos(b) + term.sine * np.sin(b)
            out.append(own + term.next_sign * out[-1] if out else own)
        return np.stack(out, axis=1)


def recursive_moments(model: RobotModel, samples: Samples, sign: int) -> Recursion:
    """By the sweeps of the joints with parallel level axes; ``sign`` is -1 where the load's torque was logged."""
    sweeps = find_sweeps(samples)
    level = level_joints(model, sweeps[0].locked)
    terms: list[Term] = []
    series: list[Series] = []
    unswept: list[str] = []
    for i in reversed(range(len(level.joints))):
        mine = [s for s in sweeps if s.joint == level.columns[i]]
        if not mine:
            unswept.append(level.joints[i])
            if terms:
                raise InputError(
                    f"{samples.log.source}: {level.joints[i]} was never swept alone, so nothing further in can be "
                    "resolved; sweep it, or fit all joints at once"
                )
            continue
        found = _fitted(level, i, samples, mine, terms, sign)
        series.append(found)
        inner = (None, 1) if not terms else (terms[-1].joint, level.signs[i] * _sign(level, terms[-1].joint))
        terms.append(
            Term(
                level.joints[i], level.names(i), float(found.cosine[0]), float(found.sine[0]),
                float(found.cosine_sd[0]), float(found.sine_sd[0]), *inner,
            )
        )  # fmt: skip
    if not terms:
        raise InputError(f"{samples.log.source}: none of {', '.join(level.joints)} was swept alone; sweep them in turn")
    return Recursion(level, tuple(terms), tuple(series), tuple(unswept))


def _sign(level: Level, joint: str) -> int:
    return level.signs[level.joints.index(joint)]


def _fitted(
    level: Level, i: int, samples: Samples, sweeps: Sequence[Sweep], terms: Sequence[Term], sign: int
) -> Series:
    """First order of what joint i carries beyond the next one."""
    rows = np.concatenate([s.rows for s in sweeps])
    q = samples.log.q[rows]
    torque = sign * samples.torque[rows, level.columns[i]]
    beyond = np.zeros(len(rows))
    for term in terms:
        b = level.angle(q, level.joints.index(term.joint))
        beyond = term.cosine * np.cos(b) + term.sine * np.sin(b) + term.next_sign * beyond
    if terms:
        torque = torque - level.signs[i] * _sign(level, terms[-1].joint) * beyond
    velocity = samples.velocity[rows, level.columns[i]]
    return fourier(level.joints[i], level.angle(q, i), torque, velocity, order=1)
