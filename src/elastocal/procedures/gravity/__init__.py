"""The weight of an arm from its controller's log: sign, friction, mass moments, the torque to hold it anywhere.

Order of the procedure: the samples that say something of the weight (``samples``), which way is down where that is
asked (``mounting``), whose torque was logged (``sense``), masses and friction of all joints at once (``fit``) without
outliers (``outliers``), the validation by the last part of the log (``prediction``), the torques written out
(``terms``), sweep by sweep (``sweeps``, ``recursion``), what the arm carries (``payload``), and what speaks against it
all (``checks``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from elastocal.errors import InputError, UnknownNameError
from elastocal.measure.sources.friction import Friction
from elastocal.model.loads.link_mass import LinkMass
from elastocal.model.loads.payload import Payload
from elastocal.procedures.gravity.checks import warnings
from elastocal.procedures.gravity.fit import GravityFit, MassPrior, fit_masses
from elastocal.procedures.gravity.mounting import Mounting, find_gravity
from elastocal.procedures.gravity.outliers import Screened, screen
from elastocal.procedures.gravity.payload import identify_payload
from elastocal.procedures.gravity.prediction import TorquePrediction, Validation, predict_torque, split_log, validate
from elastocal.procedures.gravity.recursion import Recursion, recursive_moments
from elastocal.procedures.gravity.samples import Samples, slow_samples
from elastocal.procedures.gravity.sense import stated_sense, torque_sense
from elastocal.procedures.gravity.terms import Term, expressions
from elastocal.results import as_frame
from elastocal.solve.groups import Group

if TYPE_CHECKING:
    from elastocal.findings import Finding
    from elastocal.measure.joint_log import JointLog
    from elastocal.model.robot import Robot
    from elastocal.spatial.entries import Array

TORQUES = {"auto": 0, "drive": 1, "load": -1}
"""Whose torque was logged; ``auto`` asks the robot's masses."""
PRIOR = MassPrior()


@dataclass(frozen=True, eq=False, repr=False)
class Gravity:
    """``arm`` is the fit of the whole log, ``trained`` that of its first part, which ``validation`` is about.

    Both are without outliers; ``screened`` has the fit with them too.  ``file`` is the robot with the masses of its
    file.  What could not be had is None, and ``notes`` say why.
    """

    file: Robot
    screened: Screened
    trained: GravityFit | None
    validation: Validation | None
    terms: tuple[Term, ...]
    recursion: Recursion | None
    payload: GravityFit | None
    mounting: Mounting | None
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
        fit = self.arm.fit
        rows = zip(fit.names, fit.values, fit.sd, strict=True)
        return as_frame([{"name": n, "value": float(v), "sd": float(s)} for n, v, s in rows])

    @property
    def arm(self) -> GravityFit:
        return self.screened.fit

    @property
    def model(self) -> Robot:
        """The robot with these masses, and with the payload of the second log."""
        return self.arm.model if self.payload is None else self.payload.model

    def predict(self, q: Array) -> TorquePrediction:
        """Holding torques at any joint values (N, n)."""
        return predict_torque(self.arm, q)

    def over_log(self) -> tuple[Validation, int]:
        """Predictions of the whole log, by the fit of its first part where there is one, and how many samples that
        fit has seen."""
        fit = self.trained or self.arm
        return validate(fit, self.arm.samples, self.file), fit.samples.log.count

    def groups(self) -> dict[str, int]:
        """How many of the masses and mass moments the poses tell: all, base parameters, alone, silent."""
        names, base = self.arm.wide.names, self.arm.base
        groups = [base.group[base.names.index(n)] for n in names]
        return {
            "parameters": len(names),
            "base": sum(base.names[i] in names for i in base.kept),
            "alone": groups.count(Group.IDENTIFIABLE),
            "silent": groups.count(Group.UNOBSERVABLE),
        }

    def robot(self, source: str) -> Robot:
        """The robot with what was identified and its ``source``; refuses a mass below zero."""
        changed = {n.rsplit(".", 1)[0] for n in self.arm.wide.names}
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
) -> Gravity:
    """Link masses alone: what the arm carried is as the robot says.

    ``friction`` auto: Coulomb and viscous where the log has time, else none.  ``hold_out`` is the last share of the log
    that validates, 0 for none.  ``at`` (n,) is the pose at which torques are written out, by default where the log was
    on the whole.  ``payload_log`` is a second log, with a payload that is sought.
    """
    job = _Job(_with_friction(friction, log), prior)
    if torques not in TORQUES:
        raise UnknownNameError("kind of torques", torques, TORQUES, parameter="torques")
    if friction == "auto" and log.time is None:
        job.notes.append(
            "Without time nothing tells how fast the joints move: friction is left in the scatter; Coulomb friction "
            "takes the directions from the order of the rows."
        )
    model = _with_links(model, job.notes)
    samples = job.samples(model, log)
    mounting = find_gravity(model, samples, TORQUES[torques], job.friction) if find_mounting else None
    model = model if mounting is None else mounting.mounted(model)
    fit = job.fit(model, samples, TORQUES[torques])
    screened = screen(fit, samples)
    arm = screened.fit
    trained, validation = job.validation(fit, arm.samples, hold_out, model)
    terms, recursion = job.terms(arm, at), job.recursion(arm)
    payload = None if payload_log is None else job.payload(arm, payload_log, payload_frame)
    said = tuple(warnings(screened, validation))
    return Gravity(
        model, screened, trained, validation, terms, recursion, payload, mounting, said, tuple(job.notes)
    )  # fmt: skip


