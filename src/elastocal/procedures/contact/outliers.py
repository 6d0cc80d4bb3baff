"""Contacts that do not belong, judged whole, by the gaps that they leave.

A wrong joint value or force spoils all numbers of its contact and no other: ``solve.outliers`` judges them together,
and the gaps are closed anew whenever a contact leaves or comes back.

Which of its numbers is wrong?  Each joint value and each component of the force is corrected alone, as far as it
helps; those that leave nothing more than noise are named, with the value that would fit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from elastocal.measure.contacts import ContactGap, contacts_of
from elastocal.measure.measured import Measured
from elastocal.model.robot import Robot
from elastocal.procedures.contact.gaps import EVEN, Doubt, close_gaps, doubted_objects, felt_rows, gap_problem
from elastocal.reduction.problem import Problem, weigh
from elastocal.solve.deletion import Deletion
from elastocal.solve.outliers import LinearJudge, screen_units, worst_unit
from elastocal.spatial.entries import Bools, Ints
from elastocal.values import dataclass

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

    def kept(self, campaign: Measured) -> Measured:
        """The campaign without the contacts that do not belong."""
        return campaign.leaving_out(_numbers(campaign, (w.reading for w in self.wrong)))


def screen_contacts(model: Robot, campaign: Measured, names: Sequence[str], leave_out: bool) -> Touched:
    """What does not belong; no contact is blamed where an object alone explains the misfit of all, else both may be."""
    touched = Touched(wrong_contacts(model, campaign, names) if leave_out else (), ())
    both = Touched(touched.wrong, doubted_objects(model, touched.kept(campaign), names))
    if not (both.wrong and both.misled):
        return both
    alone = Touched((), doubted_objects(model, campaign, names))
    return alone if alone.misled else both


def wrong_contacts(model: Robot, campaign: Measured, names: Sequence[str]) -> tuple[WrongContact, ...]:
    """Contacts of a force campaign that the others contradict, the worst first; none where they are too many."""
    rows = felt_rows(campaign)
    judge = ContactJudge(close_gaps(model, campaign, names).model, campaign, tuple(names))
    full = judge.linear.used
    most = max(FEW, int(MOST * len(rows))) / len(rows)
    dropped, units, judge = screen_units(
        judge, full, np.zeros_like(full), level=LEVEL, levels=("pose",), most=most, back=1.0
    )
    if not units or worst_unit(judge.without(dropped), LEVEL, ("pose",)) is not None:
        return ()
    rest = campaign.leaving_out(_numbers(campaign, rows[[u.block for u in units]]))
    _, problem = gap_problem(rest, judge.model, names)
    out = []
    for i, chance in ((int(rows[u.block]), len(rows) * u.probability) for u in units):
        place = campaign.places[i] if campaign.places else f"contact {i + 1}"
        out.append(WrongContact(i, place, chance, _causes(judge.model, campaign, i, problem)))
    return tuple(out)


def _numbers(campaign: Measured, readings: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Every number of some contacts."""
    return ((int(i), row) for i in readings for row in range(campaign.readings.shape[1]))


@dataclass(frozen=True, eq=False)
class ContactJudge:
    """The contacts of a campaign at the ``model`` that closes the gaps of those kept."""

    model: Robot
    campaign: Measured
    names: tuple[str, ...]

    @cached_property
    def linear(self) -> LinearJudge:
        _, problem = gap_problem(self.campaign, self.model, self.names)
        n, r = problem.shape
        return LinearJudge(
            problem.misfit[: n * r].reshape(n, r), problem.matrix[: n * r].reshape(n, r, -1), problem.used,
            np.zeros(r, dtype=np.int64), 1.0 if problem.weights.stated else 0.0,
            prior=problem.matrix[problem.priors()], aim=problem.misfit[problem.priors()],
        )  # fmt: skip

    @property
    def parts(self) -> Ints:
        return self.linear.parts

    def without(self, dropped: Bools) -> Deletion:
        return self.linear.without(dropped)

    def tuned(self, dropped: Bools) -> ContactJudge:
        out = felt_rows(self.campaign)[dropped.any(axis=1)]
        rest = self.campaign.leaving_out(_numbers(self.campaign, out))
        return replace(self, model=close_gaps(self.model, rest, self.names).model)


def _causes(model: Robot, campaign: Measured, reading: int, problem: Problem) -> tuple[Misreading, ...]:
    """Corrections of single numbers that leave no more than noise at a model fitted to the other contacts."""
    from scipy.stats import chi2

    kind = contacts_of(campaign.measurement)
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
        noise = Measured(gap, np.zeros((count, len(gap.rows))), campaign.scattering or (EVEN,))
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
