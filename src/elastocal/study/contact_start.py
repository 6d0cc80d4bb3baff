"""The contacts of a force campaign read as lengths, and the parameters that close the gaps.

A force has no slope where the model misses the object, and is steep where it digs in; a gap has the same slope
everywhere.  So the contacts are fitted as lengths first, with the measured forces on the arm: to begin the fit of the
forces, and to find contacts and objects that do not belong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elastocal.errors import InputError
from elastocal.identify.iterations import Iterations, iterate
from elastocal.identify.problem import Problem, linearise, weigh
from elastocal.measure.campaign import Campaign
from elastocal.measure.contact_force import ContactForce
from elastocal.measure.contact_gap import ContactGap
from elastocal.measure.sources.reading import Reading
from elastocal.model.robot import RobotModel
from elastocal.spatial.entries import Array, Ints

EVEN = Reading(sd=1e-5, force_sd=1.0)
"""Weights of a start: a hundredth of a millimetre like a newton across the normal."""


def felt_rows(campaign: Campaign) -> Ints:
    """Numbers of the contacts that were read whole and felt a force."""
    felt = campaign.measured.all(axis=1) & np.any(np.nan_to_num(campaign.readings) != 0, axis=1)
    return np.flatnonzero(felt)


def gap_campaign(campaign: Campaign) -> Campaign:
    """The contacts of a force campaign as lengths; without those that were not read or felt no force."""
    gap = _gaps(campaign)
    return Campaign(gap, np.zeros((gap.count, len(gap.rows))), (EVEN,), beliefs=campaign.beliefs)


def close_gaps(model: RobotModel, campaign: Campaign, names: Sequence[str]) -> Iterations:
    """The search for parameters with which the tips lie on the objects under the measured forces."""
    return iterate(model, gap_campaign(campaign), names)


def geometry_start(model: RobotModel, campaign: Campaign, names: Sequence[str]) -> dict[str, float]:
    """Where a fit of the forces begins: joint offsets and frame errors close the gaps as far as they can.

    It is geometry that is off by millimetres; compliances and plays begin as described.
    """
    geometry = {p.name for c in model.coordinates if c.constant_in_load for p in c.parameters(model.tree)}
    mine = [n for n in names if n in geometry]
    if not mine:
        return {}
    return dict(zip(mine, close_gaps(model, campaign, mine).values(mine).tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class GapProblem:
    """Gaps in units of the noise stated of joints and forces, else of even weights, linearised at a model."""

    kind: ContactGap
    linear: Problem


def gap_problem(campaign: Campaign, model: RobotModel, names: Sequence[str]) -> GapProblem:
    gap = _gaps(campaign)
    zero = np.zeros((gap.count, len(gap.rows)))
    stated = Campaign(gap, zero, campaign.scattering or (EVEN,), beliefs=campaign.beliefs)
    return GapProblem(gap, linearise(stated, model, names, weigh(stated, model)))


def orthonormal_span(problem: Problem) -> Array:
    """Orthonormal columns that span what the parameters can do."""
    lengths = np.linalg.norm(problem.matrix, axis=0)
    u, s, _ = np.linalg.svd(problem.matrix / np.where(lengths > 0, lengths, 1.0), full_matrices=False)
    return np.asarray(u[:, s > 1e-10 * s[0]])


def _gaps(campaign: Campaign) -> ContactGap:
    kind = campaign.measurement
    if not isinstance(kind, ContactForce):
        raise InputError(f"a measurement of {kind.kind} has no contacts to close gaps of")
    rows = felt_rows(campaign)
    if not len(rows):
        raise InputError("no contact felt a force; press harder, or check which columns hold the force")
    return ContactGap.of(kind.picked(rows), campaign.readings[rows])
