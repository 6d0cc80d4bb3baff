"""Velocity and acceleration of a log, by a local filter on its own time base.

About every sample a parabola is fitted to the w samples around it (w odd, the window in s divided by the usual
step, five at least), each at its own time:

    q(t_i + s) = a0 + a1 s + a2 s^2,     velocity a1,     acceleration 2 a2

Where samples are evenly spaced this is the Savitzky-Golay filter of order 2; lost samples do not disturb it.  Near
the ends, and beside a pause of the log, the window is moved to the inside and the parabola taken off its middle.
Stretches between pauses that are shorter than a window have no velocity (nan).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.errors import InputError
from elastocal.measure.joint_log import JointLog
from elastocal.spatial.entries import Array

WINDOW = 0.3
"""In s."""
FEWEST = 5
BY_ROW = 11
"""Samples of a window where the log has no time."""
PAUSE = 5.0
"""A step this many times longer than the usual one is a pause."""
CHUNK = 4096


@dataclass(frozen=True, eq=False)
class Motion:
    """(N, n), per s or, in a log without time (``timed`` False), per row; nan where a stretch is too short.

    ``velocity_sd`` (n,) is the standard deviation of a velocity by the noise that the parabolas leave.
    """

    velocity: Array
    acceleration: Array
    velocity_sd: Array
    timed: bool
    samples: int
    notes: tuple[str, ...]


def motion_of(log: JointLog, window: float = WINDOW) -> Motion:
    """Velocities are the controller's own where the log has them; accelerations always come from ``q``."""
    time = np.arange(log.count, dtype=np.float64) if log.time is None else log.time
    if log.count < FEWEST:
        raise InputError(f"{log.source}: has {log.count} rows, which is too short for velocities; log {FEWEST} or more")
    usual = float(np.median(np.diff(time)))
    samples = BY_ROW if log.time is None else max(FEWEST, 2 * round(0.5 * window / usual) + 1)
    first, last = _stretches(time, PAUSE * usual)
    fitted = _parabolas(time, log.q, samples, first, last)
    velocity, sd = fitted.slope, fitted.slope_sd
    if log.velocity is not None:
        velocity, sd = log.velocity, _parabolas(time, log.velocity, samples, first, last).noise
    return Motion(velocity, fitted.curvature, sd, log.time is not None, samples, _notes(log, fitted.slope, samples))


def _notes(log: JointLog, slope: Array, samples: int) -> tuple[str, ...]:
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
            f"(first: {log.place(int(unknown[0]))})."
        )
    return tuple(out)


@dataclass(frozen=True, eq=False)
class _Fitted:
    slope: Array
    curvature: Array
    slope_sd: Array
    noise: Array


def _stretches(time: Array, pause: float) -> tuple[Array, Array]:
    """For every sample the first index of its stretch between pauses, and the one after the last."""
    starts = np.concatenate([[0], np.flatnonzero(np.diff(time) > pause) + 1])
    ends = np.concatenate([starts[1:], [len(time)]])
    which = np.searchsorted(starts, np.arange(len(time)), side="right") - 1
    return starts[which], ends[which]


def _parabolas(time: Array, values: Array, samples: int, first: Array, last: Array) -> _Fitted:
    """Values (N, n) by local parabolas of ``samples`` points each."""
    slope, curvature = np.full(values.shape, np.nan), np.full(values.shape, np.nan)
    squares, gains, count = np.zeros(values.shape[1]), 0.0, 0
    wide = np.flatnonzero(last - first >= samples)
    for part in np.split(wide, np.arange(CHUNK, len(wide), CHUNK)):
        start = np.clip(part - samples // 2, first[part], last[part] - samples)
        inside = start[:, None] + np.arange(samples)
        shift = time[inside] - time[part, None]
        scale = np.max(np.abs(shift), axis=1)
        unit = shift / scale[:, None]
        powers = np.stack([np.ones_like(unit), unit, unit**2], axis=1)
        weights = np.linalg.solve(powers @ powers.transpose(0, 2, 1), powers)
        around = values[inside] - values[part, None]
        a = weights @ around
        slope[part] = a[:, 1] / scale[:, None]
        curvature[part] = 2 * a[:, 2] / scale[:, None] ** 2
        squares += np.sum((around - powers.transpose(0, 2, 1) @ a) ** 2, axis=(0, 1))
        gains += float(np.sum((weights[:, 1] / scale[:, None]) ** 2))
        count += len(part)
    noise = np.sqrt(squares / max(1, count * (samples - 3)))
    return _Fitted(slope, curvature, noise * np.sqrt(gains / max(1, count)), noise)
