"""Gains of motor currents, tau_j = k_j i_j, where a log has currents and no torques.

Torques are fitted at the gains so far, with one more unknown for every joint, the relative error of its gain (its
column is minus the torque that the fit before expects), until nothing changes.  Known masses tell the gains, as well as
they are known.  A joint whose gain they do not tell is taken out and fitted alone, without a prior: its friction is
then a product with the gain, in A.  Where no gain is told, the joint with the largest current alone makes the fit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from elastocal.errors import InfeasibleError
from elastocal.model.robot import Robot
from elastocal.model.statics.holding import holding_torque
from elastocal.procedures.gravity.fit import GravityFit
from elastocal.procedures.gravity.friction import FrictionTerm, friction_terms
from elastocal.procedures.gravity.samples import Samples
from elastocal.procedures.gravity.sense import Sense
from elastocal.procedures.gravity.unknowns import MassPrior
from elastocal.solve.evidence import posterior, prior_precision
from elastocal.solve.identifiability import classify, stacked_triangle
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

ROUNDS = 30
SETTLED = 1e-4
VAGUE = 0.5
"""Relative standard deviation beyond which a gain is not told."""
WEIGHED = 0.005
"""Share of the largest torque expected from which a joint's own tells a gain."""
STEP = 0.5
"""Relative change of a gain in one round at most."""
Fit = Callable[[Samples, MassPrior | None], GravityFit]
"""How samples are fitted, with any prior."""


@dataclass(frozen=True, eq=False)
class Gains:
    """``value`` and ``sd`` (n,) in N m/A (N/A) of the joints; nan where only ``products`` with the gain are told."""

    joints: tuple[str, ...]
    value: Array
    sd: Array
    products: tuple[FrictionTerm, ...]
    notes: tuple[str, ...]

    @property
    def relative(self) -> Array:
        """Standard deviation (n,) over value; zero where numbers are products."""
        return np.nan_to_num(self.sd / np.abs(self.value))


def find_gains(
    model: Robot, samples: Samples, sense: Sense, prior: MassPrior | None, fit: Fit
) -> tuple[Samples, Gains]:
    """``samples`` with currents in place of torques: the same with torques, and the gains between them."""
    current, joints = samples.torque, samples.log.joints
    gain = _start(model, samples, sense.sign)
    known = (samples.counts > 0) & np.isfinite(gain)
    change = sd = np.zeros(len(gain))
    for _ in range(ROUNDS if known.any() else 0):
        scaled = np.where(known, gain * current, np.nan)
        change, sd = _step(fit(replace(samples, torque=scaled), prior))
        if np.any(lost := known & ~np.isfinite(change)):
            known = known & ~lost
            if known.any():
                continue
            break
        gain = gain * (1 + np.clip(np.nan_to_num(change), -STEP, STEP))
        if np.nanmax(np.abs(change)) < SETTLED:
            break
    else:
        if known.any():
            raise InfeasibleError(
                f"{samples.log.source}: the gains of its currents do not converge; give torques, or better masses"
            )
    notes = ["Torques were not logged: currents are taken times a gain that is sought for every joint."]
    used = known
    if not known.any():
        best = int(np.argmax(np.nan_to_num(np.nanstd(np.where(samples.counts > 0, current, 0.0), axis=0))))
        used, gain = np.arange(len(gain)) == best, np.ones(len(gain))
        notes.append(f"No gain is told: masses and torques are products with the gain of {joints[best]}, in A for N m.")
    alone = [j for j in range(len(gain)) if samples.counts[j] and not known[j]]
    products = tuple(t for j in alone for t in _product(samples, j, fit))
    why = "the gain of its current is not told by the masses, so that its friction is a product in A"
    refused = {**samples.refused, **{joints[j]: why for j in alone if not used[j]}}
    torque = np.where(used, gain * current, np.nan)
    value = np.where(known, gain, np.nan)
    out = Gains(joints, value, np.where(known, sd * np.abs(gain), np.nan), products, tuple(notes))
    return replace(samples, torque=torque, refused=refused), out


def _product(samples: Samples, j: int, fit: Fit) -> tuple[FrictionTerm, ...]:
    """Friction in A of one joint that is fitted alone."""
    mine = np.arange(len(samples.log.joints)) == j
    fitted = fit(replace(samples, torque=np.where(mine, samples.torque, np.nan)), None)
    terms = [t for t in friction_terms(fitted) if t.joint == samples.log.joints[j] and t.term in ("coulomb", "viscous")]
    return tuple(replace(t, unit=t.unit.replace("N m", "A").replace("N", "A")) for t in terms)


def _start(model: Robot, samples: Samples, sign: int) -> Array:
    """By the currents that go with the torques expected; nan where nothing is expected."""
    expected, read = sign * holding_torque(model, samples.q), np.nan_to_num(samples.torque)
    expected = np.where(np.isfinite(samples.torque), expected, 0.0)
    square, slope = np.sum(expected**2, axis=0), np.sum(expected * read, axis=0)
    weighs = (square > WEIGHED**2 * max(float(square.max()), 1e-12)) & (slope != 0)
    return np.where(weighs, square / np.where(weighs, slope, 1.0), np.nan)


def _step(fit: GravityFit) -> tuple[Array, Array]:
    """Relative change (n,) of the gains and its standard deviation, nan where only products are told."""
    blocks, n = fit.solved.blocks, fit.model.n
    expected = fit.unknowns.columns(fit.samples, fit.sense.sign) @ fit.values
    expected = expected + fit.unknowns.fixed_torque(fit.samples)
    columns = -expected[:, :, None] * np.eye(n)
    known = fit.samples.counts > 0
    change, sd = np.full(n, np.nan), np.full(n, np.nan)
    p = blocks.shape[2]
    while known.any():
        more = replace(blocks, jacobian=np.concatenate([blocks.jacobian, columns[:, :, known]], axis=2))
        white = (fit.solved.inverse @ more.jacobian).reshape(-1, p + known.sum())
        prior = np.concatenate([np.diag(prior_precision(blocks, fit.solved.log_scales)[0]), np.zeros(known.sum())])
        rows = [white[i : i + 4096] for i in range(0, len(white), 4096)]
        names = [str(i) for i in range(white.shape[1])]
        kept = classify(
            names, stacked_triangle([*rows, np.diag(np.sqrt(prior))], white.shape[1]), np.ones(len(names))
        ).kept
        free = np.array([p + i in kept for i in range(known.sum())])
        if free.all():
            solved = posterior(more, fit.solved.log_scales)
            spread = np.sqrt(np.diag(solved.covariance))[p:]
            free = spread < VAGUE
            if free.all():
                change[known], sd[known] = solved.mean[p:], spread
                break
        known[np.flatnonzero(known)[~free]] = False
    return change, sd
