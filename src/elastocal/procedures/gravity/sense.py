"""What a log does not say of itself: whose torque it holds, whether columns are swapped, and which way is down.

Controllers report the torque of their drives, or that of the load which the drives resist.  The masses of the robot
model tell which: the measured torque goes with the one expected, or against it.  Where it hardly varies (an arm that
stays near level, with friction on top), its size about zero tells as well, if its variation does not speak against it.

Holding torques are linear in gravity, tau = sum_i g_i tau(e_i), so floor, wall, ceiling or a tilted pedestal come out
of one least-squares fit of three numbers, gravity in base axes, where masses are known.  They are not quite: from there
the direction is fitted together with masses and friction (``unknowns``), and its covariance is that of this fit.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np

from elastocal.errors import ImplausibleError, InputError, UnobservableError
from elastocal.measure.sources.friction import Friction
from elastocal.model.robot import Robot
from elastocal.model.statics.holding import holding_torque
from elastocal.procedures.gravity.samples import Samples
from elastocal.procedures.gravity.unknowns import Unknowns, across
from elastocal.solve.dependent import crowding, scatter_and_worth
from elastocal.solve.linear import solve_linear
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

CLEAR = 0.8
"""Correlation that tells a sign, or that two columns are swapped."""
ALIKE = 0.95
"""Correlation about zero that tells a sign."""
SWAPPED = 0.25
"""Columns are swapped where the other's expected torque leaves less than this share of what their own leaves."""
NEAR = 0.3
"""Share of a column that its expected torque may leave, friction and the masses' errors, where sizes tell of a swap."""
WEIGHED = 0.02
"""Joints whose expected torque is a smaller share of the largest tell nothing about units and signs."""
SAID = {1: "the torque of the drives", -1: "the torque of the load, against that of the drives"}


@dataclass(frozen=True, eq=False)
class Sense:
    """+1: the drives' torque, -1: the load's; ``agreement`` (n,) is the correlation with the expected torque.

    ``ratio`` is how many times larger the torque of the deciding joint is than expected, nan where nothing is expected.
    ``factors`` (n,) are read over expected torques joint by joint, in the sense of ``sign``: negative where a column
    counts the other way, nan where it does not follow what is expected closely enough to tell.
    """

    sign: int
    agreement: Array
    ratio: float
    reason: str
    factors: Array


def torque_sense(model: Robot, samples: Samples) -> Sense:
    """The sign by the joint that the weight moves most; refused where the masses are unknown or nothing goes along."""
    expected = holding_torque(model, samples.log.q)
    if not samples.moved().any():
        raise InputError(
            f"{samples.log.source}: no joint moves, so that nothing tells whether torques are of the drives or of the "
            "load; log a motion, or say which",
            code="no-motion",
            parameter="torques",
        )
    if not np.any(np.ptp(expected, axis=0) > 1e-9):
        raise InputError(
            f"robot {model.name}: no weight is known that would tell whether torques are of the drives or of the load; "
            "say which",
            code="no-weight",
            parameter="torques",
        )
    agreement, best = _deciding(expected, samples)
    about_zero = _about_zero(expected, samples, best)
    steady = abs(about_zero) > ALIKE and about_zero * agreement[best] > 0
    if not (abs(agreement[best]) > CLEAR or steady):
        row = int(np.argmax(np.abs(np.nan_to_num(samples.torque[:, best]))))
        raise InputError(
            f"{samples.log.source}: measured torques do not follow the expected ones (best: {model.joints[best]}, "
            f"correlation {agreement[best]:.2f}, largest reading {samples.torque[row, best]:.4g} in line "
            f"{samples.log.lines[row]}); check units and columns, or say whether torques are of the drives or the load",
            code="no-agreement",
            parameter="torques",
        )
    sign = 1 if agreement[best] > 0 else -1
    also = "" if abs(agreement[best]) > CLEAR else f" ({about_zero:.3f} about zero)"
    reason = f"{SAID[sign]}: correlation {agreement[best]:.3f}{also} with the expected torque of {model.joints[best]}"
    return Sense(sign, agreement, _ratio(expected, samples, best), reason, sign * _factors(expected, samples))


