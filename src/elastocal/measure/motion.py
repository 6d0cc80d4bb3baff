"""Motion of a log: velocity and acceleration by a local filter of zero phase on its own time base.

About every chosen sample a parabola is fitted to the w samples around it (w odd, five at least), each at its own time:

    q(t_i + s) = a0 + a1 s + a2 s^2,     velocity a1,     acceleration 2 a2

Where samples are evenly spaced this is the Savitzky-Golay filter of order 2, a low-pass filter without delay; lost
samples and an uneven step do not disturb it.  It halves the power at f_c = 0.94 / window (Schafer 2011, IEEE Signal
Processing Magazine 28(4), 111-117).  Near the ends, and beside a pause of the log, the window is moved to the inside
and the parabola taken off its middle.  Stretches between pauses that are shorter than a window have no velocity (nan),
nor have samples whose window would reach over a jump of a joint value.

Parts of a log are where inertia matters, where a joint hardly moves, and where the arm stands still.

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

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elastocal.errors import TooFewError
from elastocal.measure.joints import JointLog
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array, Ints
from elastocal.values import dataclass

WINDOW = 0.3
"""In s."""
HALF_POWER = 0.94
"""Cut-off frequency times window."""
FEWEST = 5
BY_ROW = 11
"""Samples of a window at least, where the log has no time: its band decides (half of what a log that is filtered takes,
since its torques are not), for accelerations are noise in a window that is narrow for the motion."""
PAUSE = 5.0
"""A step this many times longer than the usual one is a pause."""
POINTS = 201
"""Of a window that are used; of a denser log every second, third ... sample."""
NUMBERS = 1 << 21
"""Of one chunk: its windows of samples are gathered at once."""
BAND = 0.99
"""Share of the power of the velocity that is the motion; the cut-off lies ``ABOVE`` times higher."""
ABOVE = 10.0
SPECTRUM = 1 << 15
"""Samples at most that the band is told from."""


@dataclass(frozen=True, eq=False)
class Motion:
    """(N, n), per s or, in a log without time (``timed`` False), per row; nan where a stretch is too short.

    ``velocity_sd`` (n,) is the standard deviation of a velocity by the noise that the parabolas leave; ``cutoff`` that
    of the filter in Hz, nan without time.
    """

    velocity: Array
    acceleration: Array
    velocity_sd: Array
    timed: bool
    samples: int
    notes: tuple[str, ...]
    cutoff: float = float("nan")

    @property
    def step(self) -> float:
        """Seconds between samples of the log; one row without time."""
        return HALF_POWER / (self.cutoff * self.samples) if self.timed else 1.0


def motion_of(log: JointLog, window: float = WINDOW, rows: Ints | None = None) -> Motion:
    """At all samples or at ``rows`` of them.  Velocities are the controller's own where the log has them, low-passed
    where a part of the rows is asked for; accelerations always come from ``q``."""
    local = _Local.of(log, window)
    at = np.arange(log.count) if rows is None else rows
    fitted = local.parabolas(log.q, at)
    velocity, sd = fitted.slope, fitted.slope_sd
    if log.velocity is not None:
        own = local.parabolas(log.velocity, at)
        velocity, sd = log.velocity[at] if rows is None else own.value, own.noise
    notes = _notes(log, fitted.slope, local.samples, at)
    timed = log.time is not None
    cutoff = HALF_POWER / (local.samples * local.step) if timed else float("nan")
    return Motion(velocity, fitted.curvature, sd, timed, local.samples, notes, cutoff)


def low_passed(log: JointLog, values: Array, window: float, rows: Ints) -> Array:
    """Readings (N, n) through the same filter, at ``rows``; nan where a fifth of a window or more was not read, or so
    much less on one side of it."""
    local, read = _Local.of(log, window), np.isfinite(values)
    if read.all():
        return local.parabolas(values, rows).value
    weight = local.parabolas(read.astype(np.float64), rows)
    share, tilt = weight.value, weight.slope * local.samples * local.step
    part = local.parabolas(np.where(read, values, 0.0), rows).value
    enough = np.isfinite(share) & (np.abs(share - 1) < 0.2) & (np.abs(tilt) < 0.2)
    return np.where(enough, part / np.where(enough, share, 1.0), np.nan)


def motion_cutoff(log: JointLog) -> float:
    """Hz (per row without time): ten times the frequency below which 99 % of the power of the fastest joint's velocity
    lies, noise taken off.

    White noise of the joint values is what the upper half of their spectrum shows on the median.
    """
    log = _longest_piece(log)
    count = int(min(log.count, SPECTRUM))
    clock = np.arange(log.count, dtype=np.float64) if log.time is None else log.time
    time = np.linspace(clock[0], clock[-1], count)
    frequency = np.fft.rfftfreq(count, time[1] - time[0])
    bands = [frequency[1]]
    for q in log.q.T:
        even = np.interp(time, clock, q)
        even = even - np.linspace(even[0], even[-1], count)
        power = np.abs(np.fft.rfft(even * np.hanning(count))) ** 2
        floor = float(np.median(power[len(power) // 2 :])) / np.log(2)
        moving = np.maximum(power - 4 * floor, 0.0) * frequency**2
        total = np.cumsum(moving)
        if np.ptp(q) > 0.01 and total[-1] > 0:
            bands.append(frequency[int(np.searchsorted(total, BAND * total[-1]))])
    return ABOVE * float(max(bands))


JUMPS = 10
"""Of one joint at most: more are how it moves."""
FASTER = 5.0
"""Times the next fastest step of its joint."""
ISOLATED = 1 / 3
"""Share of a jump that the steps beside it may go on with."""
LEAST_JUMP = 0.01
"""Radians or metres."""


class Jump(NamedTuple):
    """A joint value (rad or m) that is ``size`` further in ``row`` than in the row before, which no arm follows."""

    row: int
    joint: int
    size: float


def jumps(log: JointLog) -> tuple[Jump, ...]:
    """By rows: steps that are far faster than all others of their joint, and alone; not over a pause."""
    clock = np.arange(log.count, dtype=np.float64) if log.time is None else log.time
    steps, out = np.diff(log.q, axis=0), []
    passed = np.diff(clock)
    straight = passed <= PAUSE * np.median(passed) if len(passed) else passed > 0
    for j, step in enumerate(steps.T if len(steps) > 2 * JUMPS else ()):
        speed = np.abs(step) / passed * straight
        usual = float(np.partition(speed, -JUMPS - 1)[-JUMPS - 1])
        for i in np.flatnonzero((speed > FASTER * usual) & (np.abs(step) > LEAST_JUMP)):
            beside = step[[k for k in (i - 1, i + 1) if 0 <= k < len(step)]] * np.sign(step[i])
            if np.all(beside < ISOLATED * abs(step[i])):
                out.append(Jump(int(i) + 1, j, float(step[i])))
    return tuple(sorted(out))


def _longest_piece(log: JointLog) -> JointLog:
    """Between jumps."""
    ends = sorted({0, log.count, *(jump.row for jump in jumps(log))})
    first, last = max(pairwise(ends), key=lambda piece: piece[1] - piece[0])
    return log if last - first == log.count else log.rows(np.arange(first, last))


def _notes(log: JointLog, slope: Array, samples: int, at: Ints) -> tuple[str, ...]:
    out = []
    if log.time is None:
        out.append(
            f"{log.source} has no time: its {log.count} rows are taken in order, directions of motion come from "
            f"{samples} neighbouring rows, and the arm is assumed to move slowly."
        )
    unknown = np.flatnonzero(~np.isfinite(slope[:, 0])) if slope.shape[1] else np.zeros(0, dtype=np.int64)
    if len(unknown):
        out.append(
            f"{len(unknown)} samples have no velocity: the log pauses or jumps before {samples} samples are together "
            f"(first: {log.place(int(at[unknown[0]]))})."
        )
    return tuple(out)


@dataclass(frozen=True, eq=False)
class _Fitted:
    value: Array
    slope: Array
    curvature: Array
    slope_sd: Array
    noise: Array


@dataclass(frozen=True, eq=False)
class _Local:
    """Windows of ``samples`` points; ``first`` and ``last`` (N,) bound the stretch between pauses of every sample."""

    time: Array
    step: float
    samples: int
    points: Ints
    first: Ints
    last: Ints

    @classmethod
    def of(cls, log: JointLog, window: float) -> _Local:
        if log.count < FEWEST:
            raise TooFewError(
                f"{log.source}: has {log.count} rows, which is too short for velocities; log {FEWEST} or more",
                value=(log.count, FEWEST),
            )
        time = np.arange(log.count, dtype=np.float64) if log.time is None else log.time
        usual = float(np.median(np.diff(time)))
        if log.time is None:
            window = max(BY_ROW, 0.5 * HALF_POWER / motion_cutoff(log))
        samples = min(max(FEWEST, 2 * round(0.5 * window / usual) + 1), log.count - 1 + log.count % 2)
        broken = [j.row for j in jumps(log)]
        apart = np.diff(time) > PAUSE * usual
        apart[[row - 1 for row in broken]] = True
        starts = np.concatenate([[0], np.flatnonzero(apart) + 1])
        ends = np.concatenate([starts[1:], [len(time)]])
        which = np.searchsorted(starts, np.arange(len(time)), side="right") - 1
        points = np.arange(0, samples, -(-samples // POINTS))
        first, last = starts[which], ends[which]
        for row in broken:
            beside = slice(max(0, row - samples // 2), row + samples // 2)
            last[beside] = first[beside]
        return cls(time, usual, samples, points + (samples - 1 - points[-1]) // 2, first, last)

    def parabolas(self, values: Array, rows: Ints) -> _Fitted:
        """Values (N, n) by local parabolas about ``rows``."""
        shape = (len(rows), values.shape[1])
        value, slope, curvature = (np.full(shape, np.nan) for _ in range(3))
        squares, gains, count = np.zeros(values.shape[1]), 0.0, 0
        wide = np.flatnonzero((self.last - self.first)[rows] >= self.samples)
        size = max(1, NUMBERS // (len(self.points) * max(1, values.shape[1])))
        for place in np.split(wide, np.arange(size, len(wide), size)):
            part = rows[place]
            start = np.clip(part - self.samples // 2, self.first[part], self.last[part] - self.samples)
            inside = start[:, None] + self.points
            shift = self.time[inside] - self.time[part, None]
            scale = np.max(np.abs(shift), axis=1)
            unit = shift / scale[:, None]
            powers = np.stack([np.ones_like(unit), unit, unit**2], axis=1)
            normal = np.linalg.inv(powers @ powers.transpose(0, 2, 1))  # of shifts between -1 and 1: no digit is lost
            around = values[inside] - values[part, None]
            a = normal @ (powers @ around)
            value[place] = values[part] + a[:, 0]
            slope[place] = a[:, 1] / scale[:, None]
            curvature[place] = 2 * a[:, 2] / scale[:, None] ** 2
            squares += np.sum((around - powers.transpose(0, 2, 1) @ a) ** 2, axis=(0, 1))
            gains += float(np.sum(normal[:, 1, 1] / scale**2))
            count += len(part)
        noise = np.sqrt(squares / max(1, count * (len(self.points) - 3)))
        return _Fitted(value, slope, curvature, noise * np.sqrt(gains / max(1, count)), noise)


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
