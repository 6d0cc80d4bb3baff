"""Friction of every joint and coupled motor, as a fit of a log has it, and motors that turn with two joints.

What a fit does not tell of friction has a reason.  A wrist driven through a sleeve has the friction of one motor go
with the sum (or difference) of two speeds.  Taken for friction of its own joint it leaves residuals of both joints that
change sign with the sum.  Where the robot file does not tell of it, every pair of joints that moved, neighbours or next
to them, is tried with both signs: its columns are added, everything is solved again, and the logarithm of the
likelihood gained, per independent reading, less the price of the terms (BIC), is the evidence.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np

from elastocal.measure.sources.friction import TERMS
from elastocal.procedures.gravity.fit import GravityFit
from elastocal.procedures.gravity.nuisances import BY_LOAD
from elastocal.procedures.gravity.unknowns import Coupled
from elastocal.values import dataclass

SIGNIFICANT = 5.0
"""Coulomb friction over its sd from which it brakes, or drives, which it cannot."""
ONE_WAY = (
    "moved one way only, so that friction and the zero of the torque are one constant: {:.3g} +- {:.2g}; move it "
    "both ways"
)
AT_SPEED = "without time viscous friction is not told from it: at the speed of the log both are {:.3g} +- {:.2g}"


@dataclass(frozen=True)
class FrictionTerm:
    """One term of one joint or coupled motor; ``value`` and ``sd`` are nan where ``reason`` says why."""

    joint: str
    term: str
    unit: str
    value: float
    sd: float
    reason: str = ""


def friction_terms(fit: GravityFit) -> tuple[FrictionTerm, ...]:
    """Every term that was asked for, joint by joint, and its share by load where that is significant."""
    asked = [t for t in TERMS if fit.friction is not None and getattr(fit.friction, t)]
    asked += ["rotor"] * bool(asked)
    out = []
    for label, j in _motors(fit):
        turns = fit.model.motions[j].kind == "revolute"
        force = "N m" if turns else "N"
        units = {"viscous": f"{force} s/{'rad' if turns else 'm'}", "rotor": "kg m2" if turns else "kg"}
        for term in asked:
            name = f"{label} {term}"
            if name not in fit.unknowns.names or (fit.samples.by_row and not _per_row(fit, j, term)):
                continue
            sd = fit.sd(name)
            reason = _why_not(fit, label, j, term, fit.value(name), sd)
            shown = (np.nan, np.nan) if reason or sd is None else (fit.value(name), sd)
            out.append(FrictionTerm(label, term, units.get(term, force), *shown, reason))
        if sd := fit.sd(name := f"{label} {BY_LOAD}"):
            out.append(FrictionTerm(label, "by load", f"{force}/({force})", fit.value(name), sd))
    return tuple(out)


def braking(fit: GravityFit) -> dict[str, float]:
    """Coulomb friction over its sd, by joint and coupled motor: positive where it brakes."""
    out = {}
    for label, j in _motors(fit):
        sd = fit.sd(f"{label} coulomb") if f"{label} coulomb" in fit.unknowns.names else None
        if sd and label not in fit.samples.refused and not (label in fit.model.joints and _one_way(fit, j)):
            out[label] = fit.value(f"{label} coulomb") / sd
    return out


def _motors(fit: GravityFit) -> list[tuple[str, int]]:
    """Joints and coupled motors by name, with the joint that each is counted with."""
    coupled = [(c.label, int(np.flatnonzero(c.direction)[-1])) for c in fit.unknowns.coupled]
    return [(joint, j) for j, joint in enumerate(fit.model.joints)] + coupled


def _one_way(fit: GravityFit, j: int) -> bool:
    v = fit.samples.velocity[np.isfinite(fit.samples.torque[:, j]), j]
    return not (np.any(v > 0) and np.any(v < 0))


def _per_row(fit: GravityFit, j: int, term: str) -> bool:
    """Whether a term of a log without time is worth naming: not where nothing goes with the rows."""
    paced = fit.samples.paced
    return term in ("coulomb", "zero") or (term == "viscous" and (not paced or paced[j]))


def _why_not(fit: GravityFit, label: str, j: int, term: str, value: float, sd: float | None) -> str:
    samples = fit.samples
    if label in samples.refused:
        return samples.refused[label]
    if not samples.counts[j]:
        return "no reading of it counts"
    if term == "coulomb" and label in fit.model.joints and sd is not None and _one_way(fit, j):
        return ONE_WAY.format(value, sd)
    if term == "coulomb" and sd is not None and samples.by_row and not samples.goes_with_motion()[j]:
        return AT_SPEED.format(value, sd)
    if sd is None:
        return "acts only together with other terms in this log"
    return "the log has no time: it is known per row only" if samples.by_row and term in ("viscous", "rotor") else ""


CLEAR = 10.0
"""Evidence (natural logarithm) from which a coupling is proposed."""
TRIED = 3
"""Pairs with the largest scores that are solved for, where a score is at least half of what is clear: friction of five
standard deviations, without which none is proposed, has one of 12.5."""
NOTABLE = 0.1
"""Share of the mean square residual of one of its joints that a coupling must explain."""
APART = 2
"""Joints along the arm: the drives of a wrist are coupled with their neighbours."""


@dataclass(frozen=True, eq=False)
class Proposal:
    """A coupled motor that explains what the fit leaves: scatter of its joints without and with it."""

    coupled: Coupled
    evidence: float
    joints: tuple[str, ...]
    before: tuple[float, ...]
    after: tuple[float, ...]
    fit: GravityFit


def propose(fit: Callable[[tuple[Coupled, ...]], GravityFit], now: GravityFit) -> Proposal | None:
    """The best one beyond those that ``now`` has; None where none is clear."""
    joints = now.model.joints
    ready = [j for j in range(len(joints)) if now.samples.moved()[j] and joints[j] not in now.samples.refused]
    known = [c.direction for c in now.unknowns.coupled]
    best: Proposal | None = None
    if now.friction is None or not now.friction.coulomb:
        return None
    scores = []
    for i, j in ((i, j) for i, j in combinations(ready, 2) if j - i <= APART):
        for sign in (1.0, -1.0):
            direction = np.zeros(len(joints))
            direction[i], direction[j] = 1.0, sign
            if any(np.allclose(direction, d) or np.allclose(sign * direction, d) for d in known):
                continue
            label = f"{joints[i]}{'+' if sign > 0 else '-'}{joints[j]}"
            scores.append((_score(now, direction), Coupled(label, direction)))
    for score, coupled in sorted(scores, key=lambda s: -s[0])[:TRIED]:
        if score < 0.5 * CLEAR:
            break
        trial = _tried(fit, now, coupled)
        if trial is not None and (best is None or trial.evidence > best.evidence):
            best = trial
    return best


def _score(now: GravityFit, direction: np.ndarray) -> float:
    """Score of one friction term on the residuals: half the squares that it alone would explain, in units of noise."""
    samples = now.samples
    column = direction * samples.direction(direction)[:, None]
    white = now.solved.inverse @ column[:, :, None]
    pull = float(np.sum(white[:, :, 0] * now.solved.white))
    x = now.solved.inverse @ now.solved.blocks.jacobian
    cross = np.einsum("nrp,nr->p", x, white[:, :, 0])
    size = float(np.sum(white**2)) - float(cross @ now.solved.covariance @ cross)
    return 0.5 * pull**2 / size if size > 1e-9 * float(np.sum(white**2)) else 0.0


def _tried(fit: Callable[[tuple[Coupled, ...]], GravityFit], now: GravityFit, coupled: Coupled) -> Proposal | None:
    trial = fit((*now.unknowns.coupled, coupled))
    mine = np.flatnonzero(coupled.direction)
    both = np.isfinite(now.residuals) & np.isfinite(trial.residuals)
    gained, notable = 0.0, False
    for j in mine:
        left, less = (np.mean(f.residuals[both[:, j], j] ** 2) for f in (now, trial))
        worth = np.nanmin([now.worth[j], trial.worth[j], both[:, j].sum()])
        gained += 0.5 * float(worth * np.log(left / less))
        notable |= bool(less < (1 - NOTABLE) * left)
    price = 0.5 * (len(trial.names) - len(now.names)) * float(np.log(both[:, mine].sum()))
    brakes = braking(trial).get(coupled.label, 0.0) >= SIGNIFICANT
    if gained - price < CLEAR or not notable or not brakes:
        return None
    names = tuple(now.model.joints[j] for j in mine)
    before, after = (tuple(float(f.noise[j]) for j in mine) for f in (now, trial))
    return Proposal(coupled, gained - price, names, before, after, trial)
