"""Points that no arm reaches, such as codes of a lost beam: they are no readings, whatever is made of the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elastocal.calibration.campaign import Campaign
from elastocal.calibration.estimates import Outlier
from elastocal.calibration.placing import within_reach
from elastocal.errors import UnobservableError
from elastocal.measure.setup import origins
from elastocal.model.kinematics import kinematics
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array, Bools
from elastocal.spatial.pose import rigid_fit

if TYPE_CHECKING:
    from elastocal.calibration.calibration import Calibration

BEYOND = 2.0
"""Times the reach: farther from the base than this is no point of the arm, however roughly the instrument is placed."""
ELSEWHERE = 0.01
"""Share of the reach that a code of zeros is off by at least: the origin of a table may be one of its points."""
LEAST = 4
"""Points that an instrument is placed by."""


def without_beyond(robot: Robot, campaign: Campaign) -> tuple[Campaign, tuple[Outlier, ...]]:
    """Before any fit: without points that are far too far from the others; no fit can be begun with them."""
    if campaign.position is None:
        return campaign, ()
    origin = origins(robot.nominal, campaign.joint_values(robot), [robot.tool])[:, 0]
    near, _ = within_reach(origin, campaign.station_index, campaign.position)
    gone = np.isnan(near).any(axis=2) & ~np.isnan(campaign.position).any(axis=2)
    return _without(campaign, gone)


def without_lost(c: Calibration, campaign: Campaign) -> tuple[Campaign, tuple[Outlier, ...]]:
    """The same for readings that a calibration is judged by, which knows the arm and its markers.

    The instrument is placed by the other points of its station, wherever it stands.  Three zeros are a code where the
    point is elsewhere.  Points that are merely wrong stay, and so does all where the others do not fit the arm either.
    """
    if campaign.position is None:
        return campaign, ()
    at = kinematics(c.nominal, campaign.joint_values(c.robot))
    arms = np.einsum("nij,mj->nmi", at.rotation, c.placing.markers)
    reach = max(c.robot.size, float(np.linalg.norm(at.position, axis=1).max())) + float(np.abs(arms).max())
    gone = np.zeros(campaign.position.shape[:2], dtype=bool)
    for s in range(len(campaign.stations)):
        mine = campaign.station_index == s
        near, _ = within_reach(at.position[mine], np.zeros(int(mine.sum()), dtype=np.int64), campaign.position[mine])
        gone[mine] = _lost(at.position[mine, None] + arms[mine], campaign.position[mine], near, reach)
    return _without(campaign, gone)


def _lost(local: Array, points: Array, near: Array, reach: float) -> Bools:
    """Of points (N, m, 3) of one station, which are ``local`` in base axes; ``near`` are those that are not far from
    the others."""
    known = np.isfinite(points).all(axis=2)
    good = np.isfinite(near).all(axis=2) & np.any(points != 0, axis=2)
    nothing = np.zeros_like(known)
    while good.sum() >= LEAST:
        try:
            pose, _ = rigid_fit(local[good], points[good])
        except UnobservableError:
            return nothing
        from_base = np.linalg.norm(points - pose.translation, axis=2)
        worst = np.unravel_index(int(np.argmax(np.where(good, from_base, -1.0))), good.shape)
        if from_base[worst] <= BEYOND * reach:
            away = np.linalg.norm(local @ pose.rotation.T + pose.translation - points, axis=2)
            fits = float(np.median(away[good])) < ELSEWHERE * reach
            return np.asarray(known & ~good & (away > ELSEWHERE * reach)) if fits else nothing
        good[worst] = False
    return nothing


def _without(campaign: Campaign, gone: Bools) -> tuple[Campaign, tuple[Outlier, ...]]:
    """Without points (N, markers), but for rows that are kept whatever a test says."""
    gone[campaign.kept_rows] = False
    if not gone.any():
        return campaign, ()
    assert campaign.position is not None
    out = campaign.changed(position=np.where(gone[:, :, None], np.nan, campaign.position))
    return out, tuple(
        Outlier(i, campaign.line(i), campaign.markers[j], None, np.nan, 0.0) for i, j in np.argwhere(gone).tolist()
    )
