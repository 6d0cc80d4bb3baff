"""What a fit of contacts is worth: the force error before and after, what was not used, an object that is elsewhere.

    e_f = 1/k sum_h |F_h - A(Q_h, L)|      (002 eq. 10)

An object that is not where its description says spoils a fit as nothing else does.  With the measured forces on the
arm, gaps are almost linear in its place, so that the place of each object is freed in turn: the one whose freedom
explains most of the misfit is named, with the place it seems to have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elastocal.contacts.standing import force_level
from elastocal.errors import InputError
from elastocal.identifiability.groups import Combination
from elastocal.identify.fit import Fit
from elastocal.identify.problem import linearise, weigh
from elastocal.measure.campaign import Campaign
from elastocal.measure.contact_force import ContactForce
from elastocal.measure.contact_gap import ContactGap
from elastocal.model.robot import RobotModel
from elastocal.model.statics.contact import ContactStatus
from elastocal.spatial.entries import Array
from elastocal.uncertainty.contact_start import gap_campaign

PROBABLE, MOST = 0.001, 0.5
"""An object is elsewhere where chance gives as much with this probability, and it explains this share of the misfit."""


@dataclass(frozen=True)
class Elsewhere:
    """Freed, the object explains ``share`` of the misfit, by changes of its parameters; ``probability`` by chance."""

    name: str
    share: float
    probability: float
    changes: tuple[tuple[str, str, float], ...]

    @property
    def convincing(self) -> bool:
        return self.probability < PROBABLE and self.share > MOST

    def text(self) -> str:
        moved = ", ".join(f"{n} by {1e3 * v:.3g} m{u}" for n, u, v in self.changes)
        return f"{self.name} seems to lie elsewhere ({moved}): that explains {100 * self.share:.0f} % of the misfit"


@dataclass(frozen=True, eq=False)
class ContactJudgement:
    """``before`` and ``after`` are e_f in N; ``objects`` by how much of the misfit they explain.

    ``standing`` are estimates that stand for a combination with what is held; ``level`` is the one force of all
    contacts in N, nan where there are several.
    """

    before: float
    after: float
    lost: tuple[str, ...]
    objects: tuple[Elsewhere, ...]
    level: float
    standing: tuple[Combination, ...]


def judged(described: RobotModel, fit: Fit, standing: tuple[Combination, ...] = ()) -> ContactJudgement:
    """The fit against the robot as its file describes it."""
    kind = fit.campaign.measurement
    if not isinstance(kind, ContactForce):
        raise InputError(f"a measurement of {kind.kind} touches nothing")
    before = force_error(kind, described, fit.campaign.readings)
    after = force_error(kind, fit.model, fit.campaign.readings)
    return ContactJudgement(
        before,
        after,
        undetermined(kind, fit.model, fit.campaign),
        elsewhere(fit),
        force_level(fit.campaign),
        standing,
    )


def force_error(kind: ContactForce, model: RobotModel, readings: Array) -> float:
    """e_f of eq. (10) over the contacts that were read whole and have a determined state."""
    left = np.linalg.norm(readings - ContactForce(kind.q, kind.touches, kind.axes).predict(model), axis=1)
    return float(np.mean(left[np.isfinite(left)])) if np.isfinite(left).any() else float("nan")


def undetermined(kind: ContactForce, model: RobotModel, campaign: Campaign) -> tuple[str, ...]:
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


def elsewhere(fit: Fit) -> tuple[Elsewhere, ...]:
    """Every object freed in turn, the one that explains most first."""
    from scipy.stats import f as ratio

    gaps = gap_campaign(fit.campaign)
    kind = gaps.measurement
    assert isinstance(kind, ContactGap)
    stated = Campaign(kind, gaps.readings, fit.campaign.scattering or gaps.sources)
    names = fit.names[: fit.problem.parameters]
    problem = linearise(stated, fit.model, names, weigh(stated, fit.model))
    n, r = problem.shape
    columns = np.where(problem.used[:, :, None], kind.by_objects(fit.model), 0.0)
    moved = problem.weights.whiten(columns).reshape(n * r, -1)
    basis = np.linalg.qr(problem.matrix / np.linalg.norm(problem.matrix, axis=0))[0]
    left = problem.misfit - basis @ (basis.T @ problem.misfit)
    total, freedom = float(left @ left), problem.readings - len(names)
    out = []
    for name, at in _parameters(kind).items():
        free = moved[:, at] - basis @ (basis.T @ moved[:, at])
        step = np.linalg.lstsq(free, left, rcond=1e-9)[0]
        gain, rest = float(left @ (free @ step)), freedom - len(at)
        if rest < 1 or not total > 0:
            continue
        chance = ratio.sf((gain / len(at)) / max((total - gain) / rest, 1e-300), len(at), rest)
        rows = [kind.touches.parameters[i] for i in at]
        changes = tuple((p.name, p.unit, float(s)) for p, s in zip(rows, step, strict=True))
        out.append(Elsewhere(name, gain / total, float(chance), changes))
    return tuple(sorted(out, key=lambda e: -e.share))


def _parameters(kind: ContactGap) -> dict[str, Sequence[int]]:
    """Places of the parameters of every object that is touched; its radius is taken as known."""
    out: dict[str, Sequence[int]] = {}
    first = 0
    for i, surface in enumerate(kind.touches.surfaces):
        own = surface.parameters()
        if np.any(kind.touches.which == i):
            out[surface.label] = [first + j for j, p in enumerate(own) if not p.name.endswith(".radius")]
        first += len(own)
    return out
