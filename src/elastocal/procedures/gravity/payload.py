"""What the arm carries, from a second log: the arm as identified without it, plus one body at the tool.

Friction apart, the arm's own parameters are unknowns of the second log too, with the first fit as their prior: so how
well the arm is known goes into the payload's accuracy.
"""

from __future__ import annotations

import numpy as np

from elastocal.measure.sources.friction import Friction
from elastocal.model.loads.payload import Payload
from elastocal.procedures.gravity.fit import GravityFit, fit_unknowns
from elastocal.procedures.gravity.samples import Samples
from elastocal.procedures.gravity.unknowns import Unknowns


def identify_payload(
    arm: GravityFit, samples: Samples, frame: str | None = None, friction: Friction | None = None
) -> GravityFit:
    """Mass and mass moment of a payload; ``frame`` is by default that of the robot file's payload, else the tool."""
    place = frame or next((e.frame for e in arm.model.elements if isinstance(e, Payload)), arm.model.tool)
    model = arm.model
    if not any(isinstance(e, Payload) and e.frame == place for e in model.elements):
        model = model.with_elements(Payload(frame=place, mass=0.0))
    unknowns = Unknowns.of(model, samples, None, friction, arm.unknowns.coupled, place)
    precision = np.zeros((len(unknowns.names),) * 2)
    shared = [n for n in unknowns.names if n in arm.names and " " not in n]
    there, here = ([u.names.index(n) for n in shared] for u in (arm.unknowns, unknowns))
    precision[np.ix_(here, here)] = np.linalg.inv(arm.covariance[np.ix_(there, there)])
    known = np.isfinite(unknowns.sd)
    precision[known, known] = unknowns.sd[known] ** -2.0
    fixed = [unknowns.names.index(n) for n in arm.unknowns.masses if n not in shared]
    precision[fixed, fixed] = FIXED**-2.0
    return fit_unknowns(unknowns, samples, arm.sense, None, precision)


FIXED = 1e-9
"""Kilograms: what the first log did not tell stays at the robot file's value."""


def payload_numbers(payload: GravityFit) -> tuple[tuple[str, float, float, str], ...]:
    """What, value, standard deviation and SI unit: mass, mass moments, and the centre c = u / m, with

    d c = (d u - c d m) / m; nan where the mass is zero.
    """
    names = [n for n in payload.unknowns.masses if ".payload_" in n][-4:]
    at = [payload.unknowns.names.index(n) for n in names]
    covariance = payload.covariance[np.ix_(at, at)]
    mass, *moment = (payload.value(n) for n in names)
    sd = np.sqrt(np.diag(covariance))
    out = [("mass", mass, float(sd[0]), "kg")]
    out += [
        (f"mass moment {a}", u, float(sd[i]), "kg m") for i, (a, u) in enumerate(zip("xyz", moment, strict=True), 1)
    ]
    for i, (axis, u) in enumerate(zip("xyz", moment, strict=True), 1):
        centre = u / mass if mass else np.nan
        slope = np.array([-centre, 1.0]) / mass if mass else np.full(2, np.nan)
        spread = slope @ covariance[np.ix_([0, i], [0, i])] @ slope
        out.append((f"centre {axis}", centre, float(np.sqrt(np.maximum(spread, 0.0))), "m"))
    return tuple(out)
