"""An instrument or a target that was moved while a campaign was read: its rows from some row on are seen from a place
of its own.

Both have words that accept them; the row is named by its place, as messages name it.  "From a row on" is by ``time``
where the campaign has it, else in the order of the rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from elastocal.calibration.campaign import Campaign
from elastocal.calibration.exchanged import BY_MARKER, markers_word, measured_order, mended, rows_at, rows_from
from elastocal.calibration.placing import placed, robust_start
from elastocal.model.kinematics import Kinematics, kinematics
from elastocal.model.robot import Robot

STATION = "a station for "
LEAST = 4
"""Rows on either side: an instrument can be placed to suit three whatever they are."""
PARTS = 8
"""Rows tried at first as the one from which on something is elsewhere; those about the best of them after that."""


def station_word(place: str) -> str:
    return STATION + rows_from(place)


def marker_word(marker: str, place: str) -> str:
    return f"a marker for {marker} in {rows_from(place)}"


def parted(campaign: Campaign, word: str) -> Campaign | None:
    """The campaign with a station or a marker for rows that ``word`` names; None where it is no such word."""
    if word.startswith(STATION):
        return _own_station(campaign, word.removeprefix(STATION))
    starts = [marker_word(marker, "").removesuffix(rows_from("")) for marker in campaign.markers]
    named = [number for number, start in enumerate(starts) if word.startswith(start)]
    if not named:
        return None
    longest = max(named, key=lambda number: len(starts[number]))  # "marker2 in rows from row 20 on" is one of them too
    return _own_marker(campaign, longest, word.removeprefix(starts[longest]))


def from_rows(robot: Robot, campaign: Campaign) -> Iterator[tuple[str, Campaign]]:
    """Words by which points come near that are far from the robot in some of the rows, and the campaign put right.

    A station from some row on, or two markers exchanged from there on; the row is that which brings them nearest."""
    if campaign.count < 2 * LEAST:
        return
    at = kinematics(robot.nominal, campaign.joint_values(robot))
    if len(campaign.stations) == 1:
        yield _nearest(campaign, at, None)
    for pair in combinations(campaign.markers, 2):
        yield _nearest(campaign, at, pair)


def _nearest(campaign: Campaign, at: Kinematics, pair: tuple[str, str] | None) -> tuple[str, Campaign]:
    order = measured_order(campaign)

    def right(place: int) -> tuple[str, Campaign]:
        line = campaign.line(int(order[place]))
        word = station_word(line) if pair is None else markers_word(*pair, rows_from(line))
        return word, parted(campaign, word) or mended(campaign, word) or campaign

    def nearness(place: int) -> float:
        return _nearness(at, right(place)[1])

    places = np.arange(LEAST, len(order) - LEAST + 1)
    rough = np.unique(places[np.linspace(0, len(places) - 1, PARTS).astype(np.int64)])
    best, step = min(rough.tolist(), key=nearness), int(np.diff(rough).max(initial=1))
    return right(min(places[np.abs(places - best) < step].tolist(), key=nearness))


def _nearness(at: Kinematics, campaign: Campaign) -> float:
    """Mean logarithm of the distances of all points, best placed: it tells one wrong row, which no median does."""
    station, points = campaign.station_index, campaign.position
    placing = robust_start(at.position, at.rotation, station, np.zeros((len(campaign.stations), 3)), points, quick=True)
    off = np.linalg.norm(points - placed(placing, at.position, at.rotation, station), axis=2)
    return float(np.nanmean(np.log(off + 1e-6)))


def _own_station(campaign: Campaign, place: str) -> Campaign | None:
    """Of the station that the first of the rows was seen from."""
    rows = rows_at(campaign, place)
    if not len(rows):
        return None
    old = str(campaign.station[rows[0]])
    names = campaign.station.astype(object)
    names[rows[campaign.station[rows] == old]] = f"{old} in {place}"
    return campaign.changed(station=names.astype(str))


def _own_marker(campaign: Campaign, number: int, place: str) -> Campaign | None:
    rows = rows_at(campaign, place)
    if not len(rows):
        return None
    later = np.zeros(campaign.count, dtype=bool)
    later[rows] = True
    read = {key: getattr(campaign, key) for key in BY_MARKER if getattr(campaign, key) is not None}
    for key, values in read.items():
        both = np.concatenate([values, values[:, number : number + 1]], axis=1)
        both[later, number], both[~later, -1] = np.nan, np.nan
        read[key] = both
    return campaign.changed(**read, markers=(*campaign.markers, f"{campaign.markers[number]} in {place}"))
