"""What a fit of contacts is worth: the force error before and after, what was not used, what is not separable.

    e_f = 1/k sum_h |F_h - A(Q_h, L)|      (002 eq. 10)

With one force F everywhere a gripper shows only F * p + g.  The scatter of the forces tells p and g apart on paper, not
in practice: M3 fixes g, and p takes it over.  With the columns A of what is estimated and a of what is fixed,

    p + B g  is what the readings give,    B = A^+ a ,

and an estimate stands for the combination where a fixed parameter of its size would shift it by many standard
deviations.  Combinations are written with the number that joins them: 40 N * gripper.p + gripper.gap.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from elastocal.errors import InputError
from elastocal.measure.campaign import Campaign
from elastocal.measure.contact_force import ContactForce
from elastocal.model.robot import Robot
from elastocal.model.statics.contact import ContactStatus
from elastocal.reduction.identify import Identification
from elastocal.reduction.problem import linearise
from elastocal.solve.groups import Combination, Groups
from elastocal.solve.linear import unit_qr
from elastocal.spatial.entries import Array


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


def judge(described: Robot, found: Identification) -> ContactJudgement:
    """An identification by contacts against the robot as its file describes it."""
    fit = found.fit
    kind = fit.campaign.measurement
    if not isinstance(kind, ContactForce):
        raise InputError(f"a measurement of {kind.kind} touches nothing")
    before = force_error(kind, described, fit.campaign.readings)
    after = force_error(kind, fit.model, fit.campaign.readings)
    return ContactJudgement(
        before,
        after,
        undetermined_contacts(kind, fit.model, fit.campaign),
        force_level(fit.campaign),
        standing(found),
    )


def force_error(kind: ContactForce, model: Robot, readings: Array) -> float:
    """e_f of eq. (10) over the contacts that were read whole and have a determined state."""
    left = np.linalg.norm(readings - ContactForce(kind.q, kind.touches, kind.axes).predict(model), axis=1)
    return float(np.mean(left[np.isfinite(left)])) if np.isfinite(left).any() else float("nan")


def undetermined_contacts(kind: ContactForce, model: Robot, campaign: Campaign) -> tuple[str, ...]:
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


def standing(found: Identification) -> tuple[Combination, ...]:
    """Every estimate that a parameter sought but held, off by its size, would shift by the upper threshold times sd."""
    fit = found.fit
    table = {p.name: p for p in found.sought.parameters}
    held = [n for n in found.groups.names if n in table and n not in fit.names]
    if not held:
        return ()
    a = linearise(fit.campaign, fit.model, held, fit.problem.weights).matrix[: int(np.prod(fit.problem.shape))]
    priors = np.zeros((len(fit.problem.matrix) - len(a), len(held)))
    factors = unit_qr(fit.problem.matrix).solve(np.concatenate([a, priors]))
    size = np.array([max(abs(table[n].value), table[n].scale) for n in held])
    shifts = np.abs(factors) * size / fit.sd[:, None]
    return tuple(
        Combination(
            name, tuple((held[j], float(factors[i, j])) for j in np.flatnonzero(shifts[i] > found.thresholds[0]))
        )
        for i, name in enumerate(fit.names[: fit.problem.parameters])
        if np.any(shifts[i] > found.thresholds[0])
    )


def force_level(campaign: Campaign) -> float:
    """The one force in N that all contacts press with; nan where there are several."""
    sizes = np.linalg.norm(np.nan_to_num(campaign.readings), axis=1)
    sizes = sizes[sizes > 0]
    return float(np.median(sizes)) if len(sizes) and sizes.max() < SAME * sizes.min() else float("nan")


_QUOTIENTS = {("m", "m/N"): "N", ("rad", "rad/(N m)"): "N m", ("m", "rad"): "m", ("rad", "m"): "1/m"}


def combinations(groups: Groups, units: Mapping[str, str]) -> tuple[str, ...]:
    """One sentence for every combination that stands for more than itself."""
    return tuple(
        f"{_listed((c.kept, *(n for n, _ in c.absorbed)))} are identifiable only as {written(c, units)}"
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


def _listed(names: tuple[str, ...]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"
