"""What a log tells of the motors: friction of joints and of motors that turn with two joints, gains of their currents.

What a fit does not tell of friction has a reason.  A wrist driven through a sleeve has the friction of one motor go
with the sum (or difference) of two speeds.  Taken for friction of its own joint it leaves residuals of both joints that
change sign with the sum.  Where the robot file does not tell of it, every pair of joints that moved, neighbours or next
to them, is tried with both signs: its columns are added, everything is solved again, and the logarithm of the
likelihood gained, per independent reading, less the price of the terms (BIC), is the evidence.

Gains, tau_j = k_j i_j, where a log has currents and no torques: torques are fitted at the gains so far, with one more
unknown for every joint, the relative error of its gain (its column is minus the torque that the fit before expects),
until nothing changes.  Known masses tell the gains, as well as they are known.  A joint whose gain they do not tell is
taken out and fitted alone, without a prior: its friction is then a product with the gain, in A.  Where no gain is told,
the joint with the largest current alone makes the fit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations

import numpy as np

from elastocal.errors import InfeasibleError
from elastocal.measure.sources.friction import TERMS
from elastocal.model.robot import Robot
from elastocal.model.statics.holding import holding_torque
from elastocal.procedures.gravity.fit import GravityFit
from elastocal.procedures.gravity.nuisances import BY_LOAD
from elastocal.procedures.gravity.samples import Samples
from elastocal.procedures.gravity.sense import Sense
from elastocal.procedures.gravity.unknowns import Coupled, MassPrior
from elastocal.solve.evidence import posterior, prior_precision
from elastocal.solve.identifiability import classify, stacked_triangle
from elastocal.spatial.entries import Array
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
