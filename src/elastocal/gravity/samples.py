"""Which samples of a log say something about the weight, and which way their torques count.

Samples where inertia matters are left out, and of each joint those where it moves too slowly for its friction to have
a known sign.  Whether the controller reports the torque of its drives or that of the load is read from the masses of
the robot model: the measured torque goes with the one expected, or against it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.errors import InputError
from elastocal.measure.joint_log import JointLog
from elastocal.measure.joint_torque import JointTorque
from elastocal.measure.motion import Motion, motion_of
from elastocal.measure.slow_motion import SHARE, low_speed, slow_motion
from elastocal.model.robot import RobotModel
from elastocal.model.statics.holding import holding_torque
from elastocal.spatial.entries import Array, Bools

CLEAR = 0.8
"""Correlation that tells a sign, or that two columns are swapped."""


@dataclass(frozen=True, eq=False)
class Samples:
    """Slow samples of a log; ``torque`` (N, n) is nan where a reading says nothing of the weight."""

    log: JointLog
    motion: Motion
    torque: Array
    notes: tuple[str, ...]

    @property
    def velocity(self) -> Array:
        return np.nan_to_num(self.motion.velocity)

    def moved(self) -> Bools:
        """Joints that moved (n,): by more than a hundredth of a radian or metre."""
        return np.asarray(np.ptp(self.log.q, axis=0) > 0.01)

    def kind(self, model: RobotModel, sense: int, masses_alone: bool = True) -> JointTorque:
        return JointTorque.of(model, self.log.q, self.velocity, sense=sense, masses_alone=masses_alone)


def slow_samples(model: RobotModel, log: JointLog, *, friction: bool = True, share: float = SHARE) -> Samples:
    """What is left of a log, with everything that was left out named and counted.

    With ``friction`` the readings of joints that stand still or turn back are left out.
    """
    if not np.isfinite(log.torque).any():
        raise InputError(f"{log.source}: no torque was logged; add columns such as tau1_Nm")
    motion = motion_of(log)
    fast = slow_motion(log, motion, model, share)
    keep = ~fast.mask
    if not keep.any():
        raise InputError(f"{log.source}: no sample is slow enough ({fast.reason}); move the arm more slowly")
    notes = [*log.notes, *motion.notes, f"{fast.reason}."]
    torque = log.torque.copy()
    if friction:
        slow = low_speed(log, motion)
        torque[slow.mask] = np.nan
        notes.append(f"Left out {slow.reason}.")
    part = Motion(
        motion.velocity[keep], motion.acceleration[keep], motion.velocity_sd, motion.timed, motion.samples, motion.notes
    )
    out = Samples(log.rows(keep), part, torque[keep], tuple(notes))
    if not np.isfinite(out.torque).any():
        raise InputError(
            f"{log.source}: no joint moves fast enough for its friction to have a sign; move it, or leave friction out"
        )
    return out


@dataclass(frozen=True, eq=False)
class Sense:
    """+1: the drives' torque, -1: the load's; ``agreement`` (n,) is the correlation with the expected torque."""

    sign: int
    agreement: Array
    reason: str


def torque_sense(model: RobotModel, samples: Samples) -> Sense:
    """The sign by the joints that the weight moves most; refused where the masses are unknown or nothing goes along."""
    expected = holding_torque(model, samples.log.q)
    if not np.any(np.ptp(expected, axis=0) > 1e-9):
        raise InputError(
            f"robot {model.name}: no weight is known that would tell whether torques are of the drives or of the load; "
            "say which (--torques drive or load)"
        )
    agreement = _correlations(expected, samples.torque, same=True)
    weight = np.nan_to_num(np.nanstd(expected, axis=0)) * np.isfinite(agreement)
    best = int(np.argmax(weight * np.abs(np.nan_to_num(agreement))))
    if not abs(agreement[best]) > CLEAR:
        raise InputError(
            f"{samples.log.source}: measured torques do not follow the expected ones (best: {model.joints[best]}, "
            f"correlation {agreement[best]:.2f}); check units and columns, or say --torques drive or load"
        )
    sign = 1 if agreement[best] > 0 else -1
    said = "the drives' torque" if sign > 0 else "the torque of the load, against that of the drives"
    return Sense(
        sign, agreement, f"{said}: correlation {agreement[best]:.3f} with the expected torque of {model.joints[best]}"
    )


def check_columns(model: RobotModel, samples: Samples) -> None:
    """Refuse a log whose torque columns are swapped: two joints that follow each other's expected torque."""
    cross = _correlations(holding_torque(model, samples.log.q), samples.torque, same=False)
    size = np.abs(np.nan_to_num(cross))
    for i in range(model.n):
        for j in range(i + 1, model.n):
            straight, swapped = min(size[i, i], size[j, j]), min(size[i, j], size[j, i])
            if swapped > CLEAR and straight < 0.5:
                a, b = model.joints[i], model.joints[j]
                raise InputError(
                    f"{samples.log.source}: the torques of {a} and {b} follow what is expected of the other "
                    f"(correlation {swapped:.2f}, their own {straight:.2f}); the columns are swapped, put them right"
                )


def _correlations(expected: Array, measured: Array, same: bool) -> Array:
    """Of expected with measured torques: (n,) joint by joint, or (n, n) all pairs; nan where one is constant."""
    n = expected.shape[1]
    out = np.full((n, n), np.nan)
    for j in range(n):
        known = np.isfinite(measured[:, j])
        for i in [j] if same else range(n):
            a, b = expected[known, i], measured[known, j]
            if known.sum() > 2 and np.std(a) > 1e-9 and np.std(b) > 1e-9:
                out[i, j] = np.corrcoef(a, b)[0, 1]
    return np.diag(out).copy() if same else out
