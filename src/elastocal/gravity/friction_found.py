"""Friction of every joint as a fit has found it, and why where it has not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.gravity.fit import GravityFit
from elastocal.gravity.samples import Samples
from elastocal.measure.sources.friction import TERMS

ONE_WAY = (
    "moved one way only, so that friction and the zero of the torque are one constant: {:.3g} +- {:.2g}; move it "
    "both ways"
)


@dataclass(frozen=True)
class FrictionTerm:
    """One of ``TERMS`` of one joint; ``value`` and ``sd`` are nan where ``reason`` says why."""

    joint: str
    term: str
    unit: str
    value: float
    sd: float
    reason: str = ""


def friction_found(found: GravityFit) -> tuple[FrictionTerm, ...]:
    """Every term that was asked for, joint by joint; nothing where friction was left out."""
    if found.friction is None:
        return ()
    samples, known = found.samples, found.nuisances()
    asked = [t for t in TERMS if getattr(found.friction, t)]
    out = []
    for j, joint in enumerate(samples.log.joints):
        turns = found.model.motions[j].kind == "revolute"
        for term in asked:
            force = "N m" if turns else "N"
            unit = force if term != "viscous" else f"{force} s/{'rad' if turns else 'm'}"
            value, sd = known.get(f"{joint} {term}", (np.nan, np.nan))
            reason = _why_not(samples, j, term, value, sd)
            shown = (np.nan, np.nan) if reason else (value, sd)
            out.append(FrictionTerm(joint, term, unit, *shown, reason))
    return tuple(out)


def _why_not(samples: Samples, j: int, term: str, value: float, sd: float) -> str:
    counts = np.isfinite(samples.torque[:, j])
    v = samples.velocity[counts, j]
    if not counts.any():
        return "never moves" if not samples.moved()[j] else "never moves fast enough for its friction to have a sign"
    if term == "coulomb" and not (np.any(v > 0) and np.any(v < 0)):
        return ONE_WAY.format(value, sd)
    if not np.isfinite(sd):
        return "acts only together with other terms in this log"
    return ""
