"""Which samples of a log say something about the weight, and how many independent ones they are worth.

Samples where inertia matters are left out, and of each joint those where it moves too slowly for its friction to have
a known sign.

Neighbouring samples err alike (ripple, stick-slip, what the model lacks).  N of them with the autocorrelation rho_t are
worth N_eff = N / (1 + 2 sum rho_t) independent ones, so that variances from N samples are too small by N / N_eff, the
crowding.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.errors import InputError
from elastocal.measure.joint_log import JointLog
from elastocal.measure.joint_torque import JointTorque
from elastocal.measure.motion import Motion, motion_of
from elastocal.measure.slow_motion import SHARE, low_speed, slow_motion
from elastocal.model.robot import Robot
from elastocal.solve.draws import FEWEST, effective_number
from elastocal.spatial.entries import Array, Bools

STILL = 0.01
"""Radians or metres: a joint that moves less has only trembled."""
FAR = 0.5
"""Radians or metres beyond a limit that no controller lets an arm go."""
TURNS = 10 * np.pi
"""Radians that a joint without limits may have turned."""


@dataclass(frozen=True, eq=False)
class Samples:
    """Slow samples of a log; ``torque`` (N, n) is nan where a reading says nothing of the weight.

    ``units`` (n) of the torques are N m or N.  ``logged`` samples there were, ``fast`` of them are left out for their
    inertia (or because it is unknown).
    """

    log: JointLog
    motion: Motion
    torque: Array
    units: tuple[str, ...]
    notes: tuple[str, ...]
    logged: int
    fast: int

    @property
    def velocity(self) -> Array:
        return np.nan_to_num(self.motion.velocity)

    def moved(self) -> Bools:
        """Joints that moved (n,)."""
        return np.asarray(np.ptp(self.log.q, axis=0) > STILL)

    def unmoved(self) -> tuple[str, ...]:
        return tuple(j for j, moved in zip(self.log.joints, self.moved(), strict=True) if not moved)

    def kind(self, model: Robot, sense: int, masses_alone: bool = True) -> JointTorque:
        """What was measured; a joint that never moved stands where it stood on the whole, its tremble tells nothing."""
        q = np.where(self.moved(), self.log.q, np.median(self.log.q, axis=0))
        return JointTorque.of(model, q, self.velocity, sense=sense, masses_alone=masses_alone)


def slow_samples(model: Robot, log: JointLog, *, friction: bool = True, share: float = SHARE) -> Samples:
    """What is left of a log, with everything that was left out named and counted.

    With ``friction`` the readings of joints that stand still or turn back are left out.
    """
    if not np.isfinite(log.torque).any():
        raise InputError(f"{log.source}: no torque was logged; add columns such as A2_torque_Nm")
    beyond = _beyond_limits(model, log)
    motion = motion_of(log)
    fast = slow_motion(log, motion, model, share)
    keep = ~fast.mask
    if not keep.any():
        raise InputError(f"{log.source}: no sample is slow enough ({fast.reason}); move the arm more slowly")
    notes = [*log.notes, *beyond, *motion.notes, f"{fast.reason[:1].upper()}{fast.reason[1:]}."]
    torque = log.torque.copy()
    if friction:
        slow = low_speed(log, motion)
        torque[slow.mask] = np.nan
        notes.append(f"Left out {slow.reason}.")
    part = Motion(
        motion.velocity[keep], motion.acceleration[keep], motion.velocity_sd, motion.timed, motion.samples, motion.notes
    )
    units = tuple("N m" if m.kind == "revolute" else "N" for m in model.motions)
    out = Samples(log.rows(keep), part, torque[keep], units, tuple(notes), log.count, fast.count)
    if not np.isfinite(out.torque).any():
        raise InputError(
            f"{log.source}: no joint moves fast enough for its friction to have a sign; move it, or leave friction out"
        )
    return out


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
            fits = np.all((factor * log.q[:, j] > low - FAR) & (factor * log.q[:, j] < high + FAR))
            slip = f"this looks like {small} read as {unit}: " if fits else ""
            if turns and motion.limits and _a_turn_off(log.q[:, j], low, high):
                slip = "this looks like a full turn: take 360 deg off (or add them) where the joint wraps, else "
            raise InputError(
                f"{log.place(worst)}: {name} = {log.q[worst, j]:.4g} {unit} is far beyond its limits {low:.3g} to "
                f"{high:.3g} {unit}; {slip}check units in the header and the order of the columns"
            )
        if over[worst] > 0:
            out.append(f"{name} is beyond its limits in {int(np.sum(over > 0))} samples (first: {log.place(worst)}).")
    return out


def _a_turn_off(q: Array, low: float, high: float) -> bool:
    """Whether one turn less, or more, brings every value within its limits, and some are there as they stand."""
    within = [(q + turn >= low) & (q + turn <= high) for turn in (0.0, -2 * np.pi, 2 * np.pi)]
    return bool(np.all(np.any(within, axis=0)) and (within[0].any() or np.all(within[1]) or np.all(within[2])))


SMALLEST = 1e-6
"""N m: noise of a log that has none."""


def scatter_and_worth(residuals: Array) -> tuple[Array, Array]:
    """Of each joint (n,) from residuals (N, n): root mean square, and the effective number; nan where it is unknown."""
    noise, worth = np.full(residuals.shape[1], np.nan), np.full(residuals.shape[1], np.nan)
    for j, column in enumerate(residuals.T):
        r = column[np.isfinite(column)]
        if len(r):
            noise[j] = max(float(np.sqrt(np.mean(r**2))), SMALLEST)
        if len(r) >= 2 * FEWEST:
            worth[j] = min(float(effective_number(r.reshape(1, -1, 1))[0]), len(r))
    return noise, worth


def crowding(count: Array, worth: Array) -> Array:
    """N / N_eff of every joint, one where nothing is known."""
    known = np.isfinite(worth)
    return np.where(known, np.maximum(count / np.where(known, worth, 1.0), 1.0), 1.0)
