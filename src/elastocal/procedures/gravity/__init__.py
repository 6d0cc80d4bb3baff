"""The weight of an arm from its controller's log: sign, friction, mass moments, the torque to hold it anywhere.

Order of the procedure: the samples that count, slow or moving (``samples``), which way is down where that is asked
(``mounting``), whose torque was logged (``sense``), masses, inertias and friction of all joints at once (``unknowns``,
``fit``) and the gains of currents (``gains``) without outliers (``outliers``), motors that turn with two joints
(``coupling``), the validation by the last part of the log (``prediction``), the torques written out (``terms``), sweep
by sweep (``sweeps``, ``recursion``), what the arm carries (``payload``), and what speaks against it all (``checks``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from elastocal.errors import InputError, UnknownNameError
from elastocal.measure.slow_motion import SHARE
from elastocal.measure.sources.friction import Friction
from elastocal.model.loads.link_mass import LinkMass
from elastocal.model.loads.payload import Payload
from elastocal.procedures.gravity.checks import warnings
from elastocal.procedures.gravity.coupling import Proposal, propose
from elastocal.procedures.gravity.fit import SIGNIFICANT, GravityFit, braking, fit_masses
from elastocal.procedures.gravity.gains import Fit, Gains, find_gains
from elastocal.procedures.gravity.mounting import Mounting, find_gravity
from elastocal.procedures.gravity.outliers import Screened, screen
from elastocal.procedures.gravity.payload import identify_payload
from elastocal.procedures.gravity.prediction import TorquePrediction, Validation, predict_torque, split_log, validate
from elastocal.procedures.gravity.recursion import Recursion, recursive_moments
from elastocal.procedures.gravity.samples import INERTIA, Samples, select_samples
from elastocal.procedures.gravity.sense import Sense, stated_sense, torque_sense
from elastocal.procedures.gravity.terms import Term, expressions
from elastocal.procedures.gravity.unknowns import Coupled, MassPrior, coupled_motors
from elastocal.results import as_frame
from elastocal.solve.groups import Group
from elastocal.spatial.threads import one_thread

if TYPE_CHECKING:
    from elastocal.findings import Finding
    from elastocal.measure.joint_log import JointLog
    from elastocal.model.robot import Robot
    from elastocal.spatial.entries import Array

TORQUES = {"auto": 0, "drive": 1, "load": -1}
"""Whose torque was logged; ``auto`` asks the robot's masses."""
PRIOR = MassPrior()
UNSEEN = 0.3
"""Last share of a log without time that does not decide about terms per row."""
PACED = 0.9
"""Share of the error of stretches left out that terms per row must leave at most."""


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
        """The robot with these masses, and with the payload of the second log."""
        return self.arm.model if self.payload is None else self.payload.model

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
        changed = {n.rsplit(".", 1)[0] for n in self.arm.unknowns.masses}
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
            raise InputError(f"{name} {value:g} must be a positive number", parameter=name, value=str(value))
    motors = coupled_motors(model) if coupled is None else tuple(Coupled.parse(model, c) for c in coupled)
    job = _Job(friction, prior, motors, inertia, slow, cutoff)
    model = _with_links(model, job.notes)
    current = None if np.isfinite(log.torque).any() else log.current
    if current is not None and motors:
        raise InputError(
            f"{log.source}: currents of coupled motors have no gain joint by joint; give torques of motors"
        )
    samples, gains = job.samples(model, log if current is None else replace(log, torque=current)), None
    if current is not None:
        samples, gains = job.gains(model, samples, TORQUES[torques] or 1)
    samples = job.paced(model, samples, TORQUES[torques])
    terms = job.friction_of(samples)
    mounting = find_gravity(model, samples, TORQUES[torques], terms) if find_mounting else None
    model = model if mounting is None else mounting.mounted(model)
    fit = job.fit(model, samples, TORQUES[torques])
    screened = screen(fit, samples)
    arm = screened.fit
    proposal = propose(lambda more: job.fitted(model, arm.samples, arm.sense, more), arm)
    trained, validation = job.validation(fit, arm.samples, hold_out)
    written, recursion = job.terms(arm, at), job.recursion(arm)
    payload = None if payload_log is None else job.payload(arm, payload_log, payload_frame)
    said = tuple(warnings(screened, validation, proposal))
    return Gravity(
        model, screened, trained, validation, written, recursion, payload, mounting, proposal, gains, said,
        tuple(job.notes),
    )  # fmt: skip


def _with_links(model: Robot, notes: list[str]) -> Robot:
    """A robot without any mass gets one of 0 kg on every joint, so that there is something to seek."""
    if any(isinstance(e, LinkMass) and not isinstance(e, Payload) for e in model.elements):
        return model
    notes.append(f"Robot {model.name} has no link masses: one is sought on every joint, and nothing is known of it.")
    return model.with_elements(*(LinkMass(frame=j, mass=0.0, source="sought in a log") for j in model.joints))


