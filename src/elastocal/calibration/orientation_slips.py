"""Slips of orientations: written the other way round, or quaternions with their scalar elsewhere.

They are told, as points are, by how near the readings then are to the nominal robot: instrument and tool turned by the
robust start, the median angle between orientations read and expected.  Without points the unknown turns of instrument
and tool may make up for the difference between two of them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from elastocal.calibration.campaign import Campaign
from elastocal.calibration.sight import Sight
from elastocal.calibration.starts import start_placing
from elastocal.calibration.states import gather
from elastocal.errors import InputError
from elastocal.measure.slips import ALIKE, BETTER
from elastocal.model.robot import Robot
from elastocal.results import Finding
from elastocal.spatial.entries import Array
from elastocal.spatial.rotation import Rotation, rotation_vector

FAR = 0.1
"""Angle in rad that no sound orientations are off by: the zeros of an arm as delivered are off by some mrad."""


def _rolled(turns: Array, step: int) -> Array:
    """Orientations (N, 3, 3) whose quaternions have their four numbers moved on."""
    known = np.isfinite(turns).all(axis=(1, 2))
    out = np.full_like(turns, np.nan)
    quaternion = np.roll(Rotation.from_matrix(turns[known]).quaternion, step, axis=-1)
    out[known] = Rotation(quaternion).as_matrix()
    return out


ORIENTATION_SLIPS: dict[str, Callable[[Array], Array]] = {
    "orientations transposed": lambda turns: np.swapaxes(turns, 1, 2),
    "quaternions with w first": lambda turns: _rolled(turns, -1),
    "quaternions with w last": lambda turns: _rolled(turns, 1),
}
"""Words that name and accept a slip, and what undoes it."""


def orientations_undone(campaign: Campaign, word: str) -> Campaign | None:
    """The campaign without the slip; None where it is no such word, or no orientations were read."""
    if word not in ORIENTATION_SLIPS or campaign.orientation is None:
        return None
    return campaign.changed(orientation=ORIENTATION_SLIPS[word](campaign.orientation))


def check_orientations(robot: Robot, campaign: Campaign) -> Finding | None:
    """Nothing where orientations are near the robot's; a slip that explains them is refused, else a warning."""
    if campaign.orientation is None:
        return None
    angle = _angle(robot, campaign)
    if not angle > FAR:
        return None
    near = {
        word: _angle(robot, made)
        for word in ORIENTATION_SLIPS
        if (made := orientations_undone(campaign, word)) is not None
    }
    best = min(near.values())
    word, *others = [w for w in ORIENTATION_SLIPS if near[w] <= ALIKE * best]
    away = f"the orientations are {np.degrees(angle):.3g} deg away from those of the robot (median)"
    if best < min(BETTER * angle, FAR):
        alike = f" (points would tell it from {', '.join(others)})" if others else ""
        raise InputError(
            f"{away}; with {word} {np.degrees(best):.3g} deg{alike}; mend the table, or accept it by the words {word}",
            code="slip", value=word, parameter="accept", allowed=(word, *others),
        )  # fmt: skip
    text = f"{away}, and no slip that was tried explains it; check their order and their axes, or leave them out"
    return Finding("orientations-far", "warning", text, {"angle": angle})


def _angle(robot: Robot, campaign: Campaign) -> float:
    """Median angle in rad."""
    sight = Sight(gather(robot, campaign))
    s, placing = sight.states, start_placing(robot, sight)
    assert s.orientation is not None
    at = sight.tool(robot.nominal, ()).states(np.zeros(0))
    expected = placing.turn[s.station] @ at.turn @ placing.tool_turn
    known = np.isfinite(s.orientation).all(axis=(1, 2))
    between = s.orientation[known] @ expected[known].transpose(0, 2, 1)
    return float(np.median(np.linalg.norm(rotation_vector(np.moveaxis(between, 0, -1)), axis=0)))