def stated_sense(model: Robot, samples: Samples, sign: int) -> Sense:
    """The sign as the user knows it, with what the masses of the model say of it."""
    expected = holding_torque(model, samples.log.q)
    agreement, best = _deciding(expected, samples)
    against = sign * agreement[best] < -CLEAR
    doubt = f", AGAINST WHICH {model.joints[best]} SPEAKS: correlation {agreement[best]:.3f}" if against else ""
    factors = sign * _factors(expected, samples)
    return Sense(sign, agreement, _ratio(expected, samples, best), f"{SAID[sign]}, as stated{doubt}", factors)


def check_torque_columns(model: Robot, samples: Samples) -> None:
    """Refuse a log whose torque columns are swapped: two joints that follow each other's expected torque.

    Variation tells, or size: friction spoils the correlation of an arm that moves little, not its mean torque.
    """
    expected = holding_torque(model, samples.log.q)
    size = np.abs(np.nan_to_num(_correlations(expected, samples.torque)))
    for i, j in _each_others(1 - size**2):
        straight, swapped = min(size[i, i], size[j, j]), min(size[i, j], size[j, i])
        if swapped > CLEAR:
            a, b = model.joints[i], model.joints[j]
            raise ImplausibleError(
                f"{samples.log.source}: the torques of {a} and {b} follow what is expected of the other "
                f"(correlation {swapped:.2f}, their own {straight:.2f}); the columns are swapped, put them right",
                value=(a, b, swapped),
            )
    left = np.min([_left(expected, sign * samples.torque) for sign in (1, -1)], axis=0)
    for i, j in _each_others(left):
        near = max(left[i, j], left[j, i])
        if near < NEAR:
            a, b = model.joints[i], model.joints[j]
            raise ImplausibleError(
                f"{samples.log.source}: the torques of {a} and {b} are as large as expected of the other (to "
                f"{100 * near:.0f} %, of their own to {100 * min(left[i, i], left[j, j]):.0f} %); the columns are "
                "swapped, put them right",
                value=(a, b),
            )


def _each_others(left: Array) -> list[tuple[int, int]]:
    """Pairs of joints whose torques the other's expected one explains far better: by the shares (n, n) it leaves."""
    return [
        (i, j)
        for i, j in combinations(range(len(left)), 2)
        if left[i, j] < SWAPPED * left[j, j] and left[j, i] < SWAPPED * left[i, i]
    ]


def _left(expected: Array, measured: Array) -> Array:
    """Share (n, n) of the measured torque of joint j that the expected one of joint i leaves; inf without readings."""
    n = expected.shape[1]
    out = np.full((n, n), np.inf)
    for j in range(n):
        known = np.isfinite(measured[:, j])
        size = float(np.linalg.norm(measured[known, j]))
        if size > 0:
            out[:, j] = np.linalg.norm(measured[known, j][:, None] - expected[known], axis=0) / size
    return out


def _factors(expected: Array, samples: Samples) -> Array:
    """(n,): read over expected torque about zero, by the same evidence that tells the sign of all."""
    agreement = np.nan_to_num(np.diag(_correlations(expected, samples.torque)))
    size = np.sqrt(np.mean(expected**2, axis=0))
    out = np.full(len(size), np.nan)
    for j in np.flatnonzero(size > max(WEIGHED * float(size.max()), 1e-9)):
        about_zero = _about_zero(expected, samples, int(j))
        steady = abs(about_zero) > ALIKE and about_zero * agreement[j] > 0
        if abs(agreement[j]) > CLEAR or steady:
            known = np.isfinite(samples.torque[:, j])
            read, weight = samples.torque[known, j], expected[known, j]
            out[j] = np.sign(agreement[j]) * np.linalg.norm(read) / np.linalg.norm(weight)
    return out


def _deciding(expected: Array, samples: Samples) -> tuple[Array, int]:
    """Agreement (n,) of every joint, and the one whose expected torque varies most in step with what was read."""
    agreement = np.diag(_correlations(expected, samples.torque)).copy()
    return agreement, int(np.argmax(np.std(expected, axis=0) * np.abs(np.nan_to_num(agreement))))


def _about_zero(expected: Array, samples: Samples, joint: int) -> float:
    """Correlation without taking the means off."""
    known = np.isfinite(samples.torque[:, joint])
    a, b = expected[known, joint], samples.torque[known, joint]
    size = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / size if size > 0 else 0.0


