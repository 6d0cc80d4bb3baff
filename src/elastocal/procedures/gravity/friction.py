"""Friction of every joint and coupled motor, as a fit of a log has it; what it does not tell has a reason."""

from __future__ import annotations

import numpy as np

from elastocal.measure.sources.friction import TERMS
from elastocal.procedures.gravity.fit import GravityFit
from elastocal.procedures.gravity.shape import BY_LOAD
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
