"""Contacts that do not belong, judged whole, by the gaps that they leave.

A wrong joint value or force spoils all numbers of its contact and no other: its deletion residual is judged as one
(``solve.deletion``), its probability times the number of contacts to choose from.  The worst is left out, and the gaps
are closed without it, until none is less probable than ``LEVEL``.

Which of its numbers is wrong?  Each joint value and each component of the force is corrected alone, as far as it
helps; those that leave nothing more than noise are named, with the value that would fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elastocal.measure.campaign import Campaign
from elastocal.measure.contact_force import ContactForce
from elastocal.measure.contact_gap import ContactGap
from elastocal.model.robot import Robot
from elastocal.procedures.contact.gaps import EVEN, Doubt, close_gaps, doubted_objects, felt_rows, gap_problem
from elastocal.reduction.problem import Problem, weigh
from elastocal.solve.deletion import deletion_of_rows
from elastocal.solve.linear import orthonormal_span
from elastocal.spatial.entries import Array

LEVEL = 1e-3
"""Probability with which contacts with nothing but noise lose any; and with which the wrong number is not named."""
FEW, MOST = 3, 0.1
"""At most so many contacts are left out, or this share of them: beyond it the model is wrong, not the contacts."""
STEPS = 12


@dataclass(frozen=True)
class Misreading:
    """A number that alone explains a contact: read as ``value``, fitting as ``better``, both in SI."""

    name: str
    unit: str
    value: float
    better: float


@dataclass(frozen=True)
class WrongContact:
    """``chance``: probability that noise makes the worst contact so bad; ``causes``: what it may be, the best first."""

    reading: int
    place: str
    chance: float
    causes: tuple[Misreading, ...]


@dataclass(frozen=True)
class Touched:
    """Contacts that are left out whole, and what is doubted of the objects, what explains most first."""

    wrong: tuple[WrongContact, ...]
    objects: tuple[Doubt, ...]

    @property
    def misled(self) -> bool:
        """An object is at fault: then no single number is."""
        return any(d.convincing for d in self.objects)

    def kept(self, campaign: Campaign) -> Campaign:
        """The campaign without the contacts that do not belong."""
        return campaign.leaving_out((w.reading, row) for w in self.wrong for row in range(campaign.readings.shape[1]))


def screen_contacts(model: Robot, campaign: Campaign, names: Sequence[str], leave_out: bool) -> Touched:
    """What does not belong; no contact is blamed where an object alone explains the misfit of all, else both may be."""
    found = Touched(wrong_contacts(model, campaign, names) if leave_out else (), ())
    both = Touched(found.wrong, doubted_objects(model, found.kept(campaign), names))
    if not (both.wrong and both.misled):
        return both
    alone = Touched((), doubted_objects(model, campaign, names))
    return alone if alone.misled else both


def wrong_contacts(model: Robot, campaign: Campaign, names: Sequence[str]) -> tuple[WrongContact, ...]:
    """Contacts of a force campaign that the others contradict, in the order in which they were found."""
    found: list[WrongContact] = []
    rest, at = campaign, model
    most = max(FEW, int(MOST * len(felt_rows(campaign))))
    while True:
        at = close_gaps(at, rest, names).model
        problem, rows = gap_problem(rest, at, names).linear, felt_rows(rest)
        chances = _chances(problem)
        worst = int(np.argmin(chances))
        if not chances[worst] < LEVEL:
            break
        if len(found) == most:
            return ()
        i = int(rows[worst])
        rest = rest.leaving_out((i, row) for row in range(rest.readings.shape[1]))
        place = campaign.places[i] if campaign.places else f"contact {i + 1}"
        found.append(WrongContact(i, place, float(chances[worst]), ()))
    return tuple(WrongContact(w.reading, w.place, w.chance, _causes(at, campaign, w.reading, problem)) for w in found)


def _chances(problem: Problem) -> Array:
    """Probability of every contact (N,), at most one; one where it cannot be judged."""
    n, r = problem.shape
    span = orthonormal_span(problem.matrix, 1e-10)
    left = problem.misfit - span @ (span.T @ problem.misfit)
    found = deletion_of_rows(
        np.broadcast_to(np.eye(r), (n, r, r)), span[: n * r].reshape(n, r, -1), left[: n * r].reshape(n, r),
        problem.used, float(left @ left), problem.equations - span.shape[1], parts=np.zeros(r, dtype=np.int64),
        floor=1.0 if problem.weights.stated else 0.0,
    )  # fmt: skip
    p = found.exceedance(*found.block_chi2())
    return np.where(problem.used.all(axis=1), np.minimum(n * p, 1.0), 1.0)


def _causes(model: Robot, campaign: Campaign, reading: int, problem: Problem) -> tuple[Misreading, ...]:
    """Corrections of single numbers that leave no more than noise at a model fitted to the other contacts."""
    from scipy.stats import chi2

    kind = campaign.measurement
    assert isinstance(kind, ContactForce)
    axes = ["xyz".index(a) for a in kind.axes]
    count, joints = model.n + len(axes), np.arange(model.n)
    q = np.repeat(kind.q[[reading]], count, axis=0)
    part = kind.picked(np.array([reading]))
    force = np.repeat(ContactGap.of(part, campaign.readings[[reading]]).force, count, axis=0)
    touches = kind.touches.rows(np.full(count, reading))
    read = np.concatenate([q[0], force[0][axes]])
    change = np.zeros(count)
    for _ in range(STEPS):
        q[joints, joints] = read[: model.n] + change[: model.n]
        force[model.n + np.arange(len(axes)), axes] = read[model.n :] + change[model.n :]
        gap = ContactGap(q, touches, force, planar="z" not in kind.axes)
        columns = np.concatenate([gap.by_joints(model), gap.by_force(model)[:, :, axes]], axis=2)
        slope = np.einsum("krk->kr", columns)
        noise = Campaign(gap, np.zeros((count, len(gap.rows))), campaign.scattering or (EVEN,))
        weights = weigh(noise, model)
        left = weights.whiten(-gap.predict(model))
        slope = weights.whiten(slope)
        change = change + np.einsum("kr,kr->k", slope, left) / np.einsum("kr,kr->k", slope, slope)
    rest = np.einsum("kr,kr->k", left, left)
    freedom = problem.equations - len(problem.names)
    spread = max(1.0, float(problem.misfit @ problem.misfit) / max(freedom, 1))
    limit = chi2.isf(LEVEL, left.shape[1] - 1) * spread
    units = [("rad" if m.kind == "revolute" else "m") for m in model.motions] + ["N"] * len(axes)
    labels = [*model.joints, *(f"f{a}" for a in kind.axes)]
    good = [k for k in np.argsort(rest) if rest[k] < limit and gap.pressed(model)[k]]
    return tuple(Misreading(labels[k], units[k], float(read[k]), float(read[k] + change[k])) for k in good)
