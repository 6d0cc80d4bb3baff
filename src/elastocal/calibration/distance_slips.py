"""Distances that the robot cannot have, wherever their fixed point is and the marker sits: another unit, other rows.

They are told, as points are, by how near they then are to the nominal robot, fixed point and marker placed by the
robust start: the median of | |p_i - c| - d_i |.
"""

from __future__ import annotations

import numpy as np

from elastocal.calibration.campaign import Campaign
from elastocal.calibration.placing import placed
from elastocal.calibration.sight import Sight
from elastocal.calibration.starts import start_placing
from elastocal.calibration.states import gather
from elastocal.errors import InputError
from elastocal.measure.slips import BETTER, LENGTHS
from elastocal.model.robot import Robot
from elastocal.results import Finding

FEW = 12
"""Distances that fixed point and marker, six numbers, do not suit whatever they are."""


def check_distances(robot: Robot, campaign: Campaign, far: float) -> Finding | None:
    """Nothing where distances are nearer than ``far`` (m) to the robot; a unit that explains them is refused."""
    if campaign.distance is None or np.isfinite(campaign.distance).any(axis=1).sum() < FEW:
        return None
    away = _away(robot, campaign)
    if away < far:
        return None
    near = {f: _away(robot, campaign.changed(distance=f * campaign.distance)) for f in LENGTHS}
    factor = min(near, key=lambda f: near[f])
    text = f"the distances are {_words(away)} off those of the robot (median), wherever their fixed point is"
    if near[factor] < min(BETTER * away, far):
        word = f"distances times {factor:g}"
        raise InputError(
            f"{text}; with {word} {_words(near[factor])}; state their unit", code="slip", value=word,
            parameter="distance",
        )  # fmt: skip
    text += "; check that they are whole lengths, and that rows of distances and joint values belong together"
    if away > 5 * far:
        raise InputError(text, code="distances-far", value=away, parameter="distance")
    return Finding("distances-far", "warning", text, {"before": away})


def _words(size: float) -> str:
    return f"{size:.3g} m" if size >= 1 else f"{1e3 * size:.3g} mm"


def _away(robot: Robot, campaign: Campaign) -> float:
    """Median in m; infinite where nothing can be placed by such numbers."""
    sight = Sight(gather(robot, campaign))
    s = sight.states
    assert s.distance is not None
    try:
        placing = start_placing(robot, sight)
    except np.linalg.LinAlgError:
        return np.inf
    at = sight.tool(robot.nominal, ()).states(np.zeros(0))
    expected = np.linalg.norm(placed(placing, at.origin, at.turn, s.station), axis=2)
    away = float(np.nanmedian(np.abs(s.distance - expected)))
    return away if np.isfinite(away) else np.inf
