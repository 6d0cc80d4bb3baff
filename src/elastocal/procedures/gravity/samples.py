"""Which samples of a log count, and whether it can be one of this robot at all.

A log that moves is low-passed without delay and thinned, torques and joint values alike, and its inertia is part of the
model (``moving``).  A slow one keeps its readings as they stand; samples where some point of the arm may accelerate by
more than a stated share of gravity are left out.  Without a word from the user the log decides: slow, where that rule
leaves ``SLOW`` of its samples and ``LEAST`` readings of every joint that moves.  Either way readings of a joint that
hardly moves are left out, since its friction has no known sign, those of a saturated drive too, and a joint with fewer
than ``LEAST`` readings is refused, as is a log whose joint values only a wrong unit can explain.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace

import numpy as np

from elastocal.errors import InputError, MissingError, TooFewError, UnitError
from elastocal.measure.joints import JointLog
from elastocal.measure.motion import (
    ABOVE,
    HALF_POWER,
    NOISE_TIMES,
    SHARE,
    SHARE_OF_SPEED,
    Motion,
    low_passed,
    low_speed,
    motion_cutoff,
    motion_of,
    slow_motion,
)
from elastocal.measure.motion import FEWEST as WINDOW_LEAST
from elastocal.model.robot import Robot
from elastocal.results import as_sentence
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass

STILL = 0.01
"""Radians or metres: a joint that moves less has only trembled."""
SLOW = 0.7
"""Share of the samples that a slow log keeps when those with inertia are left out."""
MOST = 10_000
"""Samples that a fit takes; a longer log is thinned evenly."""
PER_CUTOFF = 10.0
"""Samples kept for every period of the cut-off frequency; half as many see rests and reversals too coarsely."""
RESOLVED = 3.0
"""Times the band of the motion that the filter must pass for accelerations to be those of the arm."""
NODES = 24
"""Of a window at which directions of motion are taken."""
RESTING = 0.2
"""Weight of the filter that may lie on rests of a joint, where friction is anything."""
INERTIA = ("auto", "model", "leave-out")


@dataclass(frozen=True, eq=False)
class Samples:
    """Samples of a log; ``torque`` (N, n) is nan where a reading does not count.

    ``units`` (n) of the torques are N m or N.  ``logged`` samples there were, ``fast`` of them are left out for their
    inertia (or because it is unknown); where ``moving``, inertia is part of the model instead; where ``standing``,
    nothing moves for long.  ``paced`` are joints of a log without time whose torque goes with what changes from row to
    row, where that is not true of all, ``pace`` how many s^-2 a row^-2 is: one with time, zero until it is known.
    ``refused`` says why nothing is told of a joint.
    """

    log: JointLog
    motion: Motion
    torque: Array
    units: tuple[str, ...]
    notes: tuple[str, ...]
    logged: int
    fast: int
    moving: bool = False
    standing: bool = False
    paced: tuple[bool, ...] = ()
    pace: float = 1.0
    refused: Mapping[str, str] = field(default_factory=dict)

    @property
    def q(self) -> Array:
        """Joint values (N, n); a joint that never moved stands where it stood on the whole: its tremble is noise."""
        return np.where(self.moved(), self.log.q, np.median(self.log.q, axis=0))

    @property
    def velocity(self) -> Array:
        return np.nan_to_num(self.motion.velocity)

    @property
    def acceleration(self) -> Array:
        """(N, n); zero of joints that never move."""
        return np.nan_to_num(self.motion.acceleration) * self.moved()

    def goes_with_motion(self) -> Bools:
        """(n,): joints whose torque is taken to go with speed and acceleration."""
        return np.array(self.paced) if self.paced else np.ones(len(self.log.joints), dtype=bool)

    @property
    def by_row(self) -> bool:
        """Whether speeds and accelerations are per row, in a log without time whose rows are a motion."""
        return not (self.motion.timed or self.standing)

    def direction(self, along: Array) -> Array:
        """(N,): sign of the velocity along a combination of joints, through the filter that torques went through."""
        v = (self.velocity * self.moved()) @ along
        return _filtered(self.log, self.motion, v, np.sign) if self.moving else np.sign(v)

    def unsigned(self, along: Array) -> Bools:
        """(N,): where friction along a combination of joints has no known sign: by the noise of its speed, and in a
        log whose torques went through no filter also about to turn back."""
        speed = np.abs(self.velocity @ along)
        noise = NOISE_TIMES * float(np.sqrt(np.sum((along * self.motion.velocity_sd) ** 2)))
        if self.moving:
            return np.abs(_filtered(self.log, self.motion, (speed <= noise).astype(np.float64))) > RESTING
        return np.asarray(speed <= max(noise, SHARE_OF_SPEED * float(np.percentile(speed, 95))))

    @property
    def counts(self) -> Ints:
        """Readings of every joint (n,)."""
        return np.asarray(np.isfinite(self.torque).sum(axis=0))

    def moved(self) -> Bools:
        """Joints that moved (n,)."""
        return np.asarray(np.ptp(self.log.q, axis=0) > STILL)

    def unmoved(self) -> tuple[str, ...]:
        return tuple(j for j, moved in zip(self.log.joints, self.moved(), strict=True) if not moved)

    def part(self, rows: Bools) -> Samples:
        """Some of the samples."""
        m = self.motion
        moving = replace(m, velocity=m.velocity[rows], acceleration=m.acceleration[rows])
        return replace(self, log=self.log.rows(rows), motion=moving, torque=self.torque[rows])


def select_samples(
    model: Robot,
    log: JointLog,
    *,
    friction: bool = True,
    inertia: str = "auto",
    share: float = SHARE,
    cutoff: float | None = None,
) -> Samples:
    """What counts of a log: ``inertia`` is modelled, left out or decided by the log; ``cutoff`` is in Hz."""
    if inertia == "leave-out" or log.time is None:
        if inertia == "model":
            raise MissingError(f"{log.source} has no time, so no acceleration; leave inertia out", parameter="inertia")
        return slow_samples(model, log, friction=friction, share=share)
    if inertia == "model":
        return moving_samples(model, log, friction=friction, cutoff=cutoff)
    moved = np.asarray(np.ptp(log.q, axis=0) > STILL)
    try:
        slow = slow_samples(model, log, friction=friction, share=share)
    except InputError as error:
        if error.code not in ("too-fast", "too-few") or not moved.any():
            raise
        return moving_samples(model, log, friction=friction, cutoff=cutoff)
    informed = moved & np.isfinite(log.torque).any(axis=0)
    enough = np.all(slow.counts[informed] >= LEAST) and slow.fast <= (1 - SLOW) * slow.logged
    if enough or (cutoff is None and not _resolved(log)):
        return slow
    return moving_samples(model, log, friction=friction, cutoff=cutoff)


def _resolved(log: JointLog) -> bool:
    """Whether the log is dense enough for the accelerations of its own motion."""
    assert log.time is not None
    step = float(np.median(np.diff(log.time)))
    return HALF_POWER / (WINDOW_LEAST * step) > RESOLVED * motion_cutoff(log) / ABOVE


def slow_samples(model: Robot, log: JointLog, *, friction: bool = True, share: float = SHARE) -> Samples:
    """What is left of a slow log, with everything that was left out named and counted.

    With ``friction`` the readings of joints that stand still or turn back are left out.
    """
    notes = check_log(model, log)
    rows = np.arange(0, log.count, -(-log.count // MOST))
    motion = motion_of(log) if len(rows) == log.count else motion_of(log, rows=rows)
    part = log if len(rows) == log.count else log.rows(rows)
    fast = slow_motion(part, motion, model, share)
    if fast.mask.all():
        raise InputError(
            f"{log.source}: no sample is slow enough ({fast.reason}); move the arm more slowly, or model its inertia",
            code="too-fast",
            parameter="inertia",
        )
    notes += [*motion.notes, as_sentence(fast.reason)]
    if part is not log:
        notes.append(f"Every {rows[1]}th of {log.count} samples is taken.")
    torque, clipped = unclipped(part)
    return _counted(model, part, motion, torque, (*notes, *clipped), friction, part.count, ~fast.mask, moving=False)


def moving_samples(model: Robot, log: JointLog, *, friction: bool = True, cutoff: float | None = None) -> Samples:
    """Joint values and torques through one filter, thinned; ``cutoff`` (Hz) by default ten times the motion's band."""
    notes = check_log(model, log)
    assert log.time is not None
    step = float(np.median(np.diff(log.time)))
    wanted = motion_cutoff(log) if cutoff is None else cutoff
    window = max(HALF_POWER / wanted, WINDOW_LEAST * step)
    every = max(1, int(1 / (PER_CUTOFF * wanted * step)), -(-log.count // MOST))
    rows = np.arange(0, log.count, every)
    motion = motion_of(log, window, rows)
    torque, clipped = unclipped(log)
    torque = low_passed(log, torque, window, rows)
    notes += [*motion.notes, *clipped, (
        f"The arm moves: its inertia is modelled. Joint values and torques are low-passed without delay at "
        f"{motion.cutoff:.3g} Hz (local parabolas over {motion.samples} samples), one sample in {every} is taken: "
        f"{len(rows)} of {log.count}."
    )]  # fmt: skip
    known = np.asarray(np.isfinite(motion.acceleration).all(axis=1))
    return _counted(model, log.rows(rows), motion, torque, tuple(notes), friction, len(rows), known, moving=True)


def _counted(
    model: Robot, log: JointLog, motion: Motion, torque: Array, notes: tuple[str, ...], friction: bool, logged: int,
    keep: Bools, *, moving: bool,
) -> Samples:  # fmt: skip
    """The samples to ``keep``, without readings of unknown friction, and without joints that have too few."""
    if friction:
        slow = low_speed(log, motion)
        unsigned = _resting(log, motion, slow.mask) if moving else slow.mask | _starting(log, motion, slow.mask)
        torque = np.where(unsigned, np.nan, torque)
        notes += (f"Left out {slow.reason}.",)
    units = tuple("N m" if m.kind == "revolute" else "N" for m in model.motions)
    pace = float(motion.timed)
    everything = Samples(log, motion, torque, units, notes, logged, logged - int(keep.sum()), moving, pace=pace)
    out = everything.part(keep)
    refused = _refused(out, np.asarray(np.isfinite(log.torque).any(axis=0)), friction)
    if len(refused) == model.n:
        raise TooFewError(
            f"{log.source}: no joint has {LEAST} readings that count ({next(iter(refused.values()))}); move it, log "
            "more, or leave friction out",
            value=tuple(refused),
        )
    few = np.array([j in refused for j in log.joints])
    return replace(out, torque=np.where(few, np.nan, out.torque), refused=refused)


def _resting(log: JointLog, motion: Motion, slow: Bools) -> Bools:
    """(N, n): readings that went through the filter with a joint at rest."""
    weights = [_filtered(log, motion, column) for column in slow.T.astype(np.float64)]
    return np.abs(np.stack(weights, axis=1)) > RESTING


def _starting(log: JointLog, motion: Motion, slow: Bools) -> Bools:
    """(N, n): readings within half a window of a rest, where the speed is partly that of the other side.

    A joint that only turns back is slow for a moment, less than a quarter of a window, and its speed changes steadily.
    """
    half, rest = motion.samples // 2, max(WINDOW_LEAST, motion.samples // 4)
    if log.velocity is not None or not motion.timed or log.count < 3 * half:
        return np.zeros(log.q.shape, dtype=bool)
    rests = np.asarray(np.lib.stride_tricks.sliding_window_view(slow, rest, axis=0).all(axis=2))
    near = [np.convolve(r, np.ones(rest + 2 * half))[half : half + log.count] > 0 for r in rests.T]
    return np.stack(near, axis=1)


def _filtered(log: JointLog, motion: Motion, values: Array, of: Callable[[Array], Array] = np.asarray) -> Array:
    """What depends on values (N,), through the filter that torques went through: that of a parabola over a window, with
    weights (9 - 15 u^2) / 8 at u from -1 to 1."""
    assert log.time is not None
    u, weight = np.polynomial.legendre.leggauss(NODES)
    at = log.time[:, None] + 0.5 * HALF_POWER / motion.cutoff * u
    return np.asarray(of(np.interp(at, log.time, values)) @ (weight * (9 - 15 * u**2) / 8))


def _refused(samples: Samples, read: Bools, friction: bool) -> dict[str, str]:
    """Why nothing is told of a joint, by its name."""
    out = {}
    for j, (joint, count) in enumerate(zip(samples.log.joints, samples.counts, strict=True)):
        if count < LEAST:
            why = "" if samples.moved()[j] or not friction else "it never moves, so that its friction has no sign; "
            out[joint] = f"{why}{count} readings count, {LEAST} are needed" if read[j] else "no torque of it was logged"
    return out


FAR = 0.5
"""Radians or metres beyond a limit that no controller lets an arm go."""
TURNS = 10 * np.pi
"""Radians that a joint without limits may have turned."""
CLIPPED = 10
"""Readings at the very end of a column's range, and times as many as its other values have: the drive was saturated."""
LEAST = 20
"""Readings of a joint; with fewer nothing is said of it."""


def check_log(model: Robot, log: JointLog) -> list[str]:
    if not np.isfinite(log.torque).any():
        raise MissingError(
            f"{log.source}: no torque was logged; add columns such as A2_torque_Nm", code="no-torques", file=log.source
        )
    return [*log.notes, *_beyond_limits(model, log)]


def unclipped(log: JointLog) -> tuple[Array, list[str]]:
    """Torques without those of a saturated drive, which stand at the end of their range again and again."""
    torque, notes = log.torque.copy(), []
    for j, joint in enumerate(log.joints):
        read = torque[np.isfinite(torque[:, j]), j]
        if len(read) < LEAST or np.ptp(read) == 0:
            continue
        usual = float(np.median(np.unique(read, return_counts=True)[1]))
        for end in (float(read.min()), float(read.max())):
            at = torque[:, j] == end
            if at.sum() >= CLIPPED * max(usual, 1.0):
                torque[at, j] = np.nan
                notes.append(
                    f"{int(at.sum())} torques of {joint} stand at {end:.4g}: the drive was saturated, left out."
                )
    return torque, notes


def _beyond_limits(model: Robot, log: JointLog) -> list[str]:
    """What is to be said of joint values beyond their limits; refused where only a wrong unit can explain them."""
    out = []
    for j, (name, motion) in enumerate(zip(model.joints, model.motions, strict=True)):
        turns = motion.kind == "revolute"
        low, high = motion.limits or ((-TURNS, TURNS) if turns else (-np.inf, np.inf))
        over = np.maximum(log.q[:, j] - high, low - log.q[:, j])
        worst = int(np.argmax(over))
        if over[worst] > FAR:
            unit, small, factor = ("rad", "deg", np.pi / 180) if turns else ("m", "mm", 1e-3)
            code, slip = "limits", ""
            if turns and motion.limits and _a_turn_off(log.q[:, j], low, high):
                code = "full-turn"
                slip = "this looks like a full turn: take 360 deg off (or add them) where the joint wraps, else "
            elif np.all((factor * log.q[:, j] > low - FAR) & (factor * log.q[:, j] < high + FAR)):
                code, slip = "unit", f"this looks like {small} read as {unit}: "
            raise UnitError(
                f"{log.place(worst)}: {name} = {log.q[worst, j]:.4g} {unit} is far beyond its limits {low:.3g} to "
                f"{high:.3g} {unit}; {slip}check units in the header and the order of the columns",
                code=code,
                file=log.source,
                line=int(log.lines[worst]),
                column=name,
                value=float(log.q[worst, j]),
                allowed=(low, high),
            )
        if over[worst] > 0:
            out.append(f"{name} is beyond its limits in {int(np.sum(over > 0))} samples (first: {log.place(worst)}).")
    return out


def _a_turn_off(q: Array, low: float, high: float) -> bool:
    """Whether one turn less, or more, brings every value within its limits, and some are there as they stand."""
    within = [(q + turn >= low) & (q + turn <= high) for turn in (0.0, -2 * np.pi, 2 * np.pi)]
    return bool(np.all(np.any(within, axis=0)) and (within[0].any() or np.all(within[1]) or np.all(within[2])))
