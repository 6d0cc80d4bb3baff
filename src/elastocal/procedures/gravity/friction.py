"""Friction of every joint and coupled motor, as a fit of a log has it; what it does not tell has a reason."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.measure.sources.friction import TERMS
from elastocal.procedures.gravity.fit import GravityFit
from elastocal.procedures.gravity.shape import BY_LOAD

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


def friction_terms(found: GravityFit) -> tuple[FrictionTerm, ...]:
    """Every term that was asked for, joint by joint, and its share by load where that is significant."""
    asked = [t for t in TERMS if found.friction is not None and getattr(found.friction, t)]
    asked += ["rotor"] * bool(asked)
    out = []
    for label, j in _motors(found):
        turns = found.model.motions[j].kind == "revolute"
        force = "N m" if turns else "N"
        units = {"viscous": f"{force} s/{'rad' if turns else 'm'}", "rotor": "kg m2" if turns else "kg"}
        for term in asked:
            name = f"{label} {term}"
            if name not in found.unknowns.names or (found.samples.by_row and not _per_row(found, j, term)):
                continue
            sd = found.sd(name)
            reason = _why_not(found, label, j, term, found.value(name), sd)
            shown = (np.nan, np.nan) if reason or sd is None else (found.value(name), sd)
            out.append(FrictionTerm(label, term, units.get(term, force), *shown, reason))
        if sd := found.sd(name := f"{label} {BY_LOAD}"):
            out.append(FrictionTerm(label, "by load", f"{force}/({force})", found.value(name), sd))
    return tuple(out)


def braking(found: GravityFit) -> dict[str, float]:
    """Coulomb friction over its sd, by joint and coupled motor: positive where it brakes."""
    out = {}
    for label, j in _motors(found):
        sd = found.sd(f"{label} coulomb") if f"{label} coulomb" in found.unknowns.names else None
        if sd and label not in found.samples.refused and not (label in found.model.joints and _one_way(found, j)):
            out[label] = found.value(f"{label} coulomb") / sd
    return out


def _motors(found: GravityFit) -> list[tuple[str, int]]:
    """Joints and coupled motors by name, with the joint that each is counted with."""
    coupled = [(c.label, int(np.flatnonzero(c.direction)[-1])) for c in found.unknowns.coupled]
    return [(joint, j) for j, joint in enumerate(found.model.joints)] + coupled


def _one_way(found: GravityFit, j: int) -> bool:
    v = found.samples.velocity[np.isfinite(found.samples.torque[:, j]), j]
    return not (np.any(v > 0) and np.any(v < 0))


def _per_row(found: GravityFit, j: int, term: str) -> bool:
    """Whether a term of a log without time is worth naming: not where nothing goes with the rows."""
    paced = found.samples.paced
    return term in ("coulomb", "zero") or (term == "viscous" and (not paced or paced[j]))


def _why_not(found: GravityFit, label: str, j: int, term: str, value: float, sd: float | None) -> str:
    samples = found.samples
    if label in samples.refused:
        return samples.refused[label]
    if not samples.counts[j]:
        return "no reading of it counts"
    if term == "coulomb" and label in found.model.joints and sd is not None and _one_way(found, j):
        return ONE_WAY.format(value, sd)
    if term == "coulomb" and sd is not None and samples.by_row and not samples.goes_with_motion()[j]:
        return AT_SPEED.format(value, sd)
    if sd is None:
        return "acts only together with other terms in this log"
    return "the log has no time: it is known per row only" if samples.by_row and term in ("viscous", "rotor") else ""
