"""Calibration by touching known objects: contacts and objects that do not belong, start values, the fit, its judgement.

The contacts are read as lengths first (``gaps``): that is almost linear in the parameters, and gives the start values
of the fit of the forces.  Everything after that is the reduction that serves any kind of measurement.  What it is worth
is said by the force error before and after,

    e_f = 1/k sum_h |F_h - A(Q_h, L)|      (002 eq. 10)

and by what is not separable.  With one force F everywhere a gripper shows only F * p + g.  The scatter of the forces
tells p and g apart on paper, not in practice: M3 fixes g, and p takes it over.  With the columns A of what is estimated
and a of what is fixed,

    p + B g  is what the readings give,    B = A^+ a ,

and an estimate stands for the combination where a fixed parameter of its size would shift it by many standard
deviations, unless the contacts resolve that parameter beside all others: then it is near the value that it is fixed at,
which is another thing.  Combinations are written with the number that joins them: 40 N * gripper.p + gripper.gap.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Unpack

import numpy as np

from elastocal.arguments import checked
from elastocal.errors import ImplausibleError, InputError
from elastocal.measure.contacts import ContactForce, contacts_of
from elastocal.measure.measured import Measured
from elastocal.measure.sources.source import ErrorSource
from elastocal.model.descriptions import in_form
from elastocal.model.robot import Robot
from elastocal.model.statics.contact import ContactStatus
from elastocal.model.surfaces.surface import Touches
from elastocal.procedures.contact.gaps import geometry_start
from elastocal.procedures.contact.outliers import Misreading, Touched, WrongContact, screen_contacts
from elastocal.quantities import listed
from elastocal.reduction.first_fit import USUAL, StartValues
from elastocal.reduction.fit import Fit
from elastocal.reduction.identify import Identification, sought_names
from elastocal.reduction.problem import linearise
from elastocal.reduction.study import Study, StudyOptions, study
from elastocal.reduction.verdict import Judged
from elastocal.results import Finding, note, warning
from elastocal.solve.identifiability import Combination, Groups
from elastocal.solve.linear import solve_linear, unit_qr
from elastocal.spatial.entries import Array, Bools
from elastocal.spatial.threads import one_thread
from elastocal.values import dataclass

FEW = 2
"""Digits of a factor that follows from forces with their scatter."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ContactCalibration(Judged):
    """``touched`` says which contacts and objects do not belong, ``forces`` what the fit makes of the force error."""

    touched: Touched
    forces: ContactJudgement

    def __repr__(self) -> str:
        return repr(self.study)

    def to_frame(self) -> object:
        """One row for every estimated parameter, SI."""
        return self.study.to_frame()

    @property
    def fit(self) -> Fit:
        return self.study.fit


@checked()
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
    campaign = Measured(kind, np.asarray(forces, dtype=float), tuple(sources))
    return calibrate_contacts(robot, campaign, seek, rng=np.random.default_rng(seed))


