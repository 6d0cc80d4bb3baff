"""The contacts of a force campaign read as lengths, the parameters that close the gaps, and objects in doubt.

A force has no slope where the model misses the object, and is steep where it digs in; a gap has the same slope
everywhere.  So the contacts are fitted as lengths first, with the measured forces on the arm: for the start values of
the fit of the forces, and to find contacts and objects that do not belong.

The search of 002 section 4.3, step by step: linearise, solve, limit the step, and take it only if the misfit falls,

    L_k+1 = L_k + s J^+ (y - f(L_k)),     s <= 1 such that no parameter moves by more than LONGEST times its size,

the larger of its value at the start and of its scale.  A step is the last where the next, shorter at least as this one
was than the one before, would be below ``small`` scales.  Gaps are almost linear in the parameters: three steps do.

An object that is not what its description says spoils a fit of contacts as nothing else does.  Gaps are almost linear
in place and size of the objects: each place and each size is freed in turn beside the parameters, and the one whose
freedom explains most of the misfit is named, with the change that it seems to have.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np

from elastocal.errors import MissingError
from elastocal.measure.contacts import ContactGap, contacts_of
from elastocal.measure.measured import Measured
from elastocal.measure.sources.instrument import Reading
from elastocal.model.robot import Robot
from elastocal.reduction.problem import Problem, linearise, weigh
from elastocal.solve.linear import orthonormal_span, solve_linear
from elastocal.solve.nested import score_of_rows
from elastocal.spatial.entries import Array, Ints
from elastocal.values import dataclass

EVEN = Reading(sd=1e-5, force_sd=1.0)
"""Weights of a start: a hundredth of a millimetre like a newton across the normal."""


def felt_rows(campaign: Measured) -> Ints:
    """Numbers of the contacts that were read whole and felt a force."""
    felt = campaign.measured.all(axis=1) & np.any(np.nan_to_num(campaign.readings) != 0, axis=1)
    return np.flatnonzero(felt)


def gap_campaign(campaign: Measured) -> Measured:
    """The contacts of a force campaign as lengths; without those that were not read or felt no force."""
    gap = _gaps(campaign)
    return Measured(gap, np.zeros((gap.count, len(gap.rows))), (EVEN,), priors=campaign.priors)


def close_gaps(model: Robot, campaign: Measured, names: Sequence[str]) -> Iterations:
    """The search for parameters with which the tips lie on the objects under the measured forces."""
    return iterate(model, gap_campaign(campaign), names)


def geometry_start(model: Robot, campaign: Measured, names: Sequence[str]) -> dict[str, float]:
    """Where a fit of the forces begins: joint offsets and frame errors close the gaps as far as they can.

    It is geometry that is off by millimetres; compliances and backlash start as described.
    """
    geometry = {p.name for c in model.coordinates if c.constant_in_load for p in c.parameters(model.tree)}
    mine = [n for n in names if n in geometry]
    if not mine:
        return {}
    return dict(zip(mine, close_gaps(model, campaign, mine).values(mine).tolist(), strict=True))


def gap_problem(campaign: Measured, model: Robot, names: Sequence[str]) -> tuple[ContactGap, Problem]:
    """Gaps in units of the noise stated of joints and forces, else of even weights, linearised at a model."""
    gap = _gaps(campaign)
    zero = np.zeros((gap.count, len(gap.rows)))
    stated = Measured(gap, zero, campaign.scattering or (EVEN,), priors=campaign.priors)
    return gap, linearise(stated, model, names, weigh(stated, model))


def _gaps(campaign: Measured) -> ContactGap:
    kind = contacts_of(campaign.measurement)
    rows = felt_rows(campaign)
    if not len(rows):
        raise MissingError("no contact felt a force; press harder, or check which columns hold the force")
    return ContactGap.of(kind.picked(rows), campaign.readings[rows])


PROBABLE, MOST = 0.001, 0.5
"""An object is at fault where chance gives as much with this probability, and it explains this share of the misfit."""
SEEN = 1e-6
"""Part of a column's square that the parameters must leave, so that it can be told from them."""

What = Literal["place", "size", "all sizes"]


@dataclass(frozen=True)
class Doubt:
    """Freed, place or size of an object explain ``share`` of the misfit, by ``changes`` of its parameters; chance does
    as much with ``probability``."""

    name: str
    what: What
    share: float
    probability: float
    changes: tuple[tuple[str, str, float], ...]

    @property
    def convincing(self) -> bool:
        return self.probability < PROBABLE and self.share > MOST

    def text(self) -> str:
        explained = f"that explains {100 * self.share:.0f} % of the misfit"
        if self.what == "all sizes":
            by = 1e3 * self.changes[0][2]
            return (
                f"{self.name} seem {abs(by):.3g} mm {'larger' if by > 0 else 'smaller'}: {explained}; is the radius of "
                f"the probe's ball {'missing' if by > 0 else 'counted twice'}"
            )
        moved = ", ".join(f"{n} by {1e3 * v:.3g} m{u}" for n, u, v in self.changes)
        seems = "seems to lie elsewhere" if self.what == "place" else "seems to have another size"
        return f"{self.name} {seems} ({moved}): {explained}"


