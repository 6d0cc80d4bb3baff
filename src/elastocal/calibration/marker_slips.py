"""Slips of one marker alone: x, y and z of its columns exchanged or with the other sign, where the other markers are
right.

Of all markers at once such a slip is a turn of the instrument, which nobody sees, or a mirrored frame (``slips``).  Of
one of them it is seen as soon as the others tell where the instrument stands.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product

import numpy as np

from elastocal.calibration.campaign import Campaign
from elastocal.calibration.placing import placed_distances
from elastocal.errors import InputError
from elastocal.measure.slips import ALIKE, BETTER
from elastocal.model.kinematics import Kinematics, kinematics
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array, Bools


def axes_word(marker: str, written: str) -> str:
    return f"marker {marker} written as {written}"


def _orders() -> Iterator[tuple[str, Array]]:
    """What the columns x, y, z of a marker hold, in words, and the matrix that puts it right; fewest changes first."""
    made = [
        (" ".join(f"{'-' * (s < 0)}{'xyz'[i]}" for i, s in zip(order, signs, strict=True)), np.eye(3)[:, order] * signs)
        for order in permutations(range(3))
        for signs in product((1.0, -1.0), repeat=3)
    ]
    yield from sorted(made[1:], key=lambda m: -float(np.trace(m[1])))


ORDERS = dict(_orders())


def axes_mended(campaign: Campaign, word: str) -> Campaign | None:
    """The campaign with the axes of a marker put right that ``word`` names; None where it is no such word."""
    for number, marker in enumerate(campaign.markers):
        start = axes_word(marker, "")
        if campaign.position is not None and word.startswith(start) and word.removeprefix(start) in ORDERS:
            return _mended(campaign, number, ORDERS[word.removeprefix(start)])
    return None


def check_markers(robot: Robot, campaign: Campaign, away: Array, far: float) -> None:
    """Refuse a marker whose points are far from where the robot bears it, by distances ``away`` (N, m) in m, and near
    with its axes in another order, while the other markers are near."""
    off = medians(away)
    suspects = np.flatnonzero(off > far).tolist() if campaign.points > 1 else []
    if not suspects:
        return
    at = kinematics(robot.nominal, campaign.joint_values(robot))
    tried: dict[str, tuple[int, float]] = {}
    for i in suspects:
        others = campaign.changed(position=np.where(_column(campaign, i), np.nan, campaign.position))
        if _worst(others, at) < far:
            name = campaign.markers[i]
            tried |= {axes_word(name, o): (i, _worst(_mended(campaign, i, m), at)) for o, m in ORDERS.items()}
    if not tried:
        return
    word = min(tried, key=lambda w: tried[w][1])
    number, after = tried[word]
    if after < min(BETTER * off[number], far):
        alike = [w for w, (_, size) in tried.items() if w != word and size < ALIKE * after]
        raise _refused(campaign.markers[number], float(off[number]), after, word, alike)


def _refused(marker: str, before: float, after: float, word: str, others: list[str]) -> InputError:
    alike = f" (points alone do not tell it from {', '.join(others)})" if others else ""
    return InputError(
        f"the points of marker {marker} alone are {1e3 * before:.3g} mm away from the robot; with {word} "
        f"{1e3 * after:.3g} mm{alike}: two of its x, y, z are exchanged or one has the other sign; mend the table, or "
        f"accept it by these words: {word}",
        code="slip", value=word, parameter="accept", allowed=(word, *others), column=marker,
    )  # fmt: skip


def _mended(campaign: Campaign, number: int, matrix: Array) -> Campaign:
    points = campaign.position
    return campaign.changed(position=np.where(_column(campaign, number), points @ matrix.T, points))


def _column(campaign: Campaign, number: int) -> Bools:
    return np.asarray((np.arange(campaign.points) == number)[None, :, None])


def _worst(campaign: Campaign, at: Kinematics) -> float:
    """The largest median of a marker, best placed."""
    return float(np.nanmax(medians(placed_distances(campaign, at.position, at.rotation, quick=True))))


def medians(away: Array) -> Array:
    """Of every marker (m,), in m; nan of one that was not read."""
    known = np.isfinite(away).any(axis=0)
    out = np.full(away.shape[1], np.nan)
    out[known] = np.nanmedian(away[:, known], axis=0)
    return out
