"""Calibration by touching known objects: contacts and objects that do not belong, start values, the fit, its judgement.

The contacts are read as lengths first (``gaps``): that is almost linear in the parameters, and gives the start values
of the fit of the forces.  Everything after that is the reduction that serves any kind of measurement.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Unpack

import numpy as np

from elastocal.findings import Finding, note, warning
from elastocal.measure.campaign import Campaign
from elastocal.measure.contact_force import ContactForce
from elastocal.measure.sources.source import ErrorSource
from elastocal.model.descriptions import in_form
from elastocal.model.robot import Robot
from elastocal.model.surfaces.touches import Touches
from elastocal.procedures.contact.gaps import geometry_start
from elastocal.procedures.contact.judgement import ContactJudgement, judge, written
from elastocal.procedures.contact.outliers import Misreading, Touched, WrongContact, screen_contacts
from elastocal.reduction.first_fit import USUAL, StartValues
from elastocal.reduction.fit import Fit
from elastocal.reduction.identify import sought_names
from elastocal.reduction.study import Study, StudyOptions, study
from elastocal.reduction.verdict import Judged
from elastocal.spatial.entries import Array
from elastocal.spatial.threads import one_thread

FEW = 2
"""Digits of a factor that follows from forces with their scatter."""


@dataclass(frozen=True, eq=False, repr=False)
class ContactCalibration:
    """``touched`` says which contacts and objects do not belong, ``forces`` what the fit makes of the force error."""

    judged: Judged
    touched: Touched
    forces: ContactJudgement

    def __repr__(self) -> str:
        return repr(self.study)

    def to_frame(self) -> object:
        """One row for every estimated parameter, SI."""
        return self.study.to_frame()

    @property
    def study(self) -> Study:
        return self.judged.study

    @property
    def fit(self) -> Fit:
        return self.study.fit

    @property
    def verdict(self) -> tuple[Finding, ...]:
        return self.judged.verdict

    @property
    def warnings(self) -> tuple[Finding, ...]:
        return self.judged.warnings


@one_thread
def identify(
    robot: Robot,
    q: Array,
    touches: Touches,
    forces: Array,
    seek: Sequence[str] | None = None,
    *,
    sources: Sequence[ErrorSource] = (),
    axes: str = "xyz",
    seed: int = 1,
) -> ContactCalibration:
    """Parameters ``seek`` (patterns) from forces (N, len(axes)) in N felt when the arm presses on known objects.

    ``q`` (N, n) are controller values in rad and m, ``touches`` say which frame presses on which surface.
    """
    kind = ContactForce(robot.joint_values(robot.controller.to_joints(np.atleast_2d(q))), touches, axes)
    campaign = Campaign(kind, np.asarray(forces, dtype=float), tuple(sources))
    return calibrate_contacts(robot, campaign, seek, rng=np.random.default_rng(seed))


def calibrate_contacts(
    model: Robot,
    campaign: Campaign,
    seek: Sequence[str] | None = None,
    *,
    rng: np.random.Generator,
    **options: Unpack[StudyOptions],
) -> ContactCalibration:
    """As ``reduction.study.study``, of a campaign of forces felt at contacts."""
    shaped, rules = in_form(model, options.get("form") or "beam"), options.get("rules", USUAL)
    names = sought_names(campaign.measurement, shaped, seek, options.get("hold", ()))
    touched = screen_contacts(shaped, campaign, names, rules.leave_out)
    kept = touched.kept(campaign)
    start = StartValues(geometry_start(shaped, kept, names))
    options["rules"] = replace(rules, leave_out=rules.leave_out and not touched.misled, start=start)
    notes = ("The search starts where the tips lie on the objects under the measured forces.",)
    found = study(model, kept, seek, rng=rng, notes=notes, **options)
    forces = judge(model, found.identification)
    combined = frozenset(c.kept for c in forces.standing)
    own = (*_objects(touched), *_forces(touched, forces), *_not_separable(found, forces))
    return ContactCalibration(Judged(found, model, own=own, combined=combined), touched, forces)


def _objects(touched: Touched) -> Iterator[Finding]:
    """An object that was touched does not stand where the campaign file says."""
    for doubt in touched.objects[:1]:
        if doubt.convincing:
            data = {"object": doubt.name, "what": doubt.what, "share": doubt.share, "probability": doubt.probability}
            yield warning("object-misplaced", f"OBJECT: {doubt.text()}; measure its {doubt.what} again.", **data)


def _forces(touched: Touched, forces: ContactJudgement) -> Iterator[Finding]:
    text = f"The mean force error e_f (002 eq. 10) falls from {forces.before:.3g} N to {forces.after:.3g} N."
    yield note("force-error", text, before=forces.before, after=forces.after)
    for wrong in touched.wrong:
        yield note("contact-removed", removed_contact(wrong), place=wrong.place, probability=wrong.chance)
    for lost in forces.lost:
        yield note("contact-lost", lost)


def removed_contact(wrong: WrongContact) -> str:
    """The contact that was left out, and which of its numbers may be wrong."""
    causes = " or ".join(f"{c.name} = {misread(c, c.value)} ({misread(c, c.better)} would fit)" for c in wrong.causes)
    why = f"wrong is {causes}" if causes else "no single joint value or force component explains it"
    return f"OUTLIER REMOVED: {wrong.place} contradicts the other contacts; {why}."


def misread(cause: Misreading, value: float) -> str:
    """As tables have it: degrees, mm, N."""
    factor, unit, decimals = {"rad": (180 / math.pi, "deg", 3), "m": (1e3, "mm", 3), "N": (1.0, "N", 2)}[cause.unit]
    return f"{factor * value:.{decimals}f} {unit}"


def _not_separable(found: Study, forces: ContactJudgement) -> Iterator[Finding]:
    """What the contacts give only as a combination, and what would separate it."""
    units = {p.name: p.unit for p in found.fit.model.parameters}
    for c in forces.standing:
        absorbed = [n for n, _ in c.absorbed]
        text = (
            f"NOT SEPARATELY IDENTIFIABLE: only {written(c, units, FEW)} is known; the value of {c.kept} holds only if "
            f"{', '.join(absorbed)} is what the robot file says."
        )
        yield note("not-separable", text, kept=c.kept, absorbed=absorbed)
    if not forces.standing:
        return
    if math.isfinite(forces.level):
        both = f"{forces.level / 2:.3g} N and {forces.level:.3g} N"
        text = f"REPAIR: all contacts press alike; press some of them with half the force ({both})."
    else:
        text = "REPAIR: press at forces that differ more, or touch other places."
    yield note("repair", text, level=forces.level)