def _with_friction(friction: Friction | Literal["auto"] | None, log: JointLog) -> Friction | None:
    if friction == "auto":
        return None if log.time is None else Friction()
    if friction is not None and friction.viscous and log.time is None:
        raise InputError(
            f"{log.source} has no time, so no speed; leave viscous friction out", code="no-time", parameter="friction"
        )
    return friction


def _with_links(model: Robot, notes: list[str]) -> Robot:
    """A robot without any mass gets one of 0 kg on every joint, so that there is something to seek."""
    if any(isinstance(e, LinkMass) and not isinstance(e, Payload) for e in model.elements):
        return model
    notes.append(f"Robot {model.name} has no link masses: one is sought on every joint, and nothing is known of it.")
    return model.with_elements(*(LinkMass(frame=j, mass=0.0, source="sought in a log") for j in model.joints))


@dataclass(frozen=True, eq=False)
class _Job:
    """Friction and prior of all fits, and the notes they leave."""

    friction: Friction | None
    prior: MassPrior | None
    notes: list[str] = field(default_factory=list)

    def samples(self, model: Robot, log: JointLog) -> Samples:
        moving = self.friction is not None and (self.friction.coulomb or self.friction.viscous)
        out = slow_samples(model, log, friction=moving)
        self.notes.extend(out.notes)
        return out

    def fit(self, model: Robot, samples: Samples, sign: int) -> Callable[[Samples], GravityFit]:
        """The fit of any part of the log, torques in the sense of all of it."""
        sense = torque_sense(model, samples) if sign == 0 else stated_sense(model, samples, sign)
        seek = tuple(p.name for p in model.parameters if p.kind == "link_mass")
        return lambda part: fit_masses(
            model, part, sense=sense, prior=self.prior, friction=self.friction, seek=seek
        )  # fmt: skip

    def validation(
        self, fit: Callable[[Samples], GravityFit], samples: Samples, share: float, file: Robot
    ) -> tuple[GravityFit | None, Validation | None]:
        if share == 0:
            self.notes.append("Nothing was held out: how well unseen poses are predicted is not known.")
            return None, None
        try:
            first, last = split_log(samples, share)
            trained = fit(first)
        except InputError as error:
            self.notes.append(f"No part of the log could be held out to judge by: {error}.")
            return None, None
        return trained, validate(trained, last, file)

    def terms(self, arm: GravityFit, at: Array | None) -> tuple[Term, ...]:
        """At the pose asked for, else where the log was on the whole, else with all joints at zero."""
        q = arm.samples.log.q
        tries = [at] if at is not None else [np.median(q, axis=0), np.zeros(q.shape[1])]
        why = ""
        for pose in tries:
            try:
                terms = expressions(arm.model, pose, arm.wide)
            except InputError as error:
                why = str(error)
                continue
            if weightless := ", ".join(t.joint for t in terms if t.amplitude == 0):
                self.notes.append(
                    f"Nothing weighs on {weightless} alone in this model, so that its torque has no phase."
                )
            return terms
        self.notes.append(f"Torques are not written out: {why}.")
        return ()

    def recursion(self, arm: GravityFit) -> Recursion | None:
        """The document's own route, where the log has sweeps."""
        try:
            out = recursive_moments(arm.model, arm.samples, arm.sense.sign)
        except InputError as error:
            self.notes.append(f"Sweep by sweep nothing is computed: {error}.")
            return None
        if out.elsewhere:
            self.notes.append(
                f"{out.elsewhere} sweeps had other joints elsewhere and are not in the sweep-by-sweep fit."
            )
        return out

    def payload(self, arm: GravityFit, log: JointLog, frame: str | None) -> GravityFit:
        samples = self.samples(arm.model, log)
        screened = screen(lambda part: identify_payload(arm, part, frame, self.friction), samples)
        if screened.outliers:
            self.notes.append(f"Outliers left out of the second log: {screened.text()}.")
        return screened.fit