@dataclass(frozen=True, eq=False)
class _Job:
    """What all fits share, and the notes they leave."""

    friction: Friction | Literal["auto"] | None
    prior: MassPrior | None
    coupled: tuple[Coupled, ...]
    inertia: str
    slow: float
    cutoff: float | None
    notes: list[str] = field(default_factory=list)

    def samples(self, model: Robot, log: JointLog) -> Samples:
        """Those that count; a log that stands still has no friction to seek."""
        asked = Friction() if self.friction == "auto" else self.friction
        if self.friction != "auto" and asked is not None and asked.viscous and log.time is None:
            raise InputError(
                f"{log.source} has no time, so no speed; leave viscous friction out", code="no-time",
                parameter="friction",
            )  # fmt: skip
        moving = asked is not None and (asked.coulomb or asked.viscous)

        def select(friction: bool) -> Samples:
            return select_samples(
                model, log, friction=friction, inertia=self.inertia, share=self.slow, cutoff=self.cutoff
            )  # fmt: skip

        if log.time is None and self.friction == "auto":
            self.notes.append(
                "Without time nothing tells how fast the joints move: rows are taken as evenly spaced, directions come "
                "from their order, and what goes with speed or acceleration is known per row only."
            )
        try:
            out = select(moving)
        except InputError as error:
            if error.code != "too-few" or self.friction != "auto":
                raise
            out = replace(select(False), standing=True)
            self.notes.append("No joint moves for long: friction is left in the scatter, with an unknown sign.")
        self.notes.extend(out.notes)
        return out

    def paced(self, model: Robot, samples: Samples, sign: int) -> Samples:
        """Without time: terms by speed and acceleration per row for joints whose stretches left out they improve."""
        if self.friction != "auto" or not samples.by_row:
            return samples
        first = split_log(samples, UNSEEN)[0]
        without = replace(first, paced=(False,) * model.n)
        bare, full = (self.fit(model, s, sign)(s).left_out for s in (without, first))
        paced = tuple(bool(x) for x in full < PACED * bare)
        if named := ", ".join(j for j, p in zip(model.joints, paced, strict=True) if p):
            self.notes.append(f"Speed and acceleration per row improve the prediction of stretches left out: {named}.")
        return replace(samples, paced=paced)

    def friction_of(self, samples: Samples) -> Friction | None:
        if self.friction != "auto":
            return self.friction
        return None if samples.standing else Friction(zero=samples.moving)

    def fitted(self, model: Robot, part: Samples, sense: Sense, coupled: tuple[Coupled, ...]) -> GravityFit:
        return fit_masses(
            model, part, sense=sense, prior=self.prior, friction=self.friction_of(part), coupled=coupled
        )  # fmt: skip

    def fit(self, model: Robot, samples: Samples, sign: int) -> Callable[[Samples], GravityFit]:
        """The fit of any part of the log, torques in the sense of all of it."""
        sense = self.sense(model, samples) if sign == 0 else stated_sense(model, samples, sign)
        return lambda part: self.fitted(model, part, sense, self.coupled)

    def sense(self, model: Robot, samples: Samples) -> Sense:
        """By the weight that is expected; where friction and inertia hide it, by friction, which brakes."""
        try:
            return torque_sense(model, samples)
        except InputError as error:
            terms = self.friction_of(samples)
            if error.code != "no-agreement" or terms is None or not terms.coulomb:
                raise
            drives = stated_sense(model, samples, 1)
            fit = self.fitted(model, samples, drives, self.coupled)
            ways = {name: ratio for name, ratio in braking(fit).items() if abs(ratio) > SIGNIFICANT}
            signs = {1 if ratio > 0 else -1 for ratio in ways.values()}
            if len(signs) != 1:
                raise
            best = drives if signs == {1} else stated_sense(model, samples, -1)
            said = ", ".join(ways)
            return replace(best, reason=f"{best.reason.split(',')[0]}: so taken, the friction of {said} brakes")

    def gains(self, model: Robot, samples: Samples, sign: int) -> tuple[Samples, Gains]:
        sense = stated_sense(model, samples, sign)

        def fit(part: Samples, prior: MassPrior | None) -> GravityFit:
            return replace(self, prior=prior).fitted(model, part, sense, self.coupled)

        scaled, gains = find_gains(samples, sense, Fit(model, self.prior, fit))
        self.notes.extend(gains.notes)
        return scaled, gains

    def validation(
        self, fit: Callable[[Samples], GravityFit], samples: Samples, share: float
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
        return trained, validate(trained, last)

    def terms(self, arm: GravityFit, at: Array | None) -> tuple[Term, ...]:
        """At the pose asked for, else where the log was on the whole, else with all joints at zero."""
        q = arm.samples.log.q
        tries = [at] if at is not None else [np.median(q, axis=0), np.zeros(q.shape[1])]
        why = ""
        for pose in tries:
            try:
                terms = expressions(arm.model, pose, arm.known)
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
        """The document's own route, where the log has slow sweeps."""
        if arm.samples.moving:
            self.notes.append("Sweep by sweep nothing is computed: it holds for slow motion alone.")
            return None
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
        screened = screen(lambda part: identify_payload(arm, part, frame, self.friction_of(part)), samples)
        if screened.outliers:
            self.notes.append(f"Outliers left out of the second log: {screened.text()}.")
        return screened.fit