def _ratio(expected: Array, samples: Samples, joint: int) -> float:
    known = np.isfinite(samples.torque[:, joint])
    size = float(np.std(expected[known, joint])) if known.any() else 0.0
    return float(np.std(samples.torque[known, joint])) / size if size > 0 else float("nan")


def _correlations(expected: Array, measured: Array) -> Array:
    """Of the expected torque of joint i with the measured one of joint j, (n, n); nan where one is constant."""
    n = expected.shape[1]
    out = np.full((n, n), np.nan)
    for j in range(n):
        known = np.isfinite(measured[:, j])
        for i in range(n):
            a, b = expected[known, i], measured[known, j]
            if known.sum() > 2 and np.std(a) > 1e-9 and np.std(b) > 1e-9:
                out[i, j] = np.corrcoef(a, b)[0, 1]
    return out


ROUNDS = 3
LEAST = 1e-5
"""Part of the largest singular value (of unit columns) at which directions are told apart."""


@dataclass(frozen=True, eq=False)
class Mounting:
    """``gravity`` (3,) in m/s2 with covariance, and the angle (rad) to the direction ``stated`` by the robot file.

    The length says how far the masses are off altogether; the direction is what the mounting decides.
    """

    gravity: Array
    covariance: Array
    away: float
    stated: Array

    @property
    def direction_sd(self) -> float:
        """Radians: of the direction, where it is known least."""
        size = np.linalg.norm(self.gravity)
        across = np.eye(3) - np.outer(self.gravity, self.gravity) / size**2
        return float(np.sqrt(max(np.linalg.eigvalsh(across @ self.covariance @ across)[-1], 0.0)) / size)

    def mounted(self, model: Robot) -> Robot:
        """The model with this direction and its own size of gravity."""
        size = float(np.linalg.norm(model.gravity)) or 9.80665
        return replace(model, gravity=size * self.gravity / np.linalg.norm(self.gravity))

    def turned(self, turn: Array, covariance: Array) -> Mounting:
        """By two small angles towards the directions ``across`` it, with their covariance."""
        size, sides = float(np.linalg.norm(self.gravity)), across(self.gravity)
        way = self.gravity / size + turn @ sides
        along = np.outer(self.gravity, self.gravity) / size**2
        spread = size**2 * sides.T @ covariance @ sides + along @ self.covariance @ along
        cosine = float(self.stated @ way / np.linalg.norm(way))
        away = float(np.arccos(np.clip(cosine, -1.0, 1.0)))
        return replace(self, gravity=size * way / np.linalg.norm(way), covariance=spread, away=away)


def find_gravity(model: Robot, samples: Samples, sign: int, friction: Friction | None = None) -> Mounting:
    """By all torques that count and the model's own masses; each joint weighs as its own scatter says."""
    columns = np.stack([sign * holding_torque(replace(model, gravity=e), samples.q) for e in np.eye(3)], axis=2)
    used = np.isfinite(samples.torque)
    unknowns = Unknowns.of(model, samples, None, friction)
    extra = sign * unknowns.columns(samples, sign)[:, :, unknowns.of_bodies :]
    if extra.shape[2]:
        columns = np.concatenate([columns, extra[:, :, np.any(extra[used], axis=0)]], axis=2)
    weight = np.ones(model.n)
    for _ in range(ROUNDS):
        a, y = (columns * weight[:, None])[used], (samples.torque * weight)[used]
        fit = solve_linear(a, y, relative=LEAST)
        if not fit.known.all():
            raise UnobservableError(
                f"{samples.log.source}: these poses do not tell which way is down; turn the first axes of the arm too",
                code="no-down",
            )
        noise, worth = scatter_and_worth(np.where(used, samples.torque - columns @ fit.values, np.nan))
        crowd = crowding(used.sum(axis=0), worth)
        weight = 1 / (np.where(np.isfinite(noise), noise, 1.0) * np.sqrt(crowd))
    gravity, covariance = fit.values[:3], fit.unit_covariance[:3, :3]
    down = model.gravity / (np.linalg.norm(model.gravity) or 1.0)
    cosine = float(gravity @ down / np.linalg.norm(gravity))
    away = float(np.arccos(np.clip(cosine, -1.0, 1.0)))
    return Mounting(np.asarray(gravity), np.asarray(covariance), away, np.asarray(down))
