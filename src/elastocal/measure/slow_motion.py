"""Parts of a log: where inertia matters, where a joint hardly moves, where the arm stands still.

**Inertia.**  No point of the arm accelerates by more than

    a = sum_j R_j ( |q''_j|  +  d_j |q'_j|^2  +  2 |q'_j| sum_(i < j, i turns) |q'_i| )

with R_j the way from joint j to the farthest frame (slides drawn out as far as the log has them) and d_j = 1 where
joint j turns, R_j = 1 and d_j = 0 where it slides: the second derivative of a point by two joints is z_i x (z_j x r)
or z_i x z_j, and r starts at the outer one.  Every mass then pushes by its inertia with at most a/g of its weight.
Samples beyond a stated share of g are left out.  The rotors of the motors are not in this bound: geared up they may
weigh as much as the arm, so be generous with slowness.

**Friction.**  The sign of Coulomb friction is that of the velocity, which is unknown where the velocity is not
distinctly above its own noise or where the joint is about to turn back, or turns back within one step of the log.
That is judged joint by joint.

**Dwells** are intervals in which no joint leaves a small band; differences of noisy encoder values over a few
milliseconds are no speeds.  From each instant on an interval grows while the spread of every joint stays within
``band``; intervals that last ``shortest`` count.  Of each the first and last tenth is left out, in which the arm
settles or starts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elastocal.measure.joint_log import JointLog
from elastocal.measure.motion import Motion
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

SHARE = 0.02
"""Largest acceleration that is left in, as a share of g."""
STANDARD_GRAVITY = 9.80665
NOISE_TIMES = 4.0
SHARE_OF_SPEED = 0.01
"""Below this share of the joint's usual speed (95th percentile) it is about to turn back."""


@dataclass(frozen=True, eq=False)
class LeftOut:
    """``mask`` is (N,) for samples or (N, n) for samples of single joints; ``reason`` says why, with the counts."""

    mask: NDArray[np.bool_]
    reason: str

    @property
    def count(self) -> int:
        return int(np.sum(self.mask))


def acceleration_bound(log: JointLog, motion: Motion, model: Robot) -> Array:
    """(N,) in m/s2: no point of the arm accelerates more; the model is needed for its lengths only."""
    turns = np.array([m.kind == "revolute" for m in model.motions], dtype=bool)
    drawn_out = np.where(turns, 0.0, np.max(np.abs(log.q), axis=0))
    ways = np.array([_way(model, joint) + np.sum(drawn_out[i:]) for i, joint in enumerate(model.joints)])
    ways[~turns] = 1.0
    speed = np.abs(motion.velocity)
    spins = speed * turns
    inner = np.cumsum(spins, axis=1) - spins
    return np.asarray((np.abs(motion.acceleration) + spins**2 + 2 * speed * inner) @ ways)


def slow_motion(log: JointLog, motion: Motion, model: Robot, share: float = SHARE) -> LeftOut:
    """Samples where inertia matters or cannot be judged; none in a log without time, which is assumed slow."""
    if not motion.timed:
        return LeftOut(np.zeros(log.count, dtype=bool), "no time in the log: slow motion is assumed, not checked")
    bound = acceleration_bound(log, motion, model)
    unknown, fast = ~np.isfinite(bound), bound > share * STANDARD_GRAVITY
    notes = [f"{int(np.sum(fast))} of {log.count} samples left out, where the arm may accelerate by more than "
            f"{100 * share:g} % of gravity"]  # fmt: skip
    if np.any(fast):
        worst = int(np.nanargmax(bound))
        notes.append(f"most in {log.place(worst)}: {bound[worst]:.3g} m/s2")
    if np.any(unknown):
        notes.append(f"{int(np.sum(unknown))} more whose acceleration is unknown")
    return LeftOut(unknown | fast, "; ".join(notes))


def low_speed(log: JointLog, motion: Motion) -> LeftOut:
    """(N, n): where a joint moves too slowly for the sign of its friction to be known."""
    speed = np.abs(motion.velocity)
    known = np.isfinite(speed)
    usual = np.array([np.percentile(s[k], 95) if np.any(k) else 0.0 for s, k in zip(speed.T, known.T, strict=True)])
    least = np.maximum(NOISE_TIMES * motion.velocity_sd, SHARE_OF_SPEED * usual)
    mask = ~known | (speed <= np.maximum(least, np.abs(motion.acceleration) * motion.step))
    each = ", ".join(f"{joint} {int(c)}" for joint, c in zip(log.joints, np.sum(mask, axis=0), strict=True))
    return LeftOut(mask, f"of {log.count} samples, friction has no known sign at low speed in: {each}")


def _way(model: Robot, joint: str) -> float:
    """The sum of the fixed offsets from the joint to the farthest frame behind it."""
    start = model.chain.length(joint)
    behind = [f for f in model.tree.names if any(p.name == joint for p in model.tree.path(f))]
    return max(0.0, *(model.chain.length(f) - start for f in behind))


MARGIN = 0.1
"""Share of a dwell at either end that is not used."""


class Dwell(NamedTuple):
    """``first`` to ``last`` in s, margins left out, and rows of the recording."""

    first: float
    last: float
    rows: slice


def dwells(time: Array, q: Array, band: Array, shortest: float) -> tuple[Dwell, ...]:
    """Dwells of joint values (N, n) at times (N,) in order; ``band`` (n,) is the spread that a still joint may have."""
    out: list[Dwell] = []
    start, total = 0, len(time)
    while start < total:
        low, high = q[start].copy(), q[start].copy()
        end = start + 1
        while end < total:
            new_low, new_high = np.minimum(low, q[end]), np.maximum(high, q[end])
            if np.any(new_high - new_low > band):
                break
            low, high, end = new_low, new_high, end + 1
        length = float(time[end - 1] - time[start])
        if length >= shortest:
            margin = MARGIN * length
            first, last = float(time[start]) + margin, float(time[end - 1]) - margin
            inside = np.flatnonzero((time >= first) & (time <= last))
            if len(inside):
                out.append(Dwell(first, last, slice(int(inside[0]), int(inside[-1]) + 1)))
            start = end
        else:
            start += 1 if end == start + 1 else max(1, (end - start) // 4)
    return tuple(out)
