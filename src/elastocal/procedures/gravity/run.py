"""The steps of the procedure on one log, with the notes that they leave."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from elastocal.errors import InputError
from elastocal.measure.sources.friction import Friction
from elastocal.model.loads.link_mass import LinkMass
from elastocal.model.loads.payload import Payload
from elastocal.procedures.gravity.checks import screen
from elastocal.procedures.gravity.fit import GravityFit, fit_masses, identify_payload
from elastocal.procedures.gravity.motors import SIGNIFICANT, Gains, braking, find_gains
from elastocal.procedures.gravity.prediction import Validation, split_log, validate
from elastocal.procedures.gravity.readings import usable
from elastocal.procedures.gravity.samples import Samples, select_samples
from elastocal.procedures.gravity.sense import Mounting, Sense, find_gravity, stated_sense, torque_sense
from elastocal.procedures.gravity.sweeps import Recursion, recursive_moments
from elastocal.procedures.gravity.terms import Term, expressions
from elastocal.procedures.gravity.unknowns import PACE, Coupled, MassPrior
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.measure.joints import JointLog
    from elastocal.model.robot import Robot
    from elastocal.results import Finding
    from elastocal.spatial.entries import Array

UNSEEN = 0.3
"""Last share of a log without time that does not decide about terms per row."""
PACED = 0.9
"""Share of the error of stretches left out that terms per row must leave at most."""
TURNS, SETTLED = 5, 0.1
"""Of the way down at most, and the part of its standard deviation that the last one may take."""
MAJORITY = 2
"""Joints more whose friction brakes, so taken, than drives: they overrule the weight of one."""
KNOWN = 3.0
"""Standard deviations from which the pace of the rows of a log without time is known."""


def with_links(model: Robot, notes: list[str]) -> Robot:
    """A robot without any mass gets one of 0 kg on every joint, so that there is something to seek."""
    if any(isinstance(e, LinkMass) and not isinstance(e, Payload) for e in model.elements):
        return model
    notes.append(f"Robot {model.name} has no link masses: one is sought on every joint, and nothing is known of it.")
    return model.with_elements(*(LinkMass(frame=j, mass=0.0, source="sought in a log") for j in model.joints))


@dataclass(frozen=True, eq=False)
class Job:
    """What all fits share, and the notes they leave."""

    friction: Friction | Literal["auto"] | None
    prior: MassPrior | None
    coupled: tuple[Coupled, ...]
    inertia: str
    slow: float
    cutoff: float | None
    tilted: bool = False
    notes: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def samples(self, model: Robot, log: JointLog) -> Samples:
        """Those that count; a log that stands still has no friction to seek."""
        asked = Friction() if self.friction == "auto" else self.friction
        if self.friction != "auto" and asked is not None and asked.viscous and log.time is None:
            raise InputError(
                f"{log.source} has no time, so no speed; leave viscous friction out", code="no-time",
                parameter="friction",
            )  # fmt: skip
        moving = asked is not None and (asked.coulomb or asked.viscous)
        read = usable(model, log)
        log = read.log
        self.findings.extend(read.findings)

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
        return replace(out, refused={**out.refused, **read.refused})

    def paced(self, model: Robot, samples: Samples, sign: int) -> Samples:
        """Without time: terms by speed and acceleration per row for joints whose stretches left out they improve."""
        if self.friction != "auto" or not samples.by_row:
            return samples
        first = split_log(samples, UNSEEN)[0]
        without = replace(first, paced=(False,) * model.n)
        bare, full = (self.fit(model, s, sign)(s) for s in (without, first))
        paced = tuple(bool(x) for x in full.left_out < PACED * bare.left_out)
        if named := ", ".join(j for j, p in zip(model.joints, paced, strict=True) if p):
            self.notes.append(f"Speed and acceleration per row improve the prediction of stretches left out: {named}.")
        sd = full.sd(PACE)
        known = sd is not None and full.value(PACE) > KNOWN * sd
        return replace(samples, paced=paced, pace=full.value(PACE) if known else 0.0)

    def friction_of(self, samples: Samples) -> Friction | None:
        if self.friction != "auto":
            return self.friction
        return None if samples.standing else Friction(zero=samples.moving)

    def fitted(self, model: Robot, part: Samples, sense: Sense, coupled: tuple[Coupled, ...]) -> GravityFit:
        return fit_masses(
            model, part, sense=sense, prior=self.prior, friction=self.friction_of(part), coupled=coupled,
            tilted=self.tilted,
        )  # fmt: skip

    def mounted(self, model: Robot, samples: Samples, sign: int) -> tuple[Robot, Mounting]:
        """With the way down by the masses of the file, then together with all other unknowns until it stands."""
        mounting = find_gravity(model, samples, sign, self.friction_of(samples))
        for _ in range(TURNS):
            model = mounting.mounted(model)
            fit = self.fit(model, samples, sign)(samples)
            tilts = fit.unknowns.tilts
            turn, covariance = fit.values[tilts], fit.covariance[np.ix_(tilts, tilts)]
            mounting = mounting.turned(turn, covariance)
            if np.all(np.abs(turn) <= SETTLED * np.sqrt(np.diag(covariance))):
                break
        return mounting.mounted(model), mounting

    def fit(self, model: Robot, samples: Samples, sign: int) -> Callable[[Samples], GravityFit]:
        """The fit of any part of the log, torques in the sense of all of it."""
        sense = self.sense(model, samples) if sign == 0 else stated_sense(model, samples, sign)
        return lambda part: self.fitted(model, part, sense, self.coupled)

    def sense(self, model: Robot, samples: Samples) -> Sense:
        """By the weight that is expected; where it hides, or joints contradict each other, by friction, which brakes:
        most joints decide, and the others have the other sign."""
        try:
            known: Sense | None = torque_sense(model, samples)
        except InputError as error:
            if error.code != "no-agreement":
                raise
            known, why = None, error
        if known is not None and not np.any(known.factors < 0):
            return known
        terms = self.friction_of(samples)
        ways = {} if terms is None or not terms.coulomb else self._braking(model, samples)
        votes = sum(1 if ratio > 0 else -1 for ratio in ways.values())
        clear = abs(votes) >= MAJORITY if known is not None else abs(votes) == len(ways) > 0
        if not clear:
            if known is None:
                raise why
            return known
        best = stated_sense(model, samples, 1 if votes > 0 else -1)
        names = ", ".join(name for name, ratio in ways.items() if ratio * votes > 0)
        return replace(best, reason=f"{best.reason.split(',')[0]}: so taken, the friction of {names} brakes")

    def _braking(self, model: Robot, samples: Samples) -> dict[str, float]:
        """Significant friction over its sd, torques taken as those of the drives."""
        fit = self.fitted(model, samples, stated_sense(model, samples, 1), self.coupled)
        return {name: ratio for name, ratio in braking(fit).items() if abs(ratio) > SIGNIFICANT}

    def gains(self, model: Robot, samples: Samples, sign: int) -> tuple[Samples, Gains]:
        sense = stated_sense(model, samples, sign)

        def fit(part: Samples, prior: MassPrior | None) -> GravityFit:
            return replace(self, prior=prior).fitted(model, part, sense, self.coupled)

        scaled, gains = find_gains(model, samples, sense, self.prior, fit)
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
