"""How well an error of a robot is measured: the noise of the instrument, and how well it is registered to the robot.

    u_e^2 = u_r^2 (1 + p / n)

u_r is the standard deviation of one coordinate of a reading: as stated, or as repeats show it where they show more or
nothing is stated.  Instrument and markers are placed by p numbers, fitted to n coordinates with that noise: so much of
it they have on average at the points (the trace of a projection is its rank).  What the model leaves out is the error
that is measured, not an uncertainty of its measurement.  Without statement and repeats u_r is not known but from what
the fit leaves, which holds the misfit of the model: an upper bound.
"""

from __future__ import annotations

from math import isfinite, sqrt
from typing import TYPE_CHECKING, Literal

import numpy as np

from elastocal.calibration.campaign import Campaign
from elastocal.calibration.noise import Instrument, points_sd
from elastocal.calibration.states import States

if TYPE_CHECKING:
    from elastocal.calibration.calibration import Calibration

NoiseBasis = Literal["stated", "repeats", "estimated"]
ENOUGH = 5
"""Degrees of freedom of repeats from which on they tell the noise."""


def measured_to(
    c: Calibration, campaign: Campaign, states: States, fitted: int, estimated: float
) -> tuple[float, NoiseBasis]:
    """u_e in m with ``fitted`` stations placed by these readings, and what it rests on; ``estimated`` is u_r as the
    calibration has it."""
    sizes: dict[NoiseBasis, float] = {"stated": _stated(c, campaign, states), "repeats": _by_repeats(c, states)}
    known = {basis: size for basis, size in sizes.items() if isfinite(size) and size > 0}
    basis = max(known, key=lambda b: known[b]) if known else "estimated"
    return known.get(basis, estimated) * sqrt(1 + _placed_by(c, states, fitted)), basis


def _stated(c: Calibration, campaign: Campaign, states: States) -> float:
    """Of the instrument of these readings, else of that of the calibration; nan where nothing is stated."""
    own = campaign.noise is not None
    instrument = Instrument.of(campaign.noise) if own else c.instrument
    twice = states.position is None and (own or c.placed)  # a deflection is the difference of two readings
    if instrument.tracker is not None:
        if states.position is None:
            return float("nan")
        sds = points_sd({"points": 1.0}, instrument, states.position)
        return float(np.sqrt(np.nanmean(sds**2)))
    return float("nan") if instrument.sd is None else instrument.sd * sqrt(1 + twice)


def _by_repeats(c: Calibration, states: States) -> float:
    """Of these readings, else of those of the calibration."""
    if states.scatter_freedom >= ENOUGH:
        return states.scatter
    return c.repeatability * sqrt(1 + (states.position is None and c.placed))


def _placed_by(c: Calibration, states: States, fitted: int) -> float:
    """p / n of instrument and markers; deflections have neither."""
    if states.position is None:
        return 0.0
    first, here = 3 * max(1, c.leave_one_out.count), int(np.isfinite(states.position).sum())
    stations = 6 * fitted / max(1, here) if fitted else 6 * len(c.stations) / first
    return min(1.0, stations + 3 * len(c.markers) / first)