def calibrate_contacts(
    model: Robot,
    campaign: Measured,
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
    try:
        studied = study(model, kept, seek, rng=rng, notes=notes, **options)
    except InputError as error:
        if not touched.misled:
            raise
        raise ImplausibleError(f"{touched.objects[0].text()}?", value=touched.objects[0].name) from error
    forces = judge(model, studied.identification)
    combined = frozenset(c.kept for c in forces.standing)
    own = (
        *_objects(touched), *_forces(touched, forces), *_not_significant(studied, forces),
        *_not_separable(studied, forces),
    )  # fmt: skip
    return ContactCalibration(studied, model, own=own, combined=combined, touched=touched, forces=forces)


def _objects(touched: Touched) -> Iterator[Finding]:
    """An object that was touched does not stand where the campaign file says."""
    for doubt in touched.objects[:1]:
        if doubt.convincing:
            data = {"object": doubt.name, "what": doubt.what, "share": doubt.share, "probability": doubt.probability}
            again = "?" if doubt.what == "all sizes" else f"; measure its {doubt.what} again."
            yield warning("object-misplaced", f"OBJECT: {doubt.text()}{again}", **data)


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


def _not_significant(study: Study, forces: ContactJudgement) -> Iterator[Finding]:
    """What the contacts resolve and do not tell from the robot file."""
    absorbed = {n for c in forces.standing for n, _ in c.absorbed}
    names = [d.name for d in study.identification.dropped if d.stage == "M3" and d.name not in absorbed]
    if names:
        text = f"Not significant, so fixed at what the robot file says: {', '.join(names)}."
        yield note("not-significant", text, names=names)


def _not_separable(study: Study, forces: ContactJudgement) -> Iterator[Finding]:
    """What the contacts give only as a combination, and what would separate it."""
    units = {p.name: p.unit for p in study.fit.model.parameters}
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


@dataclass(frozen=True, eq=False)
class ContactJudgement:
    """``before`` and ``after`` are e_f in N, ``lost`` what is said of contacts that are not used.

    ``standing`` are estimates that stand for a combination with what is held; ``level`` is the one force of all
    contacts in N, nan where there are several.
    """

    before: float
    after: float
    lost: tuple[str, ...]
    level: float
    standing: tuple[Combination, ...]


def judge(described: Robot, identified: Identification) -> ContactJudgement:
    """An identification by contacts against the robot as its file describes it."""
    fit = identified.fit
    kind = contacts_of(fit.campaign.measurement)
    before = force_error(kind, described, fit.campaign.readings)
    after = force_error(kind, fit.model, fit.campaign.readings)
    return ContactJudgement(
        before,
        after,
        undetermined_contacts(kind, fit.model, fit.campaign),
        force_level(fit.campaign),
        standing(identified),
    )


def force_error(kind: ContactForce, model: Robot, readings: Array) -> float:
    """e_f of eq. (10) over the contacts that were read whole and have a determined state."""
    left = np.linalg.norm(readings - ContactForce(kind.q, kind.touches, kind.axes).predict(model), axis=1)
    return float(np.mean(left[np.isfinite(left)])) if np.isfinite(left).any() else float("nan")


def undetermined_contacts(kind: ContactForce, model: Robot, campaign: Measured) -> tuple[str, ...]:
    """Contacts whose state a model does not determine, counted and named by the reason."""
    status = kind.touched(model).status
    places = campaign.places or tuple(f"contact {i + 1}" for i in range(kind.count))
    out = []
    for reason in (s for s in ContactStatus if not s.known):
        rows = np.flatnonzero(status == reason)
        if len(rows):
            shown = "; ".join(places[i] for i in rows[:8]) + (" ..." if len(rows) > 8 else "")
            out.append(f"{len(rows)} of {kind.count} contacts are not used ({shown}): {reason.text}.")
    return tuple(out)


SAME = 1.2
"""Forces within this ratio are one level."""


def standing(identified: Identification) -> tuple[Combination, ...]:
    """Every estimate that a parameter sought but fixed, off by its size, would shift by the upper threshold times sd.

    One that is known to a part of its size beside all others is no such parameter.
    """
    fit, threshold = identified.fit, identified.thresholds[0]
    table = identified.sought.parameters
    held = [n for n in identified.groups.names if n in table and n not in fit.names]
    if not held:
        return ()
    a = linearise(fit.campaign, fit.model, held, fit.problem.weights).matrix[: int(np.prod(fit.problem.shape))]
    rows = np.concatenate([a, np.zeros((len(fit.problem.matrix) - len(a), len(held)))])
    size = np.array([max(abs(table[n].value), table[n].scale) for n in held])
    unresolved = ~_resolved(np.column_stack([rows, fit.problem.matrix]), size / threshold)
    factors = unit_qr(fit.problem.matrix).solve(rows)
    shifts = np.where(unresolved, np.abs(factors) * size / fit.sd[:, None], 0.0)
    return tuple(
        Combination(name, tuple((held[j], float(factors[i, j])) for j in np.flatnonzero(shifts[i] > threshold)))
        for i, name in enumerate(fit.names[: fit.problem.parameters])
        if np.any(shifts[i] > threshold)
    )


def _resolved(rows: Array, most: Array) -> Bools:
    """Whether the first unknowns have at most these standard deviations, all being free."""
    fit = solve_linear(rows, np.zeros(len(rows)))
    first = slice(len(most))
    return np.asarray(fit.known[first] & (np.sqrt(np.diag(fit.unit_covariance)[first]) <= most))


def force_level(campaign: Measured) -> float:
    """The one force in N that all contacts press with; nan where there are several."""
    sizes = np.linalg.norm(np.nan_to_num(campaign.readings), axis=1)
    sizes = sizes[sizes > 0]
    return float(np.median(sizes)) if len(sizes) and sizes.max() < SAME * sizes.min() else float("nan")


_QUOTIENTS = {("m", "m/N"): "N", ("rad", "rad/(N m)"): "N m", ("m", "rad"): "m", ("rad", "m"): "1/m"}


def combinations(groups: Groups, units: Mapping[str, str]) -> tuple[str, ...]:
    """One sentence for every combination that stands for more than itself."""
    return tuple(
        f"{listed((c.kept, *(n for n, _ in c.absorbed)))} are identifiable only as {written(c, units)}"
        for subgroup in groups.subgroups
        for c in subgroup.combinations
        if c.absorbed
    )


def written(combination: Combination, units: Mapping[str, str], digits: int = 4) -> str:
    """Scaled so that the smallest factor is one, each with its unit; ``digits`` of the factors are shown."""
    terms = [(combination.kept, 1.0), *combination.absorbed]
    last, least = min(terms, key=lambda t: abs(t[1]))
    out = ""
    for name, factor in terms:
        size = factor / least
        sign = "-" if size < 0 else "+" if out else ""
        times = _factor(abs(size), units[last], units[name], digits)
        out += f"{' ' if out else ''}{sign}{' ' if out else ''}{times}{name}"
    return out


def _factor(size: float, of: str, by: str, digits: int) -> str:
    unit = "" if of == by else _QUOTIENTS.get((of, by), f"({of})/({by})")
    if abs(size - 1) < 1e-9 and not unit:
        return ""
    return f"{size:.{digits}g}{' ' if unit else ''}{unit} * "
