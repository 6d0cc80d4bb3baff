"""The weight of an arm from its controller's log: sign, friction, mass moments, the torque to hold it anywhere.

Order of the procedure (``run``): what is no reading (``readings``), the samples that count, slow or moving
(``samples``), which way is down where that is asked and whose torque was logged (``sense``), masses, inertias and
friction of all joints at once (``unknowns``, ``nuisances``, ``fit``), the gains of currents and motors that turn with
two joints (``motors``), without outliers (``checks``), the validation by the last part of the log (``prediction``), the
torques written out (``terms``), sweep by sweep (``sweeps``), what speaks against it all (``checks``), and the result,
``Gravity``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from elastocal.arguments import checked
from elastocal.errors import InputError, RangeError, UnknownNameError, UnsupportedError
from elastocal.measure.joints import JointLog
from elastocal.measure.motion import SHARE
from elastocal.measure.sources.friction import Friction
from elastocal.model.loads.link_mass import LinkMass
from elastocal.model.robot import Robot
from elastocal.procedures.gravity.checks import Screened, screen, warnings
from elastocal.procedures.gravity.fit import GravityFit
from elastocal.procedures.gravity.misfit import misfit_of
from elastocal.procedures.gravity.motors import Gains, Proposal, propose
from elastocal.procedures.gravity.prediction import TorquePrediction, Validation, predict_torque, validate
from elastocal.procedures.gravity.run import Job, with_links
from elastocal.procedures.gravity.samples import INERTIA
from elastocal.procedures.gravity.sense import Mounting
from elastocal.procedures.gravity.sweeps import Recursion
from elastocal.procedures.gravity.terms import Term
from elastocal.procedures.gravity.unknowns import Coupled, MassPrior, coupled_motors
from elastocal.results import Finding, as_frame
from elastocal.solve.identifiability import Group
from elastocal.spatial.entries import Array
from elastocal.spatial.threads import one_thread
from elastocal.values import dataclass

__all__ = ["PRIOR", "TORQUES", "Friction", "Gravity", "JointLog", "MassPrior", "identify"]

TORQUES = {"auto": 0, "drive": 1, "load": -1}
"""Whose torque was logged; ``auto`` asks the robot's masses."""
PRIOR = MassPrior()


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


@checked()
@one_thread
def identify(
    model: Robot,
    log: JointLog,
    *,
    torques: str = "auto",
    friction: Friction | Literal["auto"] | None = "auto",
    prior: MassPrior | None = PRIOR,
    hold_out: float = 0.3,
    find_mounting: bool = False,
    at: Array | None = None,
    payload_log: JointLog | None = None,
    payload_frame: str | None = None,
    inertia: str = "auto",
    slow: float = SHARE,
    cutoff: float | None = None,
    coupled: Sequence[str] | None = None,
) -> Gravity:
    """Link masses alone: what the arm carried is as the robot says.

    ``friction`` auto: Coulomb, viscous, and the zero of the readings where inertia is modelled; none where nothing
    moves.  ``inertia`` is modelled (``model``), or samples with more than the share ``slow`` of
    gravity are left out (``leave-out``), or the log decides (``auto``); ``cutoff`` (Hz) is that of the filter of a
    moving log.  ``coupled`` are motors that turn with several joints, such as A5+A6, by default those of the robot
    file.  ``hold_out`` is the last share of the log that validates, 0 for none.  ``at`` (n,) is the pose at which
    torques are written out, by default where the log was on the whole.  ``payload_log`` is a second log, with a payload
    that is sought.
    """
    if torques not in TORQUES:
        raise UnknownNameError("kind of torques", torques, TORQUES, parameter="torques")
    if inertia not in INERTIA:
        raise UnknownNameError("treatment of inertia", inertia, INERTIA, parameter="inertia")
    for name, value in (("slow", slow), ("cutoff", cutoff)):
        if value is not None and not 0 < value < np.inf:
            raise RangeError(f"{name} {value:g} must be a positive number", parameter=name, value=str(value))
    motors = coupled_motors(model) if coupled is None else tuple(Coupled.parse(model, c) for c in coupled)
    job = Job(friction, prior, motors, inertia, slow, cutoff)
    model = with_links(model, job.notes)
    current = None if np.isfinite(log.torque).any() else log.current
    if current is not None and motors:
        raise UnsupportedError(
            f"{log.source}: currents of coupled motors have no gain joint by joint; give torques of motors"
        )
    samples, gains = job.samples(model, log if current is None else replace(log, torque=current)), None
    if current is not None:
        samples, gains = job.gains(model, samples, TORQUES[torques] or 1)
    samples = job.paced(model, samples, TORQUES[torques])
    mounting = None
    if find_mounting:
        job = replace(job, tilted=True)
        model, mounting = job.mounted(model, samples, TORQUES[torques])
    fit = job.fit(model, samples, TORQUES[torques])
    screened = screen(fit, samples)
    misfit = misfit_of(screened.fit)
    if misfit is not None:
        remains = np.where(misfit.joints, misfit.residual, 0.0)
        screened = replace(screened, fit=replace(screened.fit, remains=remains))
    arm = screened.fit
    proposal = propose(lambda more: job.fitted(model, arm.samples, arm.sense, more), arm)
    trained, validation = job.validation(fit, arm.samples, hold_out)
    written, recursion = job.terms(arm, at), job.recursion(arm)
    payload = None if payload_log is None else job.payload(arm, payload_log, payload_frame)
    unnamed = misfit is not None and not misfit.named(arm) and (misfit.slips or proposal is None)
    doubts = (misfit.finding(arm),) if misfit is not None and unnamed else ()
    findings = (*job.findings, *doubts, *warnings(screened, validation, proposal))
    return Gravity(
        model, screened, trained, validation, written, recursion, payload, mounting, proposal, gains, findings,
        tuple(job.notes),
    )  # fmt: skip
