"""What a log tells of an arm: the result of the procedure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from elastocal.errors import InputError
from elastocal.model.loads.link_mass import LinkMass
from elastocal.procedures.gravity.coupling import Proposal
from elastocal.procedures.gravity.fit import GravityFit
from elastocal.procedures.gravity.gains import Gains
from elastocal.procedures.gravity.mounting import Mounting
from elastocal.procedures.gravity.outliers import Screened
from elastocal.procedures.gravity.prediction import TorquePrediction, Validation, predict_torque, validate
from elastocal.procedures.gravity.recursion import Recursion
from elastocal.procedures.gravity.terms import Term
from elastocal.results import as_frame
from elastocal.solve.groups import Group

if TYPE_CHECKING:
    from elastocal.findings import Finding
    from elastocal.model.robot import Robot
    from elastocal.spatial.entries import Array


@dataclass(frozen=True, eq=False, repr=False)
class Gravity:
    """``arm`` is the fit of the whole log, ``trained`` that of its first part, which ``validation`` is about.

    Both are without outliers; ``screened`` has the fit with them too.  ``file`` is the robot with the masses of its
    file.  ``proposal`` is a coupled motor that the data call for, ``gains`` are those of a log of currents.  What could
    not be had is None, and ``notes`` say why.
    """

    file: Robot
    screened: Screened
    trained: GravityFit | None
    validation: Validation | None
    terms: tuple[Term, ...]
    recursion: Recursion | None
    payload: GravityFit | None
    mounting: Mounting | None
    proposal: Proposal | None
    gains: Gains | None
    warnings: tuple[Finding, ...]
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        arm, rms = self.arm, ""
        if self.validation is not None:
            errors = self.validation.rms(self.validation.error)
            rms = "; validation " + ", ".join(f"{j} {e:.3g}" for j, e in zip(arm.model.joints, errors, strict=True))
        return (
            f"Gravity({arm.model.name}, {arm.samples.log.count} samples, {len(self.screened.outliers)} outliers{rms}; "
            f"{len(self.warnings)} warnings)"
        )

    def to_frame(self) -> object:
        """One row for every parameter that was fitted, friction included, SI."""
        arm = self.arm
        return as_frame([{"name": n, "value": arm.value(n), "sd": arm.sd(n)} for n in arm.names])

    @property
    def arm(self) -> GravityFit:
        return self.screened.fit

    @property
    def model(self) -> Robot:
        """The robot with these masses, and with the payload of the second log.

        Where the masses fitted predict no joint better than the robot file's, these stay.
        """
        if self.payload is not None:
            return self.payload.model
        return self.arm.model if self.arm.improves else self.file

    def predict(self, q: Array) -> TorquePrediction:
        """Holding torques at any joint values (N, n), with the uncertainty of gains where currents were logged."""
        out = predict_torque(self.arm, q)
        return (
            out if self.gains is None else replace(out, sd=np.hypot(out.sd, np.abs(out.torque) * self.gains.relative))
        )

    def over_log(self) -> tuple[Validation, int]:
        """Predictions of the whole log, by the fit of its first part where there is one, and how many samples that
        fit has seen."""
        fit = self.trained or self.arm
        return validate(fit, self.arm.samples), fit.samples.log.count

    def groups(self) -> dict[str, int]:
        """How many of the masses and mass moments the poses tell: all, base parameters, alone, unobservable."""
        names, base = self.arm.unknowns.masses, self.arm.base
        groups = [base.group[base.names.index(n)] for n in names]
        return {
            "parameters": len(names),
            "base": sum(base.names[i] in names for i in base.kept),
            "alone": groups.count(Group.IDENTIFIABLE),
            "unobservable": groups.count(Group.UNOBSERVABLE),
        }

    def robot(self, source: str) -> Robot:
        """The robot with what was identified and its ``source``; refuses a mass below zero."""
        changed = {n.rsplit(".", 1)[0] for n in self.arm.unknowns.masses if self.model is not self.file}
        elements = []
        for e in self.model.elements:
            if isinstance(e, LinkMass) and e.mass < 0:
                raise InputError(
                    f"the mass at {e.frame} comes out as {e.mass:.3g} kg, since the log tells it only together with "
                    "others; give the robot file's masses as a prior, or log more poses",
                    code="negative-mass",
                    value=e.mass,
                )
            new = isinstance(e, LinkMass) and (e.frame in changed if e.kind == "link_mass" else bool(self.payload))
            elements.append(replace(e, source=source) if new else e)
        return replace(self.model, elements=tuple(elements))
