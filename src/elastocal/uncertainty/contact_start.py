"""Where to start a fit of contact forces: at the geometry that closes the gaps.

A force has no slope where the model misses the object, and is steep where it digs in; a gap has the same slope
everywhere.  So the contacts are fitted as lengths first, with the measured forces on the arm, in the joint offsets and
frame errors that the contacts can tell apart: it is geometry that is off by millimetres.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from elastocal.errors import InputError
from elastocal.identify.estimate import estimate
from elastocal.identify.problem import weigh
from elastocal.identify.trial import first_fit
from elastocal.measure.campaign import Campaign
from elastocal.measure.contact_force import ContactForce
from elastocal.measure.contact_gap import ContactGap
from elastocal.measure.sources.reading import Reading
from elastocal.model.robot import RobotModel

EVEN = Reading(sd=1e-5, force_sd=1.0)
"""Weights of a start: a hundredth of a millimetre like a newton across the normal."""


def gap_campaign(campaign: Campaign) -> Campaign:
    """The contacts of a force campaign as lengths; without those that were not read or felt no force."""
    kind = campaign.measurement
    if not isinstance(kind, ContactForce):
        raise InputError(f"a measurement of {kind.kind} has no contacts to close gaps of")
    felt = campaign.measured.all(axis=1) & np.any(np.nan_to_num(campaign.readings) != 0, axis=1)
    rows = np.flatnonzero(felt)
    if not len(rows):
        raise InputError("no contact felt a force; press harder, or check which columns hold the force")
    part = ContactForce(kind.q[rows], kind.touches.rows(rows), kind.axes)
    gap = ContactGap.of(part, campaign.readings[rows])
    return Campaign(gap, np.zeros((len(rows), len(gap.rows))), (EVEN,), beliefs=campaign.beliefs)


def close_gaps(model: RobotModel, campaign: Campaign, names: Sequence[str]) -> dict[str, float]:
    """Values by name with which the tips lie on the objects under the measured forces, as far as geometry can."""
    geometry = {p.name for c in model.coordinates if c.constant_in_load for p in c.parameters(model.tree)}
    mine = [n for n in names if n in geometry]
    if not mine:
        return {}
    gaps = gap_campaign(campaign)
    trial = first_fit(gaps, model, mine, weigh(gaps, model))
    fit = estimate(model, gaps, trial.fit.names)
    own = fit.names[: fit.problem.parameters]
    return {n: float(v) for n, v in zip(own, fit.values, strict=False)}