def doubted_objects(model: Robot, campaign: Measured, names: Sequence[str]) -> tuple[Doubt, ...]:
    """Place and size of every object that is touched, and one change of all sizes, as by the ball of a probe; what
    explains most first.

    A size that the parameters can stand for, as where only one object is touched, is not judged; nor is what nobody
    touched, whose columns are zero.
    """
    at = close_gaps(model, campaign, names).model
    kind, linear = gap_problem(campaign, at, names)
    moved = np.zeros((len(linear.misfit), len(kind.touches.parameters)))
    columns = np.where(linear.used[:, :, None], kind.by_objects(at), 0.0)
    moved[: linear.priors().start] = linear.weights.whiten(columns).reshape(-1, moved.shape[1])
    span = orthonormal_span(linear.matrix, 1e-10)
    left = linear.misfit - span @ (span.T @ linear.misfit)
    total, freedom = float(left @ left), linear.equations - span.shape[1]
    out = []
    for name, what, places in _freed(kind):
        scores = score_of_rows(span, left, moved[:, places], freedom, independent=SEEN)
        if scores.size < len(places) or freedom - scores.size < 1 or not total > 0:
            continue
        rows = [kind.touches.parameters[i] for i in places]
        changes = tuple((p.name, p.unit, float(s)) for p, s in zip(rows, scores.step, strict=True))
        out.append(Doubt(name, what, scores.chi2 / total, scores.probability, changes))
    outward = [i for i, p in enumerate(kind.touches.parameters) if p.name.endswith((".radius", ".height"))]
    if len(outward) > 1 and total > 0:
        common = moved[:, outward].sum(axis=1)[:, None]
        scores = score_of_rows(span, left, common, freedom, independent=SEEN)
        if scores.size and freedom > 1:
            change = (("radius", "m", float(scores.step[0])),)
            out.append(Doubt("all objects", "all sizes", scores.chi2 / total, scores.probability, change))
    return tuple(sorted(out, key=lambda d: -d.share))


def _freed(kind: ContactGap) -> Iterator[tuple[str, What, list[int]]]:
    """Name, and places in the list of all objects' parameters, of what is freed together."""
    first = 0
    for surface in kind.touches.surfaces:
        own = [p.name for p in surface.parameters()]
        size = [first + j for j, name in enumerate(own) if name.endswith(".radius")]
        place = [first + j for j in range(len(own)) if first + j not in size]
        first += len(own)
        yield surface.label, "place", place
        if size:
            yield surface.label, "size", size


LONGEST, SMALL, STEPS, HALVINGS = 20.0, 1e-4, 60, 8
WEAK = 1e-4
"""Directions that move the readings so much less than the strongest one are left alone: noise would decide them."""


@dataclass(frozen=True, eq=False)
class Iterations:
    """The model of every iteration, the first as given; ``steps`` are their sizes in scales of the parameters."""

    models: tuple[Robot, ...]
    steps: tuple[float, ...]
    converged: bool

    @property
    def model(self) -> Robot:
        return self.models[-1]

    def values(self, names: Sequence[str]) -> Array:
        return np.array([self.model.parameters[n].value for n in names])


def iterate(model: Robot, campaign: Measured, names: Sequence[str], small: float = SMALL) -> Iterations:
    """Parameters from contacts; the weights are those of the first model."""
    weights = weigh(campaign, model)
    models, steps = [model], list[float]()
    problem = linearise(campaign, model, names, weights)
    sizes = np.maximum(np.abs(problem.start), problem.scales)
    for _ in range(STEPS):
        step = solve_linear(problem.matrix, problem.misfit, relative=WEAK).values
        size = float(np.max(np.abs(step) / problem.scales))
        step /= max(1.0, float(np.max(np.abs(step) / sizes)) / LONGEST)
        rate = size / steps[-1] if steps else 1.0
        if size * rate < small:
            return Iterations((*models, _moved(models[-1], problem, step)), (*steps, size), True)
        for _ in range(HALVINGS):
            moved = _moved(models[-1], problem, step)
            ahead = linearise(campaign, moved, names, weights)
            if _squares(ahead, problem) < _squares(problem, problem):
                break
            step = step / 2
        else:
            break
        models.append(moved)
        steps.append(size)
        problem = ahead
    return Iterations(tuple(models), tuple(steps), False)


def _moved(model: Robot, problem: Problem, step: Array) -> Robot:
    pairs = zip(problem.names, problem.start + step, strict=True)
    return model.with_estimates({n: float(v) for n, v in pairs})


def _squares(problem: Problem, like: Problem) -> float:
    """Sum of squares; inf where contacts were lost that another problem has."""
    return float("inf") if np.any(like.used & ~problem.used) else float(problem.misfit @ problem.misfit)
