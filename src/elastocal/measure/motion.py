"""Velocity and acceleration of a log, by a local filter of zero phase on its own time base.

About every chosen sample a parabola is fitted to the w samples around it (w odd, five at least), each at its own time:

    q(t_i + s) = a0 + a1 s + a2 s^2,     velocity a1,     acceleration 2 a2

Where samples are evenly spaced this is the Savitzky-Golay filter of order 2, a low-pass filter without delay; lost
samples and an uneven step do not disturb it.  It halves the power at f_c = 0.94 / window (Schafer 2011, IEEE Signal
Processing Magazine 28(4), 111-117).  Near the ends, and beside a pause of the log, the window is moved to the inside
and the parabola taken off its middle.  Stretches between pauses that are shorter than a window have no velocity (nan).
"""

from __future__ import annotations

import numpy as np

from elastocal.errors import TooFewError
from elastocal.measure.joint_log import JointLog
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
    """Readings (N, n) through the same filter, at ``rows``; nan where a fifth of a window or more was not read."""
    local, read = _Local.of(log, window), np.isfinite(values)
    if read.all():
        return local.parabolas(values, rows).value
    share = local.parabolas(read.astype(np.float64), rows).value
    part = local.parabolas(np.where(read, values, 0.0), rows).value
    enough = np.isfinite(share) & (np.abs(share - 1) < 0.2)
    return np.where(enough, part / np.where(enough, share, 1.0), np.nan)


def motion_cutoff(log: JointLog) -> float:
    """Hz (per row without time): ten times the frequency below which 99 % of the power of the fastest joint's velocity
    lies, noise taken off.

    White noise of the joint values is what the upper half of their spectrum shows on the median.
    """
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
            f"{len(unknown)} samples have no velocity: the log pauses before {samples} samples are together "
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
        starts = np.concatenate([[0], np.flatnonzero(np.diff(time) > PAUSE * usual) + 1])
        ends = np.concatenate([starts[1:], [len(time)]])
        which = np.searchsorted(starts, np.arange(len(time)), side="right") - 1
        points = np.arange(0, samples, -(-samples // POINTS))
        return cls(time, usual, samples, points + (samples - 1 - points[-1]) // 2, starts[which], ends[which])

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
