"""What a fit of contacts is worth: the force error before and after, and what was not used.

e_f = 1/k sum_h |F_h - A(Q_h, L)|      (002 eq. 10)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.contacts.standing import force_level
from elastocal.errors import InputError
from elastocal.identifiability.groups import Combination
from elastocal.identify.fit import Fit
from elastocal.measure.campaign import Campaign
from elastocal.measure.contact_force import ContactForce
from elastocal.model.robot import RobotModel
from elastocal.model.statics.contact import ContactStatus
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


def judged_contacts(described: RobotModel, fit: Fit, standing: tuple[Combination, ...] = ()) -> ContactJudgement:
    """The fit against the robot as its file describes it."""
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
        standing,
    )


def force_error(kind: ContactForce, model: RobotModel, readings: Array) -> float:
    """e_f of eq. (10) over the contacts that were read whole and have a determined state."""
    left = np.linalg.norm(readings - ContactForce(kind.q, kind.touches, kind.axes).predict(model), axis=1)
    return float(np.mean(left[np.isfinite(left)])) if np.isfinite(left).any() else float("nan")


def undetermined_contacts(kind: ContactForce, model: RobotModel, campaign: Campaign) -> tuple[str, ...]:
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
